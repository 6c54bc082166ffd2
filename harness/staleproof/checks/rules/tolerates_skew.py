"""tolerates-skew: survive any relative lag between resources.

Put to the test: an event of one resource was late while something of another was shown (children older than their parents, or the
other way round). A finding is an end that is not the references', after a time that any controller can do with, when nothing was
done to it but lags. A write that breaks another rule meanwhile is told by that rule, and by that rule only: then this one has
nothing to say, neither good nor bad.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from staleproof.checks.facts.pending_events import pending_events
from staleproof.checks.requirement import Requirement
from staleproof.checks.story.phrases import listing
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import NotExercised, Said, Suspicion
from staleproof.core.entry import Closed, Delivered, Started, Withheld
from staleproof.core.request import BOOKKEEPING


@dataclass(slots=True)
class _Lag:
    """A resource was behind from the withheld event on; of those `ahead` something was shown meanwhile, first at `shown`."""

    behind: str
    withheld: int
    ahead: list[str] = field(default_factory=list)
    shown: int = -1


def check(trial: Trial) -> Iterator[Said]:
    lag = next((lag for lag in _lags(trial) if lag.ahead), None)
    if lag is None:
        yield NotExercised("nothing of one resource was shown to the controller while another resource was late")
        return
    # Not by a fault that ends the stream: that is for survives-stream-loss and survives-expiry.
    charge = f"after its view of {lag.behind} was behind that of {listing(lag.ahead)}"
    yield Suspicion((lag.withheld, lag.shown), frozenset({"lags"}), charge, unless_broken=True)


def _lags(trial: Trial) -> list[_Lag]:
    """In the order in which they began, up to the end of the settling phase."""
    found: list[_Lag] = []
    late: dict[str, _Lag] = {}
    held: dict[int, set[tuple[str, int | None]]] = {}
    for index, entry in enumerate(trial.entries[: trial.settled]):
        match entry:
            case Started():
                held.clear()
            case Closed():
                held.pop(entry.stream, None)
            case Withheld() if entry.uid and entry.namespace == trial.namespace:
                resource = trial.resource_of(entry.stream)
                if resource not in BOOKKEEPING:
                    held.setdefault(entry.stream, set()).add((entry.uid, entry.revision))
                    if resource not in late:
                        late[resource] = _Lag(resource, index)
                        found.append(late[resource])
            case Delivered() if entry.uid and entry.namespace == trial.namespace:
                held.get(entry.stream, set()).discard((entry.uid, entry.revision))
                _show(late, trial.resource_of(entry.stream), index)
        for resource in [resource for resource in late if not _is_late(trial, resource, held, index)]:
            del late[resource]
    return found


def _show(late: dict[str, _Lag], resource: str, index: int) -> None:
    for lag in late.values():
        if resource not in (lag.behind, *lag.ahead, *BOOKKEEPING):
            lag.shown = index if not lag.ahead else lag.shown
            lag.ahead.append(resource)


def _is_late(trial: Trial, resource: str, held: dict[int, set[tuple[str, int | None]]], index: int) -> bool:
    """Whether a late event of it still waits, or anything of it that was committed is unseen."""
    waits = any(frames and trial.resource_of(stream) == resource for stream, frames in held.items())
    return waits or bool(pending_events(trial).before(index + 1, resource))


REQUIREMENT = Requirement(
    slug="tolerates-skew",
    must="The controller MUST survive any lag of one resource behind another.",
    level="core",
    source="kubernetes/kubernetes#112684; KEP-2340",
    faults=("Skew", "Hold", "Delay"),
    remedy="never conclude from a parent in one cache that a child in another cache must be there (or gone) by now: "
    "look again when the other cache moves, and read live before a destructive act",
    check=check,
)
