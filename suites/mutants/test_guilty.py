"""Is the kit right about controllers with a planted fault? Each is caught by the requirement that was written for it.

The plan that caught a mutant when its history in fixtures/histories/mutants was made is tried first, as it is there; if that does
not catch it, the plans that are drawn from what the mutant does. If STALEPROOF_GOLDEN names a folder, only those are tried, and
the history of the trial that caught a mutant is kept there (`ci/golden`).
"""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from staleproof.assess.learn.observe import observe
from staleproof.assess.store.run_folder import HISTORY, exported, read_history
from staleproof.assess.trial.result import Result
from staleproof.assess.trial.session import Session
from staleproof.checks.verdict import Outcome
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.stored import compressed, plain
from staleproof.draw.scenarios import canonical_plans

from .known import DATA_FOLDER, HISTORIES, Known
from .table import GUILTY, GUILTY_ABROAD

GOLDEN = os.environ.get("STALEPROOF_GOLDEN", "")
ROUNDS_OF_RACES = 3


@pytest.mark.parametrize("mutant", [pytest.param(each, marks=each.marks, id=each.name) for each in (*GUILTY, *GUILTY_ABROAD)])
def test_is_caught(mutant: Known, put_under_test: Callable[[Known], Session], request: pytest.FixtureRequest) -> None:
    session = put_under_test(mutant)
    also: set[str] = set()
    missed: list[str] = []
    caught = next((result for result in _results(session, mutant, also, missed) if _found(result, mutant.caught_by)), None)
    if caught is not None and GOLDEN:
        _keep(caught, Path(GOLDEN) / mutant.kept_as)
    title = caught.plan.title if caught is not None else "NOT CAUGHT"
    request.node.user_properties.append(("mutant", (mutant.name, mutant.caught_by, title, ", ".join(sorted(also)))))
    why = "\n".join((f"no plan caught {mutant.name} by {mutant.caught_by}; found: {sorted(also) or 'nothing'}", *missed))
    assert caught is not None, why


def _results(session: Session, mutant: Known, also: set[str], missed: list[str]) -> Iterator[Result]:
    """The mutant's trials, run as they are asked for; `also` gathers the other requirements that failed, `missed` what the plans
    that aim at its own said of that."""
    for plan in _plans(session, mutant):
        result = session.trial(plan)
        if mutant.caught_by in plan.aims:
            missed.append(f"{plan.title}: {result.of(mutant.caught_by).outcome.name} {result.of(mutant.caught_by).why}")
        also |= {verdict.requirement for verdict in result.verdicts if verdict.outcome is Outcome.FAIL} - {mutant.caught_by}
        yield result


def _plans(session: Session, mutant: Known) -> Iterator[Plan]:
    """The one that caught it before; then those that aim at the requirement, which catch most mutants; then the others.

    A mutant that shows its fault in half of the runs only is believed to be guilty of a plan once in three times, and is
    inconclusive otherwise: it gets those that aim at it again.
    """
    path = HISTORIES / mutant.kept_as
    if path.exists() and not GOLDEN:
        yield read_history(path).header.plan
    observed = observe(session, *mutant.primary)
    ordered = sorted(canonical_plans(observed), key=lambda plan: mutant.caught_by not in plan.aims)
    if mutant.races:
        yield from [plan for plan in ordered if mutant.caught_by in plan.aims] * ROUNDS_OF_RACES
    yield from ordered


def _found(result: Result, slug: str) -> bool:
    return result.of(slug).outcome is Outcome.FAIL


def _keep(result: Result, path: Path) -> None:
    """Keep the history: small, the same bytes for the same history, and without the paths of this machine."""
    path.parent.mkdir(parents=True, exist_ok=True)
    history = plain(exported(result.folder / HISTORY)).replace(sys.executable.encode(), b"python")
    path.write_bytes(compressed(DATA_FOLDER.sub(b"DATA", history)))
