"""`staleproof check` and `staleproof export`: judge a stored history, or make one file of it. Neither needs a cluster."""

from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from staleproof.assess.run.exit_code import of_trial
from staleproof.assess.store.reports import reported_trial
from staleproof.assess.store.run_folder import export_name, exported, find_history, read_history, write_atomically
from staleproof.assess.trial.suspects import judged_alone
from staleproof.checks.catalog import BY_SLUG
from staleproof.checks.facts.fault_outcomes import hostility
from staleproof.checks.programs import seen_by
from staleproof.checks.story.narrative import stories
from staleproof.checks.story.why import why
from staleproof.cli.option import artefacts, takes
from staleproof.cli.show import show_verdicts, show_why
from staleproof.core.history.programs import programs_of
from staleproof.draw.copies import copies_in
from staleproof.report.inert import inert
from staleproof.report.model import doubts


@click.command()
@click.argument("history")
@takes("dir")
@click.option("--why", "slug", type=click.Choice(sorted(BY_SLUG)), metavar="REQUIREMENT", help="Show how that verdict came about.")
def check(history: str, slug: str | None, **options: Any) -> int:  # noqa: ANN401  # click's
    """Judge HISTORY with the checkers of this version: the folder of a trial, its name in the latest run, its history, or an
    exported one.

    Exit code 0: no finding. 1: findings. 10: no finding, but something is inconclusive. 4: it is not a history.
    """
    path = find_history(history, artefacts(options))
    found = read_history(path)
    console = Console()
    for note in found.notes:
        console.print(Text(inert(f"note: {note}"), style="yellow"))
    verdicts = judged_alone(found)
    if copies_in(found.header.plan):
        console.print("note: this is a sweep of many primaries; only a run of one of them alone brings a finding", style="yellow")
    title = found.header.plan.title or found.header.plan.scenario
    console.print(Text(inert(f"{path}: {title}, {len(found.entries)} entries")), soft_wrap=True)
    for doubt in doubts(reported_trial(path), verdicts):
        console.print(Text(inert(f"note: {doubt}"), style="yellow"), soft_wrap=True)
    if slug is None:
        show_verdicts(console, verdicts, stories(verdicts, found))
    else:
        show_verdicts(console, [each for each in verdicts if each.requirement == slug], ())
        for finding in (finding for each in verdicts if each.requirement == slug for finding in each.findings):
            console.print(Text(inert(f"decided by: {finding.because}")), soft_wrap=True)
        requirement = BY_SLUG[slug]
        for program in () if requirement.across_programs else programs_of(found):
            console.print(Text(inert(f"by the view of {program}:"), style="bold"))
            show_why(console, why(seen_by(found, program), requirement))
        if requirement.across_programs or not programs_of(found):
            show_why(console, why(seen_by(found, ""), requirement))
    return of_trial(verdicts, hostile=bool(hostility(found.header.plan)))


@click.command()
@click.argument("trial")
@takes("dir")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write; default: RUN-TRIAL.jsonl.gz in this folder.",
)
def export(trial: str, output: Path | None, **options: Any) -> int:  # noqa: ANN401  # click's
    """Make one file of TRIAL, its folder or its name in the latest run: plan, manifests, fault-free runs and history, all that
    check and replay need. Attach it to a bug report."""
    found = find_history(trial, artefacts(options))
    data, path = exported(found), output or Path(export_name(found))
    write_atomically(path, data)
    click.echo(f"{path}: {len(data) / 1000:.0f} kB, for `staleproof check` and `staleproof replay`")
    return 0
