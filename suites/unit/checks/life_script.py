"""More of the script's language: answers that are lost, restarts, slow first lists, lists of the past."""

from collections.abc import Callable, Mapping
from typing import Any, Self, TypeVar

import msgspec

from staleproof.checks.trial import Trial
from staleproof.core.entry import Committed, FaultClosed, FaultFired, FaultOpened, Item, Listed, Opened, Started, Stopped
from staleproof.core.fault import AnyFault, LoseAnswer, PastSnapshot, Restart, SlowStart

from .script import NAMESPACE, WIDGETS, Script, reference

AnyScript = TypeVar("AnyScript", bound=Script)
RESTART = Restart()
PAST = PastSnapshot(resource=WIDGETS)
SLOW_PODS = SlowStart(resource="pods")
SLOW_WIDGETS = SlowStart(resource=WIDGETS)


def losing(verb: Any = "create") -> LoseAnswer:  # noqa: ANN401  # a Literal
    return LoseAnswer(resource="pods", verb=verb)


def three(script: AnyScript) -> AnyScript:
    """A workload: a widget that wants three pods, then a touch."""
    return script.step(1, "apply").applied("w", spec=3).creates("w-a", "w-b", "w-c").idle(1).step(2, "touch").applied("w")


def tried(script: Script, workload: Callable[[Script], Script] = three) -> Trial:
    """A trial beside two references of a workload."""
    return Trial(script.ends(), tuple(workload(reference(number)).idle(2).ends() for number in (1, 2)))


class LifeScript(Script):
    """`faults` are those of the plan, in the order in which they are numbered from 0."""

    def __init__(self, *faults: AnyFault) -> None:
        super().__init__(*faults)
        self._life = 1
        self._waiting: dict[str, int] = {}
        self._lost: dict[str, int] = {}

    def fires(self, fault: int = 0, on: str = "something") -> Self:
        return self._add(FaultFired, fault=fault, on=on)

    def loses_the_answer(self, fault: int = 0) -> Self:
        """The controller never hears the answer to what it did last."""
        self.entries[-1] = msgspec.structs.replace(self.entries[-1], outcome="unknown", code=0, fault=fault, executed=True)
        return self.fires(fault, "a write")

    def dies(self, fault: int = 0) -> Self:
        """Nothing is shown to it any more."""
        self._streams, self._lost = {}, self._streams
        self._add(Stopped, life=self._life, fault=fault)
        return self.fires(fault, "the controller was killed")

    def lives_again(self, *, past: Mapping[str, Mapping[str, int]] | None = None, slow: tuple[str, ...] = ()) -> Self:
        """A new life lists everything and watches it.

        `past` has, by resource, the objects that an old list shows, with their revisions; `slow` what it has asked for in vain.
        """
        self._life += 1
        self._streams = self._lost
        self._add(Started, life=self._life)
        for resource in slow:
            self._ask("list", resource)
            self._waiting[resource] = self._request
        for resource in self._streams:
            if resource not in slow:
                self._lists_first(resource, (past or {}).get(resource))
        return self

    def restarted(self) -> Self:
        self._streams = self._lost or self._streams
        return super().restarted()

    def _lists_first(self, resource: str, past: Mapping[str, int] | None) -> None:
        if past is None:
            self.lists(resource)
        else:
            items = tuple(Item(NAMESPACE, name, self.uids[resource, name], revision) for name, revision in past.items())
            self.page(resource, items, revision=max(past.values(), default=100))
        self._streams[resource] += 10
        self._add(Opened, stream=self._streams[resource], client="controller", resource=resource, start=str(self._revision))

    def first_list_arrives(self, resource: str) -> Self:
        """What was slow is answered at last."""
        items = tuple(self._item(obj) for (where, _), obj in self._objects.items() if where == resource)
        return self._add(
            Listed,
            request=self._waiting.pop(resource),
            client="controller",
            resource=resource,
            revision=self._revision,
            items=items,
        )

    def opens(self, fault: int) -> Self:
        return self._add(FaultOpened, fault=fault, why="step 2")

    def closes(self, fault: int) -> Self:
        return self._add(FaultClosed, fault=fault)

    @property
    def uids(self) -> dict[tuple[str, str], str]:
        """Of the first object by that name."""
        found: dict[tuple[str, str], str] = {}
        for entry in self.entries:
            if isinstance(entry, Committed):
                found.setdefault((entry.resource, entry.name), entry.uid)
        return found
