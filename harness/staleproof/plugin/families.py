"""Which tests of a pytest session run a family each, and what the queue of plans has to do with pytest."""

from collections.abc import Callable, Iterable

import pytest

from staleproof.assess.run.queue import Came, Queue
from staleproof.assess.store.known_findings import NOTHING_KNOWN, verdict_on
from staleproof.assess.trial.result import Result
from staleproof.assess.trial.session import Session
from staleproof.core.plan.fingerprint import fingerprint
from staleproof.core.wording import plural
from staleproof.draw.family import Family
from staleproof.plugin.fail import story_of
from staleproof.plugin.plan_reports import PlanReports
from staleproof.report.baseline import Baseline
from staleproof.settings import Settings

_ALIKE = ("run_family", "staleproof_queue", "observed")
"""Fixtures that must be the same for a test's plans to be run from another test."""
QUEUE = pytest.StashKey[Queue]()
SESSION = pytest.StashKey[Session]()
"""There once this process has begun one."""


def help_peers(item: pytest.Item) -> None:
    """Called by a worker that has no other test to run after this one."""
    queue = item.config.stash.get(QUEUE, None)
    if queue is not None and queue.shares_plans:
        queue.help()


def families_of(items: Iterable[pytest.Item]) -> dict[str, Family]:
    """The tests that will run a family each, by their ids."""
    found = {item.nodeid: [value for value in _parameters(item) if isinstance(value, Family)] for item in items}
    return {test: families[0] for test, families in found.items() if len(families) == 1}


def families_like(model: pytest.Item) -> dict[str, Family]:
    """Those of this session that will run a family with the same fixtures as the model does."""
    alike = (item for item in model.session.items if _fixtures(item) == _fixtures(model))
    skips = {"skip", "skipif", "xfail"}
    return families_of(item for item in alike if skips.isdisjoint(mark.name for mark in item.iter_markers()))


def plan_ended(reports: PlanReports, baseline: Baseline = NOTHING_KNOWN) -> Callable[[str, Result, float], None]:
    """Reports a plan of a test. A cause whose story was told is only named the next time."""
    known = set[str]()

    def report(test: str, result: Result, seconds: float) -> None:
        verdict = verdict_on(result, baseline)
        story = story_of(result, known) if verdict == "failed" else ""
        known.update(story.cause for story in result.stories if verdict == "failed")
        plan = result.plan
        reports.report(
            test, plan=fingerprint(plan), name=plan.title or plan.scenario, verdict=verdict, seconds=seconds, story=story
        )

    return report


def why_none(came: Came, settings: Settings) -> str:
    """Why a family has no results, or not all."""
    if came.stopped:
        return f"{plural(came.stopped, 'plan')} not run, because the run was to stop"
    if came.left_out:
        return f"{plural(len(came.left_out), 'plan')} left out"
    why = f"without faults the controller gives no occasion for these plans, or profile {settings.profile} leaves them out"
    return f"none of its plans is one of --staleproof-only, or {why}" if settings.only else why


def _parameters(item: pytest.Item) -> Iterable[object]:
    callspec = getattr(item, "callspec", None)
    return callspec.params.values() if callspec is not None else ()


def _fixtures(item: pytest.Item) -> list[object]:
    known = item._fixtureinfo.name2fixturedefs if isinstance(item, pytest.Function) else {}
    return [known[name][-1] if name in known else None for name in _ALIKE]
