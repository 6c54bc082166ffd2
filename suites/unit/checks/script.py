"""Literal histories that read as a script: each call is one thing that happens."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Self

import msgspec

from staleproof.checks.trial import Trial
from staleproof.core.fault import HoldStream, LoseAnswer, PastSnapshot, Restart, SeverStream, SlowStart
from staleproof.core.history.entry import (
    Answered,
    Closed,
    Delivered,
    Dropped,
    Ended,
    FaultClosed,
    FaultFired,
    FaultOpened,
    Item,
    Metrics,
    Opened,
    Released,
    Sample,
    Settled,
    Started,
    StepBegan,
    StepEnded,
    Stopped,
)
from staleproof.core.history.history import History, HistoryRole
from staleproof.core.history.resource_version import Revision

from .draft import NAMESPACE as NAMESPACE
from .draft import WIDGETS as WIDGETS
from .draft import Draft

HOLD, HOLD_WIDGETS = HoldStream(resource="pods"), HoldStream(resource=WIDGETS)
SEVER = SeverStream(resource="pods")
RESTART, PAST = Restart(), PastSnapshot(resource=WIDGETS)
SLOW_PODS, SLOW_WIDGETS = SlowStart(resource="pods"), SlowStart(resource=WIDGETS)


class Script(Draft):
    """Widget `w` is the primary; children are pods unless said otherwise."""

    # --- the user and other controllers -----------------------------------------------------------------------------------------

    def step(self, number: int, does: str) -> Self:
        return self.adds(StepBegan, step=number, does=does)

    def idle(self, number: int) -> Self:
        return self.adds(StepEnded, step=number, idle=True)

    def applied(self, name: str = "w", resource: str = WIDGETS, **fields: Any) -> Self:  # noqa: ANN401  # JSON
        """Another user creates an object, or changes it."""
        old = self._objects.get((resource, name))
        if old is None:
            return self._commit("ADDED", resource, self._new(resource, name, fields))
        return self._commit("MODIFIED", resource, old | fields)

    def had(self, name: str, resource: str, **fields: Any) -> Self:  # noqa: ANN401  # JSON
        """An object was there before the trial began."""
        return self._was_there(resource, name, fields)

    def wants(self, replicas: int) -> Self:
        """The user creates the widget, or changes its spec: the next generation."""
        old = self._objects.get((WIDGETS, "w"), {"metadata": {}})["metadata"]
        return self.applied("w", metadata=old | {"generation": old.get("generation", 0) + 1}, spec=replicas)

    def made(self, name: str, resource: str = "pods", *, owner: str = "w", **fields: Any) -> Self:  # noqa: ANN401  # JSON
        """Another user creates a child."""
        return self._commit("ADDED", resource, self._new(resource, name, fields, owner=owner))

    def labelled(self, name: str, resource: str = "pods", *, to: str, shown_as: Literal["ADDED", "DELETED", ""]) -> Self:
        """Another user changes the label `app`, and the object enters or leaves what the resource's stream selects; or neither."""
        obj = self._objects[resource, name]
        return self._commit("MODIFIED", resource, obj | {"metadata": obj["metadata"] | {"labels": {"app": to}}}, shown_as=shown_as)

    def removed(self, name: str, resource: str = "pods") -> Self:
        """Another user deletes an object, and it is gone at once."""
        return self._commit("DELETED", resource, self._objects[resource, name])

    def terminating(self, name: str, resource: str = "pods") -> Self:
        """Another user deletes an object, and it stays for its grace period."""
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
            self._commit("ADDED", resource, self._new(resource, name, fields, owner=owner, generated=generated))
            self._answer(resource, name)
        return self

    def deletes(self, *names: str, resource: str = "pods", grace: bool = False, precondition: bool = False) -> Self:
        """The controller deletes objects by name; `grace`: they stay for a while; `precondition`: it names the incarnation."""
        for called in names:
            name = self._generated.get((resource, called), called)
            uid = self.uid(name, resource)
            self._ask("delete", resource, name, precondition_uid=uid if precondition else "")
            (self.terminating if grace else self.removed)(name, resource)
            self._succeed(name=name, uid=uid)
        return self

    def evicts(self, called: str, *, precondition: bool = False) -> Self:
        """The controller has a pod evicted, which is answered with a Status; `precondition`: it names the incarnation."""
        name = self._generated.get(("pods", called), called)
        self._ask("create", "pods", name, subresource="eviction", precondition_uid=self.uid(name) if precondition else "")
        self.removed(name)
        return self.adds(Answered, request=self._request, outcome="ok", code=201)

    def binds(self, name: str, *, node: str = "n") -> Self:
        """The controller puts a pod on a node, which is answered with a Status."""
        self._ask("create", "pods", name, subresource="binding")
        self.applied(name, "pods", spec={"nodeName": node})
        return self.adds(Answered, request=self._request, outcome="ok", code=201)

    def deletes_all(self, resource: str = "pods") -> Self:
        """The controller deletes a collection."""
        self._ask("deletecollection", resource)
        gone = self._items(resource)
        for item in gone:
            self.removed(item.name, resource)
        return self._succeed(items=gone)

    def updates(self, name: str = "w", resource: str = WIDGETS, *, subresource: str = "status", **fields: Any) -> Self:  # noqa: ANN401
        """The controller updates an object; without fields nothing changes and nothing is committed."""
        self._ask("update", resource, name, subresource=subresource)
        if fields:
            self._commit("MODIFIED", resource, self._objects[resource, name] | fields)
        return self._answer(resource, name)

    def says(self, generation: int | None = None, *, ready: int | None = None, **status: Any) -> Self:  # noqa: ANN401
        """The controller writes the status: the generation observed, and the one that a condition is True for."""
        if generation is not None:
            status["observedGeneration"] = generation
        if ready is not None:
            status["conditions"] = [{"type": "Ready", "status": "True", "observedGeneration": ready}]
        return self.updates("w", status=status)

    def asks(self, verb: str, resource: str, name: str = "", *, namespace: str | None = None, subresource: str = "") -> Self:
        """A request that is answered well and changes nothing in the trial's namespace.

        It is about that namespace or, with an empty one, about what is in none. Of others a history has nothing but lists: what is
        the trial's there is recorded as if it were in the trial's, and what is not is left out (`core/history/scope.py`).
        """
        self._ask(verb, resource, name, subresource=subresource, namespace=namespace)
        return self._succeed(name=name)

    def refused(self, verb: str, name: str, reason: str, *, resource: str = "pods", uid: str = "", subresource: str = "") -> Self:
        """The controller asks for a write and the API server says 409."""
        self._ask(verb, resource, "" if verb == "create" else name, precondition_uid=uid, subresource=subresource)
        return self._fail(409, reason, name)

    def fails(self, verb: str, name: str = "", resource: str = "pods", *, subresource: str = "", code: int = 500) -> Self:
        """The controller asks for something and the API server, no fault, answers that it could not do it."""
        self._ask(verb, resource, name, subresource=subresource)
        return self._fail(code, "InternalError", name)

    def says_blindly(self, name: str = "w", resource: str = WIDGETS, *, reason: str = "Conflict") -> Self:
        """A status that rests on what it was shown, and is refused."""
        return self.refused("update", name, reason, resource=resource, subresource="status")

    def rejected(
        self, verb: str = "create", resource: str = "pods", name: str = "", *, subresource: str = "", fault: int = 0
    ) -> Self:
        """The controller asks for something, and a fault answers."""
        self._ask(verb, resource, name, subresource=subresource)
        self.adds(Answered, request=self._request, outcome="unknown", code=500, fault=fault, executed=False)
        return self._fires_once(fault)

    def loses_the_answer(self, fault: int = 0) -> Self:
        """The controller never hears the answer to what it did last."""
        self.entries[-1] = msgspec.structs.replace(self.entries[-1], outcome="unknown", code=0, fault=fault, executed=True)
        return self.fires(fault, "a write")

    def gets(self, name: str, resource: str = "pods") -> Self:
        self._ask("get", resource, name)
        return self._answer(resource, name) if (resource, name) in self._objects else self._fail(404, "NotFound", name)

    def lists(
        self, resource: str = "pods", *, selector: str = "", without: Sequence[str] = (), revision: int | None = None
    ) -> Self:
        """A live list; `without` and `revision` make it one from the past."""
        items = self._items(resource, without)
        return self.page(resource, items, selector=selector, revision=self._revision if revision is None else revision)

    def page(self, resource: str, items: tuple[Item, ...], *, revision: int | None = None, **fields: Any) -> Self:  # noqa: ANN401
        self._ask("list", resource)
        return self._list(resource, items, revision, self._request, **fields)

    def resynced(self) -> Self:
        """The controller lists the primaries once more."""
        return self.lists(WIDGETS)

    def read(self, *, skips: int | None = None, version: int | None = None, resource: str = "pods") -> Self:
        """The runner reads the controller's metrics."""
        name, _, group = resource.partition(".")
        labels = {"group": group, "resource": name}
        samples = [] if skips is None else [Sample("widget_controller_stale_sync_skips_total", labels, skips)]
        samples += [] if version is None else [Sample("informer_store_resource_version", {"name": "w", **labels}, version)]
        return self.adds(Metrics, took=0.0, samples=tuple(samples))

    # --- lives --------------------------------------------------------------------------------------------------------------------

    def restarted(self) -> Self:
        """A new life: it opens its streams again and has been shown nothing."""
        self._lives()
        for resource in self._streams:
            self._streams[resource] += 10
            self._open(resource)
        return self

    def dies(self, fault: int = 0) -> Self:
        """Nothing is shown to it any more."""
        self._streams, self._lost = {}, self._streams
        self.adds(Stopped, life=self._life, fault=fault)
        return self.fires(fault, "the controller was killed")

    def lives_again(self, *, past: Mapping[str, Mapping[str, int]] | None = None, slow: tuple[str, ...] = ()) -> Self:
        """A new life lists everything and watches it.

        `past` has, by resource, the objects that an old list shows, with their revisions; `slow` what it has asked for in vain.
        """
        self._lives()
        for resource in slow:
            self._ask("list", resource)
            self._waiting[resource] = self._request
        for resource in [each for each in self._streams if each not in slow]:
            self._lists_first(resource, (past or {}).get(resource))
        return self

    def _lives(self) -> None:
        self._life += 1
        self._streams = self._lost or self._streams
        self.adds(Started, life=self._life)

    def _lists_first(self, resource: str, past: Mapping[str, int] | None) -> None:
        if past is None:
            self.lists(resource)
        else:
            items = tuple(Item(NAMESPACE, name, self.uids[resource, name], Revision(revision)) for name, revision in past.items())
            self.page(resource, items, revision=max(past.values(), default=100))
        self._streams[resource] += 10
        self._open(resource)

    def first_list_arrives(self, resource: str) -> Self:
        """What was slow is answered at last."""
        return self._list(resource, self._items(resource), self._revision, self._waiting.pop(resource))

    # --- streams ------------------------------------------------------------------------------------------------------------------

    def ended(self, resource: str = "pods", how: str = "reset", *, fault: int | None = 0) -> Self:
        """A stream ends, by the first fault unless said otherwise; whatever was held on it is discarded."""
        held = self._held.pop(resource, [])
        self.adds(Closed, stream=self._streams.pop(resource), how=how, discarded=len(held), fault=fault)
        return self if fault is None else self._fires_once(fault)

    def flaps(self, times: int = 1) -> Self:
        """The stream of pods ends and is opened again, so many times."""
        for _ in range(times):
            self.ended().watches()
        return self

    def watches(self, resource: str = "pods", *, start: str | None = None, selector: str = "", watch_list: bool = False) -> Self:
        """The controller opens a stream, from now on unless said otherwise."""
        self._streams[resource] = 1 + max(entry.stream for entry in self.entries if isinstance(entry, Opened))
        return self._open(resource, start=start, selector=selector, watch_list=watch_list, bookmarks=True)

    def watches_apart(self) -> Self:
        """It opens stream 9 of pods beside the one that is open."""
        return self.adds(Opened, stream=9, client="controller", resource="pods")

    def shows(self, name: str, resource: str = "pods") -> Self:
        """An object is shown as it is now."""
        what_it_is = self._identity(self._objects[resource, name]["metadata"])
        return self.adds(Delivered, stream=self._streams[resource], type="ADDED", namespace=self.namespace, **what_it_is)

    def bookmark(self, resource: str = WIDGETS, *, fault: int | None = None) -> Self:
        """A bookmark comes, added by a fault if one is named."""
        return self.adds(Delivered, stream=self._streams[resource], type="BOOKMARK", revision=self._revision, fault=fault)

    def no_bookmark(self, resource: str = WIDGETS, *, fault: int = 0) -> Self:
        """A bookmark is dropped."""
        self.adds(Dropped, stream=self._streams[resource], type="BOOKMARK", revision=self._revision, fault=fault)
        return self._fires_once(fault)

    def initial_end(self, stream: int) -> Self:
        """The bookmark that ends the initial events of a WatchList."""
        return self.adds(Delivered, stream=stream, type="BOOKMARK", revision=self._revision, initial_end=True)

    # --- faults and phases --------------------------------------------------------------------------------------------------------

    def hold(self, resource: str = "pods", *, fault: int = 0, why: str = "step 1") -> Self:
        self._held[resource] = []
        return self.opens(fault, why)

    def let_go(self, resource: str = "pods", *, fault: int = 0) -> Self:
        """The hold ends: what was held leaves in order."""
        self.closes(fault)
        while self._held[resource]:
            self.shows_next(resource)
        del self._held[resource]
        return self

    def shows_next(self, resource: str = "pods") -> Self:
        """The next of what was held leaves."""
        frame = self._held[resource].pop(0)
        return self.adds(Delivered, **{name: getattr(frame, name) for name in frame.__struct_fields__ if name != "at"})

    def relist(self, resource: str = "pods", *, fault: int = 0) -> Self:
        """The hold ends with 410: what was held is discarded, and the client lists and watches again."""
        self.closes(fault)
        self.adds(Closed, stream=self._streams[resource], how="expired", discarded=len(self._held.pop(resource)), fault=fault)
        self.lists(resource)
        self._streams[resource] += 10
        return self._open(resource, bookmarks=True)

    def opens(self, fault: int = 0, why: str = "step 1") -> Self:
        return self.adds(FaultOpened, fault=fault, why=why)

    def fires(self, fault: int = 0, on: str = "something") -> Self:
        return self.adds(FaultFired, fault=fault, on=on)

    def _fires_once(self, fault: int) -> Self:
        fired = any(isinstance(entry, FaultFired) and entry.fault == fault for entry in self.entries)
        return self if fired else self.fires(fault)

    def closes(self, fault: int = 0) -> Self:
        return self.adds(FaultClosed, fault=fault)

    def released(self) -> Self:
        return self.adds(Released)

    def settled(self, *, ok: bool = True, why: str = "", overdue: float = 0.0) -> Self:
        return self.adds(Settled, ok=ok, why=why, overdue=overdue)

    def stuck(self, seconds: float = 10.0) -> Self:
        """The trial ends so long after the release, and something is still wrong."""
        return self.released().passes(seconds).settled(ok=False, why="still wrong")

    def passes(self, seconds: float) -> Self:
        """Nothing happens for so long."""
        self._passed += seconds
        return self

    def rests(self, entries: int = 4) -> Self:
        """Time goes on."""
        for _ in range(entries):
            self.idle(1)
        return self

    def ends(self) -> History:
        """Released, settled, listed again, ended: the usual end, unless it was said before."""
        if isinstance(self.entries[-1], Ended):
            return self.unfinished()
        if not any(isinstance(entry, Released) for entry in self.entries):
            self.released()
        if not any(isinstance(entry, Settled) for entry in self.entries):
            self.settled().resynced()
        return self.adds(Ended).unfinished()

    def pair(self, replicas: int = 2, *, pause: float = 0.0) -> Self:
        """A widget and its children, one step; after the first child the controller may pause."""
        self.step(1, "apply").applied("w", spec=replicas).creates("w-0").passes(pause)
        return self.creates(*(f"w-{number}" for number in range(1, replicas))).updates("w", status={"ready": replicas})


