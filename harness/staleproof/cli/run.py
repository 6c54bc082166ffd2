"""`staleproof run` and `staleproof replay`: plans against a controller."""

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

import click
from rich.console import Console

from staleproof.assess import Result, Session, SessionOptions
from staleproof.assess.artefacts import find_plan, keep_crash, now, trial_report, write
from staleproof.assess.observe import observe
from staleproof.assess.scenarios import canonical_plans
from staleproof.cli.check import EXIT_FINDING, exit_code
from staleproof.cli.show import show_verdicts
from staleproof.core.plan import Manifest, Plan, Subject
from staleproof.drive.control_plane import ControlPlaneOptions
from staleproof.drive.control_plane.plane import ProviderName
from staleproof.drive.controller import words
from staleproof.drive.manifests import name_of, read, read_crds
from staleproof.errors import UsageError
from staleproof.progress import progress_on
from staleproof.report.model import Report
from staleproof.report.terminal import sentence, table

ROOT = Path(".staleproof")
F = TypeVar("F", bound=Callable[..., Any])
_PROVIDER = "Where the control plane comes from."
_COMMAND = "The controller under test as a command; {kubeconfig} is replaced, KUBECONFIG is set."
_REPLAYED = {0: "[green]FIXED[/]: it passes now", EXIT_FINDING: "[bold red]STILL FAILS[/]"}


def _subject_options(command: F) -> F:
    """Who is tested and where: the same options for every command that runs plans."""
    for option in (
        click.option("--provider", type=click.Choice(get_args(ProviderName)), default="auto", show_default=True, help=_PROVIDER),
        click.option("--kubeconfig", type=click.Path(path_type=Path), help="A cluster of your own, for the provider `existing`."),
        click.option("--allow-remote-cluster", is_flag=True, help="Let the cluster be one that is not on this machine."),
        click.option("--controller-image", default="", help="The controller under test as an image."),
        click.option("--controller-cmd", default="", help=_COMMAND),
    ):
        command = option(command)
    return command


@click.command()
@click.argument("plans", nargs=-1)
@click.option("--crds", multiple=True, type=click.Path(path_type=Path), help="CustomResourceDefinitions: a file or a folder.")
@click.option("--samples", multiple=True, type=click.Path(path_type=Path), help="Primaries: a file or a folder.")
@_subject_options
def run(plans: tuple[str, ...], crds: tuple[Path, ...], samples: tuple[Path, ...], **options: Any) -> int:  # noqa: ANN401  # click's
    """Run PLANS (plan.json files, trial folders or ids of findings), or the canonical plans for each sample.

    Exit code 0: no finding. 1: findings. 10: no finding, but something is inconclusive.
    """
    named = [find_plan(text, ROOT) for text in plans]
    given = read(samples, "--samples")
    if not named and not given:
        raise UsageError("nothing to run: name plans, or primaries with --samples")
    manifests = (*read_crds(crds), *_manifests_of(named))
    subject = _subject(options, named)
    with Session(_session_options(subject, manifests, options), progress_on(Console(stderr=True))) as session:
        console = Console()
        todo = list(named)
        for sample in given:
            with console.status(f"watching what the controller does for {name_of(sample)} without any fault"):
                todo += canonical_plans(observe(session, sample))
        return _run_all(session, todo, console)


@click.command()
@click.argument("plan")
@_subject_options
def replay(plan: str, **options: Any) -> int:  # noqa: ANN401  # click's
    """Run PLAN again: a plan.json, the folder of a trial, or the id of a finding.

    Exit code 0: it passes now. 1: it still fails. 10: inconclusive. 11: it could not be run.
    """
    found = find_plan(plan, ROOT)
    subject = _subject(options, [found])
    console = Console()
    with Session(_session_options(subject, found.manifests, options), progress_on(Console(stderr=True))) as session:
        with console.status("twice without any fault, then the plan; a finding is run again twice"):
            result = session.trial(found)
        code = _finish(session, [result], console)
    console.print(_REPLAYED.get(code, "[yellow]INCONCLUSIVE[/]"))
    return code


def _run_all(session: Session, plans: Sequence[Plan], console: Console) -> int:
    results = []
    for number, plan in enumerate(plans, 1):
        console.print(f"[bold]{number}/{len(plans)}[/] {plan.title or plan.scenario}", highlight=False)
        with console.status("twice without any fault, then the plan; a finding is run again twice"):
            results.append(session.trial(plan))
        show_verdicts(console, results[-1].verdicts, results[-1].stories)
    return _finish(session, results, console, quiet=True)


def _finish(session: Session, results: Sequence[Result], console: Console, *, quiet: bool = False) -> int:
    """Write the report and say where it is."""
    run = session.run
    if not quiet:
        for result in results:
            show_verdicts(console, result.verdicts, result.stories)
    crashes = {result.name: keep_crash(ROOT, result) for result in results}
    report = Report(
        run_id=run.folder.name,
        date=now(),
        reproduce=shlex.join(["staleproof", "run", *(str(result.folder / "plan.json") for result in results)]),
        environment=run.environment,
        trials=tuple(trial_report(result, run.folder, crashes[result.name]) for result in results),
    )
    write(run.folder, report)
    console.print(table(report))
    for crash in filter(None, dict.fromkeys(crashes.values())):
        console.print(f"reproduce with: staleproof replay {crash}", highlight=False)
    console.print(f"{sentence(report)}\nrun folder: {run.folder}", highlight=False, soft_wrap=True)
    return max((exit_code(result.verdicts) for result in results), key=[0, 10, 1].index, default=0)


def _subject(options: dict[str, Any], plans: Sequence[Plan]) -> Subject:
    """From the command line, or else as the plan says."""
    if options["controller_cmd"] or options["controller_image"]:
        command = words(options["controller_cmd"], "--controller-cmd")
        return Subject(command=command, image=options["controller_image"])
    drawn_for = [plan.controller for plan in plans if plan.controller is not None]
    if not drawn_for:
        raise UsageError("name the controller under test: --controller-cmd or --controller-image")
    return drawn_for[0]


def _session_options(subject: Subject, manifests: Sequence[Manifest], options: dict[str, Any]) -> SessionOptions:
    plane = ControlPlaneOptions(
        provider=options["provider"], kubeconfig=options["kubeconfig"], allow_remote=options["allow_remote_cluster"]
    )
    return SessionOptions(subject=subject, manifests=tuple(manifests), control_plane=plane, root=ROOT)


def _manifests_of(plans: Sequence[Plan]) -> list[Manifest]:
    found: list[Manifest] = []
    for plan in plans:
        found += [manifest for manifest in plan.manifests if manifest not in found]
    return found
