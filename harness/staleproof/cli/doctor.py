"""`staleproof doctor`: whether a run can judge the operator, a line for each thing that it takes, with what to mend."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from staleproof.assess.configuration import samples_of, session_options, subject_for
from staleproof.assess.doctor.check import Check, exit_code
from staleproof.assess.doctor.doctor import examine
from staleproof.assess.learn.samples import Samples
from staleproof.assess.run.worker import SessionOptions
from staleproof.assess.store.run_folder import new_run_folder
from staleproof.cli.option import SUBJECT, called, leaves, settings_of, takes
from staleproof.cli.signals import run_interruptibly
from staleproof.core.times import DOCTOR_SECONDS, OPENS_WATCH_SECONDS
from staleproof.drive.trial.environment import environment
from staleproof.progress import progress_on
from staleproof.report.inert import inert
from staleproof.settings import OPTIONS

_EXAMINED = (*SUBJECT, "crds", "samples", "primary", "before")
_MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "failed": ("✗", "bold red"), "not asked": ("–", "dim")}  # noqa: RUF001


@click.command()
@takes(*_EXAMINED)
@leaves(*(option.name for option in OPTIONS if option.name not in _EXAMINED), why="the doctor has no use for it")
def doctor(**options: Any) -> int:  # noqa: ANN401  # click's
    """Try within a minute whether a run can judge the operator. Does it come to the API server, watch, reconcile the samples and
    restart, does it stay up, has it the rights that it asks for, are its webhooks and metrics there? Nothing is judged.

    Exit code 0: nothing is in the way. 4: what is given is wrong. 11: the controller does not start, or is not reached. 10: the
    time was over before all was tried.
    """
    settings = settings_of(options)
    samples = samples_of(settings, (), called)
    given = session_options(settings, subject_for(settings, ()), samples.manifests, samples.before)
    given = replace(given, start_seconds=min(given.start_seconds, OPENS_WATCH_SECONDS))
    return exit_code(run_interruptibly(_visit(given, samples, Console(), settings.dir)))


async def _visit(options: SessionOptions, samples: Samples, console: Console, artefacts: Path) -> list[Check]:
    folder = new_run_folder(artefacts, reports=False)
    async with environment(options, folder, progress_on(sys.stderr)) as running:
        description = running.description
        console.print(f"Kubernetes {description['kubernetes']} from {description['provider']}", highlight=False)
        with console.status("") as status:
            found = await examine(
                running,
                samples,
                lambda name: status.update(f"{name} (all of it within {DOCTOR_SECONDS:.0f} s)"),
                lambda check: show(console, check),
                chooses_companions=options.chooses_companions,
            )
    console.print(f"run folder: {folder}", highlight=False, soft_wrap=True)
    console.print(summed_up(found), soft_wrap=True)
    return found


def summed_up(checks: Sequence[Check]) -> Text:
    """What to think of it, in a line."""
    wrong, open_ones = (", ".join(each.name for each in checks if each.outcome == kind) for kind in ("failed", "warning"))
    if wrong:
        return Text(f"not ready: mend {wrong} first", style="bold red")
    if code := exit_code(checks):
        return Text(f"it is not known whether it is ready: not all was tried (exit code {code})", style="yellow")
    return Text(f"ready: start with `pytest`{f'; have a look at {open_ones}' if open_ones else ''}", style="bold green")


def show(console: Console, check: Check) -> None:
    """A line, below it what to do, and the end of the log if that tells more. Nothing is wrapped, so it can be copied."""
    mark, style = _MARKS[check.outcome]
    line = Text(f"{mark} {check.name:<10}", style=style)
    line.append(f"  {inert(check.found)}", style="dim" if check.outcome == "not asked" else "default")
    console.print(line, soft_wrap=True)
    if check.fix:
        console.print(Text(f"    → {inert(check.fix)}", style="cyan"), soft_wrap=True)
    for logged in check.log:
        console.print(Text(f"    | {inert(logged)}", style="dim"), soft_wrap=True)
