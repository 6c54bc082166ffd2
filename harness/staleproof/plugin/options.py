"""The plugin's options: one table. Every row is a flag and an environment variable; the flag wins.

`--controller-*` names the subject, conformance options are spelt as in Gateway API's suite, all else is `--staleproof-*`. The
variable is the flag in upper case after STALEPROOF_, without the flag's own `staleproof-`.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from staleproof.plugin.expects import (
    PROFILES,
    PROVIDERS,
    Expectation,
    anything,
    companions,
    count,
    metrics_url,
    number,
    one_of,
    pair,
    path,
    positive_seconds,
    shell_words,
)


@dataclass(frozen=True, slots=True)
class Option:
    """`many`: may be given several times (the variable separates with the path separator). `expects`: of each value."""

    flag: str
    help: str
    many: bool = False
    default: str = ""
    expects: Expectation = anything

    @property
    def dest(self) -> str:
        return "staleproof_opt_" + self.flag.lstrip("-").replace("-", "_")

    @property
    def variable(self) -> str:
        return "STALEPROOF_" + self.flag.lstrip("-").removeprefix("staleproof-").replace("-", "_").upper()


OPTIONS = (
    Option(
        "--controller-cmd",
        "the controller as a command, split as a shell would; {kubeconfig} is replaced, KUBECONFIG is set",
        expects=shell_words,
    ),
    Option("--controller-image", "the controller as an image, on the engine's host network, with a kubeconfig"),
    Option(
        "--controller-args", "added to the command, or replacing the image's arguments; split as a shell would", expects=shell_words
    ),
    Option("--controller-env", "NAME=VALUE for the controller; may be repeated", many=True, expects=pair),
    Option(
        "--controller-start-seconds",
        "how long the controller may take to open its first watch",
        default="30",
        expects=positive_seconds,
    ),
    Option(
        "--controller-metrics",
        "URL of the controller's metrics, e.g. http://127.0.0.1:{metrics_port}/metrics; {metrics_port} is a free port, here and in "
        "its command, arguments and variables",
        expects=metrics_url,
    ),
    Option(
        "--staleproof-crds",
        "CustomResourceDefinitions to apply first: a file or a folder; may be repeated",
        many=True,
        expects=path,
    ),
    Option("--staleproof-samples", "primaries: a file or a folder of manifests; may be repeated", many=True, expects=path),
    Option(
        "--staleproof-kube-provider",
        f"control plane from: {', '.join(PROVIDERS)}",
        default="auto",
        expects=one_of(*PROVIDERS),
    ),
    Option("--staleproof-kubeconfig", "a cluster of your own, for the provider existing; empty: a control plane of staleproof's"),
    Option(
        "--staleproof-allow-remote-cluster",
        "yes: the cluster of --staleproof-kubeconfig may be on another machine",
        expects=one_of("", "yes", "no", "true", "false", "1", "0"),
    ),
    Option("--staleproof-kube-image", "image of the provider container; empty means one made from the cached control plane"),
    Option(
        "--staleproof-companions",
        "real controllers beside the one under test, with commas: kube-controller-manager's by name, e.g. garbage-collector; "
        "scheduler; kwok (three Nodes, Pods that run, Jobs that finish)",
        expects=companions,
    ),
    Option(
        "--staleproof-profile",
        f"how thorough to be: {', '.join(PROFILES)}",
        default="standard",
        expects=one_of(*PROFILES),
    ),
    Option(
        "--staleproof-max-examples",
        "plans drawn by Hypothesis for each scenario and sample, after the canonical ones",
        default="10",
        expects=count,
    ),
    Option(
        "--staleproof-inconclusive",
        "when nothing failed but something is inconclusive: ok exits 0, fail exits 1; empty: exit 10",
        expects=one_of("", "ok", "fail"),
    ),
    Option(
        "--staleproof-release-leases",
        "yes: before the controller is started again, leases that its dead life held are released; no: they run out",
        default="yes",
        expects=one_of("yes", "no"),
    ),
    Option("--staleproof-replay", "run only this plan again: the id of a finding, a plan.json or the folder of a trial"),
    Option("--staleproof-dir", "artefact folder", default=".staleproof", expects=path),
    Option("--conformance-report", "write conformance.yaml to this path too; empty: only into the run folder"),
    Option("--implementation-organization", "who makes the controller, for the conformance report"),
    Option("--implementation-project", "its name there"),
    Option("--implementation-url", "where it is found"),
    Option("--implementation-version", "a tag or release, never a branch"),
    Option("--implementation-contact", "whom to ask; may be repeated", many=True),
)

_BY_FLAG = {option.flag: option for option in OPTIONS}


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("staleproof", "staleproof: does the controller act on what is out of date?")
    for option in OPTIONS:
        action = "append" if option.many else "store"
        shown = f" (default: {option.default})" if option.default else ""
        group.addoption(
            option.flag, dest=option.dest, action=action, default=None, help=f"{option.help}{shown} [${option.variable}]"
        )


@dataclass(frozen=True, slots=True)
class Value:
    """A resolved option and where it came from: `command line`, `environment` or `default`."""

    text: str
    values: tuple[str, ...]
    origin: str


def resolve(config: pytest.Config, flag: str, environ: Mapping[str, str] = os.environ) -> Value:
    """Command line, else environment, else default.

    Raises:
        pytest.UsageError: the variable is set and empty, which is always a mistake.
    """
    option = _BY_FLAG[flag]
    given: Any = config.getoption(option.dest, default=None)
    if given is not None:
        values = tuple(given) if option.many else (str(given),)
        return Value(values[0], values, "command line")
    if option.variable in environ:
        text = environ[option.variable]
        if not text:
            raise pytest.UsageError(f"{option.variable} is set but empty; unset it or give it a value ({option.help})")
        values = tuple(text.split(os.pathsep)) if option.many else (text,)
        return Value(values[0], values, "environment")
    return Value(option.default, (option.default,) if option.default else (), "default")


def text(config: pytest.Config, flag: str) -> str:
    return resolve(config, flag).text


def values(config: pytest.Config, flag: str) -> tuple[str, ...]:
    return resolve(config, flag).values


def seconds(config: pytest.Config, flag: str) -> float:
    """A positive number of seconds.

    Raises:
        UsageError: it is not one.
    """
    from staleproof.errors import UsageError

    found = number(text(config, flag))
    if found is None:
        raise UsageError(f"{flag}: expected a positive number of seconds, found {text(config, flag)!r}")
    return found


def validate(config: pytest.Config) -> None:
    """Look at every value before anything starts.

    Raises:
        pytest.UsageError: one is not what its option expects.
    """
    for option in OPTIONS:
        value = resolve(config, option.flag)
        for given in value.values:
            expected = option.expects(given)
            if expected:
                name = option.variable if value.origin == "environment" else option.flag
                raise pytest.UsageError(f"{name}: expected {expected}, found {given!r}")


def header(config: pytest.Config) -> list[str]:
    """Every value that is not a default, with its origin. CI systems keep what is printed: variables are named, not told."""
    from staleproof.core.masking import masked_pair

    resolved = [(option.flag, resolve(config, option.flag)) for option in OPTIONS]
    shown = {flag: value.values for flag, value in resolved}
    shown["--controller-env"] = tuple(masked_pair(pair) for pair in shown["--controller-env"])
    return [f"{flag}={' '.join(shown[flag])} ({value.origin})" for flag, value in resolved if value.origin != "default"]
