"""Shrinking a finding on the live controller: bounded by time, each change confirmed, and the smallest plan reproduced five times.

What is tried on the way is judged by its fault-free references alone, and must fail twice, the second time in a new life of the
controller. It gets less time to converge, because a controller that never does would take all the time there is. Only the
smallest plan is waited for as long as any other, and compared with all that explains a finding away. If it does not hold, the
finding stays as it was found: nothing is lost, and a controller that answers now so, now so, crashes nothing. All histories are
kept.
"""

import time
from dataclasses import replace
from typing import Protocol

import msgspec

from staleproof.assess.store.known_findings import NOTHING_KNOWN, new_stories
from staleproof.assess.trial.result import Result
from staleproof.checks.trial import indexed
from staleproof.core.plan.fingerprint import fingerprint
from staleproof.core.plan.plan import Plan
from staleproof.core.times import SHRINK_DEADLINE_SECONDS
from staleproof.draw.shrink import shrunk
from staleproof.errors import SetupError, UsageError
from staleproof.report.baseline import Baseline

_CONFIRMED, _RERUNS = 2, 4


class Tries(Protocol):
    """What shrinking needs of a session."""

    def fails(self, plan: Plan, slugs: frozenset[str], times: int) -> bool:
        """Whether one of these requirements is violated each time."""

    def trial(self, plan: Plan, *, reruns: int | None = None) -> Result:
        """Run a plan, judge it and run it again so often."""


def shrink(session: Tries, found: Result, ends: float, baseline: Baseline = NOTHING_KNOWN) -> Result:
    """The result of the smallest plan that shows what is new in it, which says how small it is; the one that was found if there is
    none. `ends`: on the monotonic clock."""
    slugs, began, tried = _new_in(found, baseline), time.monotonic(), 0

    def fails(plan: Plan) -> bool | None:
        nonlocal tried
        if time.monotonic() >= ends:
            return None
        tried += 1
        try:
            return session.fails(_hurried(plan), slugs, _CONFIRMED)
        except UsageError:
            return False  # the API server refuses it
        except SetupError:
            return None  # what was found is worth more than what might be

    made = shrunk(found.plan, fails, _shown_in(found, slugs))
    if fingerprint(made.plan) == fingerprint(found.plan):
        return _with_size(found, str(made))
    try:
        smallest = session.trial(made.plan, reruns=_RERUNS)
    except (UsageError, SetupError):
        return found
    if not slugs & _new_in(smallest, baseline):
        how = "could not be confirmed in time" if smallest.is_unconfirmed else "did not fail again"
        return replace(found, shrunk=f"{made} {how} ({smallest.name}), so this is as it was found")
    took = time.monotonic() - began
    return _with_size(smallest, f"{made}", f"; found in {found.name}, {tried} smaller plans tried, {took:.0f} s in all")


def _hurried(plan: Plan) -> Plan:
    settle = plan.settle
    return msgspec.structs.replace(
        plan, settle=msgspec.structs.replace(settle, deadline_seconds=min(settle.deadline_seconds, SHRINK_DEADLINE_SECONDS))
    )


def _shown_in(found: Result, slugs: frozenset[str]) -> int:
    """The number of the step in which the first of these findings had shown; 0 if none of them has a witness."""
    findings = [finding for verdict in found.failures if verdict.requirement in slugs for finding in verdict.findings]
    shown = min((max(finding.witnesses) for finding in findings if finding.witnesses), default=0)
    return sum(step.began <= shown for step in indexed(found.history).steps)


def _with_size(result: Result, size: str, how: str = "") -> Result:
    times, runs = result.reproduced
    return replace(result, shrunk=f"{size}, reproduced {times}/{runs}{how}")


def _new_in(result: Result, baseline: Baseline) -> frozenset[str]:
    """The requirements that it violates for causes that are not known."""
    new = {slug for story in new_stories(result, baseline) for slug in (story.requirement, *story.also)}
    return frozenset(new & {verdict.requirement for verdict in result.failures})
