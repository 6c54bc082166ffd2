"""A pinned finding is a test in one line, which runs what is in a file beside it."""

import json
import textwrap
from pathlib import Path

import pytest

from staleproof.assess.crashes import keep_crash

from ..judged import result

pytest_plugins = ["pytester"]

CONFTEST = """
    import pytest

    from staleproof.assess.result import Result
    from staleproof.core.history import Header, History

    @pytest.fixture
    def trial(tmp_path):
        def run(plan):
            print("ran", plan.title)
            return Result("1", plan, History(Header(plan=plan, namespace="x"), ()), (), tmp_path, 1.0)

        return run
"""
MINE = """
    from staleproof.plugin.replay import pinned

    test_that_it_stays_fixed = pinned("crashes/mine.json")
"""


@pytest.fixture
def mine(pytester: pytest.Pytester, tmp_path: Path) -> pytest.Pytester:
    folder = pytester.mkdir("tests")
    (folder / "conftest.py").write_text(textwrap.dedent(CONFTEST))
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
    done.stdout.fnmatch_lines(["*test_mine.py::test_that_it_stays_fixed PASSED*"])
    assert (mine.path / "tests" / "crashes" / "mine.json").exists()


def test_a_file_that_is_not_there_or_wrong_is_told(mine: pytest.Pytester) -> None:
    file = mine.path / "tests" / "crashes" / "mine.json"
    file.write_text(json.dumps({"kind": "Crash"}))
    mine.runpytest().stdout.fnmatch_lines(["*mine.json is not a crash file of staleproof*"])
    file.unlink()
    mine.runpytest().stdout.fnmatch_lines(["*no plan *mine.json*: expected a plan.json*"])
