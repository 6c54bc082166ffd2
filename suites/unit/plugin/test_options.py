"""Options: the flag wins over the variable, the variable over the default, and the header says where a value came from."""

import os
from typing import get_args

import pytest

from staleproof.drive.cluster.control_plane.plane import ProviderName
from staleproof.errors import UsageError
from staleproof.plugin.options import OPTIONS, Option, Value, header, resolve, seconds, text, validate, values

pytest_plugins = ["pytester"]

CMD, ENV, START, DIR = "--controller-cmd", "--controller-env", "--controller-start-seconds", "--staleproof-dir"


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs these tests may have variables of their own."""
    for option in OPTIONS:
        monkeypatch.delenv(option.variable, raising=False)


@pytest.mark.parametrize(
    ("flag", "variable"),
    [
        ("--controller-cmd", "STALEPROOF_CONTROLLER_CMD"),
        ("--controller-start-seconds", "STALEPROOF_CONTROLLER_START_SECONDS"),
        ("--staleproof-kube-provider", "STALEPROOF_KUBE_PROVIDER"),
        ("--staleproof-dir", "STALEPROOF_DIR"),
        ("--conformance-report", "STALEPROOF_CONFORMANCE_REPORT"),
        ("--implementation-organization", "STALEPROOF_IMPLEMENTATION_ORGANIZATION"),
    ],
)
def test_the_variable_is_the_flag_in_upper_case(flag: str, variable: str) -> None:
    assert Option(flag, "").variable == variable


def test_no_two_options_share_a_flag_a_place_or_a_variable() -> None:
    for name in ("flag", "dest", "variable"):
        assert len({getattr(option, name) for option in OPTIONS}) == len(OPTIONS)


@pytest.mark.parametrize(
    ("arguments", "environ", "expected"),
    [
        ([], {}, Value("30", ("30",), "default")),
        ([], {"STALEPROOF_CONTROLLER_START_SECONDS": "60"}, Value("60", ("60",), "environment")),
        (["--controller-start-seconds=90"], {}, Value("90", ("90",), "command line")),
        (["--controller-start-seconds=90"], {"STALEPROOF_CONTROLLER_START_SECONDS": "60"}, Value("90", ("90",), "command line")),
        (["--controller-start-seconds=90"], {"STALEPROOF_CONTROLLER_START_SECONDS": ""}, Value("90", ("90",), "command line")),
    ],
)
def test_the_flag_wins_then_the_variable_then_the_default(
    arguments: list[str], environ: dict[str, str], expected: Value, pytester: pytest.Pytester
) -> None:
    assert resolve(pytester.parseconfig(*arguments), START, environ) == expected


def test_an_option_without_a_default_is_empty(pytester: pytest.Pytester) -> None:
    config = pytester.parseconfig()
    assert (text(config, CMD), values(config, CMD), values(config, ENV)) == ("", (), ())


def test_a_variable_that_is_set_and_empty_is_a_mistake(pytester: pytest.Pytester) -> None:
    """A pipeline's undefined secret becomes an empty variable: that must not silently mean the default."""
    with pytest.raises(pytest.UsageError, match="STALEPROOF_CONTROLLER_CMD is set but empty; unset it or give it a value"):
        resolve(pytester.parseconfig(), CMD, {"STALEPROOF_CONTROLLER_CMD": ""})


def test_an_empty_flag_is_what_was_said(pytester: pytest.Pytester) -> None:
    assert resolve(pytester.parseconfig("--conformance-report="), "--conformance-report", {}).origin == "command line"


def test_some_may_be_given_several_times(pytester: pytest.Pytester) -> None:
    given = pytester.parseconfig("--controller-env=A=1", "--controller-env", "B=2:3")
    assert values(given, ENV) == ("A=1", "B=2:3")
    joined = os.pathsep.join(["A=1", "B=2"])
    assert resolve(given, ENV, {"STALEPROOF_CONTROLLER_ENV": joined}).values == ("A=1", "B=2:3")
    assert resolve(pytester.parseconfig(), ENV, {"STALEPROOF_CONTROLLER_ENV": joined}).values == ("A=1", "B=2")


def test_a_variable_is_not_split_when_only_one_value_is_possible(pytester: pytest.Pytester) -> None:
    found = resolve(pytester.parseconfig(), CMD, {"STALEPROOF_CONTROLLER_CMD": "./m --addr=:8080"})
    assert (found.text, found.values) == ("./m --addr=:8080", ("./m --addr=:8080",))


