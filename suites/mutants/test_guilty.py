"""Is the kit right about controllers with a planted fault? Each is caught by the requirement that was written for it.

The plan that caught a mutant when its history in fixtures/histories/mutants was made is tried first. If STALEPROOF_GOLDEN names a
folder, all plans are tried in their usual order, and the history of the trial that caught a mutant is kept there (`ci/golden`).
"""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from staleproof.assess import Session
from staleproof.assess.observe import observe
from staleproof.assess.result import Result
from staleproof.assess.run_folder import HISTORY, exported, read_history
from staleproof.checks.verdict import Outcome
from staleproof.core.observed import Observed
from staleproof.core.plan import Plan
from staleproof.core.stored import compressed, plain
from staleproof.draw.scenarios import canonical_plans
from staleproof.drive.cluster.manifests import read

from .known import GUILTY, GUILTY_ABROAD, MANIFESTS, Known

GOLDEN = os.environ.get("STALEPROOF_GOLDEN", "")
HISTORIES = MANIFESTS.parent / "histories" / "mutants"


@pytest.mark.parametrize("mutant", [pytest.param(each, marks=each.marks, id=each.name) for each in (*GUILTY, *GUILTY_ABROAD)])
def test_is_caught(mutant: Known, put_under_test: Callable[[Known], Session], request: pytest.FixtureRequest) -> None:
    session = put_under_test(mutant)
    observed = observe(session, read([MANIFESTS / mutant.sample], "sample")[0])
    others: set[str] = set()
    caught = next((result for result in _results(session, mutant, observed, others) if _found(result, mutant.caught_by)), None)
    if caught is not None and GOLDEN:
        _keep(caught, Path(GOLDEN) / mutant.kept_as)
    title = caught.plan.title if caught is not None else "NOT CAUGHT"
    request.node.user_properties.append(("mutant", (mutant.name, mutant.caught_by, title, ", ".join(sorted(others)))))
    assert caught is not None, f"no plan caught {mutant.name} by {mutant.caught_by}; found: {sorted(others) or 'nothing'}"


def _results(session: Session, mutant: Known, observed: Observed, others: set[str]) -> Iterator[Result]:
    """The mutant's trials, run as they are asked for; `others` gathers the other requirements that failed."""
    for plan in _in_order(list(canonical_plans(observed)), mutant):
        result = session.trial(plan)
        others |= {verdict.requirement for verdict in result.verdicts if verdict.outcome is Outcome.FAIL} - {mutant.caught_by}
        yield result


def _in_order(plans: list[Plan], mutant: Known) -> list[Plan]:
    """Plans that aim at the requirement come first: they catch most mutants; before them, the one that caught this one before."""
    before = "" if GOLDEN else _caught_before(mutant)
    return sorted(plans, key=lambda plan: (plan.title != before, mutant.caught_by not in plan.aims))


def _caught_before(mutant: Known) -> str:
    """The title of the plan; empty if nothing is kept of this mutant."""
    path = HISTORIES / mutant.kept_as
    return read_history(path).header.plan.title if path.exists() else ""


def _found(result: Result, slug: str) -> bool:
    return result.of(slug).outcome is Outcome.FAIL


def _keep(result: Result, path: Path) -> None:
    """Keep the history: small, the same bytes for the same history, and without the paths of this machine."""
    path.parent.mkdir(parents=True, exist_ok=True)
    history = plain(exported(result.folder / HISTORY)).replace(sys.executable.encode(), b"python")
    path.write_bytes(compressed(history))
