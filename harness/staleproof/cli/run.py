"""`staleproof run` and `staleproof replay`: plans against a controller."""

import dataclasses
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import click
from msgspec.structs import replace
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from staleproof.assess import Session
from staleproof.assess.artefacts import left_out
from staleproof.assess.baseline import read_baseline, update_baseline
from staleproof.assess.blame import known
from staleproof.assess.configuration import (
    documents_of,
    installation_of,
    manifests_of,
    mutations_of,
    session_options,
    subject_of,
)
from staleproof.assess.crashes import Found, find, outcome_of
from staleproof.assess.once_more import Undoable
from staleproof.assess.run_folder import new_run_folder
from staleproof.assess.samples import Samples, observe_all, recall_all
from staleproof.checks.facts.fault_outcomes import hostility
from staleproof.cli.check import EXIT_FINDING, EXIT_INCONCLUSIVE, exit_code, exit_code_of
from staleproof.cli.ledger import ROOT, Ledger, kept, run_again
from staleproof.cli.option import SUBJECT, called, settings_of, takes
from staleproof.cli.show import show_verdicts
from staleproof.core.companion import ALWAYS, CompanionError, companion_names, together
from staleproof.core.manifest import Manifest
from staleproof.core.plan import Plan, Subject
from staleproof.draw.order import expected_seconds
from staleproof.draw.profile import PROFILES
from staleproof.draw.scenarios import canonical_plans
from staleproof.drive.cluster.manifests import name_of, read_crds
from staleproof.errors import HarnessBug, SetupError, UsageError
from staleproof.progress import progress_on
from staleproof.report.baseline import excused, in_words
from staleproof.report.model import Report, overall
from staleproof.report.planned import line, sum_up, unwatched
from staleproof.report.terminal import lacking
from staleproof.settings import Settings

_PLANS = ("crds", "samples", "primary", "before", "profile", "keep", "dry_run", "baseline", "update_baseline")
_REPLAYED = {
    "still fails": (EXIT_FINDING, "[bold red]STILL FAILS[/]"),
    "could not run": (SetupError.exit_code, "[yellow]COULD NOT RUN[/]"),
    "inconclusive": (EXIT_INCONCLUSIVE, "[yellow]INCONCLUSIVE[/]"),
    "fixed": (0, "[green]FIXED[/]: it passes now"),
}
"""The exit code of each outcome of a replay, and what is printed; of several the first in this order wins."""


@click.command()
@click.argument("plans", nargs=-1)
@takes(*SUBJECT, *_PLANS)
def run(plans: tuple[str, ...], **options: Any) -> int:  # noqa: ANN401  # click's
    """Run PLANS, or the canonical plans for each sample. A plan is a plan.json, the folder of a trial, its name in the latest
    run, an exported trial, or the id of a finding.

    Exit code 0: no finding that is not in the baseline. 1: findings. 10: no finding, but something is inconclusive.
    """
    settings = _for(plans, options)
    baseline = read_baseline(settings, option="--baseline")
    named = [found.plan for text in plans for found in find(text, ROOT)]
    samples = samples_of(settings, named)
    if not named and not samples.primaries:
        raise UsageError("nothing to run: name plans, or primaries with --samples")
    console = Console()
    if settings.dry_run:
        _tell_plans(_planned(settings, named, samples), console)
        return 0
    session = _session(settings, named, samples)
    aims = frozenset(aim for plan in named for aim in plan.aims)
    wanted = aims | frozenset(PROFILES[settings.profile].wanted if samples.primaries else ())
    ledger = Ledger(run=session.run, reproduce=run_again, wanted=wanted)
    with kept(ledger, console), session:
        every = [*named, *_canonical(session, samples, settings, console)]
        _run_all(session, every, ledger, console, may_leave_out=len(every) - len(named))
    report = ledger.made(partial=False)
    words = in_words(baseline, report) if settings.baseline else []
    for told in [*words, *update_baseline(settings, baseline, report)]:
        console.print(told, highlight=False, soft_wrap=True)
    return _code(excused(baseline, report))


def _for(plans: Sequence[str], options: Mapping[str, Any]) -> Settings:
    """What the options say. Whoever names plans means these alone, whichever samples the environment or staleproof.yaml names."""
    settings = settings_of(options)
    return settings if options.get("samples") or not plans else dataclasses.replace(settings, samples=(), primary=())


def samples_of(settings: Settings, plans: Sequence[Plan]) -> Samples:
    """Those of the settings, with what plans apply first, too."""
    installation = installation_of(settings)
    documents = documents_of(settings, read_crds(settings.crds, "--crds"), installation, called)
    first = documents.definitions
    every = (*first, *(manifest for manifest in _manifests_of(plans) if manifest not in first))
    manifests = tuple(manifests_of(every, installation))
    return Samples(primaries=documents.primaries, before=documents.before, manifests=manifests, is_said=bool(settings.primary))


