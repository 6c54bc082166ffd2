"""The notes of a pytest run: begun when a controller is named, told of errors, shown at the end."""

import io
import shlex
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from staleproof.assess.run.budget import end_of
from staleproof.assess.run.exit_code import BROKEN, BUG
from staleproof.assess.run.notes import Notes
from staleproof.assess.store.known_findings import read_baseline
from staleproof.assess.store.run_folder import RunFolder, new_run_folder
from staleproof.core.plan.masking import masked_arguments
from staleproof.plugin import BEGAN
from staleproof.plugin.options import given, is_seed_new, seed_of, settings_of
from staleproof.report.terminal import sentence, table
from staleproof.settings import in_words

NOTES = pytest.StashKey[Notes]()


def begun(config: pytest.Config) -> Notes:
    """The notes of this process, begun now if no controller was known when pytest started."""
    if NOTES not in config.stash:
        begin(config)
    return config.stash[NOTES]


def begin(config: pytest.Config) -> None:
    """Make the run folder, or join the one of the controlling process. UsageError when it cannot be made."""
    settings, given = settings_of(config), getattr(config, "workerinput", {})
    read_baseline(settings)  # one that cannot be read is refused before anything starts
    if "staleproof_run" in given:
        folder = Path(given["staleproof_run"])
    elif settings.dry_run:
        folder = Path(tempfile.mkdtemp(prefix="staleproof-"))  # which leaves nothing
    else:
        folder = new_run_folder(settings.dir)
    _begin_in(folder, config)


def join(config: pytest.Config, folder: Path) -> None:
    """Take over a run that only workers know of, because a conftest.py names the controller."""
    if NOTES not in config.stash and folder.is_dir():
        _begin_in(folder, config)


def ends(config: pytest.Config) -> Callable[[], float]:
    """Says when nothing is run any more, on the monotonic clock (`assess.run.budget`)."""
    return end_of(RunFolder(begun(config).folder), settings_of(config).minutes, began=config.stash[BEGAN])


def add_error(notes: Notes, error: BaseException, *, ours: bool) -> None:
    """Note whose fault an exception in a test or fixture is. In a test of `ours`, one that is not expected is our bug."""
    if not isinstance(error, pytest.skip.Exception | pytest.xfail.Exception):  # whatever it was raised for
        notes.add_error(error, is_bug=ours and not isinstance(error, AssertionError | pytest.fail.Exception))


def summarize(notes: Notes, terminal: pytest.TerminalReporter) -> None:
    """Show what went wrong, and the report."""
    for code, blamed in ((BUG, "a bug of staleproof, please report it"), (BROKEN, "the environment failed")):
        for problem in dict.fromkeys(notes.problems[code]):
            terminal.write_line(f"staleproof: {blamed}: {next(iter(problem.splitlines()), '')}", red=True)
    for line in notes.lines:
        terminal.write_line(f"staleproof: {line}")
    if notes.report is None:
        return
    out = io.StringIO()
    Console(file=out, force_terminal=terminal.hasmarkup, width=max(terminal._tw.fullwidth, 80)).print(table(notes.report))
    terminal.write_line("")
    terminal.write(out.getvalue())
    for line in notes.known:
        terminal.write_line(f"staleproof: {line}")
    terminal.write_line(f"run folder: {notes.folder}")


def conclude(notes: Notes, terminal: pytest.TerminalReporter) -> None:
    """Say what to think of the run."""
    if notes.report is not None:
        terminal.write_line(f"staleproof: {sentence(notes.report)}")


def _begin_in(folder: Path, config: pytest.Config) -> None:
    settings = settings_of(config)
    config.stash[NOTES] = Notes(
        folder=folder,
        settings=settings,
        baseline=read_baseline(settings),
        worker=getattr(config, "workerinput", {}).get("workerid", ""),
        reproduce=shlex.join(["pytest", *masked_arguments(_arguments(config))]),
        seed=seed_of(config),
    )


def _arguments(config: pytest.Config) -> list[str]:
    """Those that do the same again: the command line's, what the environment and staleproof.yaml say besides, and the seed."""
    said = [str(word) for word in config.invocation_params.args]
    elsewhere = {name: each for name, each in given(config).items() if each.origin != "command line" and name != "config"}
    said += in_words(elsewhere, lambda option: option.flag)
    return [*said, f"--hypothesis-seed={seed_of(config)}"] if is_seed_new(config) else said
