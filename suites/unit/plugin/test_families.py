"""Families of plans as tests, with pytest and xdist as they are, and trials that take no cluster."""

import json
import textwrap
from collections import Counter

import pytest

pytestmark = pytest.mark.io

pytest_plugins = ["pytester"]

CONFTEST = """
    import os
    import time
    from pathlib import Path

    import pytest

    from staleproof.assess.trial.result import Result, Run
    from staleproof.checks.verdict import Finding, Outcome, Verdict
    from staleproof.core.history.history import Header, History
    from staleproof.core.operator.observed import Observed
    from staleproof.plugin.outcome import begun

    HERE, WORKER = Path(__file__).parent, os.environ.get("PYTEST_XDIST_WORKER", "")
    LIMIT_SECONDS = 60

    def guilty(of):
        return Verdict(of, Outcome.FAIL, findings=(Finding(f"it violates {of}", (), requirement=of, severity="undone"),))

    @pytest.fixture(scope="session")
    def observed():
        manifests = [{"apiVersion": "v1", "kind": "W", "metadata": {"name": name}} for name in PRIMARIES]
        return [Observed(each, "widgets", (), (), seconds={"rest": 0.0}) for each in manifests]

    def say(text):
        with (HERE / "began").open("a") as file:
            file.write(f"{text} {WORKER or 'alone'}\\n")

    def began(title=""):
        return [line.split() for line in (HERE / "began").read_text().splitlines() if line.startswith(title)]

    def until(condition):
        end = time.monotonic() + LIMIT_SECONDS
        while not condition():
            assert time.monotonic() < end
            os.sched_yield()

    @pytest.fixture(scope="session")
    def staleproof_run_plan(pytestconfig):
        def run_it(plan, claim="", shrinks=False):
            say(plan.title)
            MEANWHILE(plan.title)
            folder = begun(pytestconfig).folder / WORKER / "trials" / plan.title
            verdicts = tuple(guilty(aim) for aim in plan.aims if aim in ("settles", "cleans-up"))
            result = Result(f"{WORKER}-{plan.title}", plan, History(Header(plan=plan, namespace="x"), ()), verdicts, folder, 1.0)
            begun(pytestconfig).add(result, Run(folder), claim=claim)
            return result

        return run_it
"""
TESTS = """
    import pytest
    from conftest import RESTS, say
    from staleproof.core.fault import Refuse
    from staleproof.core.plan.step import Rest
    from staleproof.core.plan.plan import Plan
    from staleproof.draw.family import Family

    def family(name):
        def drawn(observed, profile):
            of = f"{name}@v" if observed.sample["metadata"]["name"] == "v" else name
            return [
                Plan(scenario="x", title=f"{of}{n}", steps=(Rest(seconds=rest),), aims=tuple(aims), faults=(Refuse(),))
                for n, (rest, *aims) in enumerate(RESTS[of])
            ]

        return Family("x", name, drawn, drawn=name.startswith("drawn"))

    @pytest.mark.parametrize("each", [family(name) for name in RESTS if "@" not in name], ids=str)
    def test_family(each, run_family):
        results = run_family(each)
        say(f"over:{each.name}")
        titles = [result.plan.title for result in results if "@" not in result.plan.title]
        assert titles == [f"{each.name}{n}" for n in range(len(titles))]
"""
Plans = dict[str, list[tuple[object, ...]]]
"""By the name of their family, `NAME@v` for the primary v beside w: how many seconds each rests, and its aims. Its trial violates
those of its aims that are requirements."""


def run(pytester: pytest.Pytester, plans: Plans, *arguments: str, meanwhile: str = "pass", more: str = "") -> pytest.RunResult:
    """`meanwhile` is what happens in a trial, `more` is added to the conftest.py."""
    primaries = ["w", "v"] if any("@" in name for name in plans) else ["w"]
    added = f"PRIMARIES, RESTS = {primaries!r}, {plans!r}\n\ndef MEANWHILE(title):\n    {meanwhile}\n"
    pytester.makeconftest(textwrap.dedent(CONFTEST) + added + textwrap.dedent(more))
    pytester.makepyfile(textwrap.dedent(TESTS))
    return pytester.runpytest_subprocess("-rsx", *arguments)


def happened(pytester: pytest.Pytester) -> list[str]:
    """In order: the titles of plans that were begun, and which families' tests were over."""
    return [line.split()[0] for line in (pytester.path / "began").read_text().splitlines()]


def began(pytester: pytest.Pytester) -> list[str]:
    """The titles of the plans, in the order in which they were begun."""
    return [each for each in happened(pytester) if not each.startswith("over:")]


def needed(pytester: pytest.Pytester) -> list[str]:
    """The trials that tests needed, by their properties."""
    report = (pytester.path / "junit.xml").read_text()
    return sorted(part.partition('"')[0].partition("-")[2] for part in report.split('name="staleproof.trial" value="')[1:])


# --- workers


HELPED = "until(lambda: len({who for _, who in began('a')}) == (2 if title[0] == 'a' else 1))"
"""No trial of the family a ends before two workers are at it, and none of another before one is. There are three plans in all: of
more, one would come first as the most valuable, whichever worker is at which test."""


