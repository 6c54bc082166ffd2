"""settles: stop changing things once converged, also when everything is reconciled again.

After the trial has settled the controller is made to list its primaries again, without any change; and again, if it then changes
something. What counts, and when nothing is known, is told by `ends.rest`; a write that changes nothing, or nothing but a time, is
a cost and for `quiet-at-rest` to tell. A finding is that it

1. goes on: it changes something each time that it looks, three times at least;
2. goes back: it takes back what it has changed, or what was there, and makes it anew: what it deleted it creates, what it created
   it deletes, a value that it changed it returns.

Neither is progress. A controller that waits for something outside, and asks for it when it looks, may change something each time
that it has come further, and then no more.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence

from staleproof.checks.ends.rest import Rest, rest
from staleproof.checks.requirement import SEED, Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import NotExercised, Said
from staleproof.core.history.change import LOOKS, essential
from staleproof.core.history.entry import Committed
from staleproof.core.history.provenance import Commit, is_create


def check(trial: Trial) -> Iterator[Said]:
    found = rest(trial)
    if found.changing and (_goes_on(found) or _goes_back(trial, found)):
        what = "after it had settled and nothing had changed"
        yield found.told(found.changing, trial, what=what, though="though nothing had changed")
    elif found.changing:
        yield NotExercised("it changed something when it looked again and then no more: it may have been told news from outside")
    else:
        yield from found.doubt


def _goes_on(found: Rest) -> bool:
    followed = {bisect_left(found.looks, write.index) for write in found.changing}
    return len(found.looks) >= LOOKS and followed.issuperset(range(1, len(found.looks) + 1))


def _goes_back(trial: Trial, found: Rest) -> bool:
    own = {write.index for write in found.changing}
    made = [commit for commit in trial.commits if commit.by is not None and commit.by.index in own]
    ends = {(commit.entry.resource, commit.entry.name, is_create(commit.by)) for commit in made if commit.by and _is_end(commit)}
    turned = any((resource, name, not begins) in ends for resource, name, begins in ends)
    return turned or any(_returns(trial.plan.settle.moves, _states(trial, uid, made)) for uid in {c.entry.uid for c in made})


def _is_end(commit: Commit) -> bool:
    """Whether an object began or ended with it."""
    return commit.before is None or commit.deletes


def _states(trial: Trial, uid: str, made: Sequence[Commit]) -> list[Committed]:
    """An object before each of these commits and after the last."""
    first = min(commit.index for commit in made if commit.entry.uid == uid)
    every = [commit for commit in trial.commits if commit.entry.uid == uid]
    return [each.entry for each in every if each.index < first][-1:] + [each.entry for each in every if each.index >= first]


def _returns(moves: Collection[str], states: Sequence[Committed]) -> bool:
    """Whether some state is another than the one before, and the same as an earlier one."""

    def differs(before: Committed, after: Committed) -> bool:
        return bool(essential(before.resource, before.object, after.object, moves))

    turns = [number for number in range(1, len(states)) if differs(states[number - 1], states[number])]
    return any(not differs(states[earlier], states[number]) for number in turns for earlier in range(number))


REQUIREMENT = Requirement(
    slug="settles",
    must="The controller MUST stop changing things once converged, also when everything is reconciled again.",
    level="core",
    source=f"{SEED}, section Fast and offline reconciliation",
    faults=(),
    remedy="compare before writing: a reconciliation that finds nothing to change changes nothing",
    severity="stuck",
    kind="pace",
    wrong="changes that go on, or back, at rest",
    check=check,
    needs_references=False,
    needs_end=True,
    waits=True,
)
