"""Spreading plans over workers: a family's test judges its plans, and whoever has time runs them.

pytest and xdist know tests, and a test is a whole family, because its plans are only known once the controller was observed. So
each plan is claimed before it is run. A test runs those of its own that nobody has claimed, the longest first; a worker that would
have to wait for others, or has no test left, runs plans of other families. So a run ends within one trial of its last claim.

A finding that is not in the baseline ends the search of a family with drawn plans for that primary: those that nobody has begun by
then would most likely find it again. A known one ends nothing, else nothing new would ever be found behind it.

With a budget (`--staleproof-minutes`) the most valuable plan of all families comes first, in whichever test that happens, and a
plan that would not be over in time is left out: one that differs has to be compared with more runs, so what that took longest so
far is kept in reserve. A plan that could not be carried out, not even when it was run once more, is left out, too.
"""

import hashlib
import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec
import pytest

from staleproof.assess.baseline import NOTHING_KNOWN, is_new, new_stories
from staleproof.assess.claims import Claims, Done
from staleproof.assess.once_more import Undoable
from staleproof.assess.result import Result, failures
from staleproof.core.plan import Plan, masked
from staleproof.draw.family import Family
from staleproof.draw.order import most_valuable_first
from staleproof.errors import OutOfTime
from staleproof.report.baseline import Baseline
from staleproof.report.model import EndedSearch

_ALIKE = ("run_family", "staleproof_spread", "observed")
"""Fixtures that must be the same for a test's plans to be run from another test."""


_MOST_RESERVE = 0.1
"""Of the time that there is for plans, so much may be kept for comparing and confirming the last of them."""


class Drawn(NamedTuple):
    """A plan, the seconds that it is expected to take, and the primary that it is for, as `widgets.example.com/sample`."""

    plan: Plan
    seconds: float
    primary: str


class Search(NamedTuple):
    """What plans are drawn for together: a test, by its id, and a primary."""

    test: str
    primary: str


class Left(NamedTuple):
    """A plan that was left out, and why; empty: for want of time."""

    plan: Plan
    why: str = ""


class Came(NamedTuple):
    """What came of a family's plans: those that were run, those that were left out, and the searches that findings ended before all
    of theirs were run."""

    results: list[Result]
    left_out: list[Left]
    ended: list[EndedSearch]


@dataclass(frozen=True, slots=True)
class Job:
    """A plan that a test needs; the same key in every worker. `search`: that for which it was drawn; None: it is canonical."""

    key: str
    plan: Plan
    seconds: float
    search: Search | None = None


