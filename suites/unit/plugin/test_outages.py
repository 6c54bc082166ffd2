"""A worker that cannot run its plans is reported at once, with the remedy."""

import pytest

from staleproof.plugin.outages import Outages

pytest_plugins = ["pytester"]

CONFTEST = """
    import pytest
    from staleproof.plugin.outages import Outages

    def pytest_configure(config):
        config.pluginmanager.register(Outages(config))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(report):
        report.worker_id = "gw1"
"""
SUITE = """
    import pytest

    @pytest.fixture
    def controller():
        pytest.fail({text!r}, pytrace=False)

    @pytest.mark.parametrize("number", range(2))
    def test_it(controller, number):
        pass
"""
TAKEN = """staleproof: the controller exited with code 1 before any trial.
  | listen tcp :8080: bind: address already in use"""


def shown(pytester: pytest.Pytester, text: str, conftest: str = CONFTEST) -> list[str]:
    pytester.makeconftest(conftest)
    pytester.makepyfile(SUITE.format(text=text))
    lines = pytester.runpytest_inprocess("-p", "no:xdist", "-p", "no:cacheprovider").outlines
    return lines[: next(number for number, line in enumerate(lines) if "ERRORS" in line)]


def test_an_environment_that_fails_is_reported_once_with_its_cure(pytester: pytest.Pytester) -> None:
    lines = shown(pytester, TAKEN)
    told = [line for line in lines if "worker gw1" in line]
    assert told == ["staleproof: worker gw1: the controller exited with code 1 before any trial."]
    assert any("a port that it listens on is taken" in line and "{metrics_port}" in line for line in lines)


def test_what_keeps_several_workers_is_reported_once_and_without_its_list(pytester: pytest.Pytester) -> None:
    conftest = CONFTEST.replace('"gw1"', 'f"gw{report.nodeid[-2]}"')
    lines = shown(pytester, "staleproof: no plan is called x; there are:\n  a\n  b", conftest)
    assert [line for line in lines if "worker gw" in line] == ["staleproof: worker gw0: no plan is called x"]


def test_an_error_of_a_users_fixture_is_pytests_to_report(pytester: pytest.Pytester) -> None:
    assert not any("worker gw1" in line for line in shown(pytester, "the database is down"))


def test_nothing_is_reported_where_nothing_is_shown(pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]) -> None:
    config = pytester.parseconfig("-p", "no:terminal")
    config.pluginmanager.unregister(name="terminalreporter")
    report = pytest.TestReport("test_it", ("test_it.py", 1, "test_it"), {}, "failed", TAKEN, "setup")
    Outages(config).pytest_runtest_logreport(report)
    assert capsys.readouterr() == ("", "")
