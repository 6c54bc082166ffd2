"""The user's own tests: a conftest.py names the controller and what it needs, and no option is given."""

import json
import re
import textwrap
from pathlib import Path

import pytest

from .conftest import MANIFESTS, Done, Run

REPOSITORY = Path(__file__).parents[2]

CONFTEST = f"""
    import sys

    import pytest
    import yaml

    from staleproof.core.plan.plan import Subject

    def document(name):
        with open({str(MANIFESTS)!r} + "/" + name) as file:
            return yaml.safe_load(file)

    @pytest.fixture(scope="session")
    def controller_spec():
        return Subject(command=(sys.executable, "-m", "staleproof.fixtures.controllers.CONTROLLER"))

    @pytest.fixture(scope="session")
    def controller_crds():
        return [document("widget-crd.yaml")]

    @pytest.fixture(scope="session")
    def controller_samples():
        return [document("widget-sample.yaml")]
"""
TESTS = """
    from staleproof.draw import own_writes
    from staleproof.draw.profile import PROFILES
    from staleproof.plugin.fail import assert_passed

    def test_mine(trial, observed):
        (mine,) = observed
        plan = next(own_writes.hide_creates(mine, PROFILES["smoke"]))
        assert_passed([trial(plan)])

    def test_of_something_else():
        assert True
"""


def own_tests(folder: Path, controller: str, tests: str = TESTS) -> Path:
    (folder / "conftest.py").write_text(textwrap.dedent(CONFTEST).replace("CONTROLLER", controller))
    (folder / "test_mine.py").write_text(textwrap.dedent(tests))
    return folder


@pytest.fixture(scope="module")
def found(suite: Run, tmp_path_factory: pytest.TempPathFactory) -> Done:
    return suite(folder=own_tests(tmp_path_factory.mktemp("own"), "naive"))


def crash_of(done: Done) -> Path:
    (crash,) = (done.folder / ".staleproof" / "crashes").iterdir()
    return crash


def test_a_conftest_is_enough(found: Done) -> None:
    done = found
    assert done.code == 1, done.output
    assert "1 failed, 1 passed" in done.output
    assert "staleproof: failed: no-duplicate-create violated; " in done.output
    assert [trial["name"] for trial in done.report["trials"]] == ["001"]
    assert done.results["no-duplicate-create"] == "failed"
    assert crash_of(done).stem == done.report["trials"][0]["crash"]


@pytest.mark.live
def test_what_is_mended_is_reported_and_its_crash_goes(found: Done, suite: Run) -> None:
    crash = crash_of(found)
    fixed = suite(f"--staleproof-replay={crash.stem}", folder=own_tests(found.folder, "deterministic"))
    assert fixed.code == 0, fixed.output
    assert f"staleproof: FIXED {crash.stem}" in fixed.output
    assert not crash.exists()


@pytest.mark.live
def test_a_conftest_is_enough_with_workers(suite: Run, tmp_path: Path) -> None:
    """The controlling process learns of the controller from the files of its workers."""
    done = suite("-n1", folder=own_tests(tmp_path, "naive"))
    assert done.code == 1, done.output
    assert "staleproof: failed: no-duplicate-create violated; " in done.output
    (run_folder,) = (tmp_path / ".staleproof" / "runs").iterdir()
    report = json.loads((run_folder / "report.json").read_bytes())
    assert [trial["folder"] for trial in report["trials"]] == ["gw0/trials/gw0-001"]


def example_of_the_readme() -> str:
    examples: list[str] = re.findall(r"```python\n(.*?)```", (REPOSITORY / "docs" / "own-tests.md").read_text(), re.DOTALL)
    (found,) = examples
    return found


@pytest.mark.live
@pytest.mark.parametrize(("controller", "code"), [("naive", 1), ("deterministic", 0)])
def test_the_readmes_example_draws_plans_for_the_controller_that_is_named(
    controller: str, code: int, suite: Run, tmp_path: Path
) -> None:
    done = suite("--hypothesis-seed=7", folder=own_tests(tmp_path, controller, example_of_the_readme()))
    assert done.code == code, done.output
    assert {trial["scenario"] for trial in done.report["trials"]} == {"drawn"}
    assert "Flaky" not in done.output
    assert ("minimal: " in done.output) == bool(code)


DYING = TESTS.replace(
    "assert True",
    """import os
        os._exit(7)
""",
)


@pytest.mark.live
@pytest.mark.parametrize(("controller", "code"), [("naive", 1), ("deterministic", 11)])
def test_a_worker_that_dies_takes_no_finding_with_it(controller: str, code: int, suite: Run, tmp_path: Path) -> None:
    own_tests(tmp_path, controller, DYING)
    done = suite("-n1", "--max-worker-restart=0", folder=tmp_path)
    assert done.code == code, done.output
    assert "an xdist worker died; what it had finished is in the report" in done.output
    (run_folder,) = (tmp_path / ".staleproof" / "runs").iterdir()
    report = json.loads((run_folder / "report.json").read_bytes())
    assert report["partial"] is True
    assert len(report["trials"]) == 1


def test_tests_that_ask_for_nothing_leave_nothing(suite: Run, tmp_path: Path) -> None:
    (tmp_path / "test_plain.py").write_text("def test_plain(): pass\n")
    done = suite(folder=tmp_path)
    assert done.code == 0, done.output
    assert "staleproof:" not in done.output
    assert not (tmp_path / ".staleproof").exists()
