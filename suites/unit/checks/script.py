"""Literal histories that read as a script: each call is one thing that happens, and time goes on by 0.1 s each.

A script invents uids and revisions and remembers which streams are held, so that a test says only what matters. It knows nothing of
what a controller or an API server would do: what is not said does not happen.
"""

from collections.abc import Sequence
from typing import Any, Literal, Self

from staleproof.checks.verdict import Verdict
from staleproof.core.entry import (
    Answered,
    Asked,
    Closed,
    Committed,
    Delivered,
    Ended,
    Entry,
    FaultClosed,
    FaultFired,
    FaultOpened,
    Item,
    Listed,
    Opened,
    Released,
    Settled,
    Started,
    StepBegan,
    StepEnded,
    Withheld,
)
from staleproof.core.fault import AnyFault, HoldStream
from staleproof.core.history import Header, History
from staleproof.core.plan import Apply, Plan, Touch
from staleproof.core.plan import Target as PlanTarget

NAMESPACE = "ns"
WIDGETS = "widgets.example.com"
KINDS = {
    "pods": "Pod",
    WIDGETS: "Widget",
    "configmaps": "ConfigMap",
    "replicasets.apps": "ReplicaSet",
    "leases.coordination.k8s.io": "Lease",
}
Object = dict[str, Any]
_WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
STEPS = (Apply(object=_WIDGET), Touch(target=PlanTarget("example.com/v1", "Widget", "w")))


