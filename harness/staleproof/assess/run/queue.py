"""The queue of a run's plans: a family's test judges its plans, and the worker that has time runs them.

pytest and xdist know tests, and a test is a whole family, because its plans are only known once the controller was observed. So
each plan is claimed before it is run. A run with workers begins with the most valuable plans of all families, in whichever test
that happens, so that what does most harm is found soon. Then a test runs those of its own that are not claimed, the longest first;
a worker that would have to wait for others, or has no test left, runs plans of other families. So a run ends within one trial of
its last claim. A command has one worker, and its families stand for tests.

A finding that is not in the baseline ends the search of a family with drawn plans for that primary: those that are not begun by
then would most likely find it again. A known one ends nothing, else nothing new would ever be found behind it.

With a budget all plans come in the order of their value, and a plan that would not be over in time is left out: one that differs
has to be compared with more runs, so what that took longest so far is kept in reserve. A plan that could not be carried out, not
even when it was run once more, is left out, too.

When the run is to stop, no worker begins another plan. Those that have no outcome by then are neither run nor left out.
"""

import contextlib
import hashlib
import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec
from filelock import FileLock, Timeout

from staleproof.assess.run.selection import EVERYTHING, Selection
from staleproof.assess.store.claims import Claims, Done
from staleproof.assess.store.known_findings import NOTHING_KNOWN, is_new, new_stories
from staleproof.assess.store.run_folder import Acquire, acquired_now
from staleproof.assess.trial.once_more import Undoable
from staleproof.assess.trial.result import Result, failures
from staleproof.core.plan.plan import Plan, masked
from staleproof.core.times import LOOK_SECONDS, RESERVE_FACTOR
from staleproof.draw.family import Family
from staleproof.draw.order import most_valuable_first
from staleproof.errors import OutOfTime
from staleproof.report.baseline import Baseline
from staleproof.report.model import EndedSearch

_FIRST_PART = 0.25
"""Of all plans, those that are run in the order of their value though there is time for all, rounded down. What is left is packed:
the longest first, and a worker's own before others', so that a run ends with no worker idle and tests end in their order."""


class Planned(NamedTuple):
    """A plan, the seconds that it is expected to take, the primary that it is for, as `widgets.example.com/sample`, what a second
    of it is worth beside others, and the seconds that all runs of its workload without faults take (`draw.order`)."""

    plan: Plan
    seconds: float
    primary: str
    share: float
    calm_seconds: float = 0.0


class Search(NamedTuple):
    """What plans are drawn for together: a test, by its id, and a primary."""

    test: str
    primary: str


class Left(NamedTuple):
    """A plan that was left out, and why; empty: for want of time."""

    plan: Plan
    why: str = ""


class Came(NamedTuple):
    """What came of a family's plans: those that were run, those that were left out, the searches that findings ended before all of
    theirs were run, and how many were not run because the run was to stop."""

    results: Sequence[Result] = ()
    left_out: Sequence[Left] = ()
    ended: Sequence[EndedSearch] = ()
    stopped: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """A plan that a test needs; the same key in every worker. `search`: that for which it was drawn; None: it is canonical."""

    key: str
    test: str
    planned: Planned
    search: Search | None = None

    @property
    def plan(self) -> Plan:
        return self.planned.plan

    @property
    def seconds(self) -> float:
        return self.planned.seconds


