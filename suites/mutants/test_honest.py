"""Is the kit right about honest controllers? It accuses them of nothing, in any scenario.

STALEPROOF_PROFILE says how thorough the scenarios are; unless set, it is smoke, and some controllers are tried only in the
scenarios that concern what is particular to them. STALEPROOF_REPEAT says how often each plan is run.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import pytest

from staleproof.assess.learn.observe import observe
from staleproof.assess.store.artefacts import trial_report
from staleproof.assess.trial.result import Result
from staleproof.assess.trial.session import Session
from staleproof.checks.catalog import worst
from staleproof.checks.verdict import Outcome
from staleproof.core.fault import Expire, Window
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.plan import Plan
from staleproof.draw.canonical import life
from staleproof.draw.profile import PROFILES
from staleproof.draw.scenarios import canonical_plans
from staleproof.report.model import Report, overall
from staleproof.report.terminal import lacking, sentence

from .chosen import scenarios_for
from .known import Known, in_words, unknown
from .table import HONEST, HONEST_ABROAD

PROFILE = os.environ.get("STALEPROOF_PROFILE", "")
REPEAT = int(os.environ.get("STALEPROOF_REPEAT", "1"))
MOST_INCONCLUSIVE = 0.05


@pytest.mark.parametrize("honest", [pytest.param(each, marks=each.marks, id=each.name) for each in (*HONEST, *HONEST_ABROAD)])
def test_is_not_accused(honest: Known, put_under_test: Callable[[Known], Session], request: pytest.FixtureRequest) -> None:
    session = put_under_test(honest)
    observed = observe(session, *honest.primary)
    results = [session.trial(plan) for plan in _plans(honest, observed) for _ in range(REPEAT)]
    findings = [in_words(result) for result in results if honest.is_accused(result)]
    reasons = [reason for result in results for reason in unknown(result)]
    ends = _exit(session, results)
    request.node.user_properties.append(("honest", (*_row(honest, results, reasons), ends)))
    assert not findings, "\n\n".join(findings)
    assert len(reasons) <= MOST_INCONCLUSIVE * len(results), "\n".join(reasons)


@pytest.mark.slow
def test_what_no_api_server_does_accuses_no_controller(put_under_test: Callable[[Known], Session]) -> None:
    """The documents allow HTTP 410 as the answer to a watch: a client that tries the same version again never comes out of it,
    and is waited for as long as any may need."""
    honest = next(each for each in HONEST if each.name == "retries_gone")
    session = put_under_test(honest)
    observed = observe(session, *honest.primary)
    gone = Expire(resource="*", at="watch", window=Window(2, 3))
    result = session.trial(Plan(scenario="documented", title="HTTP 410", steps=life(observed).steps, faults=(gone,)))
    assert result.of("survives-expiry").outcome is not Outcome.PASS
    assert not result.failures
    assert "410 as the HTTP answer to a WATCH" in result.hostile


def _exit(session: Session, results: Sequence[Result]) -> str:
    """With which code a run of nothing but these plans would end, and why."""
    trials = tuple(trial_report(each, session.run.folder) for each in results if not each.interrupted)
    wanted = PROFILES[PROFILE or "smoke"].wanted
    report = Report(run_id="", date="", reproduce="", trials=trials, wanted=wanted)
    is_green = worst(overall(report).items()) is Outcome.PASS and not lacking(report)
    return "0" if is_green else f"10: {sentence(report)}"


def _plans(honest: Known, observed: Observed) -> Iterator[Plan]:
    plans = list(canonical_plans(observed, PROFILES[PROFILE or "smoke"]))
    scenarios = scenarios_for(honest, {plan.scenario for plan in plans})
    return (plan for plan in plans if PROFILE or plan.scenario in scenarios)


def _row(honest: Known, results: Sequence[Result], unknown: Sequence[str]) -> tuple[str, ...]:
    found = Counter(v.requirement for result in results for v in result.verdicts if v.outcome is Outcome.FAIL)
    failures = {verdict.requirement for result in results for verdict in result.failures}
    scored = ", ".join(f"{slug} {n}" for slug, n in sorted(found.items()) if slug in failures) or "none"
    unscored = ", ".join(f"{slug} {n}" for slug, n in sorted(found.items()) if slug not in failures) or "-"
    seconds = sorted(result.seconds for result in results)
    reasons = f"{len(unknown)}: {' | '.join(unknown)}" if unknown else "none"
    return (honest.name, str(len(results)), scored, reasons, unscored, f"{seconds[len(seconds) // 2]:.1f}", f"{sum(seconds):.0f}")
