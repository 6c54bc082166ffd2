"""What may make a controller write, and when it writes: the moments of a trial that show whether it is at rest.

A cause is a step of the workload, something shown (an event, a list), or the answer to a write. An echo tells nothing new but may
wake a controller all the same: a stream that opens, an event of a state that was shown before. A bookmark reports nothing that
happened: what the controller does when one comes is kept apart. Bookkeeping is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from staleproof.checks.trial import Trial, fact
from staleproof.core.history.entry import Answered, Asked, Delivered, Entry, Listed, Opened, StepBegan
from staleproof.core.history.history import is_work
from staleproof.core.history.request import BOOKKEEPING

StimulusKind = Literal["cause", "echo", "write", "bookmark"]
_Version = tuple[int, str, int | None]
"""life, uid, revision"""


@dataclass(frozen=True, slots=True)
class Stimulus:
    """`rested`: seconds since the last of them before it that was no bookmark."""

    index: int
    at: float
    kind: StimulusKind
    rested: float


@fact
def stimuli(trial: Trial) -> Sequence[Stimulus]:
    """In order."""
    found: list[Stimulus] = []
    versions: set[_Version] = set()
    last = trial.at(0) if trial.entries else 0.0
    for index, entry in enumerate(trial.entries):
        kind = _kind(trial, index, entry, versions)
        if kind is not None:
            found.append(Stimulus(index, entry.at, kind, entry.at - last))
            last = last if kind == "bookmark" else entry.at
    return found


@dataclass(frozen=True, slots=True)
class Sleep:
    """The longest time without any stimulus between a position and the controller's first write behind it, at `until`.

    That something woke it in the end, or nearly did, does not make the sleep before it any shorter. If it wrote nothing, `until` is
    where the time ended.
    """

    seconds: float
    until: int
    wrote: bool


def sleep_after(trial: Trial, since: int, until: int) -> Sleep:
    """From one position on, and before the other."""
    last, longest = trial.at(since), 0.0
    for stimulus in stimuli(trial):
        if since < stimulus.index < until and stimulus.kind != "bookmark":
            last, longest = stimulus.at, max(longest, stimulus.at - last)
            if stimulus.kind == "write":
                return Sleep(longest, stimulus.index, wrote=True)
    return Sleep(max(longest, trial.at(until) - last), until, wrote=False)


def _kind(trial: Trial, index: int, entry: Entry, versions: set[_Version]) -> StimulusKind | None:
    match entry:
        case Asked() if is_work(entry):
            return "write"
        case Answered() if (request := trial.request_of.get(entry.request)) is not None:
            return "cause" if is_work(request.asked) and request.index < index else None
        case Opened() if entry.resource not in BOOKKEEPING:
            return "echo"
        case Delivered() if trial.resource_of(entry.stream) not in BOOKKEEPING:
            return _shown((trial.life(index), entry.uid, entry.revision), entry, versions)
        case Listed() if entry.resource not in BOOKKEEPING:
            return "cause"
        case StepBegan():
            return "cause"
    return None


def _shown(version: _Version, entry: Delivered, versions: set[_Version]) -> StimulusKind:
    """An event of a version that this life was shown before is an echo; `versions` takes it in."""
    if entry.type == "BOOKMARK":
        return "cause" if entry.initial_end else "bookmark"
    known = version in versions
    versions.add(version)
    return "echo" if known else "cause"


# --- bookmarks


def went_on_with_bookmark(trial: Trial, closed: int) -> tuple[Stimulus, Stimulus, Stimulus] | None:
    """The last stimulus before a position, the bookmark behind that position and, right after that, the first write.

    None if it did not go on in this way. Echoes may come in between, if some came before the position, too, and did not make it
    write.
    """
    found = stimuli(trial)
    before = [each for each in found if each.index < closed and each.kind in ("cause", "write")]
    after = [each for each in found if each.index > closed]
    write = next((place for place, each in enumerate(after) if each.kind not in ("bookmark", "echo")), None)
    if not before or not write or after[write].kind != "write" or after[write - 1].kind != "bookmark":
        return None
    had_echoes = any(each.kind == "echo" and before[-1].index < each.index < closed for each in found)
    if not had_echoes and any(each.kind == "echo" for each in after[:write]):
        return None
    return before[-1], after[write - 1], after[write]


def bookmark_writes(trial: Trial, rest: float) -> Sequence[tuple[int, int]]:
    """(bookmark, write) for each bookmark before the settling that came after so many seconds of rest.

    Empty unless each such bookmark has its write, before anything else and sooner than that, and each write at rest its bookmark.
    """
    found = [each for each in stimuli(trial) if trial.settled is None or each.index < trial.settled]
    pairs: list[tuple[int, int]] = []
    if found and found[-1].kind == "bookmark" and found[-1].rested >= rest:
        return []
    for before, stimulus in zip([None, *found], found, strict=False):
        follows = before is not None and before.kind == "bookmark" and before.rested >= rest
        if before is not None and follows and stimulus.kind == "write" and stimulus.at - before.at < rest:
            pairs.append((before.index, stimulus.index))
        elif follows or (stimulus.kind == "write" and stimulus.rested >= rest):
            return []
    return pairs
