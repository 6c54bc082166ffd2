"""needs-no-bookmarks: work without any bookmark, and never take one for an object.

Put to the test: bookmarks of the controller's watches were dropped, or more were added. Three things are findings:

1. it waited for a bookmark: with nothing but bookmarks kept from it, it was at rest for longer than it ever pauses without faults,
   and the state was not the references'; then bookmarks came, nothing else that was new to it, and with one of them it went on;
2. it took bookmarks for objects: while it was at rest, each bookmark that came was soon followed by a write before anything else
   happened, at least twice; nothing was written at rest without one; and no reference shows the like;
3. an end that is not the references', when nothing was done to it but to its bookmarks.

The bookmark that ends the initial events is another matter: no fault may drop it.
"""

from collections.abc import Iterator

from staleproof.checks.but_for import unheard_of
from staleproof.checks.ends.convergence import certain_difference
from staleproof.checks.facts.bookmarks import bookmark_writes, went_on_with_bookmark
from staleproof.checks.facts.recovery_budget import usual_pauses
from staleproof.checks.requirement import Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, NotExercised, Said, Suspicion
from staleproof.core.history.entry import Delivered, Dropped, StepBegan
from staleproof.core.times import IDLE_FACTOR, REST_SECONDS

_OFTEN = 2


def check(trial: Trial) -> Iterator[Said]:
    _, settled = trial.ending
    dropped = [i for i, entry in trial.every(Dropped, until=settled) if entry.type == "BOOKMARK" and entry.fault is not None]
    added = [i for i, entry in trial.every(Delivered, until=settled) if entry.type == "BOOKMARK" and entry.fault is not None]
    if not dropped and not added:
        yield NotExercised("no bookmark was dropped, and none was added")
        return
    first = min([*dropped, *added])
    charge = "with bookmarks dropped" if first in dropped else "with a bookmark behind every event"
    findings = [*_waited(trial), *_taken(trial)]
    yield from findings
    if not findings:
        yield Suspicion((first,), charge)


def _rest_seconds(trial: Trial) -> float:
    """When it does nothing for so long, it does nothing more of its own accord."""
    return max([REST_SECONDS, *(IDLE_FACTOR * pause for pause in usual_pauses(trial))])


def _waited(trial: Trial) -> Iterator[Finding]:
    drops_only = all("drops-bookmarks" in fault.effects for fault in trial.fired.values())
    if not trial.spans or not drops_only:
        return
    opened, closed = min(span.opened for span in trial.spans.values()), max(map(trial.closing, trial.spans))
    if any(trial.every(StepBegan, since=closed)):
        return  # it had more to do by then
    went_on = went_on_with_bookmark(trial, closed)
    if went_on is None or trial.at(closed) - went_on[0].at < _rest_seconds(trial):
        return
    last, bookmark, write = went_on
    missing = certain_difference(trial, closed)
    if missing:
        because = (
            f"with everything shown to it but bookmarks it came to rest, and went on only when one came: until then, {missing}"
        )
        yield Finding(because, (opened, last.index, closed, bookmark.index, write.index), basis="pace")


def _taken(trial: Trial) -> Iterator[Finding]:
    rest = _rest_seconds(trial)
    pairs = list(unheard_of(trial, lambda run: bookmark_writes(run, rest), lambda _: "written"))
    if len(pairs) >= _OFTEN:
        witnesses = tuple(index for pair in pairs[:3] for index in pair)
        because = f"it wrote after each of the {len(pairs)} bookmarks that came while it was at rest, and at no other time of rest"
        yield Finding(because, witnesses)


REQUIREMENT = Requirement(
    slug="needs-no-bookmarks",
    must="The controller MUST work without any bookmark, and never take one for an object.",
    level="core",
    source="API concepts, Watch bookmarks",
    faults=("DropBookmarks", "AddBookmarks"),
    remedy="use a bookmark only to remember a newer resourceVersion; never wait for one, and never reconcile because of one",
    kind="end",
    wrong="another end than without faults, or a write for each bookmark",
    effects=frozenset({"drops-bookmarks", "adds-bookmarks"}),
    check=check,
    outlives=frozenset({"drops-bookmarks", "adds-bookmarks"}),
    needs_end=True,
)
