"""The conformance suite as pytest sees it: its ids, how they are chosen and spread over workers."""

from pathlib import Path
from typing import Any

import pytest
from xdist.remote import Producer

from staleproof.draw.scenarios import DRAWN as DRAWN_FAMILIES
from staleproof.draw.scenarios import FAMILIES
from staleproof.errors import HarnessBug
from staleproof.plugin.fixtures import plain_errors
from staleproof.plugin.outcome import NOTES

pytest_plugins = ["pytester"]

SUITES = Path(__file__).parents[2]
CANONICAL = {f"test_canonical[{family.scenario}/{family.name}]" for family in FAMILIES}
DRAWN = {f"test_drawn[{family.scenario}]" for family in DRAWN_FAMILIES}
OF_OWN_WRITES = {test for test in CANONICAL if "own-writes/" in test}


def collected(pytester: pytest.Pytester, *arguments: str) -> set[str]:
    """The tests of the suite that are collected, without their file."""
    shown = pytester.runpytest("--controller-cmd=x", "--collect-only", "-q", *arguments).outlines
    return {line.partition("::")[2] for line in shown if "::" in line}


def test_every_family_has_its_test(pytester: pytest.Pytester) -> None:
    assert collected(pytester) == CANONICAL | DRAWN


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ("own-writes", OF_OWN_WRITES),
        ("own-writes and not hide", {test for test in OF_OWN_WRITES if "hide" not in test}),
        ("own-writes/hide-creates", {"test_canonical[own-writes/hide-creates]"}),
        ("hide-creates", {"test_canonical[own-writes/hide-creates]"}),
    ],
)
def test_scenarios_and_families_are_chosen_by_name(chosen: str, expected: set[str], pytester: pytest.Pytester) -> None:
    assert collected(pytester, "-k", chosen) == expected


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        ((), set()),
        (("-k", "own-writes/"), (CANONICAL | DRAWN) - OF_OWN_WRITES),
        (("-k", "test_drawn"), CANONICAL),
    ],
)
def test_what_is_not_to_be_run_is_reported(arguments: tuple[str, ...], left: set[str], pytester: pytest.Pytester) -> None:
    class Deselected:
        deselected: frozenset[str] = frozenset()

        def pytest_collection_finish(self, session: pytest.Session) -> None:
            self.deselected = frozenset(session.config.stash[NOTES].deselected)

    plugin = Deselected()
    pytester.inline_run("--controller-cmd=x", "--collect-only", "-q", *arguments, plugins=[plugin])
    assert plugin.deselected == left


@pytest.mark.io
def test_a_test_is_chosen_by_its_id(pytester: pytest.Pytester) -> None:
    path = SUITES / "conformance" / "test_scenarios.py"
    chosen = {"test_canonical[restart/kills]", *DRAWN} & (CANONICAL | DRAWN)
    assert collected(pytester, *(f"{path}::{test}" for test in chosen)) == chosen


@pytest.mark.parametrize("dist", ["loadfile", "loadscope"])
def test_workers_get_whole_scenarios_although_the_suite_is_one_file(dist: str, pytester: pytest.Pytester) -> None:
    config = pytester.parseconfigure("--controller-cmd=x", "--tx=2*popen", f"--dist={dist}")
    scheduler: Any = config.hook.pytest_xdist_make_scheduler(config=config, log=Producer("test"))
    groups: dict[str, set[str]] = {}
    for test in CANONICAL | DRAWN:
        groups.setdefault(scheduler._split_scope(f"../suite/test_scenarios.py::{test}"), set()).add(test)
    assert len(groups) == len({family.scenario for family in FAMILIES}) + len(DRAWN)
    assert OF_OWN_WRITES in groups.values()
    assert scheduler._split_scope("test_mine.py::test_other[a/b]") == "test_mine.py"


def test_other_runs_are_spread_as_xdist_does_it(pytester: pytest.Pytester) -> None:
    config = pytester.parseconfigure("--tx=2*popen", "--dist=loadfile")
    assert type(config.hook.pytest_xdist_make_scheduler(config=config, log=Producer("test"))).__module__.startswith("xdist.")


def test_an_unexpected_error_is_our_bug() -> None:
    with pytest.raises(HarnessBug, match="unexpected KeyError: 'x'; please report it"), plain_errors():
        raise KeyError("x")
