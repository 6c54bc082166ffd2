"""`--staleproof-dry-run`: the plans that would be run, listed without starting anything.

Plans follow from what the controller was observed to do, so an earlier run must have observed it; what that was is kept. The plans
travel with the tests' reports, so that they arrive from xdist's workers, too.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from staleproof.assess.learn.samples import Samples, recall_all
from staleproof.assess.run.queue import Planned
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.plan import Subject
from staleproof.core.wording import plural
from staleproof.draw.mutations.allowed import Mutations
from staleproof.report.planned import line, sum_up, unwatched

_PLANNED = "staleproof.planned"
_SECONDS = f"{_PLANNED}.seconds"


def recalled(root: Path, controller: Subject, samples: Samples, mutations: Mutations) -> list[Observed]:
    """What an earlier run observed of the controller with each sample. Skips when there was none."""
    found, missing = recall_all(root, controller, samples, mutations)
    if missing:
        pytest.skip(unwatched(", ".join(missing), "run once without --staleproof-dry-run, e.g. with --staleproof-minutes=1"))
    return found


def note(test: pytest.Item, plans: Sequence[Planned]) -> None:
    """Say in the test's properties which plans it would run, and skip it."""
    test.user_properties += [(_PLANNED, line(each.plan, each.seconds)) for each in plans]
    test.user_properties += [(_SECONDS, str(each.seconds)) for each in plans]
    pytest.skip(f"dry run: {plural(len(plans), 'plan')}")


def summary(reports: Iterable[pytest.TestReport]) -> Iterator[str]:
    """The lines for all plans, and what they come to; and why others are not known."""
    reports = list(reports)
    found = [each for report in reports if report.when == "call" for each in report.user_properties]
    why = [report.longrepr[2] for report in reports if report.when == "setup" and isinstance(report.longrepr, tuple)]
    seconds = [float(str(text)) for name, text in found if name == _SECONDS]
    yield from (str(text) for name, text in found if name == _PLANNED)
    yield from dict.fromkeys(text.removeprefix("Skipped: ") for text in why)
    if seconds:
        yield sum_up(seconds)
