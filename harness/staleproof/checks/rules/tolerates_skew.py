"""tolerates-skew: survive any relative lag between resources.

Put to the test: an event of one resource was late while something of another was shown (children older than their parents, or the
other way round). A finding is an end that is not the references', after a time that any controller can do with, when nothing was
done to it but lags. A write that breaks another rule meanwhile is told by that rule, and by that rule only: then this one has
nothing to say, neither good nor bad.
"""

from dataclasses import dataclass, field

from staleproof.checks.facts.liveness import Suspicion, broken_rules, verdict_on
from staleproof.checks.facts.pending_events import Unshown
from staleproof.checks.story.phrases import listing
from staleproof.checks.trial import Evidence
from staleproof.checks.verdict import Verdict, not_exercised
from staleproof.core.entry import Closed, Delivered, Entry, Opened, Settled, Started, Withheld
from staleproof.core.fault import AnyFault, DelayStream, HoldStream, Skew
from staleproof.core.request import BOOKKEEPING

SLUG = "tolerates-skew"
Frame = tuple[str, int | None]
"""uid and revision."""


@dataclass(slots=True)
class Lag:
    """A resource was behind from the withheld event on, until it had been shown all; something of another was shown meanwhile."""

    behind: str
    withheld: int
    ahead: list[str] = field(default_factory=list)
    shown: int = -1
    caught_up: int | None = None

    @property
    def words(self) -> str:
        return f"its view of {self.behind} was behind that of {listing(self.ahead)}"


def check(evidence: Evidence) -> Verdict:
    lags = [lag for lag in _lags(evidence) if lag.ahead]
    if not lags:
        return not_exercised(SLUG, "nothing of one resource was shown to the controller while another resource was late")
    broken = broken_rules(evidence)
    if broken:
        return not_exercised(SLUG, f"it wrote on an old view meanwhile, which {broken[0].requirement} tells")
    return verdict_on(SLUG, evidence, Suspicion((lags[0].withheld, lags[0].shown), _is_ours, f"after {lags[0].words}"))


def _is_ours(fault: AnyFault) -> bool:
    """Not one that ends the stream: that is for survives-stream-loss and survives-expiry."""
    match fault:
        case HoldStream(release=release):
            return release in ("events", "trickle")
    return isinstance(fault, DelayStream | Skew)


def _lags(evidence: Evidence) -> list[Lag]:
    fold = _Lags(evidence.history.header.namespace)
    for index, entry in enumerate(evidence.history.entries):
        if isinstance(entry, Settled):
            break
        fold.advance(index, entry)
    return fold.lags


@dataclass(slots=True)
class _Lags:
    """A fold. A resource has caught up when no late event waits any more and nothing committed is unseen."""

    namespace: str
    lags: list[Lag] = field(default_factory=list)
    _unshown: Unshown = field(init=False)
    _streams: dict[int, str] = field(default_factory=dict)
    _held: dict[int, set[Frame]] = field(default_factory=dict)
    _late: dict[str, Lag] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._unshown = Unshown(self.namespace)

    def advance(self, index: int, entry: Entry) -> None:
        self._unshown.advance(index, entry)
        match entry:
            case Started():
                self._held.clear()
            case Opened():
                self._streams[entry.stream] = entry.resource
            case Closed():
                self._held.pop(entry.stream, None)
            case Withheld() if entry.uid and entry.namespace == self.namespace:
                self._withheld(index, entry)
            case Delivered() if entry.uid and entry.namespace == self.namespace:
                self._delivered(index, entry)
        self._end(index)

    def _withheld(self, index: int, entry: Withheld) -> None:
        resource = self._streams.get(entry.stream, "")
        if resource in BOOKKEEPING:
            return
        self._held.setdefault(entry.stream, set()).add((entry.uid, entry.revision))
        if resource not in self._late:
            self._late[resource] = Lag(resource, index)
            self.lags.append(self._late[resource])

    def _delivered(self, index: int, entry: Delivered) -> None:
        self._held.get(entry.stream, set()).discard((entry.uid, entry.revision))
        resource = self._streams.get(entry.stream, "")
        for lag in self._late.values():
            if resource not in (lag.behind, *lag.ahead, *BOOKKEEPING):
                lag.shown = index if not lag.ahead else lag.shown
                lag.ahead.append(resource)

    def _end(self, index: int) -> None:
        waiting = {self._streams.get(stream) for stream, frames in self._held.items() if frames}
        for resource in [each for each in self._late if each not in waiting and not self._unshown.is_behind(each)]:
            self._late.pop(resource).caught_up = index
