"""Which resources were late while something of another one was shown: children older than their parents, or the other way round."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from staleproof.checks.facts.pending_events import pending_events
from staleproof.checks.trial import Trial, fact
from staleproof.checks.view.life import view
from staleproof.core.history.entry import Delivered, Withheld
from staleproof.core.history.request import BOOKKEEPING


@dataclass(slots=True)
class Lag:
    """A resource was behind from the withheld event on; of those `ahead` something was shown meanwhile, first at `shown`."""

    behind: str
    withheld: int
    ahead: list[str] = field(default_factory=list)
    shown: int = -1


@fact
def lags(trial: Trial) -> Sequence[Lag]:
    """In the order in which they began, up to the end of the settling phase; those with nothing ahead are left out.

    A resource has caught up when no late event waits any more and nothing that was committed is unseen.
    """
    found: list[Lag] = []
    late: dict[str, Lag] = {}
    for index, entry in enumerate(trial.entries[: trial.settled]):
        if isinstance(entry, Withheld | Delivered) and entry.uid and entry.namespace == trial.namespace:
            resource = trial.resource_of(entry.stream)
            if isinstance(entry, Delivered):
                _show(late, resource, index)
            elif resource not in (*late, *BOOKKEEPING):
                late[resource] = Lag(resource, index)
                found.append(late[resource])
        waiting = view(trial, index + 1).withheld() if late else ()
        late = {of: lag for of, lag in late.items() if of in waiting or pending_events(trial).before(index + 1, of)}
    return [lag for lag in found if lag.ahead]


def _show(late: dict[str, Lag], resource: str, index: int) -> None:
    for lag in late.values():
        if resource not in (lag.behind, *lag.ahead, *BOOKKEEPING):
            lag.shown = index if not lag.ahead else lag.shown
            lag.ahead.append(resource)
