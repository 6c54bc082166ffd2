"""`staleproof run` and `staleproof replay`: plans against a controller."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click
from msgspec.structs import replace
from rich.console import Console

from staleproof.assess import Session
from staleproof.assess.artefacts import find_plan
from staleproof.assess.configuration import session_options, subject_of
from staleproof.assess.observe import observe
from staleproof.assess.run_folder import new_run_folder
from staleproof.checks.facts.fault_outcomes import hostility
from staleproof.cli.check import EXIT_FINDING, exit_code
from staleproof.cli.ledger import ROOT, Ledger, kept, run_again
from staleproof.cli.show import show_verdicts
from staleproof.core.companion import CompanionError, companion_names
from staleproof.core.plan import Manifest, Plan, Subject
from staleproof.draw.profile import PROFILES
from staleproof.draw.scenarios import canonical_plans
from staleproof.drive.cluster.manifests import name_of, read, read_crds
from staleproof.errors import UsageError
from staleproof.progress import progress_on
from staleproof.settings import OPTIONS, Given, Option, Settings, parse

F = TypeVar("F", bound=Callable[..., Any])
_SUBJECT = ("controller_cmd", "controller_image", "controller_args", "controller_env", "controller_metrics", "companions",
            "release_leases", "allow_remote_cluster", "kubeconfig", "kube_provider")  # fmt: skip
_PLANS = ("crds", "samples", "profile", "keep")
_REPLAYED = {0: "[green]FIXED[/]: it passes now", EXIT_FINDING: "[bold red]STILL FAILS[/]"}


def _takes(*names: str) -> Callable[[F], F]:
    """Give a command these options of `staleproof.settings`."""

    def decorate(command: F) -> F:
        for option in (each for each in reversed(OPTIONS) if each.name in names):
            command = _option(option)(command)
        return command

    return decorate


def _option(option: Option) -> Callable[[F], F]:
    """The option as click takes it, under a shorter name than pytest's."""
    flag = _called(option.name)
    if option.name == "allow_remote_cluster":
        return click.option(flag, flag_value="yes", help="Let the cluster be one that is not on this machine.")
    kind = click.Choice([text for text in option.choices if text]) if option.choices else None
    default = option.default or None
    return click.option(flag, option.name, type=kind, multiple=option.many, default=default, show_default=True, help=option.help)


def _called(name: str) -> str:
    return f"--{name.removeprefix('kube_').replace('_', '-')}"


def _settings(options: Mapping[str, Any]) -> Settings:
    """What these options say; UsageError when one is not what it should be."""
    texts = {name: (value,) if isinstance(value, str) else value for name, value in options.items()}
    return parse({name: Given(tuple(given), _called(name)) for name, given in texts.items() if given})


@click.command()
@click.argument("plans", nargs=-1)
@_takes(*_SUBJECT, *_PLANS)
def run(plans: tuple[str, ...], **options: Any) -> int:  # noqa: ANN401  # click's
    """Run PLANS, or the canonical plans for each sample. A plan is a plan.json, the folder of a trial, its name in the latest
    run, an exported trial, or the id of a finding.

    Exit code 0: no finding. 1: findings. 10: no finding, but something is inconclusive.
    """
    settings = _settings(options)
    named = [find_plan(text, ROOT) for text in plans]
    samples = read(settings.samples, "--samples")
    if not named and not samples:
        raise UsageError("nothing to run: name plans, or primaries with --samples")
    manifests = (*read_crds(settings.crds, "--crds"), *_manifests_of(named))
    console, session = Console(), _session(settings, named, manifests)
    ledger = Ledger(run=session.run, reproduce=run_again)
    with kept(ledger, console), session:
        todo = list(named)
        for sample in samples:
            with console.status(f"watching what the controller does for {name_of(sample)} without any fault"):
                todo += canonical_plans(observe(session, sample), PROFILES[settings.profile])
        _run_all(session, todo, ledger, console)
    return _code(ledger)


@click.command()
@click.argument("plan")
@_takes(*_SUBJECT)
def replay(plan: str, **options: Any) -> int:  # noqa: ANN401  # click's
    """Run PLAN again: a plan.json, the folder of a trial, its name in the latest run, an exported trial, or the id of a finding.

    Exit code 0: it passes now. 1: it still fails. 10: inconclusive. 11: it could not be run.
    """
    settings, found = _settings(options), find_plan(plan, ROOT)
    console, session = Console(), _session(settings, [found], found.manifests)
    ledger = Ledger(run=session.run, reproduce=run_again, replayed=True)
    with kept(ledger, console), session:
        _run_all(session, [found], ledger, console)
    code = _code(ledger)
    if hostility(found):
        console.print("[yellow]NOT SCORED[/]: no API server does what this plan does; above is what it led to")
    else:
        console.print(_REPLAYED.get(code, "[yellow]INCONCLUSIVE[/]"))
    return code


def _run_all(session: Session, plans: Sequence[Plan], ledger: Ledger, console: Console) -> None:
    for number, plan in enumerate(plans, 1):
        console.print(f"[bold]{number}/{len(plans)}[/] {plan.title or plan.scenario}", highlight=False)
        with console.status("twice without any fault, then the plan; a finding is run again twice"):
            result = session.trial(plan)
        show_verdicts(console, result.verdicts, result.stories)
        ledger.add(result)


def _code(ledger: Ledger) -> int:
    """The exit code of all trials together."""
    verdicts = [verdict for result in ledger.results for verdict in result.verdicts]
    return exit_code(verdicts, hostile=all(result.hostile for result in ledger.results))


def _subject(settings: Settings, plans: Sequence[Plan]) -> Subject:
    """The controller that the settings name, or else that of the first plan with one, with arguments and variables of the
    settings."""
    given = subject_of(settings)
    if given.command or given.image:
        return given
    planned = next((plan.controller for plan in plans if plan.controller is not None), None)
    if planned is None:
        raise UsageError("name the controller under test: --controller-cmd or --controller-image")
    return replace(planned, arguments=given.arguments or planned.arguments, env={**planned.env, **given.env})


def _session(settings: Settings, plans: Sequence[Plan], manifests: Sequence[Manifest]) -> Session:
    options = session_options(settings, _subject(settings, plans), manifests)
    if not options.companions:
        options = dataclasses.replace(options, companions=_companions_of(plans))
    return Session(options, progress_on(Console(stderr=True)), folder=new_run_folder(ROOT))


def _companions_of(plans: Sequence[Plan]) -> tuple[str, ...]:
    """Those that the plans were drawn with."""
    try:
        return companion_names(",".join(name for plan in plans for name in plan.companions))
    except CompanionError as err:
        raise UsageError(f"the plan's companions: {err}") from err


def _manifests_of(plans: Sequence[Plan]) -> list[Manifest]:
    """Those of all plans, each once, in order."""
    found: list[Manifest] = []
    for plan in plans:
        found += [manifest for manifest in plan.manifests if manifest not in found]
    return found