def test_a_worker_that_has_no_other_test_helps(pytester: pytest.Pytester) -> None:
    done = run(pytester, {"a": [(1,), (2,)], "b": [(1,)]}, "-n2", "--junitxml=junit.xml", meanwhile=HELPED)

    done.assert_outcomes(passed=2)
    assert Counter(began(pytester)) == Counter(["a0", "a1", "b0"])
    assert needed(pytester) == ["a0", "a1", "b0"]


def test_what_a_worker_had_begun_that_died_is_run_by_the_one_that_needs_it(pytester: pytest.Pytester) -> None:
    """The other worker dies over the plan that it takes, and no third one takes that up."""
    dies = f"title[0] == 'a' and began('a')[0][1] != WORKER and os._exit(7)\n    {HELPED}"
    done = run(pytester, {"a": [(1,), (2,)], "b": [(1,)]}, "-n2", meanwhile=dies)

    done.stdout.fnmatch_lines(["*worker 'gw?' crashed while running *test_family[[]x/b]*"])
    done.assert_outcomes(passed=2, failed=1)
    (twice,) = (title for title, times in Counter(began(pytester)).items() if times > 1)
    assert Counter(began(pytester)) == Counter(["a0", "a1", "b0", twice])


# --- a budget


def test_minutes_are_for_what_is_worth_most_whichever_test_it_is_for(pytester: pytest.Pytester) -> None:
    done = run(pytester, {"a": [(8, "p"), (4, "p")], "b": [(1, "q"), (6, "r")]}, "--staleproof-minutes=60", "--junitxml=junit.xml")

    done.assert_outcomes(passed=2)
    assert began(pytester) == ["b0", "a1", "b1", "a0"]
    assert needed(pytester) == ["a0", "a1", "b0", "b1"]


@pytest.mark.parametrize("mark", ["skip(reason='mine')", "xfail(reason='mine', run=False)"])
def test_plans_of_a_test_that_is_not_run_are_not_run_elsewhere(mark: str, pytester: pytest.Pytester) -> None:
    more = f"""
        def pytest_collection_modifyitems(items):
            items[1].add_marker(pytest.mark.{mark})
    """
    run(pytester, {"a": [(8, "p")], "b": [(1, "q")]}, "--staleproof-minutes=60", more=more)
    assert began(pytester) == ["a0"]


def test_a_plan_that_would_not_be_over_in_time_is_left_out(pytester: pytest.Pytester) -> None:
    done = run(pytester, {"a": [(0, "p"), (600, "p")], "b": [(600, "q")]}, "--staleproof-minutes=9")

    done.assert_outcomes(passed=1, skipped=1)
    assert began(pytester) == ["a0"]
    done.stdout.fnmatch_lines(["*x, b: 1 plan left out*"])
    (report,) = pytester.path.glob(".staleproof/runs/*/report.json")
    left_out = [(plan["title"], plan["aims"], plan["faults"]) for plan in json.loads(report.read_bytes())["leftOut"]]
    assert left_out == [("a1", ["p"], ["Refuse"]), ("b0", ["q"], ["Refuse"])]


SEARCHED = """
    from staleproof.core.plan.plan import Subject

    @pytest.fixture(scope="session")
    def controller_spec():
        return Subject(command=("x",))
"""


def reported(pytester: pytest.Pytester) -> tuple[list[str], list[tuple[str, int, str]]]:
    """The titles of what was left out for want of time; by primary, how many drawn plans were not run because of what."""
    (path,) = pytester.path.glob(".staleproof/runs/*/report.json")
    report = json.loads(path.read_bytes())
    ended = [(each["primary"], each["plans"], each["requirement"]) for each in report["endedSearches"]]
    return [plan["title"] for plan in report["leftOut"]], ended


KNOWN = """
apiVersion: staleproof.dev/v1alpha1
kind: Baseline
findings: [{requirements: [settles]}]
"""


def test_a_finding_that_is_known_is_not_drawn_first_again(pytester: pytest.Pytester) -> None:
    (pytester.path / "known.yaml").write_text(KNOWN)
    plans: Plans = {"drawn": [(1, "settles"), (2,), (3, "cleans-up", "settles"), (4,)]}
    run(pytester, plans, "--staleproof-baseline=known.yaml", "-v", more=SEARCHED).stdout.fnmatch_lines(
        ["* KNOWN drawn0, * s *", "* NOT EXERCISED drawn1, *", "* FAILED drawn2, *", "*::test_family*drawn* FAILED *"]
    )
    assert began(pytester) == ["drawn0", "drawn1", "drawn2"]
    assert reported(pytester) == ([], [("widgets/w", 1, "cleans-up")])
    kept = [path.read_bytes() for path in pytester.path.glob(".staleproof/examples/*/*")]
    titles = [json.loads(each)["title"] for each in kept if b'"Plan"' in each]
    assert titles == ["drawn2"]


# --- each plan as it ends

