"""The plugin's options: one table. Every row is a flag and an environment variable; the flag wins.

`--controller-*` names the subject, conformance options are spelt as in Gateway API's suite, all else is `--staleproof-*`. The
variable is the flag in upper case after STALEPROOF_, without the flag's own `staleproof-`.
"""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(frozen=True, slots=True)
class Option:
    """`many`: may be given several times (the variable separates with the path separator)."""

    flag: str
    help: str
    many: bool = False
    default: str = ""

    @property
    def dest(self) -> str:
        return "staleproof_opt_" + self.flag.lstrip("-").replace("-", "_")

    @property
    def variable(self) -> str:
        return "STALEPROOF_" + self.flag.lstrip("-").removeprefix("staleproof-").replace("-", "_").upper()


OPTIONS = (
    Option("--controller-cmd", "the controller as a command, split as a shell would; {kubeconfig} is replaced, KUBECONFIG is set"),
    Option("--controller-image", "the controller as an image, on the engine's host network, with a kubeconfig"),
    Option("--controller-args", "added to the command, or replacing the image's arguments; split as a shell would"),
    Option("--controller-env", "NAME=VALUE for the controller; may be repeated", many=True),
    Option("--controller-start-seconds", "how long the controller may take to open its first watch", default="30"),
    Option("--staleproof-crds", "CustomResourceDefinitions to apply first: a file or a folder; may be repeated", many=True),
    Option("--staleproof-samples", "primaries: a file or a folder of manifests; may be repeated", many=True),
    Option("--staleproof-kube-provider", "control plane from: auto, existing, assets, cache, container, build", default="auto"),
    Option("--staleproof-kubeconfig", "a cluster of your own, for the provider existing; empty: a control plane of staleproof's"),
    Option("--staleproof-allow-remote-cluster", "yes: the cluster of --staleproof-kubeconfig may be on another machine"),
    Option("--staleproof-kube-image", "image of the provider container; empty means one made from the cached control plane"),
    Option(
        "--staleproof-max-examples",
        "plans drawn by Hypothesis for each scenario and sample, after the canonical ones",
        default="10",
    ),
    Option(
        "--staleproof-inconclusive", "when nothing failed but something is inconclusive: ok exits 0, fail exits 1; empty: exit 10"
    ),
    Option("--staleproof-replay", "run only this plan again: the id of a finding, a plan.json or the folder of a trial"),
    Option("--staleproof-dir", "artefact folder", default=".staleproof"),
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

    try:
        number = float(text(config, flag))
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:  # false for a NaN too
        raise UsageError(f"{flag}: expected a positive number of seconds, found {text(config, flag)!r}")
    return number


def header(config: pytest.Config) -> list[str]:
    """Every value that is not a default, with its origin."""
    resolved = [(option.flag, resolve(config, option.flag)) for option in OPTIONS]
    return [f"{flag}={' '.join(value.values)} ({value.origin})" for flag, value in resolved if value.origin != "default"]