@dataclass(slots=True)
class Queue:
    """The plans of all families' tests.

    Attributes:
        claims: where the workers of this run tell one another what they run.
        plans: a family's.
        run: runs a plan and reports its trial, which a key tells apart from any other; if it `shrinks`, that of the smallest plan.
        note: takes an error in a plan of another test; the worker that needs that plan will run it again.
        ends: when the time is over, on the monotonic clock; infinite: there is time for everything. It may become later.
        baseline: the findings that end no search.
        selection: which of the plans are wanted.
        shares_plans: a test may run plans of others also when there is time for all: other workers have the same tests, or there
            are no tests but families. Else it is as a user of pytest expects: each test runs its own.
        stops: whether no other plan is to begin, as far as this worker knows.
        unmade: of the runs without faults that a plan is compared with, the part that no worker has made yet.
        assist: makes a run that another worker's trial has to be compared with; whether there was one to make.
        unfinished: takes the seconds that a plan took that was begun and not over in time.
        helped: takes the seconds that something took that another worker's trial has to be compared with.
        ended: takes each trial with its test, and the seconds that it took with all that it was compared with.
    """

    claims: Claims
    plans: Callable[[Family], Iterable[Planned]]
    run: Callable[..., Result]
    note: Callable[[BaseException], None]
    ends: Callable[[], float] = lambda: math.inf
    baseline: Baseline = NOTHING_KNOWN
    selection: Selection = EVERYTHING
    shares_plans: bool = False
    stops: Callable[[], bool] = lambda: False
    unmade: Callable[[Plan], float] = lambda plan: 0.0
    assist: Callable[[], bool] = lambda: False
    unfinished: Callable[[float], None] = lambda seconds: None
    helped: Callable[[float], None] = lambda seconds: None
    ended: Callable[[str, Result, float], None] = lambda test, result, seconds: None
    _families: Mapping[str, Family] = field(default_factory=dict)
    _jobs: dict[str, list[Job]] = field(default_factory=dict)
    _in_order: list[Job] = field(default_factory=list)
    _first: Sequence[Job] = ()
    _times: Counter[tuple[str, str]] = field(default_factory=Counter)
    _ran: dict[str, Result] = field(default_factory=dict)
    _over: set[str] = field(default_factory=set)
    _new: dict[str, bool] = field(default_factory=dict)
    _began: float = field(default_factory=time.monotonic)
    _reserve: float = 0.0
    _helps: bool = True

    def check(self, families: Iterable[Family]) -> None:
        """UsageError when a plan is wanted that none of these families has."""
        if self.selection.only:
            self.selection.check(each for family in families for each in self.plans(family))

    def selected(self, test: str, family: Family) -> list[Planned]:
        """Those of a family's plans that are wanted of this test."""
        return self.selection.of(test, self.plans(family))

    def results(self, test: str, family: Family, families: Callable[[], Mapping[str, Family]] = dict) -> Came:
        """What came of this family's plans for this test, whichever worker ran them. `families`: those of all tests whose plans may
        be run in place of this one's, by test."""
        if not self._jobs and (self._hurries or self.shares_plans):
            self._families = dict(families())
            self._jobs = {name: jobs for name, each in self._families.items() if (jobs := self._jobs_of(name, each))}
        times = self._times[test, str(family)]
        self._times[test, str(family)] += 1
        is_known = not times and test in self._jobs and self._families.get(test, family) == family
        mine = self._jobs[test] if is_known else self._drawn(test, family, times)
        if (mine and not is_known) or not self._in_order:
            self._jobs[test] = mine
            self._in_order = self._ordered([job for jobs in self._jobs.values() for job in jobs])
        found = self._finished(mine)
        ran = [(job, self._result(job, done)) for job in mine if (done := found.get(job.key)) and done.name]
        missing = [job for job in mine if job.key in found and not found[job.key].name]
        ended = self._ended(ran, missing)
        left_out = [Left(job.plan, found[job.key].why) for job in missing if job.search not in ended or found[job.key].why]
        every = [each for each in ended.values() if each.plans]
        return Came([result for _, result in ran], left_out, every, stopped=len(mine) - len(found))

    def help(self) -> None:
        """Run plans of other tests until all are over, and meanwhile what other workers' trials have to be compared with."""
        while not self._is_stopped:
            if any(self._take(job, helps=True) for job in self._open(frozenset())) or self._assists():
                continue
            if not any(self.claims.is_under_way(job.key, LOOK_SECONDS) for job in self._open(frozenset())):
                return

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

    def _jobs_of(self, test: str, family: Family) -> list[Job]:
        """Those of another test. An error in drawing them is that test's own."""
        try:
            return self._drawn(test, family, 0)
        except Exception:
            return []

    def _drawn(self, test: str, family: Family, times: int) -> list[Job]:
        """Its jobs, when this test has asked for the family so often before."""
        about = f"{test}\0{family}\0{times}\0".encode()
        return [
            Job(_digest(about, each.plan), test, each, Search(test, each.primary) if family.drawn else None)
            for each in self.selected(test, family)
        ]

    def _finished(self, mine: Sequence[Job]) -> dict[str, Done]:
        """What came of them, by key: of all, unless the run is to stop."""
        found: dict[str, Done] = {}
        while True:
            found |= {job.key: done for job in mine if job.key not in found and (done := self.claims.done(job.key))}
            missing = [job for job in mine if job.key not in found]
            if not missing or self._is_stopped:
                return found
            keys = {job.key for job in missing}
            if not any(self._take(job, helps=job.key not in keys) for job in self._open(keys)):
                self._take(missing[0], acquire=self._acquire)

    def _open(self, mine: Collection[str]) -> list[Job]:
        """What is not known to be over, in order; without a budget what is mine comes before all but the most valuable."""
        found = [job for job in self._in_order if job.key not in self._over]
        soon = {*mine, *(job.key for job in self._first)}
        return found if self._hurries else sorted(found, key=lambda job: job.key not in soon)

    def _ordered(self, jobs: Sequence[Job]) -> list[Job]:
        """The most valuable first. If there is time for all, a quarter of them, then the longest, and then what was drawn, as it
        was."""
        if self._hurries:
            return self._most_valuable_first(jobs)
        if self.shares_plans and not self._first:
            self._first = self._most_valuable_first(jobs)[: int(len(jobs) * _FIRST_PART)]
        first = {job.key for job in self._first}
        rest = [job for job in jobs if job.key not in first]
        return [*self._first, *sorted(rest, key=lambda job: (bool(job.search), 0.0 if job.search else -job.seconds))]

    def _most_valuable_first(self, jobs: Sequence[Job]) -> list[Job]:
        plans, shares, seconds = [job.plan for job in jobs], [job.planned.share for job in jobs], [job.seconds for job in jobs]
        calm, left = [self._calm_seconds(job) for job in jobs], self.ends() - time.monotonic()
        return [jobs[number] for number in most_valuable_first(plans, seconds, shares=shares, calm=calm, left=left)]

    def _calm_seconds(self, job: Job) -> float:
        """How long the runs without faults take that its trial is compared with, and that are still to be made."""
        return job.planned.calm_seconds * self.unmade(job.plan)

    def _acquire(self, lock: FileLock) -> None:
        """Wait for a plan that another worker runs, and make meanwhile what other workers' trials have to be compared with."""
        while True:
            with contextlib.suppress(Timeout):
                lock.acquire(timeout=LOOK_SECONDS)
                return
            while self._assists():
                pass

    def _assists(self) -> bool:
        """Whether there was something to make for another worker. What goes wrong with it is noted, and ends no test here."""
        began = time.monotonic()
        try:
            is_made = self._helps and self.assist()
            if is_made:
                self.helped(time.monotonic() - began)
            return is_made
        except Exception as err:
            self.note(err)
            self._helps = False
            return False

    def _take(self, job: Job, *, helps: bool = False, acquire: Acquire = acquired_now) -> Done | None:
        """What came of it, if it is over or can be run now. What other workers wait for is made first: to confirm a finding is
        worth more than one more plan."""
        if self._is_stopped or (helps and (not self._helps or not self._has_time_for(job))):
            return None
        while not self.claims.done(job.key) and self._assists():
            pass
        try:
            done = self.claims.take(job.key, lambda: self._run(job, keeps=not helps), helps=helps, acquire=acquire)
        except OutOfTime:
            return None
        except Exception as err:
            if not helps:
                raise
            self.note(err)
            self._helps = False
            return None
        if done is not None:
            self._over.add(job.key)
        return done

    def _run(self, job: Job, *, keeps: bool) -> Result | str:
        """What came of it; or why it is left out. OutOfTime when the run is to stop, before it is over."""
        if self._is_stopped:
            raise OutOfTime
        if not self._has_time_for(job) or self._is_over(job):
            return ""
        began = time.monotonic()
        try:
            result = self.run(job.plan, job.key, shrinks=bool(job.search))
        except OutOfTime:
            return self._broken_off(time.monotonic() - began)
        except Undoable as err:
            return str(err)
        if result.interrupted:
            return result.interrupted
        if not result.failures:
            self._reserve = max(self._reserve, time.monotonic() - began - job.seconds)
        if keeps:
            self._ran[job.key] = result
        self.ended(job.test, result, time.monotonic() - began)
        return result

    def _broken_off(self, seconds: float) -> str:
        """Why a plan is left out on which so much was spent: for want of time. OutOfTime when the run is to stop."""
        if self._is_stopped:
            raise OutOfTime
        self.unfinished(seconds)
        return ""

    def _result(self, job: Job, done: Done) -> Result:
        return self._ran.pop(job.key, None) or self.claims.result(done, job.plan)

    def _has_time_for(self, job: Job) -> bool:
        ends = self.ends()
        reserve = min(self._reserve, RESERVE_FACTOR * (ends - self._began)) if self._hurries else 0.0
        left = ends - time.monotonic() - job.seconds - reserve
        return left >= 0 and (left >= job.planned.calm_seconds or self._calm_seconds(job) <= left)

    def _is_over(self, job: Job) -> bool:
        """Whether the search that it belongs to has found something new."""
        siblings = self._jobs.get(job.search.test, ()) if job.search else ()
        return any(each.search == job.search and self._found_something_new(each) for each in siblings)

    def _found_something_new(self, job: Job) -> bool:
        """Whether its trial has a finding that is not in the baseline. What came of a plan stays as it is, so it is judged once."""
        if job.key not in self._new:
            done = self.claims.done(job.key)
            if done is None:
                return False
            has_failed = bool(failures(done.verdicts))
            self._new[job.key] = has_failed and is_new(self.claims.result(done, job.plan), self.baseline)
        return self._new[job.key]

    @property
    def _is_stopped(self) -> bool:
        """Whether the run is to stop, as any worker knows."""
        if self.stops():
            self.claims.stop()
        return self.claims.is_stopped

    @property
    def _hurries(self) -> bool:
        return self.ends() < math.inf


def _digest(about: bytes, plan: Plan) -> str:
    return hashlib.sha256(about + msgspec.json.encode(masked(plan), order="sorted")).hexdigest()[:20]
