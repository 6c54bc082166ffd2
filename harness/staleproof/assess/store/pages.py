"""report.html: the run folder read again, and judged again, so that a page can be made of any run, at any time."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from staleproof.assess.store.run_folder import PLAN, find_history, read_history, whole, write_whole
from staleproof.assess.trial.suspects import without_suspects
from staleproof.checks.judge import judge
from staleproof.checks.story.narrative import stories
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.plan import decode as decode_plan
from staleproof.draw.sweep import copies_in
from staleproof.errors import UsageError
from staleproof.report.html.document import Page
from staleproof.report.html.of_run import page_of_run
from staleproof.report.html.of_trial import page_of_trial
from staleproof.report.html.page import render
from staleproof.report.model import FindingReport, Report, TrialReport, findings
from staleproof.report.timeline.document import Timeline
from staleproof.report.timeline.trial import timeline

REPORT = "report.json"
_MOST, _MOST_OF_PARTIAL = 20, 3
"""So many findings have their timeline in the page; fewer of an interrupted run, because somebody waits."""


def write_page(run_folder: Path, report: Report) -> Path:
    """Write report.html into the folder of a run. SetupError when it cannot be written."""
    path = run_folder / "report.html"
    write_whole(path, render(run_page(run_folder, report)))
    return path


def run_page(run_folder: Path, report: Report) -> Page:
    """The page of a run, with the timelines of its findings whose histories were kept."""
    by_name = {trial.name: trial for trial in report.trials}
    most = _MOST_OF_PARTIAL if report.partial else _MOST
    found = [(finding, by_name[finding.trials[0]]) for finding in findings(report.trials)][:most]
    drawn = {trial.name: each for finding, trial in found for each in _timeline(run_folder / trial.folder, finding)}
    plans = {trial.name: plan for _, trial in found for plan in _plan(run_folder, trial)}
    return page_of_run(report, plans, drawn)


def trial_page(text: str, root: Path) -> Page:
    """The page of a trial: its folder, its name in the latest run, its history, or an exported one. UsageError when there is
    none."""
    path = find_history(text, root)
    history = read_history(path)
    verdicts = judge(history)
    if copies_in(history.header.plan):  # only a run of one of them alone brings a finding
        verdicts = without_suspects(verdicts)
    name = path.resolve().parent.name if path.name.startswith("history.") else path.name.partition(".")[0]
    return page_of_trial(name, history, verdicts, stories(verdicts, history))


def read_report(run_folder: Path) -> Report:
    """The report of a run. UsageError when it cannot be read."""
    path = run_folder / REPORT
    try:
        return msgspec.json.decode(path.read_bytes(), type=Report)
    except OSError as err:
        raise UsageError(f"cannot read {path}: {err.strerror or err}") from err
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise UsageError(f"{path}: {err}; it is not the report of a run of this version") from err


def _timeline(trial: Path, finding: FindingReport) -> Iterator[Timeline]:
    """Of a trial whose history was kept, with the story of this finding."""
    try:
        history = read_history(find_history(str(trial), trial))
    except UsageError:
        return  # the page says that it was not kept
    told = stories(judge(history), history)
    is_it = [story for story in told if story.cause == finding.cause or story.requirement == finding.requirements[0]]
    yield timeline(history, (is_it or told)[:1])


def _plan(run_folder: Path, trial: TrialReport) -> Iterator[Plan]:
    """Of a trial, if it and its manifests are still there."""
    path = run_folder / trial.folder / PLAN
    try:
        yield whole(decode_plan(path.read_bytes()), path)
    except (OSError, UsageError):
        return
