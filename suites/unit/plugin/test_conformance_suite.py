"""The conformance suite as pytest sees it: its ids, how they are chosen and spread over workers, and the search with drawn plans.

The first finding ends that search, and so does an error, which is raised as it is and not taken for flakiness.
"""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from xdist.remote import Producer

from staleproof.assess import Result
from staleproof.core.observed import ChildKind, Observed
from staleproof.core.plan import Plan
from staleproof.draw import own_writes
from staleproof.draw.scenarios import FAMILIES
from staleproof.errors import HarnessBug, SetupError
from staleproof.plugin.fixtures import told_plainly

from ..judged import result

pytest_plugins = ["pytester"]

SUITES = Path(__file__).parents[2]
SAMPLE = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"replicas": 3}}
OBSERVED = Observed(SAMPLE, "widgets.example.com", ("spec", "replicas"), (ChildKind("pods", 4, 3, stable_names=False),))
EXAMPLES = 5
CANONICAL = {f"test_canonical[{family.scenario}/{family.name}]" for family in FAMILIES}
DRAWN = {"test_drawn[own-writes]"}
OF_OWN_WRITES = {test for test in CANONICAL if "own-writes/" in test} | DRAWN


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
        ("own-writes and not drawn", OF_OWN_WRITES - DRAWN),
        ("own-writes/hide-creates", {"test_canonical[own-writes/hide-creates]"}),
        ("hide-creates", {"test_canonical[own-writes/hide-creates]"}),
    ],
)
def test_scenarios_and_families_are_chosen_by_name(chosen: str, expected: set[str], pytester: pytest.Pytester) -> None:
    assert collected(pytester, "-k", chosen) == expected


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
    assert OF_OWN_WRITES - DRAWN in groups.values()
    assert scheduler._split_scope("test_mine.py::test_other[a/b]") == "test_mine.py"


def test_other_runs_are_spread_as_xdist_does_it(pytester: pytest.Pytester) -> None:
    config = pytester.parseconfigure("--tx=2*popen", "--dist=loadfile")
    assert type(config.hook.pytest_xdist_make_scheduler(config=config, log=Producer("test"))).__module__.startswith("xdist.")


# --- the search with drawn plans -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def search() -> Callable[..., None]:
    """The suite's own; the suite is loaded by tools and imported by nobody."""
    spec = importlib.util.spec_from_file_location("conformance_suite", SUITES / "conformance" / "test_scenarios.py")
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[..., None] = module._search
    return found


@pytest.mark.parametrize(
    ("error", "raised"), [(SetupError("port taken"), pytest.fail.Exception), (HarnessBug("impossible"), HarnessBug)]
)
def test_an_error_ends_the_search_and_is_raised_as_it_is(
    error: Exception, raised: type[BaseException], search: Callable[..., None]
) -> None:
    ran: list[Plan] = []

    def trial(plan: Plan) -> Result:
        ran.append(plan)
        with told_plainly():
            raise error

    with pytest.raises(raised, match=str(error)) as caught:
        search(own_writes.plans(OBSERVED), trial, [], EXAMPLES)
    assert len(ran) == 1
    assert error in (caught.value, caught.value.__cause__)


@pytest.mark.parametrize(("name", "runs"), [("naive-hidden-creates", 1), ("expectations-hidden-creates", EXAMPLES)])
def test_a_finding_ends_the_search(name: str, runs: int, search: Callable[..., None]) -> None:
    results: list[Result] = []
    search(own_writes.plans(OBSERVED), lambda _: result(name), results, EXAMPLES)
    assert len(results) == runs


def test_an_unexpected_error_is_our_bug() -> None:
    with pytest.raises(HarnessBug, match="unexpected KeyError: 'x'; please report it"), told_plainly():
        raise KeyError("x")
