"""A literal history in the making, in which time goes on by 0.1 s with each entry.

It invents uids, revisions and numbers of requests and streams, and remembers which streams are held. It knows nothing of what a
controller or an API server would do: what is not said does not happen.
"""

from collections.abc import Sequence
from typing import Any, Literal, Self

from staleproof.core.fault import AnyFault
from staleproof.core.fault.legality import Contract
from staleproof.core.history.entry import (
    Answered,
    Asked,
    Committed,
    Delivered,
    Ended,
    Entry,
    FaultFired,
    Item,
    Listed,
    Opened,
    Started,
    Withheld,
)
from staleproof.core.history.given import Given, content_of
from staleproof.core.history.history import Header, History, HistoryRole
from staleproof.core.plan.manifest import Target as PlanTarget
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Apply, Step, Touch

NAMESPACE = "ns"
WIDGETS = "widgets.example.com"
LEASES = "leases.coordination.k8s.io"
KINDS = {"pods": "Pod", WIDGETS: "Widget", "configmaps": "ConfigMap", "replicasets.apps": "ReplicaSet", LEASES: "Lease"}
Object = dict[str, Any]
_Change = Literal["ADDED", "MODIFIED", "DELETED"]
_WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
STEPS = (Apply(object=_WIDGET), Touch(target=PlanTarget("example.com/v1", "Widget", "w")))


