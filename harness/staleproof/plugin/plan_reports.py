"""How pytest learns of each plan as it ends: a report of its own, beside that of the test that needs it, as subtests have one.

So what counts tests counts plans: `-x` and `--maxfail` stop the run after one with a new finding, and its story is among the
failures. A worker may run a plan of a test that another worker is at; the report is that test's all the same. Which plans failed is
kept in pytest's cache, so that `--lf` runs these alone.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest

_CACHE = "staleproof/lastfailed"
_NAME = "staleproof-plan-reports"
FAILED_PLANS = "staleproof.failed-plans"
"""The property of a test that says how many of its plans failed, which is why it did."""
_STYLES = {
    "passed": (",", "green"),
    "failed": ("f", "red"),
    "known": ("k", "yellow"),
    "inconclusive": ("?", "yellow"),
    "not exercised": ("-", "cyan"),
}
"""By verdict: the letter that stands for a plan, and its colour."""


class PlanReports:
    """Those of a pytest process. Only a controlling process, or the only one, keeps what failed, and stops all workers."""

    def __init__(self, config: pytest.Config, stop: Callable[[], None]) -> None:
        self._config, self._stop = config, stop
        self._session: pytest.Session
        self._before: dict[str, list[str]] = {}
        self._failed: dict[str, list[str]] = {}

    def failed(self, test: str) -> list[str]:
        """The ids of the plans of a test that are to be run alone, because `--lf` asks for what failed; empty: all are."""
        return self._before.get(test, []) if self._config.getoption("lf", default=False) else []

    @property
    def stops(self) -> bool:
        """Whether pytest begins no other test."""
        return bool(self._session.shouldfail or self._session.shouldstop)

    def report(self, test: str, *, plan: str, name: str, verdict: str, seconds: float, story: str) -> None:
        """Report a plan of a test: its id and name, what came of it, how long it took, and the story of its findings."""
        found = next(((number, item) for number, item in enumerate(self._session.items) if item.nodeid == test), None)
        if found is None:
            return
        number, item = found
        path, line, domain = item.location
        xfail = item.get_closest_marker("xfail")
        capture: Any = self._config.pluginmanager.getplugin("capturemanager")
        made = pytest.TestReport(
            nodeid=test,
            location=(path, line, f"{domain} {name}"),
            keywords=dict.fromkeys(item.keywords, 1),
            outcome="passed" if verdict != "failed" else "skipped" if xfail is not None else "failed",
            longrepr=story or None,
            when="call",
            staleproof_plan={
                "id": plan,
                "name": name,
                "verdict": verdict,
                "seconds": seconds,
            },  # not its duration: that is part of the test's that was at work
        )
        if verdict == "failed" and xfail is not None:  # then pytest counts the plan as it counts the test
            made.wasxfail = xfail.kwargs.get("reason", "")
        with capture.global_and_fixture_disabled() if capture else nullcontext(), self._at(number):
            item.ihook.pytest_runtest_logreport(report=made)

    @contextmanager
    def _at(self, number: int) -> Iterator[None]:
        """In an xdist worker: let its report be of this test, and not of the one that the worker is at."""
        plugins = self._config.pluginmanager.get_plugins()
        worker: Any = next((each for each in plugins if hasattr(each, "item_index") and hasattr(each, "channel")), None)
        if worker is None:
            yield
            return
        mine, worker.item_index = worker.item_index, number
        try:
            yield
        finally:
            worker.item_index = mine

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session
        cache = getattr(self._config, "cache", None)
        self._before = cache.get(_CACHE, {}) if cache is not None else {}
        self._failed = dict(self._before)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._take(report)
        if self.stops and not hasattr(self._config, "workerinput"):
            self._stop()

    def _take(self, report: pytest.TestReport) -> None:
        plan = plan_of(report)
        if plan is None:
            return
        failed = [each for each in self._failed.get(report.nodeid, ()) if each != plan["id"]]
        had_failed = len(failed) < len(self._failed.get(report.nodeid, ()))
        if plan["verdict"] == "failed" or (had_failed and plan["verdict"] == "inconclusive"):  # a doubt mends nothing
            failed = [*failed, plan["id"]]
        self._failed[report.nodeid] = failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        cache = getattr(self._config, "cache", None)
        if cache is not None and not hasattr(self._config, "workerinput"):
            failed = {test: plans for test, plans in self._failed.items() if plans}
            tests: Any = self._config.pluginmanager.get_plugin("lfplugin")
            if tests is not None:  # it forgets a test of which another plan passed
                tests.lastfailed.update(dict.fromkeys(failed, True))
            if failed != cache.get(_CACHE, {}):
                cache.set(_CACHE, failed)


def register(config: pytest.Config, stop: Callable[[], None]) -> None:
    """Let this process report plans. `stop` stops the run, once pytest begins no other test."""
    config.pluginmanager.register(PlanReports(config, stop), _NAME)


def reports_of(config: pytest.Config) -> PlanReports:
    """Those of this process."""
    found: Any = config.pluginmanager.get_plugin(_NAME)
    assert isinstance(found, PlanReports)
    return found


def plan_of(report: pytest.TestReport) -> dict[str, Any] | None:
    """Id, name, verdict and seconds of the plan that this is the report of; None: it is a test's."""
    found: dict[str, Any] | None = getattr(report, "staleproof_plan", None)
    return found


def outcome_line(plan: dict[str, Any]) -> tuple[str, dict[str, bool]]:
    """A plan's verdict, name and seconds, with a colour."""
    return f"{plan['verdict'].upper()} {plan['name']}, {plan['seconds']:.1f} s", {_STYLES[plan["verdict"]][1]: True}


def status(report: pytest.TestReport) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """What pytest shows of a plan: what it is counted as, its letter, and its line; None: it is no plan."""
    plan = plan_of(report)
    if plan is None:
        return None
    fails = plan["verdict"] == "failed" and not hasattr(report, "wasxfail")
    counted = "failed" if fails else f"plans {plan['verdict']}"
    return counted, _STYLES[plan["verdict"]][0], outcome_line(plan)
