"""More words for literal histories: time that passes, streams that end and are opened again, bookmarks, rejected requests.

Like `script`, it knows nothing of what a controller or an API server would do. A commit on a resource without a stream is shown to
nobody.
"""

from collections.abc import Sequence
from typing import Self

import msgspec

from staleproof.core.entry import (
    Answered,
    Closed,
    Delivered,
    Dropped,
    FaultClosed,
    FaultFired,
    FaultOpened,
    Opened,
)
from staleproof.core.fault import AnyFault
from staleproof.core.history import Header, History
from staleproof.core.plan import Step

from .script import NAMESPACE, STEPS, WIDGETS, Script

ONE_POD = "1 pod of widget/w, fault-free runs ended with 2"
"""How a trial of one pod differs from the two references."""
UNSURE = f"INCONCLUSIVE: it did not converge ({ONE_POD}), but"


class StreamScript(Script):
    """A trial under these faults, or a reference if there are none; `names` are the widgets that the workload applies."""

    def __init__(
        self,
        *faults: AnyFault,
        namespace: str = NAMESPACE,
        steps: Sequence[Step] = STEPS,
        names: Sequence[str] = ("w",),
    ) -> None:
        super().__init__(*faults, namespace=namespace)
        self.plan = msgspec.structs.replace(self.plan, steps=tuple(steps))
        self._names = names

    def pair(self, replicas: int = 2) -> Self:
        """A widget and its children, one step."""
        self.step(1, "apply").applied("w", spec=replicas)
        return self.creates(*(f"w-{number}" for number in range(replicas))).updates("w", status={"ready": replicas})

    def stuck(self, seconds: float = 10.0) -> Self:
        """The trial ends so long after the release, and something is still wrong."""
        return self.released().passes(seconds).settled(ok=False, why="still wrong")

    def opens(self, fault: int = 0) -> Self:
        return self._add(FaultOpened, fault=fault, why="step 1")

    def fires(self, fault: int = 0) -> Self:
        return self._add(FaultFired, fault=fault, on="something")

    def closes(self, fault: int = 0) -> Self:
        return self._add(FaultClosed, fault=fault)

    def ended(self, resource: str = "pods", how: str = "reset", *, fault: int | None = 0) -> Self:
        """A stream ends, by the first fault unless said otherwise; whatever was held on it is discarded."""
        held = self._held.pop(resource, [])
        self._add(Closed, stream=self._streams.pop(resource), how=how, discarded=len(held), fault=fault)
        return self if fault is None or self._fired(fault) else self.fires(fault)

    def watches(self, resource: str = "pods", *, start: str | None = None, selector: str = "", watch_list: bool = False) -> Self:
        """The controller opens a stream, from now on unless said otherwise."""
        used = [entry.stream for entry in self.entries if isinstance(entry, Opened)]
        self._streams[resource] = max(used) + 1
        return self._add(
            Opened,
            stream=self._streams[resource],
            client="controller",
            resource=resource,
            start=str(self._revision) if start is None else start,
            selector=selector,
            watch_list=watch_list,
            bookmarks=True,
        )

    def shows(self, name: str, resource: str = "pods") -> Self:
        """An object is shown as it is now."""
        metadata = self._objects[resource, name]["metadata"]
        return self._add(
            Delivered,
            stream=self._streams[resource],
            type="ADDED",
            namespace=self.namespace,
            name=name,
            uid=metadata["uid"],
            revision=int(metadata["resourceVersion"]),
        )

    def bookmark(self, resource: str = WIDGETS, *, fault: int | None = None) -> Self:
        """A bookmark comes, added by a fault if one is named."""
        return self._add(Delivered, stream=self._streams[resource], type="BOOKMARK", revision=self._revision, fault=fault)

    def no_bookmark(self, resource: str = WIDGETS, *, fault: int = 0) -> Self:
        """A bookmark is dropped."""
        self._add(Dropped, stream=self._streams[resource], type="BOOKMARK", revision=self._revision, fault=fault)
        return self if self._fired(fault) else self.fires(fault)

    def rejected(self, verb: str = "create", resource: str = "pods", name: str = "", *, fault: int = 0, code: int = 500) -> Self:
        """The controller asks for something, and a fault answers."""
        self._ask(verb, resource, name)
        self._add(Answered, request=self._request, outcome="unknown", code=code, fault=fault, executed=False)
        return self if self._fired(fault) else self.fires(fault)

    def _fired(self, fault: int) -> bool:
        return any(isinstance(entry, FaultFired) and entry.fault == fault for entry in self.entries)

    def header(self) -> Header:
        return msgspec.structs.replace(super().header(), primaries=tuple(f"{WIDGETS}/{name}" for name in self._names))


def two_references(replicas: int = 2) -> tuple[History, History]:
    """What `pair` ends with when nothing is wrong."""
    first, second = (StreamScript(namespace=f"ref-{number}").pair(replicas) for number in (1, 2))
    return first.ends(), second.ends()
