"""Every checker judges every history.

A trial under hostile faults is judged, too, but tells about robustness, not about conformance: whatever its checkers say, it
neither passes nor fails a requirement. Findings are kept, with their stories, and told apart. So a run of nothing but hostile plans
never exits with 1, the code for findings; it exits with 0, or with 10 when a trial was disturbed or its faults never fired.
"""

from collections.abc import Sequence
from dataclasses import replace

from staleproof.checks.catalog import REQUIREMENTS, Requirement
from staleproof.checks.facts.fault_outcomes import hostility
from staleproof.checks.trial import Evidence
from staleproof.checks.verdict import Outcome, Verdict, inconclusive
from staleproof.core.history import History

_ROBUSTNESS = "no API server does this, so it tells about robustness, not conformance"


def judge(
    history: History,
    references: Sequence[History] | None = None,
    *,
    requirements: Sequence[Requirement] = REQUIREMENTS,
) -> tuple[Verdict, ...]:
    """One verdict for each requirement of the catalogue.

    References are taken from the history unless given. What cannot be known is inconclusive: a broken harness, unstable or missing
    references, a planned fault that never fired in a trial that aims at the requirement, a checker that crashes.
    """
    evidence = Evidence(history, tuple(history.references if references is None else references))
    return tuple(_verdict(requirement, evidence) for requirement in requirements)


def _verdict(requirement: Requirement, evidence: Evidence) -> Verdict:
    slug = requirement.slug
    trouble = evidence.trouble or (evidence.reference_trouble if requirement.needs_references else "")
    if trouble:
        return inconclusive(slug, trouble)
    try:
        verdict = requirement.check(evidence)
    except Exception as err:  # a crashed checker knows nothing; the trial is kept and can be judged again
        return inconclusive(slug, f"the checker crashed, which is a bug of staleproof: {type(err).__name__}: {err}")
    aimed_at = slug in evidence.history.header.plan.aims
    if aimed_at and verdict.outcome is not Outcome.FAIL and evidence.unfired:
        return inconclusive(slug, evidence.unfired)
    hostile = hostility(evidence.history.header.plan)
    return _apart(verdict, hostile) if hostile else verdict


def _apart(verdict: Verdict, hostile: str) -> Verdict:
    """The verdict of a trial in which the controller was shown what no API server shows."""
    if verdict.outcome is Outcome.FAIL:
        return replace(verdict, outcome=Outcome.NOT_EXERCISED, why=f"found under {hostile}: {_ROBUSTNESS}")
    if verdict.outcome is Outcome.PASS:
        return replace(verdict, outcome=Outcome.NOT_EXERCISED, why=f"nothing was found under {hostile}: {_ROBUSTNESS}")
    return verdict
