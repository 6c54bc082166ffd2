"""What a run covered: which requirements were put to the test by which faults, on which resources, in which phases of the workload,
over which changes; and what it did not reach, with the option that may."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.checks.ends.convergence import ONLY_STATUS
from staleproof.checks.rules.reports import HONEST_STATUS, NO_GENERATION
from staleproof.checks.rules.surplus import NONE_LEFT
from staleproof.checks.verdict import Outcome
from staleproof.core.plan.coverage import PHASES, Occasion, changed_fields
from staleproof.core.times import UNLEARNT_FACTOR
from staleproof.core.wording import plural, some
from staleproof.report.model import Report, TrialReport, overall, reason, scored, tried, verdicts_on

LIVE_MOVES = "passed on"
"""Under this name a report's environment has the fields that the controller passes on, as paths."""
USUAL_ERROR = "error without faults"
"""Under this name a report's environment has the error that the controller's log has in most runs without any fault."""
SUSPECTED = "suspected in the sweep"
"""With this and the sweep's name begin the names under which a report's environment has what was suspected and not seen alone."""
_MOST_NAMES = 5
_OPTIONS = {
    "DropBookmarks": "--staleproof-profile slow",
    "AddBookmarks": "--staleproof-profile slow",
}
_MORE = "--staleproof-max-examples N"
_FOR_EACH = 20
"""Of so many more plans at most, one that was run tells how long they would take."""
_FEW = 10
"""So few trials are not expected to show more than what they are about."""


class Missed(NamedTuple):
    """A requirement that a run has to exercise and did not, why, and the option that may do it."""

    slug: str
    why: str
    option: str


def missed(report: Report) -> list[Missed]:
    """What a run has to exercise, as plans aim at it, and did not. Of a controller that writes nothing but status honest-status
    stands for what is about ends; and what the controller gives no occasion for, as all plans say that aim at it, is not asked for.
    """
    outcomes, counted = overall(report), scored(report)
    aimed = [slug for slug in report.wanted if outcomes.get(slug) is Outcome.NOT_EXERCISED and tried(slug, counted).plans]
    is_judged = outcomes.get(HONEST_STATUS.slug) in (Outcome.PASS, Outcome.FAIL)
    left = [slug for slug in aimed if not (is_judged and _is_status(slug, report)) and not _has_no_occasion(slug, report)]
    return [Missed(slug, _why(slug, report), _option(slug, report)) for slug in left]


def _has_no_occasion(slug: str, report: Report) -> bool:
    """Whether more plans would not help: it is the controller's way that there is nothing to put to the test."""
    reasons = {verdict.why for trial, verdict in verdicts_on(slug, scored(report).trials) if slug in trial.aims}
    return bool(reasons) and reasons <= {NO_GENERATION, NONE_LEFT}


def _is_status(slug: str, report: Report) -> bool:
    """Whether nothing but the status would show whether it is met."""
    verdicts = (verdict for trial in report.trials for verdict in trial.verdicts if verdict.requirement == slug)
    return any(verdict.why == ONLY_STATUS for verdict in verdicts)


def _why(slug: str, report: Report) -> str:
    """Of the plans that aim at it, and were run, what they say; else why none was."""
    why = reason(slug, [trial for trial in report.trials if slug in trial.aims], Outcome.NOT_EXERCISED)
    left_out = [plan.why for plan in report.left_out if slug in plan.aims]
    if why or any(left_out):
        return why or next(filter(None, left_out))
    return "there was no time for its plans" if left_out else reason(slug, report.trials, Outcome.NOT_EXERCISED)


def _option(slug: str, report: Report) -> str:
    """More minutes, if that is what was missing; else more plans."""
    lacks_time = report.minutes is not None and any(slug in plan.aims and not plan.why for plan in report.left_out)
    return more_minutes(report) if lacks_time else _MORE


