"""A run of the suite that one can watch: a line says how far it is, in place of pytest's letters; with -v each plan has one as it
ends.

Plans take seconds, and tests are families of them: what pytest shows of tests says little while they run, and names everything
twice at the end. So here the reports of the suite's tests are counted by their plans, and `report.ending` says what failed.
Asked for more (-vv), pytest shows all of it its own way.
"""

import os
import time
from collections.abc import Generator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from staleproof.assess.run.notes import Notes
from staleproof.assess.run.standing import Watched
from staleproof.display import Display
from staleproof.plugin import BEGAN
from staleproof.plugin.outcome import NOTES, ends
from staleproof.plugin.plan_reports import FAILED_PLANS, outcome_line, plan_of
from staleproof.plugin.signals import is_interrupted
from staleproof.report.live import Standing

Status = tuple[str, str, str]


class Watching:
    """In the only or the controlling process. `names`: whether each plan is named as it ends. `counts_plans`: what the tests are
    made of are plans, so tests are not counted."""

    def __init__(self, config: pytest.Config, *, names: bool, counts_plans: bool) -> None:
        self._config, self._names, self._counts_plans = config, names, counts_plans
        self._watched = Watched()
        self._display: Display | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """pytest shows nothing of its own while tests run."""
        terminal: Any = self._terminal
        terminal.showfspath = False
        terminal._show_progress_info = False

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        notes = self._config.stash.get(NOTES, None)
        if notes is None or session.config.option.collectonly:
            return (yield)
        notes.heard = self._watched.take
        self._terminal.ensure_newline()
        with ExitStack() as stack:
            screen = stack.enter_context(open(os.dup(2), "w"))  # while pytest captures what tests write, too
            self._display = stack.enter_context(Display(screen, lambda: self._standing(notes)))
            stack.callback(self._forget)
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, object, object]:
        plan = plan_of(report)
        with self._aside():
            if plan is not None and self._names:
                line, markup = outcome_line(plan)
                self._terminal.write_line(line, **markup)
                for text in str(report.longrepr or "").splitlines():
                    self._terminal.write_line(f"    {text}")
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True, optionalhook=True)
    def pytest_testnodedown(self) -> Generator[None, object, object]:
        with self._aside():
            return (yield)

    def status(self, report: pytest.TestReport) -> Status:
        """What a report is counted as, and the word for it, without a letter: while tests run, nothing is shown of them. What is
        counted as nothing is not shown at the end either."""
        plan = plan_of(report)
        if plan is not None:
            return ("with findings" if plan["verdict"] == "failed" else str(plan["verdict"])), "", ""
        if report.when != "call" and not report.skipped:
            return ("error", "", "ERROR") if report.failed else ("", "", "")
        is_reported = not report.failed or FAILED_PLANS in dict(report.user_properties)
        return ("", "", "") if self._counts_plans and is_reported else (report.outcome, "", report.outcome.upper())

    def _aside(self) -> Any:  # noqa: ANN401  # a context manager
        return self._display.aside() if self._display is not None else ExitStack()

    def _standing(self, notes: Notes) -> Standing:
        notes.catch_up()
        now = time.monotonic()
        standing = self._watched.standing(now - self._config.stash[BEGAN], ends(self._config)() - now)
        return replace(standing, is_interrupted=is_interrupted(self._config))

    def _forget(self) -> None:
        self._display = None

    @property
    def _terminal(self) -> Any:  # noqa: ANN401  # pytest's TerminalReporter, with what it has besides
        return self._config.pluginmanager.getplugin("terminalreporter")
