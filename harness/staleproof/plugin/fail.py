"""How a test of the suite tells what it found: it fails with the stories of the findings, and how to see them again."""

from collections.abc import Iterable

import pytest

from staleproof.assess.artefacts import fingerprint
from staleproof.assess.result import Result
from staleproof.assess.run_folder import HISTORY
from staleproof.checks.catalog import BY_SLUG


def assert_passed(results: Iterable[Result]) -> None:
    """Fail the test when any of these trials has a finding; its stories are the message."""
    failed = [result for result in results if result.failures]
    if failed:
        pytest.fail("\n\n".join(_told(result) for result in failed), pytrace=False)


def told_to_junit(result: Result, test: pytest.Item) -> None:
    """Say in the test's properties which trial it needed, and how its findings can be seen again."""
    test.user_properties.append(("staleproof.trial", result.name))
    for verdict in result.failures:
        again = f"failed, staleproof replay {fingerprint(result.plan)}"
        test.user_properties.append((f"staleproof.{verdict.requirement}", again))


def _told(result: Result) -> str:
    times, runs = result.reproduced
    blocks = [f"{result.plan.title or result.plan.scenario}"]
    for story in result.stories:
        blocks.append(f"{BY_SLUG[story.requirement].must}\n{story.text()}")
    name = fingerprint(result.plan)
    blocks.append(
        f"reproduced {times}/{runs}\nReproduce with:\n  pytest --staleproof-replay {name} …\n  staleproof replay {name}\n"
        f"History: {result.folder / HISTORY}"
    )
    return "\n".join(blocks)
