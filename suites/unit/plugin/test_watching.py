"""What pytest shows of a run that one can watch: nothing twice, and of the suite no tests, but plans."""

import pytest

from staleproof.plugin import WATCHING

pytest_plugins = ["pytester"]

CONFTEST = """
    import pytest
    from staleproof.plugin import WATCHING
    from staleproof.plugin.watching import Watching

    def pytest_configure(config):
        config.pluginmanager.register(Watching(config, names={names}, counts_plans={counts_plans}), WATCHING)
"""
SUITE = """
    import pytest
    from staleproof.plugin.plan_reports import FAILED_PLANS, reports_of

    def plan(request, name, verdict, story=""):
        reports = reports_of(request.config)
        reports.report(request.node.nodeid, plan=name, name=name, verdict=verdict, seconds=1.23, story=story)

    def test_passes(request):
        plan(request, "hide creates", "passed")
        plan(request, "hide deletes", "inconclusive")

    def test_fails(request):
        plan(request, "restart it", "failed", "it is the 4th pod\\n  remedy: look again")
        request.node.user_properties.append((FAILED_PLANS, "1"))
        pytest.fail("1 of 1 plan failed: restart it", pytrace=False)

    def test_gives_no_occasion():
        pytest.skip("none of its plans")
"""
BROKEN = """
    def test_is_broken():
        raise RuntimeError("what was not expected")
"""


def run(pytester: pytest.Pytester, suite: str = SUITE, *, names: bool = False, counts_plans: bool = True) -> pytest.RunResult:
    pytester.makeconftest(CONFTEST.format(names=names, counts_plans=counts_plans))
    pytester.makepyfile(suite)
    return pytester.runpytest_inprocess("-p", "no:xdist", "-p", "no:cacheprovider")


def test_plans_are_counted_and_tests_are_not_shown(pytester: pytest.Pytester) -> None:
    shown = run(pytester)
    assert shown.ret == pytest.ExitCode.TESTS_FAILED
    text = "\n".join(shown.outlines)
    for noise in ("FAILURES", "short test summary", "4th pod", "test_fails", "[100%]"):
        assert noise not in text
    for counted in ("1 passed", "1 inconclusive", "1 with findings"):
        assert counted in shown.outlines[-1]


def test_each_plan_is_named_as_it_ends_when_that_is_asked_for(pytester: pytest.Pytester) -> None:
    shown = run(pytester, names=True)
    shown.stdout.fnmatch_lines(
        [
            "PASSED hide creates, 1.2 s",
            "INCONCLUSIVE hide deletes, 1.2 s",
            "FAILED restart it, 1.2 s",
            "    it is the 4th pod",
            "      remedy: look again",
        ],
        consecutive=True,
    )


def test_an_error_is_shown_as_pytest_shows_it(pytester: pytest.Pytester) -> None:
    shown = run(pytester, BROKEN)
    shown.stdout.fnmatch_lines(["*FAILURES*", "*RuntimeError: what was not expected*", "FAILED *test_is_broken*"])
    assert shown.parseoutcomes() == {"failed": 1}


def test_where_tests_are_no_families_they_are_counted(pytester: pytest.Pytester) -> None:
    shown = run(pytester, "def test_replay(): pass", counts_plans=False)
    assert shown.parseoutcomes() == {"passed": 1}


@pytest.mark.parametrize(("given", "watched"), [((), True), (("-v",), True), (("-vv",), False), (("--staleproof-dry-run",), False)])
def test_the_suite_is_watched_unless_pytest_is_to_show_it(
    given: tuple[str, ...],
    watched: bool,  # noqa: FBT001  # columns
    pytester: pytest.Pytester,
) -> None:
    config = pytester.parseconfigure("--controller-cmd=x", *given)
    assert config.pluginmanager.has_plugin(WATCHING) is watched
    assert config.option.verbose == (2 if given == ("-vv",) else 0)
