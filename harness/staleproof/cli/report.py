"""`staleproof report`: what is sent to others."""

from pathlib import Path

import click

from staleproof.assess.store.pages import REPORT, read_report, run_page, trial_page
from staleproof.assess.store.run_folder import export_name, find_history, read_history, write_whole
from staleproof.checks.judge import judge
from staleproof.checks.story.narrative import stories
from staleproof.report.by_hand import by_hand
from staleproof.report.html.page import render
from staleproof.settings import ARTEFACTS


@click.group(name="report")
def report_group() -> None:
    """Make of a run or a trial what is sent to others."""


@report_group.command()
@click.argument("trial")
def issue(trial: str) -> int:
    """Print TRIAL, its folder, its name in the latest run or an exported one, as Markdown for the controller's issue tracker: what
    happened, and how to see it with kubectl, curl and `staleproof proxy` alone.

    Read it before you send it: it has the sample's names and fields in it. Contents of Secrets are left out.
    """
    found = read_history(find_history(trial, ARTEFACTS))
    click.echo(by_hand(found, stories(judge(found), found)))
    return 0


@report_group.command()
@click.argument("what", metavar="RUN|TRIAL|EXPORT", default=str(ARTEFACTS / "latest"))
@click.option(
    "--output", type=click.Path(path_type=Path), help="The file to write; default: report.html of a run, else TRIAL.html."
)
def html(what: str, output: Path | None) -> int:
    """Write one HTML file, which a browser shows without a network, of RUN, its folder (default: the latest), or of TRIAL, its
    folder, its name in the latest run, its history, or an exported one.

    It has what report.json and the histories have in them, names and fields of the samples too; contents of Secrets are left out.
    """
    folder = Path(what)
    is_run = (folder / REPORT).is_file()
    page = run_page(folder, read_report(folder)) if is_run else trial_page(what, ARTEFACTS)
    path = output or (folder / "report.html" if is_run else Path(_named(find_history(what, ARTEFACTS))))
    data = render(page)
    write_whole(path, data)
    click.echo(f"{path}: {len(data) / 1000:.0f} kB, for any browser")
    return 0


def _named(history: Path) -> str:
    """`export` calls the trial's file the same, but for the ending."""
    exported = export_name(history) if history.name.startswith("history.") else history.name
    return f"{exported.partition('.jsonl')[0]}.html"
