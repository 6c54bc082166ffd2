"""The queue of a run's plans, with trials that take no cluster and no time."""

import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pytest

from staleproof.assess.run.queue import Came, Planned, Queue
from staleproof.assess.run.selection import Selection
from staleproof.assess.store.claims import Claims
from staleproof.assess.trial.once_more import Undoable
from staleproof.assess.trial.result import Result
from staleproof.checks.verdict import Finding, Outcome, Verdict
from staleproof.core.fault import Refuse
from staleproof.core.history.history import Header, History
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Rest
from staleproof.draw.family import Family
from staleproof.errors import OutOfTime, SetupError, UsageError
from staleproof.report.baseline import Baseline, Known

GUILTY = ("settles", "cleans-up")
"""Aims that are requirements, which a trial of theirs violates."""
Plans = Mapping[str, list[tuple[object, ...]]]
"""By the name of their family, `NAME@v` for the primary v beside w: how many seconds each takes, and its aims."""


def guilty(of: str) -> Verdict:
    return Verdict(of, Outcome.FAIL, findings=(Finding(f"it violates {of}", (), requirement=of, severity="undone"),))


@dataclass
class Worker:
    """A worker of a run with these plans; `began` are the titles of those that it ran, in order."""

    folder: Path
    rests: Plans
    meanwhile: Callable[[str], object] = lambda title: None
    began: list[str] = field(default_factory=list)
    reported: list[tuple[str, str]] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)
    calm_seconds: float = 0.0

    @property
    def families(self) -> dict[str, Family]:
        names = [name for name in self.rests if "@" not in name]
        return {f"test[{name}]": Family("x", name, lambda *_: iter(()), drawn=name.startswith("drawn")) for name in names}

    def plans(self, family: Family) -> list[Planned]:
        every = {primary: self.rests.get(name, ()) for primary, name in (("w", family.name), ("v", f"{family.name}@v"))}
        return [
            Planned(
                plan(f"{family.name}{'@v' * (primary == 'v')}{n}", *aims),
                float(str(seconds)),
                f"widgets/{primary}",
                1.0,
                self.calm_seconds,
            )
            for primary, each in every.items()
            for n, (seconds, *aims) in enumerate(each)
        ]

    def run(self, plan: Plan, key: str, *, shrinks: bool = False) -> Result:
        self.began.append(plan.title)
        self.meanwhile(plan.title)
        verdicts = tuple(guilty(aim) for aim in plan.aims if aim in GUILTY)
        folder = self.folder / "trials" / plan.title
        return Result(plan.title, plan, History(Header(plan=plan, namespace="x"), ()), verdicts, folder, 1.0)

    def queue(self, **options: object) -> Queue:
        return Queue(
            Claims(self.folder),
            self.plans,
            self.run,
            self.errors.append,
            _began=time.monotonic(),
            ended=lambda test, result, _: self.reported.append((test, result.name)),
            **options,  # type: ignore[arg-type]  # as the test says
        )

    def come(self, made: Queue, name: str) -> Came:
        test = f"test[{name}]"
        return made.results(test, self.families[test], lambda: self.families)


def plan(title: str, *aims: object) -> Plan:
    return Plan(scenario="x", title=title, steps=(Rest(seconds=1),), aims=tuple(map(str, aims)), faults=(Refuse(),))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which only a test moves."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def minutes(count: float) -> Callable[[], float]:
    return lambda: 60 * count


# --- order


def test_the_longest_comes_first(tmp_path: Path) -> None:
    worker = Worker(tmp_path, {"a": [(2,), (9,), (1,)], "b": [(5,), (7,)]})
    made = worker.queue()
    came = [worker.come(made, name) for name in "ab"]
    assert worker.began == ["a1", "a0", "a2", "b1", "b0"]
    assert [[result.name for result in each.results] for each in came] == [["a0", "a1", "a2"], ["b0", "b1"]]


