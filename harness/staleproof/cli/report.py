"""`staleproof report`: what is sent to others."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from staleproof.assess.store.known_findings import read_baseline
from staleproof.assess.store.pages import PAGE, run_page, trial_page
from staleproof.assess.store.reports import find_run, is_run, read_report, reported_run, reported_trial
from staleproof.assess.store.run_folder import export_name, find_history, read_history, with_needs, write_atomically
from staleproof.assess.trial.suspects import judged_alone
from staleproof.checks.story.narrative import stories
from staleproof.cli.conformance import matrix, merge, verify
from staleproof.cli.option import artefacts, settings_of, takes
from staleproof.report.by_hand import by_hand
from staleproof.report.formats import FORMATS, Format
from staleproof.report.formats.trace import of_trials
from staleproof.report.html.page import render
from staleproof.report.model import doubts

_WHAT = click.argument("what", metavar="RUN|TRIAL|EXPORT", default="")
_OUTPUT = click.option(
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="The file to write, - for the terminal; default: beside what it is made of.",
)


@click.group(name="report")
def report_group() -> None:
    """Turn a run or a trial into what is sent to others: a page, what CI shows, a report that others can check.

    A run writes report.html, report.json and conformance.yaml by itself; all else is made of these, then or later.
    """


@report_group.command(short_help="A finding as Markdown for an issue tracker.")
@click.argument("trial")
@takes("dir")
def issue(trial: str, **options: Any) -> int:  # noqa: ANN401  # click's
    """Print TRIAL, its folder, its name in the latest run or an exported one, as Markdown for the controller's issue tracker: what
    happened, and how to see it with kubectl, curl and `staleproof proxy` alone.

    Read it before you send it: it has the sample's names and fields in it. Contents of Secrets are left out.
    """
    path = find_history(trial, artefacts(options))
    found = with_needs(read_history(path), path)
    verdicts = judged_alone(found)
    click.echo(by_hand(found, stories(verdicts, found), doubts(reported_trial(path), verdicts)))
    return 0


@report_group.command(short_help="One page for a browser, of a run or a trial.")
@_WHAT
@takes("dir")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="The file to write; default: report.html of a run, else TRIAL.html.",
)
def html(what: str, output: Path | None, **options: Any) -> int:  # noqa: ANN401  # click's
    """Write one HTML file, which a browser shows without a network, of RUN, its folder (default: the latest), or of TRIAL, its
    folder, its name in the latest run, its history, or an exported one.

    It has what report.json and the histories have in them, names and fields of the samples too; contents of Secrets are left out.
    """
    root = artefacts(options)
    if is_run(what) or not what:
        folder = find_run(what, root)
        return _put(render(run_page(folder, read_report(folder))), output or folder / PAGE)
    page = trial_page(what, root)
    return _put(render(page), output or Path(_named(find_history(what, root))))


def _named(history: Path) -> str:
    """`export` calls the trial's file the same, but for the ending."""
    exported = export_name(history) if history.name.startswith("history.") else history.name
    return f"{exported.partition('.jsonl')[0]}.html"


@report_group.command(short_help="A trace for Perfetto.")
@_WHAT
@takes("dir")
@_OUTPUT
def trace(what: str, output: Path | None, **options: Any) -> int:  # noqa: ANN401  # click's
    """Write a trace for Perfetto of RUN, its folder (default: the latest), with each of its trials that has a finding; or of TRIAL,
    its folder, its name in the latest run, its history, or an exported one."""
    form, root = FORMATS["trace"], artefacts(options)
    if is_run(what) or not what:
        folder = find_run(what, root)
        return _put(form.make(reported_run(folder, read_report(folder))), output or folder / form.file)
    path = find_history(what, root)
    history = read_history(path)
    plan = history.header.plan
    data = of_trials([(f"{path.resolve().parent.name} {plan.title or plan.scenario}", history)], {})
    return _put(data, output or path.parent / form.file)


def _writes(form: Format) -> Callable[..., int]:
    def write(run: str, output: Path | None, **options: str) -> int:
        settings = settings_of(options)
        folder = find_run(run, settings.dir)
        baseline = read_baseline(settings, option="--baseline")
        data = form.make(reported_run(folder, read_report(folder), baseline=baseline, source=settings.controller_source))
        return _put(data, output or folder / form.file)

    return write


def _put(data: bytes, path: Path) -> int:
    """Write a file, or show it."""
    if str(path) == "-":
        click.echo(data, nl=False)
        return 0
    write_atomically(path, data)
    click.echo(f"{path}: {len(data) / 1000:.1f} kB")
    return 0


for _name, _form in FORMATS.items():
    if _name in report_group.commands:
        continue
    _command = takes("baseline", "controller_source", "dir")(_writes(_form))
    _command = _OUTPUT(_command)
    _command = click.argument("run", default="")(_command)
    _help = f"Write {_form.about}, to {_form.file}. RUN is the folder of a run; default: the latest."
    _short = f"{_form.about[0].upper()}{_form.about[1:].partition(':')[0]}."
    report_group.command(name=_name, help=_help, short_help=_short)(_command)

for _each in (merge, verify, matrix):
    report_group.add_command(_each)
