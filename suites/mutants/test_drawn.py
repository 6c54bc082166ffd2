"""Drawn plans, and no canonical ones: do they find what is planted, and accuse no honest controller? Run by `ci/drawn`.

Each controller has plans of its own, from the seed of the run (`--hypothesis-seed`) and its name: 200 for a mutant, 40 for an
honest controller, unless --staleproof-max-examples says how many. The search for a mutant ends with the first finding that comes
back, of whatever requirement (`ci/golden` asks for its own); the plan is then made as small as it can be within
--staleproof-shrink-seconds, and run five times.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import msgspec
import pytest

from staleproof.assess.learn.observe import observe
from staleproof.assess.trial.result import Result
from staleproof.assess.trial.session import Session
from staleproof.assess.trial.shrinking import shrink
from staleproof.checks.verdict import Outcome
from staleproof.core.plan.plan import Plan
from staleproof.draw.scenarios import DRAWN
from staleproof.errors import UsageError
from staleproof.plugin.options import profile_of, seed_of, settings_of

from .known import Known, in_words, unknown
from .rows import KEPT, Guilty, Honest
from .table import GUILTY, HONEST

pytestmark = pytest.mark.slow
_MUTANTS_PLANS, _HONEST_PLANS, _TIMES = 200, 40, 5


@pytest.mark.parametrize("mutant", GUILTY, ids=lambda known: known.name)
def test_guilty(mutant: Known, put_under_test: Callable[[Known], Session], pytestconfig: pytest.Config) -> None:
    row = Guilty(name=mutant.name, seed=seed_of(pytestconfig), requirement=mutant.caught_by)
    if KEPT.has(row):
        pytest.skip("it has its row")
    session = put_under_test(mutant)
    plans = _plans(session, mutant, pytestconfig, _MUTANTS_PLANS)
    row = _searched(session, row, plans, settings_of(pytestconfig).shrink_seconds)
    KEPT.keep(row)
    assert row.found, f"nothing in {row.trials} drawn plans; found as well: {row.others or 'nothing'}"


@pytest.mark.parametrize("honest", HONEST, ids=lambda known: known.name)
def test_honest(honest: Known, put_under_test: Callable[[Known], Session], pytestconfig: pytest.Config) -> None:
    row = Honest(name=honest.name, seed=seed_of(pytestconfig))
    if KEPT.has(row):
        pytest.skip("it has its row")
    session, began = put_under_test(honest), time.monotonic()
    for plan in _plans(session, honest, pytestconfig, _HONEST_PLANS):
        result = _tried(session, plan)
        row = _with(row, honest, result)
        if isinstance(result, Result) and (result.failures or unknown(result)):
            KEPT.attach(row, result)
    row = msgspec.structs.replace(row, seconds=time.monotonic() - began)
    KEPT.keep(row)
    assert row.plans
    assert not row.findings, "\n\n".join(row.findings)


def _plans(session: Session, known: Known, config: pytest.Config, usual: int) -> Iterator[Plan]:
    """So many, unless the option says how many; no two controllers have the same."""
    observed = observe(session, *known.primary)
    most = settings_of(config).max_examples
    profile = replace(profile_of(config), examples=usual if most is None else most, seed=f"{seed_of(config)} {known.name}")
    for family in DRAWN:
        yield from family(observed, profile)


def _tried(session: Session, plan: Plan) -> Result | str:
    """What came of it; in words, why it could not be run."""
    try:
        return session.trial(plan)
    except UsageError as err:
        return f"{plan.title}: {err}"


# --- guilty ----------------------------------------------------------------------------------------------------------------------


def _searched(session: Session, row: Guilty, plans: Iterable[Plan], shrink_seconds: float) -> Guilty:
    """The row, as soon as a finding came back; one that is not scored counts only if the mutant is about it."""
    began = time.monotonic()
    for number, plan in enumerate(plans, 1):
        result = _tried(session, plan)
        row = msgspec.structs.replace(row, trials=number, seconds=time.monotonic() - began)
        if isinstance(result, str):
            row = msgspec.structs.replace(row, refused=(*row.refused, result))
            continue
        failed = {slug: number for slug in _failed(result)}
        row = msgspec.structs.replace(row, others=failed | row.others)
        if result.failures or row.requirement in failed:
            row = _shrunk(session, row, result, shrink_seconds)
        if row.found:
            break
    return row


def _shrunk(session: Session, row: Guilty, found: Result, seconds: float) -> Guilty:
    """With the smallest plan, if what was found comes back in it."""
    began = time.monotonic()
    smallest = shrink(session, found, began + seconds) if found.failures and seconds else found
    took = time.monotonic() - began
    if smallest.reproduced[1] < _TIMES:
        smallest = session.trial(smallest.plan, reruns=_TIMES - 1)
    plan = smallest.plan
    if not _failed(smallest) & _failed(found):
        return msgspec.structs.replace(row, flaky=(*row.flaky, plan.title))
    return msgspec.structs.replace(
        row,
        found=plan.title,
        steps=len(plan.steps),
        faults=len(plan.faults),
        shrink_seconds=took,
        reproduced=smallest.reproduced,
        violates=tuple(sorted(_failed(smallest))),
    )


def _failed(result: Result) -> set[str]:
    return {verdict.requirement for verdict in result.verdicts if verdict.outcome is Outcome.FAIL}


# --- honest ----------------------------------------------------------------------------------------------------------------------


def _with(row: Honest, honest: Known, result: Result | str) -> Honest:
    """With what came of one more plan."""
    if isinstance(result, str):
        return msgspec.structs.replace(row, refused=(*row.refused, result))
    is_accused = honest.is_accused(result)
    return msgspec.structs.replace(
        row,
        plans=row.plans + 1,
        trials=row.trials + max(1, result.reproduced[1]),
        findings=(*row.findings, *([in_words(result)] if is_accused else [])),
        truly=(*row.truly, *([result.plan.title] if result.failures and not is_accused else [])),
        inconclusive=(*row.inconclusive, *unknown(result)),
    )
