"""What pytest shows of a plan, and what its reports carry from a worker to the controlling process."""

from types import SimpleNamespace
from typing import Any

import pytest

from staleproof.plugin.plan_reports import PlanReports, reports_of, status

pytest_plugins = ["pytester"]


def report(verdict: str) -> pytest.TestReport:
    plan = {"id": "1e2154796e", "name": "hide own creates of pods", "verdict": verdict, "seconds": 12.34}
    return pytest.TestReport("a", ("a", 1, "a"), {}, "passed", None, "call", staleproof_plan=plan)


@pytest.mark.parametrize(
    ("verdict", "counted", "letter", "colour"),
    [
        ("passed", "plans passed", ",", "green"),
        ("failed", "failed", "f", "red"),
        ("known", "plans known", "k", "yellow"),
        ("inconclusive", "plans inconclusive", "?", "yellow"),
        ("not exercised", "plans not exercised", "-", "cyan"),
    ],
)
def test_a_plan_has_verdict_name_and_seconds(verdict: str, counted: str, letter: str, colour: str) -> None:
    assert status(report(verdict)) == (counted, letter, (f"{verdict.upper()} hide own creates of pods, 12.3 s", {colour: True}))


def test_a_test_has_pytests_own_status() -> None:
    assert status(pytest.TestReport("a", ("a", 1, "a"), {}, "passed", None, "call")) is None


def test_it_survives_the_way_from_a_worker(pytester: pytest.Pytester) -> None:
    config = pytester.parseconfigure()
    sent: Any = config.hook.pytest_report_to_serializable(config=config, report=report("failed"))
    assert status(config.hook.pytest_report_from_serializable(config=config, data=sent)) == status(report("failed"))


def test_without_a_cache_nothing_is_kept(pytester: pytest.Pytester) -> None:
    reports = reports_of(pytester.parseconfigure("-p", "no:cacheprovider"))
    session: Any = SimpleNamespace(shouldfail=False, shouldstop="enough", items=[])
    reports.pytest_sessionstart(session)
    reports.pytest_runtest_logreport(report("failed"))
    reports.pytest_sessionfinish()
    assert (reports.failed("a"), reports.stops) == ([], True)


@pytest.mark.parametrize("worker", [False, True], ids=["controlling", "worker"])
def test_the_controlling_process_stops_the_run_once_pytest_begins_no_other_test(pytester: pytest.Pytester, *, worker: bool) -> None:
    config: Any = pytester.parseconfigure()
    if worker:
        config.workerinput = {}
    session: Any = SimpleNamespace(shouldfail=False, shouldstop=False, items=[])
    stopped = list[bool]()
    reports = PlanReports(config, lambda: stopped.append(True))
    reports.pytest_sessionstart(session)
    reports.pytest_runtest_logreport(report("failed"))
    assert stopped == []
    session.shouldfail = "stopping after 2 failures"
    reports.pytest_runtest_logreport(report("passed"))
    assert stopped == [True] * (not worker)


def run(pytester: pytest.Pytester, mark: str, *verdicts: str) -> pytest.RunResult:
    """Run a test with this mark that reports a plan for each verdict, and fails with the last."""
    pytester.makepyfile(
        f"""
        import pytest
        from staleproof.plugin.plan_reports import reports_of

        {mark}
        def test_it(request, pytestconfig):
            for number, verdict in enumerate({list(verdicts)}):
                reports_of(pytestconfig).report(
                    request.node.nodeid, plan=f"p{{number}}", name="n", verdict=verdict, seconds=0.1, story="s"
                )
            assert {verdicts[-1] != "failed"}
        """
    )
    return pytester.runpytest_inprocess("-p", "no:xdist")


def test_a_plan_of_a_test_that_is_expected_to_fail_fails_nothing(pytester: pytest.Pytester) -> None:
    found = run(pytester, "@pytest.mark.xfail(reason='known')", "failed")

    assert found.ret == pytest.ExitCode.OK
    assert "failed" not in found.parseoutcomes()


def test_a_test_of_which_another_plan_passed_has_failed_all_the_same(pytester: pytest.Pytester) -> None:
    found = run(pytester, "", "failed", "passed")

    assert found.parseoutcomes()["failed"] == 1
    cache = pytester.parseconfigure().cache
    assert cache is not None
    assert list(cache.get("cache/lastfailed", {})) == list(cache.get("staleproof/lastfailed", {})) != []


def test_a_doubt_mends_nothing(pytester: pytest.Pytester) -> None:
    reports = reports_of(pytester.parseconfigure("--lf"))
    session: Any = SimpleNamespace(shouldfail=False, shouldstop="", items=[])
    reports.pytest_sessionstart(session)
    for verdict, left in (("failed", ["1e2154796e"]), ("inconclusive", ["1e2154796e"]), ("passed", [])):
        reports.pytest_runtest_logreport(report(verdict))
        assert reports._failed["a"] == left
