"""What a test says of findings: their stories, and how to see them again."""

from collections.abc import Iterable, Set

import pytest

from staleproof.assess.run.notes import InconclusiveError
from staleproof.assess.store.crashes import Found, crash_id, outcome_of, why_unknown
from staleproof.assess.store.known_findings import NOTHING_KNOWN, is_new
from staleproof.assess.store.run_folder import HISTORY, named_artefacts
from staleproof.assess.trial.result import Result
from staleproof.checks.catalog import BY_SLUG
from staleproof.report.baseline import Baseline
from staleproof.report.model import replay

_TRY_AGAIN = (
    "What to do: run it against the controller, samples and options that it was found with. If the controller gives its faults no "
    "occasion any more, this plan shows nothing: look for the finding anew, and take its file away."
)


def assert_passed(results: Iterable[Result], baseline: Baseline = NOTHING_KNOWN) -> None:
    """Fail the test when any of these trials has a finding that is not in the baseline; the stories are the message, one for each
    cause."""
    blocks, known = [], set[str]()
    for result in results:
        if is_new(result, baseline):
            blocks.append(f"{result.plan.title or result.plan.scenario}\n{story_of(result, known)}")
            known |= {story.cause for story in result.stories}
    if blocks:
        pytest.fail("\n\n".join(blocks), pytrace=False)


def assert_known(replays: Iterable[tuple[Found, Result]], *, accepts_doubt: bool = False) -> None:
    """Fail the test when one of these replays does not show whether its finding is fixed, and say what did not happen; skip it
    instead for a user who accepts that."""
    doubtful = [(found, result) for found, result in replays if outcome_of(found, result) == "inconclusive"]
    if not doubtful:
        return
    message = "\n\n".join([*(_doubt(found, result) for found, result in doubtful), _TRY_AGAIN])
    if accepts_doubt:
        pytest.skip(message)
    raise pytest.fail.Exception(message, pytrace=False) from InconclusiveError(message)


def _doubt(found: Found, result: Result) -> str:
    title = result.plan.title or result.plan.scenario
    return "\n  ".join(
        [f"INCONCLUSIVE {found.path.stem}, {title}: it is not known whether it is fixed", *why_unknown(found, result)]
    )


def add_properties(result: Result, test: pytest.Item) -> None:
    """Say in the test's properties which trial it needed, how bad its findings are, and how they can be seen again."""
    test.user_properties.append(("staleproof.trial", result.name))
    for verdict in result.failures:
        again = f"failed, {verdict.worst.severity}, {replay(crash_id(result.plan), named_artefacts(result.folder))}"
        test.user_properties.append((f"staleproof.{verdict.requirement}", again))


def story_of(result: Result, known: Set[str]) -> str:
    """The findings of a trial, and how to see them again. `known`: causes that were reported of another trial."""
    times, runs = result.reproduced
    name = crash_id(result.plan)
    command = replay(name, named_artefacts(result.folder))
    new = [story for story in result.stories if not story.cause or story.cause not in known]
    if not new:
        causes = "; ".join(story.cause for story in result.stories)
        return f"the same: {causes}\nreproduced {times}/{runs}: {command}"
    found = result.shrunk or f"reproduced {times}/{runs}"
    how = f"  pytest --staleproof-replay {name}\n  {command}"
    again = f"{found}\nReproduce with one of these, and the options of this run:\n{how}"
    stories = (f"{BY_SLUG[story.requirement].must}\n{story.text()}" for story in new)
    return "\n".join([*stories, again, f"History: {result.folder / HISTORY}"])