GUILTY: Plans = {"a": [(3,), (2, "settles"), (1, "settles")], "b": [(1,), (0, "cleans-up")]}


@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_each_plan_has_a_line_with_verdict_name_and_seconds(workers: tuple[str, ...], pytester: pytest.Pytester) -> None:
    """Its story stands among the failures, a cause's once for each process."""
    done = run(pytester, GUILTY, "-v", *workers)
    shown = [line.partition(" NOT EXERCISED ")[2] or line.partition(" FAILED ")[2] for line in done.outlines]
    plans = {line.split(",")[0] for line in shown if line[:1] in "ab" and " s" in line}
    assert plans == {"a0", "a1", "a2", "b0", "b1"}
    done.stdout.fnmatch_lines(["*__ test_family[[]x/a] a1 __*", "*MUST stop changing things*", "*2 of 3 plans failed: a1, a2*"])
    done.stdout.fnmatch_lines(["*5 failed*2 plans not exercised*"])


def test_a_letter_stands_for_each_where_less_is_asked_for(pytester: pytest.Pytester) -> None:
    run(pytester, GUILTY).stdout.fnmatch_lines(["test_*.py -ffF-fF*"])


def test_a_plan_of_another_test_is_reported_as_that_tests(pytester: pytest.Pytester) -> None:
    """As a worker reports it, too, that is at a test of its own."""
    plans: Plans = {"a": [(8, "p")], "b": [(1, "q")]}
    for workers in ((), ("-n1",)):
        done = run(pytester, plans, "-v", "--staleproof-minutes=60", *workers)
        lines = [line for line in done.outlines if "NOT EXERCISED" in line]
        assert [name for line in lines for name in ("a0", "b0") if f" {name}," in line] == ["b0", "a0"]
        assert ["x/b" in line for line in lines] == [True, False]


def test_a_bug_of_ours_in_a_plan_of_another_test_is_no_finding(pytester: pytest.Pytester) -> None:
    done = run(pytester, {"a": [(8, "p")], "b": [(1, "q")]}, "--staleproof-minutes=60", meanwhile="title[0] == 'b' and 1 / 0")
    assert began(pytester)[0] == "b0"
    assert done.ret == 3


def test_exitfirst_stops_after_the_first_plan_with_a_finding(pytester: pytest.Pytester) -> None:
    done = run(pytester, GUILTY, "-x")
    assert began(pytester) == ["a0", "a1"]
    done.stdout.fnmatch_lines(["*1 of 2 plans failed: a1*", "*stopping after 2 failures*"])
    (report,) = pytester.path.glob(".staleproof/runs/*/report.json")
    assert json.loads(report.read_bytes())["partial"] is True


@pytest.mark.parametrize(("limit", "begun_of_a"), [("-x", 1), ("--maxfail=2", 2)])
def test_workers_stop_as_well(limit: str, begun_of_a: int, pytester: pytest.Pytester) -> None:
    """Each plan of b waits until one of a has failed, and for the controlling process to know."""
    plans: Plans = {"a": [(2, "settles"), (1, "settles")], "b": [(9,), (8,), (7,), (6,), (5,)]}
    waits = f"title[0] == 'b' and until(lambda: len(began('a')) >= {begun_of_a}) or title[0] == 'b' and time.sleep(1)"
    done = run(pytester, plans, "-n2", limit, meanwhile=waits)
    assert len(began(pytester)) < 7
    done.stdout.fnmatch_lines(["*stopping after * failures*"])


def test_what_failed_is_run_alone_the_next_time(pytester: pytest.Pytester) -> None:
    def again(*arguments: str) -> list[str]:
        (pytester.path / "began").unlink()
        run(pytester, GUILTY, "--lf", *arguments, meanwhile="pass")
        return sorted(began(pytester))

    run(pytester, GUILTY)
    assert again("-x") == ["a1"]
    assert again("-n2") == ["a1", "a2", "b1"]
    run(pytester, {**GUILTY, "a": [(3,), (2,), (1, "settles")]}, "--lf")
    (pytester.path / "began").unlink()
    run(pytester, {**GUILTY, "a": [(3,), (2,), (1, "settles")]}, "--lf")
    assert sorted(began(pytester)) == ["a2", "b1"]


# --- a selection


def test_only_what_is_named_is_run(pytester: pytest.Pytester) -> None:
    done = run(pytester, {"a": [(1,), (2,)], "b": [(1,)]}, "--staleproof-only=a0")
    done.assert_outcomes(passed=1, skipped=1)
    assert began(pytester) == ["a0"]
    done.stdout.fnmatch_lines(["*x, b: none of its plans is one of --staleproof-only*"])


@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_a_name_that_fits_no_plan_begins_nothing_and_says_what_there_is(
    workers: tuple[str, ...], pytester: pytest.Pytester
) -> None:
    done = run(pytester, {"a": [(2,), (1,)], "b": [(1,)]}, "--staleproof-only=a7", *workers)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stdout.fnmatch_lines(["*--staleproof-only: no plan has the id or name 'a7'; there are:*", "*x: a0", "*x: b0"])
    assert not (pytester.path / "began").exists()