def _canonical(session: Session, samples: Samples, settings: Settings, console: Console) -> list[Plan]:
    """The plans for the samples that the controller reacts to; the others are told."""
    if not samples.primaries:
        return []
    names = ", ".join(map(name_of, samples.primaries))
    with console.status(f"watching what the controller does for {names} without any fault"):
        seen = observe_all(session, samples)
    for why in seen.left_out:
        console.print(f"[yellow]left out[/]: {escape(why)}", highlight=False, soft_wrap=True)
    return [plan for each in seen.observed for plan in canonical_plans(each, PROFILES[settings.profile])]


def _planned(settings: Settings, named: Sequence[Plan], samples: Samples) -> Iterator[tuple[Plan, float] | str]:
    """The plans that would be run, with their expected seconds; in words, why others are not known."""
    yield from ((plan, expected_seconds(plan, {})) for plan in named)
    found, missing = recall_all(ROOT, subject_for(settings, named), samples, mutations_of(settings))
    yield from (unwatched(name, "run once without --dry-run") for name in missing)
    for seen in found:
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
@takes(*SUBJECT, "before")
def replay(plan: str, **options: Any) -> int:  # noqa: ANN401  # click's
    """Run PLAN again: a plan.json, the folder of a trial, its name in the latest run, an exported trial, a crash file or the id of
    a finding, or a folder of such files, one after the other.

    The payloads of Secrets are not written down: where the controller reads one that the plan needs, give it again with --before.

    Exit code 0: it is fixed. 1: it still fails. 10: inconclusive. 11: it could not be run. Of several the worst.
    """
    settings, found = _for((plan,), options), find(plan, ROOT)
    plans = [each.plan for each in found]
    console, session = Console(), _session(settings, plans, samples_of(settings, plans))
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


def _run_all(session: Session, plans: Sequence[Plan], ledger: Ledger, console: Console, *, may_leave_out: int = 0) -> None:
    """`may_leave_out`: so many of the last plans are not the user's own, and are left out if they cannot be carried out."""
    for number, plan in enumerate(plans, 1):
        console.print(f"[bold]{number}/{len(plans)}[/] {plan.title or plan.scenario}", highlight=False)
        try:
            with console.status("twice without any fault, then the plan; a finding is run again twice"):
                result = session.trial(plan)
        except Undoable as err:
            if number <= len(plans) - may_leave_out:
                raise
            console.print(Text(f"  left out: {err}", style="yellow"), soft_wrap=True)
            ledger.left_out.append(left_out(plan, str(err)))
            continue
        show_verdicts(console, result.verdicts, result.stories)
        ledger.add(result)


def _code(report: Report) -> int:
    """The exit code of all trials together."""
    code = exit_code_of(overall(report).items(), hostile=all(trial.hostile for trial in report.trials))
    return EXIT_INCONCLUSIVE if code == 0 and lacking(report) else code


def subject_for(settings: Settings, plans: Sequence[Plan]) -> Subject:
    """The controller that the settings name, or else that of the first plan with one, with arguments and variables of the
    settings."""
    installation = installation_of(settings)
    given = subject_of(settings, installation)
    if given.command or given.image:
        return given
    secret = installation.secret_env if installation is not None else {}
    planned = next((plan.controller for plan in plans if plan.controller is not None), None)
    if planned is None:
        raise UsageError("name the controller under test: --controller-cmd or --controller-image")
    return replace(
        planned,
        arguments=given.arguments or planned.arguments,
        env={**planned.env, **secret, **given.env},
        network=given.network or planned.network,
    )


def _session(settings: Settings, plans: Sequence[Plan], samples: Samples) -> Session:
    options = session_options(settings, subject_for(settings, plans), samples.manifests, samples.before)
    if options.chooses_companions and options.control_plane.kubeconfig is None:  # else the cluster has its own
        names = together(options.companions, _companions_of(plans))
        options = dataclasses.replace(options, companions=names, chooses_companions=bool(samples.primaries))
    return Session(options, progress_on(sys.stderr), folder=new_run_folder(ROOT))


def _companions_of(plans: Sequence[Plan]) -> tuple[str, ...]:
    """Those that the plans were run with; those that every cluster has, for one that nobody has run yet."""
    every = [name for plan in plans for name in (*plan.companions, *(ALWAYS if plan.controller is None else ()))]
    try:
        return companion_names(",".join(every))
    except CompanionError as err:
        raise UsageError(f"the plan's companions: {err}") from err


def _manifests_of(plans: Sequence[Plan]) -> list[Manifest]:
    """Those of all plans, each once, in order."""
    found: list[Manifest] = []
    for plan in plans:
        found += [manifest for manifest in plan.manifests if manifest not in found]
    return found