@dataclass(slots=True)
class Spread:
    """The plans of all families' tests.

    Attributes:
        claims: where the workers of this run tell one another what they run.
        draw: a family's plans.
        run: runs a plan and reports its trial, which a key tells apart from any other; if it `shrinks`, that of the smallest plan.
        note: takes an error in a plan of another test; whoever needs that plan will run it again.
        ends: when the time is over, on the monotonic clock; infinite: there is time for everything. It may become later.
        baseline: the findings that end no search.
    """

    claims: Claims
    draw: Callable[[Family], Iterable[Drawn]]
    run: Callable[..., Result]
    note: Callable[[BaseException], None]
    ends: Callable[[], float] = lambda: math.inf
    baseline: Baseline = NOTHING_KNOWN
    _jobs: dict[str, list[Job]] = field(default_factory=dict)
    _in_order: list[Job] = field(default_factory=list)
    _asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    _ran: dict[str, Result] = field(default_factory=dict)
    _over: set[str] = field(default_factory=set)
    _new: dict[str, bool] = field(default_factory=dict)
    _began: float = field(default_factory=time.monotonic)
    _reserve: float = 0.0
    _helps: bool = True

    def results(self, item: pytest.Item, family: Family) -> Came:
        """What came of this family's plans for this test, run by whomever."""
        if not self._jobs and (self._hurries or _is_worker(item.config)):
            self._jobs = {nodeid: jobs for nodeid, each in _families_like(item).items() if (jobs := self._jobs_of(nodeid, each))}
        times = self._asked[item.nodeid, str(family)]
        self._asked[item.nodeid, str(family)] += 1
        is_known = not times and item.nodeid in self._jobs
        mine = self._jobs[item.nodeid] if is_known else self._drawn(item.nodeid, family, times)
        if not is_known or not self._in_order:
            self._jobs[item.nodeid] = mine
            self._in_order = self._ordered([job for jobs in self._jobs.values() for job in jobs])
        found = self._finished(mine)
        ran = [(job, self._result(job, found[job.key])) for job in mine if found[job.key].name]
        missing = [job for job in mine if not found[job.key].name]
        ended = self._ended(ran, missing)
        left_out = [Left(job.plan, found[job.key].why) for job in missing if job.search not in ended or found[job.key].why]
        return Came([result for _, result in ran], left_out, [each for each in ended.values() if each.plans])

    def help(self) -> None:
        """Run plans of other tests until there is none that nobody runs."""
        while any(self._take(job, helps=True) for job in self._open(frozenset())):
            pass

    def _ended(self, ran: Iterable[tuple[Job, Result]], missing: Collection[Job]) -> dict[Search | None, EndedSearch]:
        """The searches that found something new, with the finding, and how many of their plans are missing therefore."""
        found: dict[Search | None, EndedSearch] = {}
        for job, result in ran:
            if job.search is not None and job.search not in found and (stories := new_stories(result, self.baseline)):
                found[job.search] = EndedSearch(
                    scenario=job.plan.scenario,
                    primary=job.search.primary,
                    plans=sum(other.search == job.search for other in missing),
                    requirement=stories[0].requirement,
                    found=stories[0].cause or stories[0].headline,
                    trial=result.name,
                )
        return found

    def _jobs_of(self, nodeid: str, family: Family) -> list[Job]:
        """Those of another test. An error in drawing them is that test's own."""
        try:
            return self._drawn(nodeid, family, 0)
        except Exception:
            return []

    def _drawn(self, nodeid: str, family: Family, times: int) -> list[Job]:
        """Its jobs, when this test has asked for the family so often before."""
        about = f"{nodeid}\0{family}\0{times}\0".encode()
        return [
            Job(_digest(about, each.plan), each.plan, each.seconds, Search(nodeid, each.primary) if family.drawn else None)
            for each in self.draw(family)
        ]

    def _finished(self, mine: Sequence[Job]) -> dict[str, Done]:
        """What came of all of them, by key."""
        found: dict[str, Done] = {}
        while True:
            found |= {job.key: done for job in mine if job.key not in found and (done := self.claims.done(job.key))}
            missing = [job for job in mine if job.key not in found]
            if not missing:
                return found
            keys = {job.key for job in missing}
            if not any(self._take(job, helps=job.key not in keys) for job in self._open(keys)):
                self._take(missing[0], waits=True)

    def _open(self, mine: Collection[str]) -> list[Job]:
        """What is not known to be over, in order; without a budget what is mine comes first."""
        found = [job for job in self._in_order if job.key not in self._over]
        return found if self._hurries else sorted(found, key=lambda job: job.key not in mine)

    def _ordered(self, jobs: Sequence[Job]) -> list[Job]:
        """The most valuable first, if the time may not be enough for all; else the longest, and then what was drawn, as it was."""
        if not self._hurries:
            return sorted(jobs, key=lambda job: (bool(job.search), 0.0 if job.search else -job.seconds))
        return [jobs[number] for number in most_valuable_first([job.plan for job in jobs], [job.seconds for job in jobs])]

    def _take(self, job: Job, *, helps: bool = False, waits: bool = False) -> Done | None:
        """What came of it, if it is over or can be run now."""
        if helps and (not self._helps or not self._has_time_for(job)):
            return None
        try:
            done = self.claims.take(job.key, lambda: self._run(job, keeps=not helps), helps=helps, waits=waits)
        except (Exception, pytest.fail.Exception) as err:
            if not helps:
                raise
            self.note(err)
            self._helps = False
            return None
        if done is not None:
            self._over.add(job.key)
        return done

    def _run(self, job: Job, *, keeps: bool) -> Result | str:
        """What came of it; or why it is left out."""
        if not self._has_time_for(job) or self._is_over(job):
            return ""
        began = time.monotonic()
        try:
            result = self.run(job.plan, job.key, shrinks=bool(job.search))
        except OutOfTime:
            return ""
        except Undoable as err:
            return str(err)
        if result.interrupted:
            return result.interrupted
        if not result.failures:
            self._reserve = max(self._reserve, time.monotonic() - began - job.seconds)
        if keeps:
            self._ran[job.key] = result
        return result

    def _result(self, job: Job, done: Done) -> Result:
        return self._ran.pop(job.key, None) or self.claims.result(done, job.plan)

    def _has_time_for(self, job: Job) -> bool:
        ends = self.ends()
        reserve = min(self._reserve, _MOST_RESERVE * (ends - self._began)) if self._hurries else 0.0
        return time.monotonic() + job.seconds + reserve <= ends

    def _is_over(self, job: Job) -> bool:
        """Whether the search that it belongs to has found something new."""
        others = [other for other in self._jobs.get(job.search.test, ()) if other.search == job.search] if job.search else []
        return any(self._found_something_new(other) for other in others)

    def _found_something_new(self, job: Job) -> bool:
        """Whether whoever ran it found what is not in the baseline. What came of a plan stays as it is, so it is judged once."""
        if job.key not in self._new:
            done = self.claims.done(job.key)
            if done is None:
                return False
            has_failed = bool(failures(done.verdicts))
            self._new[job.key] = has_failed and is_new(self.claims.result(done, job.plan), self.baseline)
        return self._new[job.key]

    @property
    def _hurries(self) -> bool:
        return self.ends() < math.inf


SPREAD = pytest.StashKey[Spread]()


def help_others(item: pytest.Item) -> None:
    """Called by a worker that has no other test to run after this one."""
    spread = item.config.stash.get(SPREAD, None)
    if spread is not None and _is_worker(item.config) and not (item.session.shouldfail or item.session.shouldstop):
        spread.help()


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def _families_like(model: pytest.Item) -> dict[str, Family]:
    """The tests of this session that will run a family each, with the same fixtures as the model does."""
    found = {}
    for item in model.session.items:
        families = [value for value in _parameters(item) if isinstance(value, Family)]
        if len(families) == 1 and _fixtures(item) == _fixtures(model) and not _may_be_skipped(item):
            found[item.nodeid] = families[0]
    return found


def _parameters(item: pytest.Item) -> Iterable[object]:
    callspec = getattr(item, "callspec", None)
    return callspec.params.values() if callspec is not None else ()


def _fixtures(item: pytest.Item) -> list[object]:
    known = item._fixtureinfo.name2fixturedefs if isinstance(item, pytest.Function) else {}
    return [known[name][-1] if name in known else None for name in _ALIKE]


def _may_be_skipped(item: pytest.Item) -> bool:
    return any(mark.name in ("skip", "skipif", "xfail") for mark in item.iter_markers())


def _digest(about: bytes, plan: Plan) -> str:
    return hashlib.sha256(about + msgspec.json.encode(masked(plan), order="sorted")).hexdigest()[:20]
