"""quiet-at-rest: what it tells of, what it does not, and when it knows nothing."""

from staleproof.checks.rules.pace import QUIET_AT_REST

from ...rule_cases import verdicts
from ...script import WIDGETS, trial
from .test_settles import NOT_AGAIN, again, beats, done, settled


def cost(number: int) -> str:
    writes = "1 write" if number == 1 else f"{number} writes"
    return (
        f"FAIL: {writes} after it had settled changed nothing, the first: update {WIDGETS}/w, though everything was as it should be"
    )


CASES = {
    "writes the same status again": (again().updates("w"), cost(1)),
    "writes a time": (beats(), cost(2)),
    "changes something": (again().updates("w", status=2), "PASS"),
    "compares before it writes": (again(), "PASS"),
    "not reconciled again": (settled(), NOT_AGAIN),
    "still busy": (done(trial()).settled(ok=False, why="still busy"), "NOT_EXERCISED: it never settled (still busy)"),
}


test_verdict = verdicts(QUIET_AT_REST, CASES)
