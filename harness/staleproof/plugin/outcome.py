"""The notes of a pytest run: begun when a controller is named, given every error, shown at the end."""

import io
import shlex
import tempfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from staleproof.assess.run.budget import end_of
from staleproof.assess.run.exit_code import BROKEN, BUG
from staleproof.assess.run.notes import Notes
from staleproof.assess.store.known_findings import read_baseline
from staleproof.assess.store.run_folder import RunFolder, new_run_folder
from staleproof.core.plan.masking import masked_arguments
from staleproof.plugin import BEGAN, VERBOSITY
from staleproof.plugin.options import given, is_seed_new, seed_of, settings_of
from staleproof.report.ending import screen, summed_up, width_of
from staleproof.report.live import STOPPING
from staleproof.report.model import Report
from staleproof.report.terminal import sentence, table
from staleproof.settings import in_words

NOTES = pytest.StashKey[Notes]()
_SHOWN = pytest.StashKey[Report]()
"""What a run that was interrupted had shown before everything was stopped."""


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


def show_so_far(config: pytest.Config) -> None:
    """Show what there is of a run that was interrupted, before everything is stopped."""
    notes, terminal = config.stash.get(NOTES, None), config.pluginmanager.getplugin("terminalreporter")
    if notes is None or terminal is None:
        return
    report = notes.so_far()
    config.stash[_SHOWN] = report
    terminal.ensure_newline()
    terminal.write_line(f"staleproof: {STOPPING}", yellow=True)
    if report.trials:
        terminal.write_line("staleproof: what was finished by then:")
        _show_screen(report, terminal, notes)


def summarize(notes: Notes, terminal: pytest.TerminalReporter) -> None:
    """Show what went wrong, and what came of the run: on one screen, or with -v all of it."""
    for code, blamed in ((BUG, "a bug of staleproof, please report it"), (BROKEN, "the environment failed")):
        for problem in dict.fromkeys(notes.problems[code]):
            terminal.write_line(f"staleproof: {blamed}: {next(iter(problem.splitlines()), '')}", red=True)
    for line in notes.lines:
        terminal.write_line(f"staleproof: {line}")
    if notes.report is not None:
        _show_report(notes.report, notes, terminal)


def _show_report(report: Report, notes: Notes, terminal: pytest.TerminalReporter) -> None:
    is_verbose = terminal.config.stash.get(VERBOSITY, terminal.config.option.verbose) > 0
    if is_verbose:
        _print(terminal, table(report))
    shown = terminal.config.stash.get(_SHOWN, None)
    if shown is None or len(shown.trials) < len(report.trials):
        _show_screen(report, terminal, notes)
    if shown is not None:
        terminal.write_line("staleproof: all that the run had started is stopped", yellow=True)
    terminal.write_line(f"{notes.place}{'' if is_verbose else ' (-v prints it all)'}")
    for line in notes.known:
        terminal.write_line(f"staleproof: {line}")


def _show_screen(report: Report, terminal: pytest.TerminalReporter, notes: Notes) -> None:
    width = _width(terminal)
    _print(terminal, *screen(summed_up(report), width, more=str(notes.main_report)))


def _print(terminal: pytest.TerminalReporter, *shown: RenderableType) -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal.hasmarkup, width=_width(terminal), highlight=False)
    for each in shown:
        console.print(each)
    terminal.write_line("")
    terminal.write(out.getvalue())


def _width(terminal: pytest.TerminalReporter) -> int:
    return width_of(terminal._tw.fullwidth, is_terminal=bool(terminal.isatty))


def conclude(notes: Notes, terminal: pytest.TerminalReporter) -> None:
    """Say what to think of the run."""
    if notes.report is not None:
        terminal.write_line(f"staleproof: {sentence(notes.report, notes.baseline)}")


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
    """Those that do the same again: the command line's; what pytest's `addopts`, the environment and staleproof.yaml say besides;
    and the seed."""
    said = [str(word) for word in config.invocation_params.args]
    elsewhere = {name: each for name, each in given(config).items() if name != "config" or each.origin == "command line"}
    said += [word for word in in_words(elsewhere, lambda option: option.flag) if not _has(said, word)]
    return [*said, f"--hypothesis-seed={seed_of(config)}"] if is_seed_new(config) else said


def _has(said: Sequence[str], word: str) -> bool:
    """Whether a command line says this already, `--OPTION=VALUE` in one word or in two."""
    option, _, value = word.partition("=")
    return word in said or (option, value) in pairwise(said)
