"""A check: what came of one question of `staleproof doctor`, with what to do about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from staleproof.assess.doctor.controller_log import decisive
from staleproof.errors import SetupError

Outcome = Literal["ok", "warning", "failed", "not asked"]
REACHABLE, WATCHES, RECONCILES, RESTARTS, STAYS_UP = "reachable", "watches", "reconciles", "restarts", "stays up"
_NEEDED = (REACHABLE, WATCHES, RECONCILES)
"""Without these there is no run."""
PORTS, RBAC, WEBHOOKS, METRICS = "ports", "RBAC", "webhooks", "metrics"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What came of one question.

    Attributes:
        found: what was found.
        fix: what to do about it; empty when there is nothing to do.
        log: the lines of the controller's log that tell more.
        code: the exit code of a command that finds this; 0 unless it failed.
        is_open: there was no time for it.
    """

    name: str
    outcome: Outcome
    found: str
    fix: str = ""
    log: tuple[str, ...] = ()
    code: int = 0
    is_open: bool = False


def passed(name: str, found: str) -> Check:
    return Check(name=name, outcome="ok", found=found)


def failed(name: str, found: str, fix: str, *, code: int = SetupError.exit_code, log: Sequence[str] = ()) -> Check:
    return Check(name=name, outcome="failed", found=found, fix=fix, code=code, log=decisive(log))


def warns(name: str, found: str, fix: str, *, log: Sequence[str] = ()) -> Check:
    return Check(name=name, outcome="warning", found=found, fix=fix, log=decisive(log))


def not_asked(name: str, found: str, fix: str = "") -> Check:
    return Check(name=name, outcome="not asked", found=found, fix=fix)


def no_time(name: str, seconds: float) -> Check:
    """It had not come to an end when the time was over."""
    fix = "ask with fewer samples, or look into the log of the controller for what it waits for"
    return Check(name=name, outcome="not asked", found=f"the {seconds:.0f} s of the doctor were over", fix=fix, is_open=True)


def exit_code(checks: Sequence[Check]) -> int:
    """That of the first that failed; 10 if nothing failed, and something could not be asked for want of time, or it was not asked
    what no run can do without."""
    code = next((each.code for each in checks if each.outcome == "failed"), 0)
    return code or (10 if any(each.is_open or _leaves_open(each) for each in checks) else 0)


def _leaves_open(check: Check) -> bool:
    return check.outcome == "not asked" and check.name in _NEEDED