def test_where_tests_share_plans_the_most_valuable_come_first_and_then_the_longest_of_each_test(tmp_path: Path) -> None:
    worker = Worker(tmp_path, {"a": [(2, "p"), (9, "p"), (4, "p")], "b": [(1, "q"), (7, "p"), (8, "p"), (6, "p")]})
    made = worker.queue(shares_plans=True)
    first = worker.come(made, "a")
    assert worker.began == ["b0", "a1", "a2", "a0"], "a quarter of the seven, and then its own"
    came = [first, worker.come(made, "b")]
    assert worker.began[4:] == ["b2", "b1", "b3"]
    assert [[result.name for result in each.results] for each in came] == [["a0", "a1", "a2"], ["b0", "b1", "b2", "b3"]]


def test_a_test_that_has_made_its_family_smaller_gets_what_it_asked_for(tmp_path: Path) -> None:
    worker = Worker(tmp_path, {"a": [(1,), (2,)], "b": [(1,)]})
    made = worker.queue(shares_plans=True)
    asked = replace(worker.families["test[a]"], name="b")
    assert [each.name for each in made.results("test[a]", asked, lambda: worker.families).results] == ["b0"]


def test_minutes_are_for_what_is_worth_most_whichever_test_it_is_for(tmp_path: Path, clock: list[float]) -> None:
    worker = Worker(tmp_path, {"a": [(8, "p"), (4, "p")], "b": [(1, "q"), (6, "r")]})
    made = worker.queue(ends=minutes(60))
    worker.come(made, "a")
    assert worker.began == ["b0", "a1", "b1", "a0"]
    assert worker.reported == [("test[b]", "b0"), ("test[a]", "a1"), ("test[b]", "b1"), ("test[a]", "a0")], "as each ends"
    assert [result.name for result in worker.come(made, "b").results] == ["b0", "b1"]
    assert len(worker.began) == 4


def test_a_test_is_over_when_its_plans_are(tmp_path: Path, clock: list[float]) -> None:
    worker = Worker(tmp_path, {"a": [(2, "p")], "b": [(1, "q")], "c": [(9, "r")]})
    worker.come(worker.queue(ends=minutes(60)), "a")
    assert worker.began == ["b0", "a0"]


def test_the_same_plan_is_run_as_often_as_its_test_needs_it(tmp_path: Path) -> None:
    worker = Worker(tmp_path, {"a": [(1,)]})
    made = worker.queue()
    assert [len(worker.come(made, "a").results) for _ in range(2)] == [1, 1]
    assert worker.began == ["a0", "a0"]


# --- workers


def test_a_worker_that_has_no_other_test_runs_plans_of_others(tmp_path: Path) -> None:
    helper, owner = (Worker(tmp_path, {"a": [(1,), (2,)], "b": []}) for _ in range(2))
    made = helper.queue(shares_plans=True)
    helper.come(made, "b")
    made.help()
    assert helper.reported == [("test[a]", "a1"), ("test[a]", "a0")]
    assert [result.name for result in owner.come(owner.queue(shares_plans=True), "a").results] == ["a0", "a1"]
    assert owner.began == []


def test_an_error_in_a_plan_of_another_test_is_left_to_that_test(tmp_path: Path, clock: list[float]) -> None:
    def fails(worker: Worker, title: str) -> None:
        assert title != "b0" or worker.began.count("b0") > 1

    worker = Worker(tmp_path, {"a": [(2, "p")], "b": [(1, "q")]})
    worker.meanwhile = partial(fails, worker)
    made = worker.queue(ends=minutes(60))
    came = [worker.come(made, name) for name in "ab"]
    assert worker.began == ["b0", "a0", "b0"]
    assert ([len(each.results) for each in came], len(worker.errors)) == ([1, 1], 1)


def test_what_another_worker_waits_for_comes_before_the_next_plan(tmp_path: Path) -> None:
    wanted = ["comparison", "another"]
    worker = Worker(tmp_path, {"a": [(2,), (1,)]})

    def assist() -> bool:
        worker.began += (made := wanted[:1])
        del wanted[:1]
        return bool(made)

    seconds: list[float] = []
    worker.come(worker.queue(assist=assist, helped=seconds.append), "a")
    assert worker.began == ["comparison", "another", "a0", "a1"]
    assert len(seconds) == 2


