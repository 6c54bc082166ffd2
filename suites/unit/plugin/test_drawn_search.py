"""The search with drawn plans: the first finding ends it, and so does what goes wrong, in its own words and not as flakiness."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from staleproof.assess import Result
from staleproof.checks.judge import judge
from staleproof.core.history import decode
from staleproof.core.observed import ChildKind, Observed
from staleproof.core.plan import Plan
from staleproof.errors import HarnessBug, SetupError
from staleproof.plugin.fixtures import told_plainly

SUITES = Path(__file__).parents[2]
HISTORIES = SUITES.parent / "fixtures" / "histories"
SAMPLE = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"replicas": 3}}
OBSERVED = Observed(SAMPLE, "widgets.example.com", ("spec", "replicas"), (ChildKind("pods", 4, 3, stable_names=False),))
EXAMPLES = 5


@pytest.fixture(scope="module")
def search() -> Callable[..., None]:
    """Of the suite itself, which is loaded by tools and imported by nobody."""
    spec = importlib.util.spec_from_file_location("own_writes_suite", SUITES / "conformance" / "test_own_writes.py")
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[..., None] = module._search
    return found


def result(name: str) -> Result:
    history = decode((HISTORIES / f"{name}.jsonl").read_bytes())
    return Result("001", history.header.plan, history, judge(history), Path("trials/001"), 1.0)


@pytest.mark.parametrize(
    ("error", "raised"), [(SetupError("port taken"), pytest.fail.Exception), (HarnessBug("impossible"), HarnessBug)]
)
def test_what_goes_wrong_ends_the_search_as_it_is(
    error: Exception, raised: type[BaseException], search: Callable[..., None]
) -> None:
    ran: list[Plan] = []

    def trial(plan: Plan) -> Result:
        ran.append(plan)
        with told_plainly():
            raise error

    with pytest.raises(raised, match=str(error)) as caught:
        search(OBSERVED, trial, [], EXAMPLES)
    assert len(ran) == 1
    assert error in (caught.value, caught.value.__cause__)


@pytest.mark.parametrize(("name", "runs"), [("naive-hidden-creates", 1), ("expectations-hidden-creates", EXAMPLES)])
def test_a_finding_ends_the_search(name: str, runs: int, search: Callable[..., None]) -> None:
    results: list[Result] = []
    search(OBSERVED, lambda _: result(name), results, EXAMPLES)
    assert len(results) == runs


def test_what_nobody_expected_is_our_bug() -> None:
    with pytest.raises(HarnessBug, match="unexpected KeyError: 'x'; please report it"), told_plainly():
        raise KeyError("x")
