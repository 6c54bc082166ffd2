"""no-blind-retry: not repeat an own committed write only because it has not been seen: a conflict with oneself.

What counts is an update refused with 409 Conflict although nobody but the controller had changed the object since the version that
it had been shown, and although each of those own writes had been answered before. Only how many there are beyond every reference
is told: several controllers in one program conflict without any fault.

This is a cost and not a failure, so it is provisional: optimistic concurrency makes it harmless, and a controller that keeps no
record of its writes, tries, and comes back later is a correct one. Left out for honesty: AlreadyExists, by which deterministic
names live; patches, whose conflict may be about the ownership of fields; own writes of which it never heard the end; objects that
somebody else wrote to about then.
"""

from collections.abc import Iterator, Sequence

from staleproof.checks.facts.conflicts import Conflict, conflicts, hidden_updates
from staleproof.checks.facts.witnesses import context
from staleproof.checks.facts.wording import full_name, span
from staleproof.checks.requirement import HIDDEN, SEED, Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, NotExercised, Said
from staleproof.core.wording import plural


def check(trial: Trial) -> Iterator[Said]:
    for where, found in conflicts(trial).items():
        usual = max((len(conflicts(reference).get(where, ())) for reference in trial.references), default=0)
        if len(found) > usual:
            yield _finding(trial, found, usual)
    if not hidden_updates(trial):
        yield NotExercised("the controller was never made to look again while an own update was hidden from it")


def _finding(trial: Trial, found: Sequence[Conflict], usual: int) -> Finding:
    last = found[-1]
    asked = last.request.asked
    part = f"the {asked.subresource} of " if asked.subresource else ""
    because = (
        f"{plural(len(found), 'update')} of {part}{full_name(last.target.last.entry)} {'was' if len(found) == 1 else 'were'} "
        "refused with 409 Conflict because of the controller's own writes; "
        f"fault-free runs had {f'at most {usual}' if usual else 'none'}"
    )
    though = f"though it had not been shown its own writes {span([commit.entry.revision for commit in last.unseen])}"
    answered = [commit.heard.answer_index for commit in last.unseen if commit.heard]
    return Finding(because, context(trial, answered, last.request.index, last.request.answer_index or 0), though)


REQUIREMENT = Requirement(
    slug="no-blind-retry",
    must="The controller MUST not repeat its own committed write only because it has not been shown it.",
    level="provisional",
    source=f"KEP-5647; {SEED}, section Expectations pattern",
    faults=HIDDEN,
    remedy="keep the resourceVersion of the last own write and skip the object until the cache has reached it; "
    "a conflict costs a request and is harmless otherwise, so this is a cost and not a failure",
    severity="transient",
    kind="deed",
    wrong="an update refused because of own writes",
    reasons=("hidden",),
    check=check,
)
