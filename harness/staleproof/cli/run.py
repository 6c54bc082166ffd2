"""`staleproof run` and `staleproof replay`: plans against a controller."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import click
from msgspec.structs import replace
from rich.console import Console

from staleproof.assess import Session
from staleproof.assess.baseline import read_baseline, update_baseline
from staleproof.assess.blame import known
from staleproof.assess.configuration import mutations_of, session_options, subject_of
from staleproof.assess.crashes import Found, find, outcome_of
from staleproof.assess.observations import recall
from staleproof.assess.observe import observe
from staleproof.assess.run_folder import new_run_folder
from staleproof.checks.facts.fault_outcomes import hostility
from staleproof.cli.check import EXIT_FINDING, EXIT_INCONCLUSIVE, exit_code, exit_code_of
from staleproof.cli.ledger import ROOT, Ledger, kept, run_again
from staleproof.cli.show import show_verdicts
from staleproof.core.companion import CompanionError, companion_names
from staleproof.core.plan import Manifest, Plan, Subject
from staleproof.draw.order import expected_seconds
from staleproof.draw.profile import PROFILES
from staleproof.draw.scenarios import canonical_plans
from staleproof.drive.cluster.manifests import name_of, read, read_crds
from staleproof.errors import HarnessBug, SetupError, UsageError
from staleproof.progress import progress_on
from staleproof.report.baseline import excused, in_words
from staleproof.report.model import Report, overall
from staleproof.report.planned import line, sum_up, unwatched
from staleproof.settings import OPTIONS, Given, Option, Settings, parse

F = TypeVar("F", bound=Callable[..., Any])
_SUBJECT = ("controller_cmd", "controller_image", "controller_args", "controller_env", "controller_metrics", "companions",
            "release_leases", "allow_remote_cluster", "kubeconfig", "kube_provider")  # fmt: skip
_PLANS = ("crds", "samples", "profile", "keep", "dry_run", "baseline", "update_baseline")
_REPLAYED = {
    "still fails": (EXIT_FINDING, "[bold red]STILL FAILS[/]"),
    "could not run": (SetupError.exit_code, "[yellow]COULD NOT RUN[/]"),
    "inconclusive": (EXIT_INCONCLUSIVE, "[yellow]INCONCLUSIVE[/]"),
    "fixed": (0, "[green]FIXED[/]: it passes now"),
}
"""The exit code of each outcome of a replay, and what is printed; of several the first in this order wins."""


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
    if option.switch:
        return click.option(flag, option.name, flag_value="yes", help=option.help)
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

    Exit code 0: no finding that is not in the baseline. 1: findings. 10: no finding, but something is inconclusive.
    """
    settings = _settings(options)
    baseline = read_baseline(settings, option="--baseline")
    named = [found.plan for text in plans for found in find(text, ROOT)]
    samples = read(settings.samples, "--samples")
    if not named and not samples:
        raise UsageError("nothing to run: name plans, or primaries with --samples")
    crds = read_crds(settings.crds, "--crds")
    manifests = (*crds, *(manifest for manifest in _manifests_of(named) if manifest not in crds))
    console = Console()
    if settings.dry_run:
        _tell_plans(_planned(settings, named, samples, manifests), console)
        return 0
    session = _session(settings, named, manifests)
    ledger = Ledger(run=session.run, reproduce=run_again)
    with kept(ledger, console), session:
        todo = list(named)
        for sample in samples:
            with console.status(f"watching what the controller does for {name_of(sample)} without any fault"):
                todo += canonical_plans(observe(session, sample), PROFILES[settings.profile])
        _run_all(session, todo, ledger, console)
    report = ledger.made(partial=False)
    words = in_words(baseline, report) if settings.baseline else []
    for told in [*words, *update_baseline(settings, baseline, report)]:
        console.print(told, highlight=False, soft_wrap=True)
    return _code(excused(baseline, report))


def _planned(
    settings: Settings, named: Sequence[Plan], samples: Sequence[Manifest], manifests: Sequence[Manifest]
) -> Iterator[tuple[Plan, float] | str]:
    """The plans that would be run, with their expected seconds; in words, why others are not known."""
    subject = _subject(settings, named)
    yield from ((plan, expected_seconds(plan, {})) for plan in named)
    for sample in samples:
        seen = recall(ROOT, subject, sample, manifests, mutations_of(settings))
        if seen is None:
            yield unwatched(name_of(sample), "run once without --dry-run")
        else:
            yield from ((plan, expected_seconds(plan, seen.seconds)) for plan in canonical_plans(seen, PROFILES[settings.profile]))


def _tell_plans(planned: Iterable[tuple[Plan, float] | str], console: Console) -> None:
    seconds = []
    for each in planned:
        told = each if isinstance(each, str) else line(*each)
        seconds += [] if isinstance(each, str) else [each[1]]
        console.print(told, highlight=False, markup=False, soft_wrap=True)
    if seconds:
        console.print(sum_up(seconds), highlight=False, soft_wrap=True)


@click.command()
@click.argument("plan")
@_takes(*_SUBJECT)
def replay(plan: str, **options: Any) -> int:  # noqa: ANN401  # click's
    """Run PLAN again: a plan.json, the folder of a trial, its name in the latest run, an exported trial, a crash file or the id of
    a finding, or a folder of such files, one after the other.

    Exit code 0: it is fixed. 1: it still fails. 10: inconclusive. 11: it could not be run. Of several the worst.
    """
    settings, found = _settings(options), find(plan, ROOT)
    plans = [each.plan for each in found]
    console, session = Console(), _session(settings, plans, _manifests_of(plans))
    ledger = Ledger(run=session.run, reproduce=run_again, replayed=tuple(each.path for each in found))
    with kept(ledger, console), session:
        outcomes = [_replayed(session, each, ledger, console) for each in found]
    return max((_REPLAYED[each][0] for each in outcomes), key=[code for code, _ in reversed(_REPLAYED.values())].index)


def _replayed(session: Session, found: Found, ledger: Ledger, console: Console) -> str:
    """Run it again and say what came of it. What cannot be run does not keep others from being run."""
    try:
        _run_all(session, [found.plan], ledger, console)
    except Exception as err:
        blamed = known(err)
        if blamed is None or isinstance(blamed, HarnessBug):
            raise
        console.print(f"{_REPLAYED['could not run'][1]} {found.path}: {blamed}", highlight=False, soft_wrap=True)
        return "could not run"
    if hostility(found.plan):
        console.print("[yellow]NOT SCORED[/]: no API server does what this plan does; above is what it led to")
        code = exit_code(ledger.results[-1].verdicts, hostile=True)
        return next(outcome for outcome, (its, _) in _REPLAYED.items() if its == code)
    outcome = outcome_of(found, ledger.results[-1])
    console.print(f"{_REPLAYED[outcome][1]} {found.path.stem}", highlight=False)
    return outcome


def _run_all(session: Session, plans: Sequence[Plan], ledger: Ledger, console: Console) -> None:
    for number, plan in enumerate(plans, 1):
        console.print(f"[bold]{number}/{len(plans)}[/] {plan.title or plan.scenario}", highlight=False)
        with console.status("twice without any fault, then the plan; a finding is run again twice"):
            result = session.trial(plan)
        show_verdicts(console, result.verdicts, result.stories)
        ledger.add(result)


def _code(report: Report) -> int:
    """The exit code of all trials together."""
    return exit_code_of(overall(report).items(), hostile=all(trial.hostile for trial in report.trials))


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
