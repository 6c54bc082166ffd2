"""settles: stop changing things once converged, also when everything is reconciled again.

After the trial has settled the controller is made to list its primaries again, without any change. Every write from then on that
changes anything is a finding. What counts, and when nothing is known, is told by `facts.rest`; a write that changes nothing, or
nothing but a time, is a cost and for `quiet-at-rest` to tell.
"""

from collections.abc import Iterator

from staleproof.checks.facts.rest import rest
from staleproof.checks.requirement import SEED, Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Said


def check(trial: Trial) -> Iterator[Said]:
    found = rest(trial)
    if found.changing:
        what = "after it had settled and nothing had changed"
        yield found.told(found.changing, trial, what=what, though="though nothing had changed")
    else:
        yield from found.doubt


REQUIREMENT = Requirement(
    slug="settles",
    must="The controller MUST stop changing things once converged, also when everything is reconciled again.",
    level="core",
    source=f"{SEED}, section Fast and offline reconciliation",
    faults=(),
    remedy="compare before writing: a reconciliation that finds nothing to change changes nothing",
    severity="stuck",
    check=check,
    needs_references=False,
    needs_end=True,
    waits=True,
)