@pytest.mark.io
def test_a_worker_without_a_plan_assists_until_the_others_are_done(tmp_path: Path) -> None:
    owner, helper = (Worker(tmp_path, {"a": [(1,)], "b": []}) for _ in range(2))
    begun, wanted, is_made = threading.Event(), threading.Event(), threading.Event()

    def runs(title: str) -> None:
        begun.set()
        wanted.set()
        assert is_made.wait(60)

    def assist() -> bool:
        if not wanted.is_set():
            return False
        wanted.clear()
        is_made.set()
        return True

    owner.meanwhile = runs
    thread = threading.Thread(target=lambda: owner.come(owner.queue(shares_plans=True), "a"))
    thread.start()
    assert begun.wait(60)
    made = helper.queue(shares_plans=True, assist=assist)
    helper.come(made, "b")
    made.help()
    thread.join()
    assert (owner.began, helper.began, helper.reported) == (["a0"], [], [])


def test_what_goes_wrong_with_another_workers_run_is_noted_and_ends_no_test_here(tmp_path: Path) -> None:
    worker = Worker(tmp_path, {"a": [(0, "p"), (0, "p")]})

    def assist() -> bool:
        raise SetupError("the disk is full")

    came = worker.come(worker.queue(assist=assist), "a")
    assert (worker.began, len(came.results)) == (["a0", "a1"], 2)
    assert [str(each) for each in worker.errors] == ["the disk is full"]


# --- what is left out


def test_a_plan_that_would_not_be_over_in_time_is_left_out(tmp_path: Path, clock: list[float]) -> None:
    worker = Worker(tmp_path, {"a": [(0, "p"), (600, "p")], "b": [(600, "q")]})
    made = worker.queue(ends=minutes(9))
    came = [worker.come(made, name) for name in "ab"]
    assert worker.began == ["a0"]
    assert [[(each.plan.title, each.why) for each in came_.left_out] for came_ in came] == [[("a1", "")], [("b0", "")]]


def test_what_was_spent_on_a_plan_that_is_not_over_in_time_is_known(tmp_path: Path, clock: list[float]) -> None:
    def late(_: str) -> None:
        clock[0] += 40
        raise OutOfTime

    spent: list[float] = []
    worker = Worker(tmp_path, {"a": [(0, "p")]}, late)
    came = worker.come(worker.queue(ends=minutes(9), unfinished=spent.append), "a")
    assert ([each.plan.title for each in came.left_out], spent) == (["a0"], [40])


@pytest.mark.parametrize(("unmade", "began"), [(1.0, []), (0.5, ["a0"]), (0.0, ["a0"])], ids=["none", "half", "all"])
def test_nor_one_whose_runs_without_faults_would_not_be(
    unmade: float, began: list[str], tmp_path: Path, clock: list[float]
) -> None:
    worker = Worker(tmp_path, {"a": [(60, "p")]}, calm_seconds=500)
    worker.come(worker.queue(ends=minutes(9), unmade=lambda _: unmade), "a")
    assert worker.began == began


def test_what_a_plan_took_longer_than_expected_is_kept_in_reserve(tmp_path: Path, clock: list[float]) -> None:
    def late(_: str) -> None:
        clock[0] += 40

    worker = Worker(tmp_path, {"a": [(0, "p"), (500, "p")]}, late)
    came = worker.come(worker.queue(ends=minutes(9.5)), "a")
    assert worker.began == ["a0"]
    assert [each.plan.title for each in came.left_out] == ["a1"]


def test_a_plan_that_cannot_be_carried_out_is_left_out_and_says_why(tmp_path: Path) -> None:
    def refused(title: str) -> None:
        if title == "a0":
            raise Undoable("the API server refuses it")

    worker = Worker(tmp_path, {"a": [(2,), (1,)]}, refused)
    came = worker.come(worker.queue(), "a")
    assert [result.name for result in came.results] == ["a1"]
    assert [(each.plan.title, each.why) for each in came.left_out] == [("a0", "the API server refuses it")]


# --- a search


def ended(came: Came) -> list[tuple[str, int, str]]:
    return [(each.primary, each.plans, each.requirement) for each in came.ended]


