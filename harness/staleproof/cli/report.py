"""`staleproof report`: what is sent to others."""

import click

from staleproof.assess.store.run_folder import find_history, read_history
from staleproof.checks.judge import judge
from staleproof.checks.story.narrative import stories
from staleproof.report.by_hand import by_hand
from staleproof.settings import ARTEFACTS


@click.group(name="report")
def report_group() -> None:
    """Make of a trial what is sent to others."""


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
