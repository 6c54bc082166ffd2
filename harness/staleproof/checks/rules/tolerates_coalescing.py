"""tolerates-coalescing: be level-triggered: the same end although states in between were never seen.

Put to the test: the controller's streams ended or were behind, and when it caught up states of an object had been skipped: an
object had come and gone, been replaced, or changed more than once (`pending_events`). A finding needs an end that is not the
references' (what is left over counts as well), after a time that any client can do with, when nothing was done to the controller
but what makes states go by unseen, and no other requirement explains the end.

Not judged here: what a new life did not see of the time before it. That is for `survives-restart`.
"""

from collections.abc import Iterator

from staleproof.checks.facts.pending_events import pending_events
from staleproof.checks.facts.recovery_budget import EXPIRED, LOST, ended_streams
from staleproof.checks.facts.wording import happened
from staleproof.checks.requirement import Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import NotExercised, Said, Suspicion


def check(trial: Trial) -> Iterator[Said]:
    _, settled = trial.ending
    ended = {resource: index for index, resource in ended_streams(trial, (*LOST, *EXPIRED), settled)}
    skipped = [event for event in pending_events(trial).skipped(before=settled) if event.commit.resource in ended]
    if not skipped:
        yield NotExercised("the controller was shown every state of every object that it follows")
        return
    acts = (ended[skipped[0].commit.resource], *(event.index for event in skipped[:3]))
    told = list(dict.fromkeys(happened(event.commit) for event in skipped))
    yield Suspicion(acts, f"it was never shown that {' and '.join(told[:2])}, only what came of it")


REQUIREMENT = Requirement(
    slug="tolerates-coalescing",
    must="The controller MUST reach the same end when it never sees the states in between.",
    level="core",
    source="API concepts, Efficient detection of changes; kubernetes/kubernetes#46173",
    faults=("Coalesce", "Hold", "Expire", "Sever", "Refuse"),
    remedy="work from what is there now and not from what has happened (level-triggered): compare the wanted state with the "
    "observed one, and treat a new uid under an old name as a delete and a create",
    kind="end",
    reasons=("coalesced",),
    wrong="another end than without faults",
    effects=frozenset({"skips"}),
    check=check,
    outlives=frozenset({"skips"}),
    needs_end=True,
)
