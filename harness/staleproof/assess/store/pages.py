"""report.html: the run folder read again, and judged again, so that a page can be made of any run, at any time."""

from collections.abc import Container, Iterable, Iterator
from itertools import count
from pathlib import Path

import msgspec

from staleproof.assess.store.reports import reported_trial
from staleproof.assess.store.run_folder import (
    HISTORY,
    PLAN,
    RunFolder,
    decoded,
    export_name,
    exported,
    find_history,
    read_history,
    with_manifests,
    write_atomically,
)
from staleproof.assess.trial.suspects import judged_alone
from staleproof.checks.judge import judge
from staleproof.checks.story.narrative import stories
from staleproof.checks.trial import Trial
from staleproof.core.history.history import History
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.plan import decode as decode_plan
from staleproof.errors import UsageError
from staleproof.report.html.comparison import writes
from staleproof.report.html.document import Attachment, Drawn, Page, Question, Writes
from staleproof.report.html.draw import Timelines, draw
from staleproof.report.html.of_run import Kept, Key, key_of, page_of_run, questions
from staleproof.report.html.of_trial import page_of_trial
from staleproof.report.html.page import render
from staleproof.report.model import FindingReport, Report, TrialReport, doubts, findings

PAGE = "report.html"
_MOST, _MOST_OF_PARTIAL, _MOST_QUESTIONS = 20, 3, 5
"""So many findings, and reasons why something is inconclusive, have their timeline in the page; fewer of an interrupted run, whose
user waits."""
_LARGEST_ATTACHMENT = 500_000
"""Bytes; of twenty the page would have 13 MB."""


def write_page(run_folder: Path, report: Report) -> Path:
    """Write report.html into the folder of a run. SetupError when it cannot be written."""
    path = run_folder / PAGE
    write_atomically(path, render(run_page(run_folder, report)))
    return path


def run_page(run_folder: Path, report: Report) -> Page:
    """The page of a run, with the timelines of its findings, and of a trial for each reason why something stayed inconclusive, as
    far as their histories were kept."""
    folders = {trial.name: run_folder / trial.folder for trial in report.trials}
    found = findings(report.trials)[: _MOST_OF_PARTIAL if report.partial else _MOST]
    open_questions = [] if report.partial else questions(report)[:_MOST_QUESTIONS]
    timelines: Timelines = {}
    drawn: dict[Key, Drawn] = {}
    every: list[FindingReport | Question] = [*found, *open_questions]
    for each in every:
        name = each.trials[0]
        finding = each if isinstance(each, FindingReport) else None
        drawn |= {key_of(each): made for made in _drawn(folders[name], name, finding, timelines, attach=not report.partial)}
    plans = {finding.trials[0]: plan for finding in found for plan in _plan(folders[finding.trials[0]])}
    writes = {} if report.partial else dict(_writes(run_folder, report.trials))
    return page_of_run(report, Kept(plans, drawn, timelines, writes))


def trial_page(text: str, root: Path) -> Page:
    """The page of a trial: its folder, its name in the latest run, its history, or an exported one. UsageError when there is
    none."""
    path = find_history(text, root)
    history = read_history(path)
    verdicts = judged_alone(history)
    name, replay = (path.resolve().parent.name, "") if _is_in_run(path) else (path.name.partition(".")[0], path.name)
    page = page_of_trial(name, history, verdicts, stories(verdicts, history), _attachment(path), replay)
    said = [f"not confirmed: {each}" for each in doubts(reported_trial(path), verdicts)]
    return msgspec.structs.replace(page, sentence="; ".join([page.sentence, *said]))


def _drawn(folder: Path, name: str, finding: FindingReport | None, into: Timelines, *, attach: bool) -> Iterator[Drawn]:
    """Of a trial whose history was kept, with the story of this finding; `attach`: and with the history."""
    try:
        path = find_history(str(folder), folder)
        history = read_history(path)
    except UsageError:
        return  # the page says that it was not kept
    all_stories = stories(judge(history), history) if finding is not None else []
    is_it = [
        story for story in all_stories if finding and (story.cause == finding.cause or story.requirement == finding.requirements[0])
    ]
    yield draw(_unused(name, into), history, (is_it or all_stories)[:1], _attachment(path) if attach else None, into)


def _unused(name: str, names: Container[str]) -> str:
    """What a timeline of this trial is called beside others of it."""
    return next(each for n in count(1) if (each := f"{name} {n}" if n > 1 else name) not in names)


def _attachment(path: Path) -> Attachment | None:
    """What is exported of this history, unless it is so large that the page would become slow; None for what cannot be exported."""
    try:
        data = exported(path)
    except UsageError:
        return None
    name = export_name(path) if _is_in_run(path) else f"{path.name.partition('.jsonl')[0]}.jsonl.gz"
    return Attachment(name=name, data=data if len(data) <= _LARGEST_ATTACHMENT else None)


def _is_in_run(path: Path) -> bool:
    """Whether it is a history in the folder of its trial, and not an exported one."""
    return path.name.startswith("history.")


def _writes(run_folder: Path, trials: Iterable[TrialReport]) -> Iterator[tuple[str, Writes]]:
    """How much the controller wrote in each trial whose history was kept, and without the faults."""
    run, usual = RunFolder(run_folder), dict[str, int | None]()
    for trial in trials:
        path = run_folder / trial.folder / HISTORY
        try:
            history = decoded(path, path.read_bytes())
            for name in history.header.references:
                if name not in usual:
                    usual[name] = _usual(run.reference(name))
        except (OSError, UsageError):
            continue
        counts = [*map(_usual, history.references), *(usual[name] for name in history.header.references)]
        known = [count for count in counts if count is not None]
        if known:
            yield trial.name, Writes(did=writes(Trial(history)), least=min(known), most=max(known))


def _usual(reference: History) -> int | None:
    """How much it wrote in a run of the whole workload; None for another run."""
    return None if reference.header.role in ("ablated", "final", "slept") else writes(Trial(reference))


def _plan(folder: Path) -> Iterator[Plan]:
    """Of a trial, if it and its manifests are still there."""
    path = folder / PLAN
    try:
        yield with_manifests(decode_plan(path.read_bytes()), path)
    except (OSError, UsageError):
        return
