"""Exit codes: what was found, or else what is not known, or else what went wrong besides."""

from collections.abc import Iterable, Sequence
from typing import Literal

from staleproof.checks.catalog import worst
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.errors import HarnessBug, SetupError, UsageError
from staleproof.report.model import Report, overall
from staleproof.report.terminal import lacking

PASSED, FAILED, INTERRUPTED, INCONCLUSIVE = 0, 1, 2, 10
BUG, BROKEN, MISUSED = HarnessBug.exit_code, SetupError.exit_code, UsageError.exit_code
TROUBLE = (BUG, BROKEN, MISUSED)
"""What is neither a finding nor a doubt; of several the first wins."""


def of_trial(verdicts: Sequence[Verdict], *, hostile: bool = False) -> int:
    """Whether there is a finding, or else whether something that is scored is unknown, or nothing was put to the test at all. What
    is only `hostile` is not meant to."""
    outcome = worst((verdict.requirement, verdict.outcome) for verdict in verdicts)
    if outcome is Outcome.NOT_EXERCISED and not hostile:
        return INCONCLUSIVE
    return _of(outcome)


def of_report(report: Report) -> int:
    """That of all trials: too little, or an end before its time, is as good as a doubt."""
    code = _of(worst(overall(report).items()))
    return INCONCLUSIVE if code == PASSED and (report.partial or lacking(report)) else code


def of_tests(status: int, found: int, blamed: Iterable[int], *, has_other_failures: bool) -> int:
    """That of a run whose trials are parts of tests. The tests' own status wins; ours are for when nothing worse happened.

    `status`: of the tests; `found`: of the report; `blamed`: of the errors that made tests fail; `has_other_failures`: a test
    failed for a reason of its own.
    """
    codes = [code for code in (*TROUBLE, INCONCLUSIVE) if code in set(blamed)]
    if status == INTERRUPTED and codes and codes[0] in TROUBLE:
        status = FAILED  # a worker that cannot begin ends the run, which to xdist is an interruption
    if status == FAILED and not has_other_failures and found != FAILED:
        return codes[0] if codes else status
    return found if status == PASSED and found == INCONCLUSIVE else status


def accepted(code: int, option: Literal["", "ok", "fail"]) -> int:
    """What the user makes of a run in which nothing worse happened than that something is inconclusive."""
    return {"ok": PASSED, "fail": FAILED}.get(option, code) if code == INCONCLUSIVE else code


def _of(outcome: Outcome) -> int:
    return {Outcome.FAIL: FAILED, Outcome.INCONCLUSIVE: INCONCLUSIVE}.get(outcome, PASSED)
