"""`staleproof demo`: watch a stale-cache bug being caught, and honest controllers pass, on a real kube-apiserver."""

import sys
import time
from dataclasses import replace
from typing import Any

import click
import msgspec
import yaml
from rich.console import Console

from staleproof.assess.run.notes import Notes
from staleproof.assess.run.worker import SessionOptions
from staleproof.assess.store.run_folder import new_run_folder
from staleproof.assess.trial.result import Result
from staleproof.checks.verdict import Outcome
from staleproof.cli.show import concluded, show_story
from staleproof.cli.watching import watched
from staleproof.core.fault import HideOwnWrite
from staleproof.core.plan.manifest import Target
from staleproof.core.plan.plan import Plan, Settle, Subject
from staleproof.core.plan.step import Apply, Touch
from staleproof.core.times import DEMO_IDLE_SECONDS, DEMO_QUIET_SECONDS
from staleproof.settings import Settings
from staleproof.shipped import shipped

CONTROLLERS = (
    ("naive", "counts the pods that its cache shows", True),
    ("expectations", "remembers its own writes until the cache has them", False),
    ("deterministic", "gives its pods names that it can work out again", False),
)
EXIT_SURPRISE = 1
_MARKS = {
    Outcome.PASS: "[green]✓ passed[/]",
    Outcome.INCONCLUSIVE: "[yellow]? inconclusive[/]",
    Outcome.FAIL: "[bold red]✗ failed[/]",
}
_CONTROLLER = "the demo's fixture controllers"
THE_PLAN = """a user creates a Widget with 3 replicas. From the controller's first pod on, its pod stream is held.
Then an annotation of the Widget changes: the controller looks again although there is nothing new to do."""


@click.command()
def demo() -> int:
    """Catch a naive controller and pass two correct ones. Needs no Docker, no cluster, no configuration."""
    console = Console()
    began = time.monotonic()
    crd, sample = _manifest("widget-crd.yaml"), _manifest("widget-sample.yaml")
    plan = _plan(crd, sample)
    console.print(f"[bold]The plan[/]: {THE_PLAN}\n", highlight=False, soft_wrap=not console.is_terminal)
    as_expected, settings = True, Settings()
    options = SessionOptions(subject=_subject(CONTROLLERS[0][0]), manifests=(crd,), root=settings.dir)
    notes = Notes(folder=new_run_folder(settings.dir), settings=settings, reproduce="staleproof demo")
    with concluded(notes, console, in_words=False), watched(notes, options, console) as (session, display):
        plane, took = session.plane, time.monotonic() - began
        with display.aside():
            console.print(
                f"control plane: Kubernetes {plane.version} from {plane.provider}, all ready after {took:.1f} s\n", highlight=False
            )
        for name, does, guilty in CONTROLLERS:
            if notes.trials:
                session.use(_subject(name))
            result = session.trial(msgspec.structs.replace(plan, title=f"{name}: {plan.title}"))
            crash = notes.add(result, replace(session.run, environment={**session.run.environment, "controller": _CONTROLLER}))
            with display.aside():
                _show(console, f"[bold]{name}[/] ({does})", result, crash)
            as_expected &= joined(result) is (Outcome.FAIL if guilty else Outcome.PASS)
    if not as_expected:
        console.print("\n[bold red]This is not what should have happened.[/] Please report it, with the folder of the report.")
    took = time.monotonic() - began
    where = "The report is a page for a browser; histories and plans are in the same folder."
    console.print(f"{took:.1f} s in all. {where}", highlight=False)
    return 0 if as_expected else EXIT_SURPRISE


def joined(result: Result) -> Outcome:
    """One outcome for a trial: a finding fails it, and it passes only if each requirement that the plan aims at does."""
    if result.failures:
        return Outcome.FAIL
    aimed = {result.of(slug).outcome for slug in result.plan.aims}
    return Outcome.PASS if aimed == {Outcome.PASS} else Outcome.INCONCLUSIVE


def _show(console: Console, fixture: str, result: Result, crash: str) -> None:
    outcome = joined(result)
    times, runs = result.reproduced
    again = f", reproduced {times}/{runs}" if outcome is Outcome.FAIL else ""
    console.print(f"{_MARKS[outcome]}  {fixture}  {result.seconds:.1f} s{again}", highlight=False, soft_wrap=True)
    if outcome is Outcome.INCONCLUSIVE:
        for verdict in (result.of(slug) for slug in result.plan.aims):
            if verdict.outcome is not Outcome.PASS:
                console.print(f"    {verdict.requirement}: {verdict.why}", highlight=False, markup=False, soft_wrap=True)
    if outcome is Outcome.FAIL:
        for story in result.stories:
            console.print(f"    [red]{story.requirement}[/]", highlight=False)
            show_story(console, story)
        console.print(f"      again: staleproof replay {crash}\n", highlight=False)


def _subject(name: str) -> Subject:
    return Subject(command=(sys.executable, "-m", f"staleproof.fixtures.controllers.{name}"))


def _plan(crd: dict[str, Any], sample: dict[str, Any]) -> Plan:
    """The canonical plan of the scenario own-writes, written out."""
    target = Target(sample["apiVersion"], sample["kind"], sample["metadata"]["name"])
    return Plan(
        scenario="own-writes",
        title="hide own creates of pods, then touch",
        aims=("no-duplicate-create", "converges-after-catch-up"),
        manifests=(crd,),
        steps=(Apply(object=sample), Touch(target=target)),
        faults=(HideOwnWrite(resource="pods"),),
        settle=Settle(idle_seconds=DEMO_IDLE_SECONDS, quiet_seconds=DEMO_QUIET_SECONDS),
    )


def _manifest(name: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((shipped("fixtures.manifests") / name).read_text())
    return document
