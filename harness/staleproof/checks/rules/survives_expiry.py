"""survives-expiry: list again after 410 and continue.

Put to the test: a watch or a list of the controller was answered 410, and it listed that resource again (or, with WatchList, was
given its whole state). A finding needs an end that is not the references', after a time that suffices for any client, and one of
these:

1. direct evidence: it never listed that resource again, and did not see what was committed there before the release;
2. nothing else was done to it in the whole trial, no other requirement explains the end, and no state in between was skipped (or
   `tolerates-coalescing` may be the better name for what went wrong).
"""

from collections.abc import Collection, Iterator

from staleproof.checks.facts.pending_events import pending_events
from staleproof.checks.facts.recovery_budget import expirations
from staleproof.checks.facts.showings import is_shown
from staleproof.checks.facts.wording import happened, short_name
from staleproof.checks.requirement import Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import NotExercised, Said, Suspicion


def check(trial: Trial) -> Iterator[Said]:
    released, settled = trial.ending
    expired = expirations(trial, settled)
    if not expired:
        yield NotExercised("no watch or list of the controller was answered 410")
        return
    last = {resource: index for index, resource in expired}
    unlisted = [each for each, index in last.items() if not is_shown(trial, each, ("list", "watch"), since=index, until=settled)]
    acts, proof = [expired[0][0], expired[-1][0]], ""
    unseen = (event for event in pending_events(trial).missed(before=settled) if event.index < released)
    missed = next((event for event in unseen if event.commit.resource in unlisted), None)
    if missed is not None:
        acts += [last[missed.commit.resource], missed.index]
        proof = f"it never listed {missed.commit.resource} again after 410 Expired, and {happened(missed.commit)}"
    needless = f"it did not list {', '.join(unlisted)} again after 410, and there was nothing there that it needed"
    yield Suspicion(
        acts=tuple(acts),
        charge=f"after 410 Expired, and a list of {expired[-1][1]}",
        proof=proof,
        doubt=_doubt(trial, last),
        untested=needless if len(unlisted) == len(last) else "",
    )


def _doubt(trial: Trial, expired: Collection[str]) -> str:
    skipped = pending_events(trial).skipped(before=trial.ending[1])
    commit = next((event.commit for event in skipped if event.commit.resource in expired), None)
    return f"it was never shown a state of {short_name(commit)} in between (tolerates-coalescing)" if commit else ""


REQUIREMENT = Requirement(
    slug="survives-expiry",
    must="The controller MUST list again after 410 Expired, take what is not in the list for gone, and continue.",
    level="core",
    source="API concepts, 410 Gone responses",
    faults=("Expire", "Coalesce", "Hold"),
    remedy="treat 410 (as an answer and as an ERROR event) as an order to list again, replace the cache by that list, "
    "and wake the owners of what is not in it",
    kind="end",
    wrong="another end than without faults",
    effects=frozenset({"expires"}),
    check=check,
    outlives=frozenset({"expires"}),
    needs_end=True,
)