class Script:
    """A trial, or a reference if there are no faults. Widget `w` is the primary; children are pods unless said otherwise."""

    def __init__(self, *faults: AnyFault, aims: tuple[str, ...] = (), namespace: str = NAMESPACE) -> None:
        self.entries: list[Entry] = []
        self.plan = Plan(scenario="test", aims=aims, steps=STEPS, faults=faults)
        self.namespace = namespace
        self._revision, self._request, self._uids = 100, 0, 0
        self._objects: dict[tuple[str, str], Object] = {}
        self._streams = {"pods": 1, WIDGETS: 2, "configmaps": 3}
        self._held: dict[str, list[Delivered]] = {}
        self._generated: dict[tuple[str, str], str] = {}
        self._passed = 0.0
        self._add(Started, life=1)
        for resource, stream in self._streams.items():
            self._add(Opened, stream=stream, client="controller", resource=resource, start="100", bookmarks=True, since=100)

    # --- the user and other controllers -----------------------------------------------------------------------------------------

    def step(self, number: int, does: str) -> Self:
        return self._add(StepBegan, step=number, does=does)

    def idle(self, number: int) -> Self:
        return self._add(StepEnded, step=number, idle=True)

    def applied(self, name: str = "w", resource: str = WIDGETS, **fields: Any) -> Self:  # noqa: ANN401  # JSON
        """Somebody else creates an object, or changes it."""
        old = self._objects.get((resource, name))
        if old is None:
            return self._commit("ADDED", resource, self._new(resource, name, fields))
        return self._commit("MODIFIED", resource, old | fields)

    def made(self, name: str, resource: str = "pods", *, owner: str = "w", **fields: Any) -> Self:  # noqa: ANN401  # JSON
        """Somebody else creates a child."""
        return self._commit("ADDED", resource, self._new(resource, name, fields, owner=owner))

    def removed(self, name: str, resource: str = "pods") -> Self:
        """Somebody else deletes an object, and it is gone at once."""
        return self._commit("DELETED", resource, self._objects.pop((resource, name)))

    def terminating(self, name: str, resource: str = "pods") -> Self:
        """Somebody else deletes an object, and it stays for its grace period."""
        return self._commit("MODIFIED", resource, self._leaving(resource, name))

    # --- the controller -----------------------------------------------------------------------------------------------------------

    def creates(self, *names: str, resource: str = "pods", owner: str = "w", generated: str = "w-", **fields: Any) -> Self:  # noqa: ANN401
        """The controller creates children, one request after the other.

        `generated` is the generateName, empty for none. A reference calls generated names otherwise than the trial does.
        """
        for called in names:
            name = called if not generated or self.namespace == NAMESPACE else f"{called}-{self.namespace[-1]}"
            self._generated[resource, called] = name
            self._ask("create", resource)
            obj = self._new(resource, name, fields, owner=owner, generated=generated)
            self._commit("ADDED", resource, obj)
            self._answer(obj)
        return self

    def refused(self, verb: str, name: str, reason: str, *, resource: str = "pods", uid: str = "") -> Self:
        """The controller asks for a write and the API server says 409."""
        self._ask(verb, resource, "" if verb == "create" else name, precondition_uid=uid)
        return self._add(Answered, request=self._request, outcome="fail", code=409, reason=reason, name=name)

    def deletes(self, *names: str, resource: str = "pods", grace: bool = False, precondition: bool = False) -> Self:
        """The controller deletes objects by name; `grace`: they stay for a while; `precondition`: it names the incarnation."""
        for called in names:
            name = self._generated.get((resource, called), called)
            uid = self.uid(name, resource)
            self._ask("delete", resource, name, precondition_uid=uid if precondition else "")
            if grace:
                self._commit("MODIFIED", resource, self._leaving(resource, name))
            else:
                self._commit("DELETED", resource, self._objects.pop((resource, name)))
            self._add(Answered, request=self._request, outcome="ok", code=200, name=name, uid=uid)
        return self

    def deletes_all(self, resource: str = "pods") -> Self:
        """The controller deletes a collection."""
        self._ask("deletecollection", resource)
        gone = [obj for (where, _), obj in self._objects.items() if where == resource]
        for obj in gone:
            del self._objects[resource, obj["metadata"]["name"]]
            self._commit("DELETED", resource, obj)
        return self._add(Answered, request=self._request, outcome="ok", code=200, items=tuple(self._item(obj) for obj in gone))

    def updates(self, name: str = "w", resource: str = WIDGETS, *, subresource: str = "status", **fields: Any) -> Self:  # noqa: ANN401
        """The controller updates an object; without fields nothing changes and nothing is committed."""
        self._ask("update", resource, name, subresource=subresource)
        if fields:
            self._commit("MODIFIED", resource, self._objects[resource, name] | fields)
        return self._answer(self._objects[resource, name])

    def asks(self, verb: str, resource: str, name: str = "", *, namespace: str | None = None, subresource: str = "") -> Self:
        """A request that is answered well and changes nothing in the trial's namespace."""
        self._ask(verb, resource, name, subresource=subresource, namespace=namespace)
        return self._add(Answered, request=self._request, outcome="ok", code=200, name=name)

    def gets(self, name: str, resource: str = "pods") -> Self:
        self._ask("get", resource, name)
        obj = self._objects.get((resource, name))
        if obj is None:
            return self._add(Answered, request=self._request, outcome="fail", code=404, reason="NotFound", name=name)
        return self._answer(obj)

    def lists(
        self, resource: str = "pods", *, selector: str = "", without: Sequence[str] = (), revision: int | None = None
    ) -> Self:
        """A live list; `without` and `revision` make it one from the past."""
        items = tuple(self._item(obj) for (where, name), obj in self._objects.items() if where == resource and name not in without)
        return self.page(resource, items, selector=selector, revision=self._revision if revision is None else revision)

    def page(
        self, resource: str, items: tuple[Item, ...], *, selector: str = "", revision: int | None = None, more: bool = False
    ) -> Self:
        self._ask("list", resource)
        return self._add(
            Listed,
            request=self._request,
            client="controller",
            resource=resource,
            selector=selector,
            revision=revision,
            items=items,
            more=more,
        )

    # --- faults and phases --------------------------------------------------------------------------------------------------------

    def hold(self, resource: str = "pods", *, fault: int = 0, why: str = "step 1") -> Self:
        self._held[resource] = []
        return self._add(FaultOpened, fault=fault, why=why)

    def let_go(self, resource: str = "pods", *, fault: int = 0) -> Self:
        """The hold ends: what was held leaves in order."""
        self._add(FaultClosed, fault=fault)
        for frame in self._held.pop(resource):
            self._add(Delivered, **{name: getattr(frame, name) for name in frame.__struct_fields__ if name != "at"})
        return self

    def relist(self, resource: str = "pods", *, fault: int = 0) -> Self:
        """The hold ends with 410: what was held is discarded, and the client lists and watches again."""
        self._add(FaultClosed, fault=fault)
        self._add(Closed, stream=self._streams[resource], how="expired", discarded=len(self._held.pop(resource)), fault=fault)
        self.lists(resource)
        self._streams[resource] += 10
        return self._add(
            Opened,
            stream=self._streams[resource],
            client="controller",
            resource=resource,
            start=str(self._revision),
            bookmarks=True,
        )

    def restarted(self) -> Self:
        """A new life: it opens its streams again and has been shown nothing."""
        self._add(Started, life=2)
        for resource in self._streams:
            self._streams[resource] += 10
            self._add(Opened, stream=self._streams[resource], client="controller", resource=resource, start=str(self._revision))
        return self

    def released(self) -> Self:
        return self._add(Released)

    def settled(self, *, ok: bool = True, why: str = "") -> Self:
        return self._add(Settled, ok=ok, why=why)

    def passes(self, seconds: float) -> Self:
        """Nothing happens for so long."""
        self._passed += seconds
        return self

    def adds(self, entry: type[Entry], **fields: Any) -> Self:  # noqa: ANN401
        """Any other entry."""
        return self._add(entry, **fields)

    def initial_end(self, stream: int) -> Self:
        """The bookmark that ends the initial events of a WatchList."""
        return self._add(Delivered, stream=stream, type="BOOKMARK", revision=self._revision, initial_end=True)

    def resynced(self) -> Self:
        """The controller lists the primaries once more."""
        return self.lists(WIDGETS)

    def ends(self) -> History:
        """Released, settled, listed again, ended: the usual end, unless it was said before."""
        if isinstance(self.entries[-1], Ended):
            return self.unfinished()
        if not any(isinstance(entry, Released) for entry in self.entries):
            self.released()
        if not any(isinstance(entry, Settled) for entry in self.entries):
            self.settled().resynced()
        return self._add(Ended).unfinished()

    def unfinished(self, references: Sequence[History] = ()) -> History:
        return History(self.header(), tuple(self.entries), tuple(references))

    def header(self) -> Header:
        role: Literal["trial", "reference"] = "trial" if self.plan.faults else "reference"
        return Header(role=role, plan=self.plan, namespace=self.namespace, primaries=(f"{WIDGETS}/w",))

    # --- what it takes ------------------------------------------------------------------------------------------------------------

    def uid(self, name: str, resource: str = "pods") -> str:
        return str(self._objects[resource, name]["metadata"]["uid"])

    def _new(self, resource: str, name: str, fields: Object, *, owner: str = "", generated: str = "") -> Object:
        self._uids += 1
        metadata: Object = {"name": name, "namespace": self.namespace, "uid": f"{self.namespace}-uid-{self._uids}"}
        if owner:
            label = (WIDGETS if (WIDGETS, owner) in self._objects else "replicasets.apps", owner)
            reference = {"kind": KINDS[label[0]], "name": owner, "uid": self._objects[label]["metadata"]["uid"], "controller": True}
            metadata["ownerReferences"] = [reference]
        if generated:
            metadata["generateName"] = generated
        metadata |= fields.pop("metadata", {})
        return {"kind": KINDS.get(resource, resource), "metadata": metadata, **fields}

    def _leaving(self, resource: str, name: str) -> Object:
        obj = self._objects[resource, name]
        return obj | {"metadata": obj["metadata"] | {"deletionTimestamp": "2026-01-01T00:00:00Z"}}

    def _commit(self, what: Literal["ADDED", "MODIFIED", "DELETED"], resource: str, obj: Object) -> Self:
        """It is committed, and shown on the resource's stream unless that is held."""
        self._revision += 1
        stored = obj | {"metadata": obj["metadata"] | {"resourceVersion": str(self._revision)}}
        metadata = stored["metadata"]
        if what != "DELETED":
            self._objects[resource, metadata["name"]] = stored
        what_it_is = {"namespace": self.namespace, "name": metadata["name"], "uid": metadata["uid"], "revision": self._revision}
        self._add(Committed, resource=resource, type=what, object=stored, **what_it_is)
        if resource not in self._streams:
            return self
        frame = {"stream": self._streams[resource], "type": what, **what_it_is}
        if resource not in self._held:
            return self._add(Delivered, **frame)
        self._held[resource].append(Delivered(at=0, **frame))
        self._add(Withheld, fault=0, **frame)
        if not any(isinstance(entry, FaultFired) for entry in self.entries):
            self._add(FaultFired, fault=0, on=f"{what} {resource} {self.namespace}/{metadata['name']}")
        return self

    def _ask(self, verb: str, resource: str, name: str = "", *, namespace: str | None = None, **fields: Any) -> None:  # noqa: ANN401
        self._request += 1
        where = self.namespace if namespace is None else namespace
        self._add(
            Asked, request=self._request, client="controller", verb=verb, resource=resource, namespace=where, name=name, **fields
        )

    def _answer(self, obj: Object) -> Self:
        metadata = self._objects[_resource_of(obj), obj["metadata"]["name"]]["metadata"]
        return self._add(
            Answered,
            request=self._request,
            outcome="ok",
            code=200,
            namespace=self.namespace,
            name=metadata["name"],
            uid=metadata["uid"],
            revision=int(metadata["resourceVersion"]),
        )

    def _item(self, obj: Object) -> Item:
        metadata = obj["metadata"]
        return Item(self.namespace, metadata["name"], metadata["uid"], int(metadata["resourceVersion"]))

    def _add(self, entry: Any, **fields: Any) -> Self:  # noqa: ANN401
        self.entries.append(entry(at=round(len(self.entries) * 0.1 + self._passed, 1), **fields))
        return self


def _resource_of(obj: Object) -> str:
    return next(resource for resource, kind in KINDS.items() if kind == obj["kind"])


HOLD = HoldStream(resource="pods")


def trial(*, aims: tuple[str, ...] = ()) -> Script:
    """A trial in which pods may be held."""
    return Script(HOLD, aims=aims)


def reference(number: int = 1) -> Script:
    return Script(namespace=f"ref-{number}")


def against(history: History, *references: History) -> History:
    """A trial with the references that it is compared with."""
    return History(history.header, history.entries, references, history.notes)


def told(verdict: Verdict, like: str) -> str:
    """A verdict in as many words as `like`: `FAIL`, or `FAIL: …` with what was found, or why nothing is known."""
    found = [", ".join(part for part in (finding.because, finding.though) if part) for finding in verdict.findings]
    words = "\n".join(found) or verdict.why
    return f"{verdict.outcome.name}: {words}" if ":" in like else verdict.outcome.name
