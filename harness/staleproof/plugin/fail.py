"""How a test of the suite tells what it found: it fails with the stories of the findings, and how to see them again."""

from collections.abc import Iterable, Set

import pytest

from staleproof.assess.crashes import crash_id
from staleproof.assess.result import Result
from staleproof.assess.run_folder import HISTORY
from staleproof.checks.catalog import BY_SLUG
from staleproof.report.baseline import Baseline

NOTHING_KNOWN = Baseline()


def assert_passed(results: Iterable[Result], baseline: Baseline = NOTHING_KNOWN) -> None:
    """Fail the test when any of these trials has a finding that is not in the baseline; the stories are the message, one for each
    cause."""
    blocks, known = [], set[str]()
    for result in results:
        if is_new(result, baseline):
            blocks.append(_told(result, known))
            known |= {story.cause for story in result.stories}
    if blocks:
        pytest.fail("\n\n".join(blocks), pytrace=False)


def is_new(result: Result, baseline: Baseline) -> bool:
    """Whether it has a finding that fails a run and is not known."""
    slugs = {verdict.requirement for verdict in result.failures}
    found = [story for story in result.stories if slugs & {story.requirement, *story.also}] if slugs else []
    return any(not baseline.has(story.cause, story.requirement) for story in found)


def told_to_junit(result: Result, test: pytest.Item) -> None:
    """Say in the test's properties which trial it needed, how bad its findings are, and how they can be seen again."""
    test.user_properties.append(("staleproof.trial", result.name))
    for verdict in result.failures:
        again = f"failed, {verdict.worst.severity}, staleproof replay {crash_id(result.plan)}"
        test.user_properties.append((f"staleproof.{verdict.requirement}", again))


def _told(result: Result, known: Set[str]) -> str:
    """`known`: causes that were told of another trial."""
    times, runs = result.reproduced
    name, title = crash_id(result.plan), result.plan.title or result.plan.scenario
    told = [story for story in result.stories if not story.cause or story.cause not in known]
    if not told:
        causes = "; ".join(story.cause for story in result.stories)
        return f"{title}\nthe same: {causes}\nreproduced {times}/{runs}: staleproof replay {name}"
    blocks = [title, *(f"{BY_SLUG[story.requirement].must}\n{story.text()}" for story in told)]
    found = result.shrunk or f"reproduced {times}/{runs}"
    blocks.append(
        f"{found}\nReproduce with:\n  pytest --staleproof-replay {name} …\n  staleproof replay {name}\n"
        f"History: {result.folder / HISTORY}"
    )
    return "\n".join(blocks)
