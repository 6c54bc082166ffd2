"""quiet-at-rest: not write what is already so.

After the trial has settled the controller is made to list its primaries again, without any change (`ends.rest`). Every write from
then on that changes nothing, or nothing but a time, is told. It is a cost and not a failure: the API server stores no update that
leaves an object as it is, and many correct controllers apply what they want again and again.
"""

from collections.abc import Iterator

from staleproof.checks.ends.rest import rest
from staleproof.checks.requirement import SEED, Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Said


def check(trial: Trial) -> Iterator[Said]:
    found = rest(trial)
    if found.void:
        what = "after it had settled changed nothing"
        yield found.told(found.void, trial, what=what, though="though everything was as it should be")
    else:
        yield from found.doubt


REQUIREMENT = Requirement(
    slug="quiet-at-rest",
    must="The controller MUST not write what is already so.",
    level="provisional",
    source=f"{SEED}, section Fast and offline reconciliation",
    faults=(),
    remedy="compare before writing; keep times out of what is compared, and write them only together with a change",
    severity="transient",
    kind="pace",
    wrong="writes at rest that change nothing",
    check=check,
    needs_references=False,
    needs_end=True,
    waits=True,
)