def test_the_process_environment_is_asked(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STALEPROOF_DIR", "elsewhere")
    assert text(pytester.parseconfig(), DIR) == "elsewhere"


@pytest.mark.parametrize(("given", "expected"), [("5", 5.0), ("0.25", 0.25), (" 7 ", 7.0)])
def test_seconds(given: str, expected: float, pytester: pytest.Pytester) -> None:
    assert seconds(pytester.parseconfig(f"{START}={given}"), START) == expected


@pytest.mark.parametrize("given", ["0", "-1", "soon", "", "nan", "inf"])
def test_seconds_that_are_none(given: str, pytester: pytest.Pytester) -> None:
    with pytest.raises(UsageError, match=f"{START}: expected a positive number of seconds, found '{given}'"):
        seconds(pytester.parseconfig(f"{START}={given}"), START)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("--controller-cmd=manager 'x", "--controller-cmd: expected words as a shell would split them (No closing quotation)"),
        ("--controller-args='", "--controller-args: expected words"),
        ("--controller-env=NAME", "--controller-env: expected NAME=VALUE, found 'NAME'"),
        ("--controller-env==x", "--controller-env: expected NAME=VALUE"),
        ("--controller-start-seconds=soon", "expected a positive number of seconds, found 'soon'"),
        ("--staleproof-crds=", "--staleproof-crds: expected a path, found ''"),
        (
            "--staleproof-kube-provider=minikube",
            "expected one of auto, existing, assets, cache, container, build, found 'minikube'",
        ),
        ("--staleproof-allow-remote-cluster=maybe", "expected one of yes, no, true, false, 1, 0, found 'maybe'"),
        ("--staleproof-max-examples=abc", "--staleproof-max-examples: expected a whole number, 0 or more, found 'abc'"),
        ("--staleproof-max-examples=-1", "expected a whole number, 0 or more, found '-1'"),
        ("--staleproof-max-examples=1.5", "expected a whole number"),
        ("--staleproof-inconclusive=nope", "--staleproof-inconclusive: expected one of ok, fail, found 'nope'"),
        ("--staleproof-dir=", "--staleproof-dir: expected a path"),
        (
            "--staleproof-companions=kwok,garbagecollector",
            "--staleproof-companions: expected names of companions, with commas (there is no companion 'garbagecollector'; did you "
            "mean 'garbage-collector'?",
        ),
        ("--staleproof-release-leases=maybe", "--staleproof-release-leases: expected one of yes, no, found 'maybe'"),
        (
            "--controller-metrics=localhost:8080/metrics",
            "--controller-metrics: expected a URL as http://127.0.0.1:{metrics_port}/metrics, found 'localhost:8080/metrics'",
        ),
    ],
)
def test_what_is_malformed_is_refused_before_anything_starts(given: str, told: str, pytester: pytest.Pytester) -> None:
    done = pytester.runpytest_inprocess(given)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert told in done.stderr.str()
    assert "Traceback" not in done.stderr.str()


def test_a_malformed_variable_is_named(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STALEPROOF_MAX_EXAMPLES", "many")
    done = pytester.runpytest_inprocess()
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert "STALEPROOF_MAX_EXAMPLES: expected a whole number, 0 or more, found 'many'" in done.stderr.str()


def test_defaults_and_all_that_may_be_said_are_fine(pytester: pytest.Pytester) -> None:
    validate(pytester.parseconfig())
    for provider in get_args(ProviderName):
        validate(pytester.parseconfig(f"--staleproof-kube-provider={provider}"))
    validate(pytester.parseconfig("--controller-metrics=https://[::1]:{metrics_port}/metrics", "--staleproof-release-leases=no"))
    validate(pytester.parseconfig("--controller-env=A=", "--staleproof-max-examples=0", "--staleproof-inconclusive=ok"))


def test_the_header_names_what_is_not_a_default_and_its_origin(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STALEPROOF_KUBE_PROVIDER", "cache")
    config = pytester.parseconfig("--controller-cmd=./m", "--staleproof-crds=a.yaml", "--staleproof-crds=b.yaml")
    assert header(config) == [
        "--controller-cmd=./m (command line)",
        "--staleproof-crds=a.yaml b.yaml (command line)",
        "--staleproof-kube-provider=cache (environment)",
    ]
    assert header(pytester.parseconfig()) == ["--staleproof-kube-provider=cache (environment)"]


def test_the_help_tells_default_and_variable(pytester: pytest.Pytester) -> None:
    shown = " ".join(pytester.runpytest_inprocess("--help").stdout.str().split())
    assert "staleproof: does the controller act on what is out of date?" in shown
    assert [option.flag for option in OPTIONS if f"[${option.variable}]" not in shown] == []
    assert "(default: 30) [$STALEPROOF_CONTROLLER_START_SECONDS]" in shown