Workload = Callable[[Script], Script]


def trial() -> Script:
    """A trial in which pods and widgets may be held."""
    return Script(HOLD, HOLD_WIDGETS)


def reference(number: int = 1, role: HistoryRole = "reference") -> Script:
    return Script(namespace=f"ref-{number}", role=role)


def three(script: Script) -> Script:
    """A workload: a widget that wants three pods, then a touch."""
    return script.step(1, "apply").applied("w", spec=3).creates("w-a", "w-b", "w-c").idle(1).step(2, "touch").applied("w")


def three_renewed(script: Script) -> Script:
    """A workload: three are deleted, and their widget made again, which wants one."""
    return three(script).deletes("w-a", "w-b", "w-c").removed("w", WIDGETS).applied("w", spec=1).creates("w-d")


def pair_renewed(script: Script) -> Script:
    """A workload: a pair is deleted, and its widget made again."""
    return script.pair().step(2, "recreate").removed("w", WIDGETS).deletes("w-0", "w-1").applied("w", spec=2)


def two_references(*workloads: Workload) -> tuple[History, ...]:
    """Of these workloads, or both of the only one; of a pair unless said otherwise."""
    first, *second = workloads or (Script.pair,)
    return tuple(workload(reference(number)).ends() for number, workload in enumerate((first, *(second or [first])), 1))


def beside(script: Script, *workloads: Workload) -> Trial:
    """A trial and its two references."""
    return Trial(script.ends(), two_references(*workloads))


def losing(verb: Any = "create") -> LoseAnswer:  # noqa: ANN401  # a Literal
    return LoseAnswer(resource="pods", verb=verb)
