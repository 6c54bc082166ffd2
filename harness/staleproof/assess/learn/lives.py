"""Whether the life of the controller that a trial began in was still sound, and what a trial left of it.

A controller that a trial has ruined spoils those that come after it, and they are not to blame. So a worker that finds it dead or
doing nothing any more begins a new life, runs the trial again, and names the trial after which it was like that."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.checks.ends.exits import code_of, deaths, last_words, lost_its_lease, whose_process
from staleproof.checks.trial import indexed
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.fault.effects import EFFECTS
from staleproof.core.history.entry import Exited, Probed
from staleproof.core.history.history import History

IN_THE_LIFE_BEFORE, IN_VAIN = "in-the-life-before", "in-vain"


def stopped(history: History) -> str:
    """Whether the controller died in a trial, or did nothing any more at its end, in words; empty when it was at work."""
    died = next((entry for index in deaths(indexed(history)) if isinstance(entry := history.entries[index], Exited)), None)
    if died is not None:
        return f"{whose_process(died)} exited by itself"
    silent = any(isinstance(entry, Probed) and not entry.works for entry in history.entries)
    return "it did nothing any more" if silent else ""


def died_between(found: tuple[str, Exited] | None) -> str:
    """Whether the last exit between two runs, before which this run had done something to the controller, was a death that a fault
    may have led to, in words; empty when it was not."""
    harmed_by, exited = found or ("", None)
    if exited is None or not harmed_by or lost_its_lease(exited):
        return ""
    words = f": {last_words(exited)}" if last_words(exited) else ""
    how = f"{whose_process(exited)} exited by itself between two trials ({code_of(exited)}{words})"
    return f"when {harmed_by} was over, {how}"


def left_like_that(how: str, harmed_by: str) -> str:
    """That the controller had stopped in the life before, but not in a new one, in words."""
    cause = f": {harmed_by} may have left it like that" if harmed_by else ""
    return f"{how}, but not when the trial was run again in a new life{cause}"


def set_aside(folder: Path, name: str, of_it: Collection[str] = ()) -> None:
    """Keep the files of a trial that has to be run again, in a folder of this name within its folder, and with them the folders of
    the names that are `of_it`: what was set aside before, so that these names are free again."""
    kept = [path for path in folder.iterdir() if path.is_file() or path.name in of_it]
    (folder / name).mkdir()
    for path in kept:
        path.rename(folder / name / path.name)


def put_back(folder: Path, name: str) -> None:
    """Let the files in a folder of this name take the place of those of a trial that were set aside."""
    for path in (folder / name).iterdir():
        path.rename(folder / path.name)
    (folder / name).rmdir()


def doubted(verdicts: Sequence[Verdict], why: str) -> tuple[Verdict, ...]:
    """The same, but those on living through any fault are inconclusive for this reason, unless they failed or there is none."""
    general = {requirement.slug for requirement in REQUIREMENTS if requirement.outlives == EFFECTS}

    def doubts(verdict: Verdict) -> bool:
        return bool(why) and verdict.requirement in general and verdict.outcome is not Outcome.FAIL

    return tuple(replace(each, outcome=Outcome.INCONCLUSIVE, why=why) if doubts(each) else each for each in verdicts)