def test_a_finding_ends_the_search_and_nothing_is_left_out_for_want_of_time(tmp_path: Path) -> None:
    worker = Worker(tmp_path, {"drawn": [(1,), (2,), (3, "settles"), (4,), (5,)], "canonical": [(2, "settles"), (2,)]})
    made = worker.queue()
    drawn, canonical = worker.come(made, "drawn"), worker.come(made, "canonical")
    assert worker.began == ["drawn0", "drawn1", "drawn2", "canonical0", "canonical1"]
    assert (drawn.left_out, ended(drawn), canonical.left_out, canonical.ended) == ([], [("widgets/w", 2, "settles")], [], [])


def test_a_finding_that_is_known_ends_no_search(tmp_path: Path) -> None:
    known = Baseline(findings=(Known(requirements=("settles",)),))
    worker = Worker(tmp_path, {"drawn": [(1, "settles"), (2,), (3, "cleans-up", "settles"), (4,)]})
    came = worker.come(worker.queue(baseline=known), "drawn")
    assert worker.began == ["drawn0", "drawn1", "drawn2"]
    assert ended(came) == [("widgets/w", 1, "cleans-up")]


def test_a_finding_about_one_primary_does_not_end_the_search_for_another(tmp_path: Path) -> None:
    worker = Worker(tmp_path, {"drawn": [(1, "settles"), (2,)], "drawn@v": [(1,), (2,)]})
    came = worker.come(worker.queue(), "drawn")
    assert worker.began == ["drawn0", "drawn@v0", "drawn@v1"]
    assert ended(came) == [("widgets/w", 1, "settles")]


def test_what_there_is_no_time_for_in_another_search_is_left_out(tmp_path: Path, clock: list[float]) -> None:
    worker = Worker(tmp_path, {"drawn": [(0, "settles"), (9, "settles")], "drawn@v": [(600,)]})
    came = worker.come(worker.queue(ends=minutes(9)), "drawn")
    assert worker.began == ["drawn0"]
    assert ([each.plan.title for each in came.left_out], ended(came)) == (["drawn@v0"], [("widgets/w", 1, "settles")])


# --- what is wanted, and until when


def test_plans_that_are_not_wanted_are_neither_run_nor_left_out(tmp_path: Path) -> None:
    worker = Worker(tmp_path, {"a": [(2,), (1,)], "b": [(1,)]})
    made = worker.queue(selection=Selection(("a1",)))
    made.check(worker.families.values())
    came = [worker.come(made, name) for name in "ab"]
    assert worker.began == ["a1"]
    assert all((each.left_out, each.stopped) == ([], 0) for each in came)


def test_a_plan_that_no_family_has_is_refused(tmp_path: Path) -> None:
    worker = Worker(tmp_path, {"a": [(2,)]})
    with pytest.raises(UsageError, match=r"no plan has the id or name 'b0'; there are:\n  \w+  x: a0"):
        worker.queue(selection=Selection(("b0",))).check(worker.families.values())


def test_when_the_run_is_to_stop_no_worker_begins_another_plan(tmp_path: Path) -> None:
    plans: Plans = {"a": [(3,), (2, "settles"), (1,)], "b": [(1,)]}
    one, other = Worker(tmp_path, plans), Worker(tmp_path, plans)
    came = one.come(one.queue(stops=lambda: "a1" in one.began), "a")
    assert one.began == ["a0", "a1"]
    assert ([result.name for result in came.results], came.left_out, came.stopped) == (["a0", "a1"], [], 1)
    made = other.queue(shares_plans=True)
    assert other.come(made, "b").stopped == 1
    made.help()
    assert other.began == []


def test_a_plan_that_is_broken_off_because_the_run_is_to_stop_is_not_left_out_for_want_of_time(tmp_path: Path) -> None:
    def broken_off(_: str) -> None:
        Claims(tmp_path).stop()
        raise OutOfTime

    spent: list[float] = []
    worker = Worker(tmp_path, {"a": [(2,), (1,)]}, broken_off)
    came = worker.come(worker.queue(unfinished=spent.append), "a")
    assert (worker.began, came.results, came.left_out, came.stopped) == (["a0"], [], [], 2)
    assert (spent, worker.errors) == ([], [])


def test_without_a_budget_there_is_time_for_everything(tmp_path: Path) -> None:
    assert Queue(Claims(tmp_path), lambda _: [], lambda *_: None, lambda _: None).ends() == math.inf  # type: ignore[arg-type]
