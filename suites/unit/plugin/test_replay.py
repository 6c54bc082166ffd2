"""A pinned finding is a test in one line, which runs what is in a file beside it."""

import json
import textwrap
from pathlib import Path

import pytest

from staleproof.assess.store.crashes import keep_crash

from ..judged import HISTORIES, result

pytestmark = pytest.mark.io

pytest_plugins = ["pytester"]

CONFTEST = """
    from dataclasses import replace

    import pytest

    from staleproof.assess.trial.result import Result
    from staleproof.checks.judge import judge
    from staleproof.core.history.entry import FaultFired
    from staleproof.core.history.history import decode
    from staleproof.plugin.outcome import begun

    @pytest.fixture
    def trial(tmp_path, pytestconfig):
        def run(plan):
            print("ran", plan.title)
            with open(HISTORY, "rb") as file:
                history = CHANGE(decode(file.read()))
            return Result("1", history.header.plan, history, judge(history), tmp_path, 1.0, (3, 3))

        return run

    def as_it_is(history):
        return history

    def without_occasion(history):
        return replace(history, entries=tuple(each for each in history.entries if not isinstance(each, FaultFired)))

    @pytest.fixture(autouse=True, scope="session")
    def begun_run(pytestconfig):
        begun(pytestconfig)
"""
MINE = """
    from staleproof.plugin.replay import pinned

    test_that_it_stays_fixed = pinned("crashes/mine.json")
"""


def history_is(pytester: pytest.Pytester, name: str, change: str = "as_it_is") -> None:
    """What happens in the trial of a plan: this history, or what a change makes of it."""
    source = f"HISTORY, CHANGE = {str(HISTORIES / f'{name}.jsonl')!r}, {change}\n"
    (pytester.path / "tests" / "conftest.py").write_text(textwrap.dedent(CONFTEST) + source)


@pytest.fixture
def mine(pytester: pytest.Pytester, tmp_path: Path) -> pytest.Pytester:
    folder = pytester.mkdir("tests")
    history_is(pytester, "expectations-hidden-creates")
    (folder / "test_mine.py").write_text(textwrap.dedent(MINE))
    (folder / "crashes").mkdir()
    name = keep_crash(tmp_path, result("naive-hidden-creates"))
    (folder / "crashes" / "mine.json").write_bytes((tmp_path / "crashes" / f"{name}.json").read_bytes())
    return pytester


def test_it_is_a_test_that_runs_the_plan(mine: pytest.Pytester) -> None:
    done = mine.runpytest("-rP", "-v")
    done.assert_outcomes(passed=1)
    plan = result("naive-hidden-creates").plan
    assert f"ran {plan.title}" in done.outlines
    done.stdout.fnmatch_lines(["*test_mine.py::test_that_it_stays_fixed PASSED*", "staleproof: FIXED mine"])
    assert (mine.path / "tests" / "crashes" / "mine.json").exists()


def test_what_still_fails_fails(mine: pytest.Pytester) -> None:
    history_is(mine, "naive-hidden-creates")
    done = mine.runpytest()
    done.assert_outcomes(failed=1)
    assert done.ret == 1
    done.stdout.fnmatch_lines(["*no-duplicate-create*", "staleproof: STILL FAILS mine"])


SILENT = "  not fired: HideOwnWrite of pods"
DOUBT = "  no-duplicate-create: "


@pytest.mark.parametrize(
    ("option", "outcome", "code"),
    [
        ((), {"failed": 1}, 10),
        (("--staleproof-inconclusive=fail",), {"failed": 1}, 1),
        (("--staleproof-inconclusive=ok",), {"skipped": 1}, 0),
        (("-n1",), {"failed": 1}, 10),
    ],
)
def test_a_plan_whose_fault_did_nothing_is_inconclusive(
    option: tuple[str, ...], outcome: dict[str, int], code: int, mine: pytest.Pytester
) -> None:
    history_is(mine, "expectations-hidden-creates", "without_occasion")
    done = mine.runpytest_subprocess("-rs", *option)
    done.assert_outcomes(**outcome)
    assert done.ret == code
    begins = "INCONCLUSIVE mine, hide own creates of pods"
    done.stdout.fnmatch_lines([f"*{begins}*", f"*{SILENT}*", f"*{DOUBT}*", "*What to do: run it against*"])
    assert "staleproof: INCONCLUSIVE mine" in done.outlines


def test_a_file_that_is_not_there_or_wrong_is_reported(mine: pytest.Pytester) -> None:
    file = mine.path / "tests" / "crashes" / "mine.json"
    file.write_text(json.dumps({"kind": "Crash"}))
    mine.runpytest().stdout.fnmatch_lines(["*mine.json is not a crash file of staleproof*"])
    file.unlink()
    mine.runpytest().stdout.fnmatch_lines(["*no plan *mine.json*: expected a plan.json*"])


def test_of_a_folder_each_plan_is_reported_and_those_that_failed_are_run_alone(mine: pytest.Pytester) -> None:
    history_is(mine, "naive-hidden-creates")
    folder = mine.path / "tests" / "crashes"
    (folder / "other.json").write_bytes((folder / "mine.json").read_bytes())
    (mine.path / "tests" / "test_mine.py").write_text(textwrap.dedent(MINE).replace("/mine.json", ""))
    done = mine.runpytest("-v")
    done.stdout.fnmatch_lines(["* FAILED hide own creates of pods, then touch, * s *", "*2 of 2 plans still fail*", "*3 failed*"])
    mine.runpytest("-x").stdout.fnmatch_lines(["*1 of 1 plan still fails*"])