def more_minutes(report: Report) -> str:
    """The option that gives the run the time that it takes to run all plans, by what those took that were run; where next to none
    was, more time by far."""
    late, trials = sum(not plan.why for plan in report.left_out), len(report.trials)
    is_known = trials * _FOR_EACH >= late and trials and not report.unlearnt
    enough = 1 + late / trials if is_known else UNLEARNT_FACTOR
    return f"--staleproof-minutes {math.ceil((report.minutes or 1.0) * enough) + 1}"


def usual_error(report: Report) -> str:
    """That the controller's log has an error even without faults, and what that means; empty if it has none."""
    error = report.environment.get(USUAL_ERROR)
    hint = "; it may not have come to all of its work, see `staleproof doctor`"
    return f"even without faults its log has: {error}{hint}" if error else ""


def covered(trials: Iterable[TrialReport]) -> set[tuple[str, Occasion]]:
    """(requirement, occasion) of each fault that fired in a trial that put the requirement to the test, or in its sweep."""
    found = set()
    for trial in trials:
        fired = [fault for fault in (*trial.faults, *trial.swept) if fault.outcome == "fired"]
        exercised = [verdict.requirement for verdict in trial.verdicts if verdict.exercised]
        for slug, fault in product(exercised, fired):
            found.add((slug, Occasion(fault.name or fault.fault, fault.resource, fault.phase, fault.move)))
    return found


def faults_and_fields(report: Report) -> set[tuple[str, str, str]]:
    """(fault, resource, field) of each fault that fired where the field changed: of a sweep, that of any of its primaries."""
    at = {occasion for _, occasion in covered(scored(report).trials)}
    return {(each.fault, each.resource, field) for each in at for field in changed_fields(each.move)}


def reach(report: Report) -> Iterator[str]:
    """How much was covered, and what was not, in a few lines; nothing where no fault fired."""
    cells = covered(scored(report).trials)
    if not cells:
        return
    slugs, at = {slug for slug, _ in cells}, {occasion for _, occasion in cells}
    phases, pairs = {each.phase for each in at} - {""}, faults_and_fields(report)
    fields = {field for _, _, field in pairs}
    yield (
        f"covered: {plural(len(slugs), 'requirement')} by {plural(len({each.fault for each in at}), 'kind')} of faults on "
        f"{plural(len({each.resource for each in at} - {'*'}), 'resource')}, in {len(phases)} of {len(PHASES)} phases, "
        f"over changes of {plural(len(fields), 'field')} ({plural(len(pairs), 'pair')} of a fault and a field): "
        f"{len(cells)} combinations"
    )
    for lacking, option in _lacking(report, cells, phases, fields) if len(report.trials) >= _FEW else ():
        yield f"  not reached: {lacking}; {option} may"


def _lacking(report: Report, cells: set[tuple[str, Occasion]], phases: set[str], fields: set[str]) -> Iterator[tuple[str, str]]:
    """What was not reached, and the option that may."""
    tried = {(slug, each.fault.split()[0]) for slug, each in cells}
    never: dict[str, list[str]] = defaultdict(list)
    for requirement in REQUIREMENTS:
        for fault in requirement.faults:
            if (requirement.slug, fault) not in tried:
                never[_OPTIONS.get(fault, _MORE)].append(f"{requirement.slug} under {fault}")
    for option, pairs in never.items():
        yield some(pairs, _MOST_NAMES), option
    if missed := [phase for phase in PHASES if phase not in phases]:
        yield f"faults in these phases: {', '.join(missed)}", _MORE
    live = [path for path in report.environment.get(LIVE_MOVES, "").split(", ") if path]
    if left := [path for path in live if not any(_is_within(path, each) for each in fields)]:
        yield f"changes of {some(left, _MOST_NAMES)}", _MORE


def _is_within(path: str, changed: str) -> bool:
    """Whether a change of one field is one of the other: lists are replaced whole."""
    return re.sub(r"\[.*", "", path).startswith(changed) or path.startswith(changed)