class Draft:
    """A trial under these faults, or a reference if there are none, unless `role` says otherwise.

    `names` are the widgets that the workload applies.
    """

    def __init__(
        self,
        *faults: AnyFault,
        aims: tuple[str, ...] = (),
        contract: Contract = "legal",
        namespace: str = NAMESPACE,
        steps: tuple[Step, ...] = STEPS,
        names: Sequence[str] = ("w",),
        role: HistoryRole | None = None,
    ) -> None:
        self.entries: list[Entry] = []
        self.plan = Plan(scenario="test", aims=aims, steps=steps, faults=faults, contract=contract)
        self.namespace = namespace
        self.uids: dict[tuple[str, str], str] = {}
        """Of the first object by that name."""
        self.names = names
        self.given: list[Given] = []
        self.role = role
        self._revision, self._request, self._life, self._passed = 100, 0, 1, 0.0
        self._objects: dict[tuple[str, str], Object] = {}
        self._streams = {"pods": 1, WIDGETS: 2, "configmaps": 3}
        self._lost: dict[str, int] = {}
        self._waiting: dict[str, int] = {}
        self._held: dict[str, list[Delivered]] = {}
        self._generated: dict[tuple[str, str], str] = {}
        self._made = 0
        self.adds(Started, life=1)
        for resource in self._streams:
            self._open(resource, start="100", bookmarks=True, since=100)

    def unfinished(self) -> History:
        role: HistoryRole = self.role or ("trial" if self.plan.faults else "reference")
        primaries = tuple(f"{WIDGETS}/{name}" for name in self.names)
        header = Header(role=role, plan=self.plan, namespace=self.namespace, primaries=primaries, given=tuple(self.given))
        return History(header, tuple(self.entries))

    def uid(self, name: str, resource: str = "pods") -> str:
        return str(self._objects[resource, name]["metadata"]["uid"])

    def adds(self, entry: Any, **fields: Any) -> Self:  # noqa: ANN401
        """Any entry."""
        if self.entries and isinstance(self.entries[-1], Ended):
            raise ValueError("this history has ended; make the script anew")
        self.entries.append(entry(at=round(len(self.entries) * 0.1 + self._passed, 1), **fields))
        return self

    # --- objects and streams ------------------------------------------------------------------------------------------------------

    def _new(self, resource: str, name: str, fields: Object, *, owner: str = "", generated: str = "") -> Object:
        self._made += 1
        metadata: Object = {"name": name, "namespace": self.namespace, "uid": f"{self.namespace}-uid-{self._made}"}
        if owner:
            label = (WIDGETS if (WIDGETS, owner) in self._objects else "replicasets.apps", owner)
            reference = {"kind": KINDS[label[0]], "name": owner, "uid": self._objects[label]["metadata"]["uid"], "controller": True}
            metadata["ownerReferences"] = [reference]
        if generated:
            metadata["generateName"] = generated
        metadata |= fields.get("metadata", {})
        self.uids.setdefault((resource, name), metadata["uid"])
        return {"kind": KINDS.get(resource, resource), **fields, "metadata": metadata}

    def _was_there(self, resource: str, name: str, fields: Object) -> Self:
        """An object was there before the trial began."""
        obj = self._new(resource, name, fields)
        self._objects[resource, name] = obj
        self.given.append(Given(resource, name, obj["metadata"]["uid"], content_of(obj, self.namespace)))
        return self

    def _leaving(self, resource: str, name: str) -> Object:
        obj = self._objects[resource, name]
        return obj | {"metadata": obj["metadata"] | {"deletionTimestamp": "2026-01-01T00:00:00Z"}}

    def _identity(self, metadata: Object) -> Object:
        return {"name": metadata["name"], "uid": metadata["uid"], "revision": int(metadata["resourceVersion"])}

    def _items(self, resource: str, without: Sequence[str] = ()) -> tuple[Item, ...]:
        return tuple(self._item(obj) for (where, name), obj in self._objects.items() if where == resource and name not in without)

    def _item(self, obj: Object) -> Item:
        return Item(self.namespace, **self._identity(obj["metadata"]))

    def _commit(self, what: _Change, resource: str, obj: Object, *, shown_as: _Change | Literal[""] | None = None) -> Self:
        """It is committed, and shown on the resource's stream unless that is held.

        `shown_as`: what it is to a stream with a selector, if that is something else; nothing if empty.
        """
        self._revision += 1
        stored = obj | {"metadata": obj["metadata"] | {"resourceVersion": str(self._revision)}}
        what_it_is = {"namespace": self.namespace} | self._identity(stored["metadata"])
        if what == "DELETED":
            self._objects.pop((resource, what_it_is["name"]), None)
        else:
            self._objects[resource, what_it_is["name"]] = stored
        self.adds(Committed, resource=resource, type=what, object=stored, **what_it_is)
        if resource not in self._streams or shown_as == "":
            return self
        frame: Object = {"stream": self._streams[resource], "type": shown_as or what, **what_it_is}
        if resource not in self._held:
            return self.adds(Delivered, **frame)
        self._held[resource].append(Delivered(at=0, **frame))
        self.adds(Withheld, fault=0, **frame)
        if not any(isinstance(entry, FaultFired) for entry in self.entries):
            self.adds(FaultFired, fault=0, on=f"{shown_as or what} {resource} {self.namespace}/{what_it_is['name']}")
        return self

    def _open(self, resource: str, *, start: str | None = None, **fields: Any) -> Self:  # noqa: ANN401
        """The stream of a resource begins, from now on unless said otherwise."""
        position = str(self._revision) if start is None else start
        return self.adds(Opened, stream=self._streams[resource], client="controller", resource=resource, start=position, **fields)

    # --- requests -----------------------------------------------------------------------------------------------------------------

    def _ask(self, verb: str, resource: str, name: str = "", *, namespace: str | None = None, **fields: Any) -> None:  # noqa: ANN401
        self._request += 1
        where = self.namespace if namespace is None else namespace
        if where not in ("", self.namespace) and verb != "list":
            raise ValueError(f"no history has a {verb} in the namespace {where}: core/history/scope.py leaves it out")
        request = {"request": self._request, "client": "controller", "verb": verb, "resource": resource, "name": name}
        self.adds(Asked, namespace=where, **request, **fields)

    def _answer(self, resource: str, name: str) -> Self:
        """With the object as it is now."""
        identity = self._identity(self._objects[resource, name]["metadata"])
        return self._succeed(namespace=self.namespace, **identity)

    def _succeed(self, **fields: Any) -> Self:  # noqa: ANN401
        return self.adds(Answered, request=self._request, outcome="ok", code=200, **fields)

    def _fail(self, code: int, reason: str, name: str) -> Self:
        return self.adds(Answered, request=self._request, outcome="fail", code=code, reason=reason, name=name)

    def _list(self, resource: str, items: tuple[Item, ...], revision: int | None, request: int, **fields: Any) -> Self:  # noqa: ANN401
        about = {"request": request, "client": "controller", "resource": resource}
        return self.adds(Listed, revision=revision, items=items, **about, **fields)
