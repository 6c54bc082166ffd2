"""`staleproof run` and `staleproof replay`: plans against a controller."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

import click
from msgspec.structs import replace
from rich.console import Console

from staleproof.assess import Session, SessionOptions
from staleproof.assess.artefacts import find_plan, run_folder_in
from staleproof.assess.observe import observe
from staleproof.assess.subject import subject_of
from staleproof.cli.check import EXIT_FINDING, exit_code
from staleproof.cli.ledger import ROOT, Ledger, kept, run_again
from staleproof.cli.show import show_verdicts
from staleproof.core.plan import Manifest, Plan, Subject
from staleproof.draw.profile import PROFILES, STANDARD
from staleproof.draw.scenarios import canonical_plans
from staleproof.drive.cluster.companions import companions_of
from staleproof.drive.cluster.control_plane import ControlPlaneOptions
from staleproof.drive.cluster.control_plane.plane import ProviderName
from staleproof.drive.cluster.manifests import name_of, read, read_crds
from staleproof.drive.subject.metrics import endpoint
from staleproof.errors import UsageError
from staleproof.progress import progress_on

F = TypeVar("F", bound=Callable[..., Any])
_PROVIDER = "Where the control plane comes from."
_COMMAND = "The controller under test as a command; {kubeconfig} is replaced, KUBECONFIG is set."
_ARGUMENTS = "Added to the command, or replacing the image's arguments; split as a shell would."
_METRICS = "URL of the controller's metrics; {metrics_port} is a free port, here and in its command, arguments and variables."
_LEASES = "Before the controller is started again, leases that its dead life held are released, or left to run out."
_COMPANIONS = "Real controllers beside it, with commas: garbage-collector, namespace, job, …, scheduler, kwok."
_PROFILE = "How thorough the plans for --samples are."
_REPLAYED = {0: "[green]FIXED[/]: it passes now", EXIT_FINDING: "[bold red]STILL FAILS[/]"}


def _subject_options(command: F) -> F:
    """Who is tested and where: the same options for every command that runs plans."""
    for option in (
        click.option("--provider", type=click.Choice(get_args(ProviderName)), default="auto", show_default=True, help=_PROVIDER),
        click.option("--kubeconfig", type=click.Path(path_type=Path), help="A cluster of your own, for the provider `existing`."),
        click.option("--allow-remote-cluster", is_flag=True, help="Let the cluster be one that is not on this machine."),
        click.option("--release-leases", type=click.Choice(["yes", "no"]), default="yes", show_default=True, help=_LEASES),
        click.option("--companions", default="", metavar="NAMES", help=_COMPANIONS),
        click.option("--controller-metrics", default="", metavar="URL", help=_METRICS),
        click.option("--controller-env", multiple=True, metavar="NAME=VALUE", help="For the controller; may be repeated."),
        click.option("--controller-args", default="", help=_ARGUMENTS),
        click.option("--controller-image", default="", help="The controller under test as an image."),
        click.option("--controller-cmd", default="", help=_COMMAND),
    ):
        command = option(command)
    return command


@click.command()
@click.argument("plans", nargs=-1)
@click.option("--crds", multiple=True, type=click.Path(path_type=Path), help="CustomResourceDefinitions: a file or a folder.")
@click.option("--samples", multiple=True, type=click.Path(path_type=Path), help="Primaries: a file or a folder.")
@click.option("--profile", type=click.Choice(list(PROFILES)), default=STANDARD.name, show_default=True, help=_PROFILE)
@_subject_options
def run(
    plans: tuple[str, ...],
    crds: tuple[Path, ...],
    samples: tuple[Path, ...],
    profile: str,
    **options: Any,  # noqa: ANN401  # click's
) -> int:
    """Run PLANS (plan.json files, trial folders or ids of findings), or the canonical plans for each sample.

    Exit code 0: no finding. 1: findings. 10: no finding, but something is inconclusive.
    """
    named = [find_plan(text, ROOT) for text in plans]
    given = read(samples, "--samples")
    if not named and not given:
        raise UsageError("nothing to run: name plans, or primaries with --samples")
    manifests = (*read_crds(crds, "--crds"), *_manifests_of(named))
    console, session = Console(), _session(_subject(options, named), manifests, options, named)
    ledger = Ledger(run=session.run, reproduce=run_again)
    with kept(ledger, console), session:
        todo = list(named)
        for sample in given:
            with console.status(f"watching what the controller does for {name_of(sample)} without any fault"):
                todo += canonical_plans(observe(session, sample), PROFILES[profile])
        _run_all(session, todo, ledger, console)
    return _code(ledger)


@click.command()
@click.argument("plan")
@_subject_options
def replay(plan: str, **options: Any) -> int:  # noqa: ANN401  # click's
    """Run PLAN again: a plan.json, the folder of a trial, or the id of a finding.

    Exit code 0: it passes now. 1: it still fails. 10: inconclusive. 11: it could not be run.
    """
    found = find_plan(plan, ROOT)
    console, session = Console(), _session(_subject(options, [found]), found.manifests, options, [found])
    ledger = Ledger(run=session.run, reproduce=run_again, replayed=True)
    with kept(ledger, console), session:
        _run_all(session, [found], ledger, console)
    code = _code(ledger)
    if found.contract == "hostile":
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
    """The exit code of the worst trial."""
    return max((exit_code(result.verdicts) for result in ledger.results), key=[0, 10, 1].index, default=0)


def _subject(options: dict[str, Any], plans: Sequence[Plan]) -> Subject:
    """From the command line, or else as the plan says, with arguments and environment of the command line."""
    given = subject_of(
        options["controller_cmd"], options["controller_image"], options["controller_args"], options["controller_env"]
    )
    if given.command or given.image:
        return given
    drawn_for = [plan.controller for plan in plans if plan.controller is not None]
    if not drawn_for:
        raise UsageError("name the controller under test: --controller-cmd or --controller-image")
    found = drawn_for[0]
    return replace(found, arguments=given.arguments or found.arguments, env={**found.env, **given.env})


def _session(subject: Subject, manifests: Sequence[Manifest], options: dict[str, Any], plans: Sequence[Plan]) -> Session:
    plane = ControlPlaneOptions(
        provider=options["provider"], kubeconfig=options["kubeconfig"], allow_remote=options["allow_remote_cluster"]
    )
    if options["controller_metrics"]:
        endpoint(options["controller_metrics"], port=1, token="")  # one that is wrong starts nothing
    wanted = SessionOptions(
        subject=subject,
        manifests=tuple(manifests),
        control_plane=plane,
        root=ROOT,
        release_leases=options["release_leases"] == "yes",
        metrics=options["controller_metrics"],
        companions=companions_of(options["companions"] or ",".join(name for plan in plans for name in plan.companions)),
    )
    return Session(wanted, progress_on(Console(stderr=True)), folder=run_folder_in(ROOT))


def _manifests_of(plans: Sequence[Plan]) -> list[Manifest]:
    found: list[Manifest] = []
    for plan in plans:
        found += [manifest for manifest in plan.manifests if manifest not in found]
    return found
