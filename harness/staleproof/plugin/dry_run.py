"""`--staleproof-dry-run`: which plans would be run, told without starting anything.

Plans follow from what the controller was observed to do, so an earlier run must have observed it; what that was is kept. The plans
travel with the tests' reports, so that they arrive from xdist's workers, too.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from staleproof.assess.observations import recall
from staleproof.core.fingerprint import fingerprint
from staleproof.core.observed import Observed
from staleproof.core.plan import Manifest, Plan, Subject
from staleproof.draw.mutations import Mutations
from staleproof.drive.cluster.manifests import name_of

_PLANNED = "staleproof.planned"
_MINUTE = 60


def recalled(
    root: Path, controller: Subject, samples: Iterable[Manifest], manifests: Sequence[Manifest], mutations: Mutations
) -> list[Observed]:
    """What an earlier run observed of the controller with each sample. Skips when there was none."""
    found = [(sample, recall(root, controller, sample, manifests, mutations)) for sample in samples]
    if missing := ", ".join(name_of(sample) for sample, seen in found if seen is None):
        pytest.skip(
            f"dry run: nobody has watched this controller with {missing} yet, and its plans follow from that: run once without "
            "--staleproof-dry-run, e.g. with --staleproof-minutes=1"
        )
    return [seen for _, seen in found if seen is not None]


def note(test: pytest.Item, plans: Sequence[tuple[Plan, float]]) -> None:
    """Say in the test's properties which plans it would run, and skip it."""
    test.user_properties += [(_PLANNED, _line(plan, seconds)) for plan, seconds in plans]
    test.user_properties.append((f"{_PLANNED}.seconds", str(sum(seconds for _, seconds in plans))))
    pytest.skip(f"dry run: {len(plans)} plans")


def _line(plan: Plan, seconds: float) -> str:
    return f"{fingerprint(plan)} {seconds:7.1f} s  {plan.scenario}: {plan.title}"


def summary(reports: Iterable[pytest.TestReport]) -> Iterator[str]:
    """The lines for all plans, and what they come to; and why others are not known."""
    reports = list(reports)
    found = [each for report in reports if report.when == "call" for each in report.user_properties]
    why = [report.longrepr[2] for report in reports if report.when == "setup" and isinstance(report.longrepr, tuple)]
    lines = [str(text) for name, text in found if name == _PLANNED]
    seconds = sum(float(str(text)) for name, text in found if name == f"{_PLANNED}.seconds")
    yield from lines
    yield from dict.fromkeys(text.removeprefix("Skipped: ") for text in why)
    if lines:
        took = f"{len(lines)} plans, about {seconds / _MINUTE:.1f} min one after the other"
        yield f"dry run: {took}; fault-free runs, and running findings again, come on top"
