"""The options of `staleproof.settings` as the command takes them: the names are shorter than pytest's, the values are the same.

What is not on the command line comes from the environment, and then from staleproof.yaml, also where a command has no such option.
"""

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from staleproof.core.plan.masking import masked_arguments
from staleproof.settings import ARTEFACTS, OPTIONS, Given, Option, Settings, in_words, parse
from staleproof.settings_environment import misspelt
from staleproof.settings_file import completed, folders_of

F = TypeVar("F", bound=Callable[..., Any])
SUBJECT = ("controller_cmd", "controller_image", "controller_network", "controller_args", "controller_env", "controller_also",
           "controller_manifests", "controller_deployment", "controller_start_seconds", "controller_metrics", "external",
           "companions", "release_leases", "namespace", "allow_remote_cluster", "kubeconfig", "kube_provider", "kube_image",
           "dir", "config")  # fmt: skip
"""What says which controller is under test, and with what around it."""
_REMOTE = "--allow-remote-cluster"


def takes(*names: str) -> Callable[[F], F]:
    """Give a command these options."""

    def decorate(command: F) -> F:
        for option in (each for each in reversed(OPTIONS) if each.name in names):
            command = _option(option)(command)
        return command

    return decorate


def leaves(*names: str, why: str) -> Callable[[F], F]:
    """Let a command be given these options, too, and say that it has no use for them: a line of options serves all commands."""

    def decorate(command: F) -> F:
        for option in (each for each in OPTIONS if each.name in names):
            how: dict[str, Any] = {"flag_value": "yes"} if option.switch else {"multiple": True}
            ours = click.option(called(option.name), hidden=True, expose_value=False, callback=_leave(why), **how)
            command = ours(command)
        return command

    return decorate


def _leave(why: str) -> Callable[[click.Context, click.Parameter, object], None]:
    def say(_: click.Context, option: click.Parameter, given: object) -> None:
        if given:
            click.echo(f"staleproof: {option.opts[0]} is left out: {why}", err=True)

    return say


def called(name: str) -> str:
    """What the command calls an option."""
    return f"--{name.removeprefix('kube_').replace('_', '-')}"


def given_in(options: Mapping[str, Any]) -> dict[str, Given]:
    """What was given on the command line, by the name of the option."""
    texts = {name: (value,) if isinstance(value, str) else value for name, value in options.items()}
    return {name: Given(tuple(given), called(name)) for name, given in texts.items() if given}


def settings_of(options: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> Settings:
    """What these options say, and the environment, and staleproof.yaml, where pytest would find it. A variable that is probably
    misspelt is warned of. UsageError when something is not what it should be."""
    for each in misspelt(environ):
        click.echo(f"staleproof: {each}", err=True)
    return parse(_given(options, environ))


def artefacts(options: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> Path:
    """The artefact folder, for a command that needs nothing else to be right. UsageError when the file cannot be read."""
    found = _given(options, environ).get("dir")
    return Path(found.texts[-1]) if found is not None else ARTEFACTS


def _given(options: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Given]:
    return completed(given_in(options), environ, folders_of(Path()))


def command_of(name: str, arguments: Sequence[str], options: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> str:
    """The command that does the same again, with what the environment and staleproof.yaml say, and without secrets. A file that
    was named is named again, because the command does not take all that it may say."""
    given = {key: each for key, each in _given(options, environ).items() if key in options}
    words = [
        word.removesuffix("=yes") if word == f"{_REMOTE}=yes" else word for word in in_words(given, lambda each: called(each.name))
    ]
    return shlex.join(["staleproof", name, *arguments, *masked_arguments(words)])


def _option(option: Option) -> Callable[[F], F]:
    """The option as click takes it. It has no default there, or it would not be known whether it was given."""
    flag = called(option.name)
    if flag == _REMOTE:
        return click.option(flag, flag_value="yes", help="Let the cluster be one that is not on this machine.")
    if option.switch:
        return click.option(flag, option.name, flag_value="yes", help=option.help)
    kind = click.Choice([text for text in option.choices if text]) if option.choices else None
    help_text = f"{option.help}  [default: {option.default}]" if option.default else option.help
    return click.option(flag, option.name, type=kind, multiple=option.many, help=help_text)
