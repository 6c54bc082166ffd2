"""What a run covered: which requirements were put to the test by which faults, on which resources, in which phases of the workload,
over which changes; and what it did not reach, with the option that may."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import product

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.core.coverage import PHASES, Occasion
from staleproof.core.wording import plural
from staleproof.report.model import Report, TrialReport, scored

LIVE_MOVES = "passed on"
"""Under this name a report's environment has the fields that the controller passes on, as paths."""
_MOST_NAMES = 5
_OPTIONS = {
    "DropBookmarks": "--staleproof-profile slow",
    "AddBookmarks": "--staleproof-profile slow",
}
_MORE = "--staleproof-max-examples N"
_FEW = 10
"""Of so few trials nobody expects more than what they are about."""


def covered(trials: Iterable[TrialReport]) -> set[tuple[str, Occasion]]:
    """(requirement, occasion) of each fault that fired in a trial that put the requirement to the test."""
    found = set()
    for trial in trials:
        fired = [fault for fault in trial.faults if fault.outcome == "fired"]
        exercised = [verdict.requirement for verdict in trial.verdicts if verdict.exercised]
        for slug, fault in product(exercised, fired):
            found.add((slug, Occasion(fault.name or fault.fault, fault.resource, fault.phase, fault.move)))
    return found


def reach(report: Report) -> Iterator[str]:
    """How much was covered, and what was not, in a few lines; nothing where no fault fired."""
    cells = covered(scored(report).trials)
    if not cells:
        return
    slugs, at = {slug for slug, _ in cells}, {occasion for _, occasion in cells}
    phases, moves = {each.phase for each in at} - {""}, {each.move for each in at} - {""}
    yield (
        f"covered: {plural(len(slugs), 'requirement')} by {plural(len({each.fault for each in at}), 'kind')} of faults on "
        f"{plural(len({each.resource for each in at} - {'*'}), 'resource')}, in {len(phases)} of {len(PHASES)} phases, "
        f"over changes of {plural(len(moves), 'field')}: {len(cells)} combinations"
    )
    for lacking, option in _lacking(report, cells, phases, moves) if len(report.trials) >= _FEW else ():
        yield f"  not reached: {lacking}; {option} may"


def _lacking(report: Report, cells: set[tuple[str, Occasion]], phases: set[str], moves: set[str]) -> Iterator[tuple[str, str]]:
    """What was not reached, and the option that may."""
    tried = {(slug, each.fault.split()[0]) for slug, each in cells}
    never: dict[str, list[str]] = defaultdict(list)
    for requirement in REQUIREMENTS:
        for fault in requirement.faults:
            if (requirement.slug, fault) not in tried:
                never[_OPTIONS.get(fault, _MORE)].append(f"{requirement.slug} under {fault}")
    for option, pairs in never.items():
        yield _some(pairs), option
    if missed := [phase for phase in PHASES if phase not in phases]:
        yield f"faults in these phases: {', '.join(missed)}", _MORE
    live = [path for path in report.environment.get(LIVE_MOVES, "").split(", ") if path]
    if left := [path for path in live if not any(_is_within(path, each) for move in moves for each in move.split(", "))]:
        yield f"changes of {_some(left)}", _MORE


def _is_within(path: str, changed: str) -> bool:
    """Whether a change of one field is one of the other: lists are replaced whole."""
    return re.sub(r"\[.*", "", path).startswith(changed) or path.startswith(changed)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more
