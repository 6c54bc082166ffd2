"""A command that takes long says what it does; one that runs trials says how far it is, and
shows what there is before it stops when it is interrupted."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import click
from rich.console import Console

from staleproof.assess.run.doing import BuildProgress, Doing
from staleproof.assess.run.notes import Note, Notes
from staleproof.assess.run.standing import Watched
from staleproof.assess.run.worker import SessionOptions
from staleproof.assess.trial.session import Session
from staleproof.cli.show import show_screen
from staleproof.display import Display
from staleproof.interrupts import Interrupts
from staleproof.report.live import STOPPING, Standing


@contextmanager
def shown(options: SessionOptions) -> Iterator[Session]:
    """A session of a command that runs no trials; the standard error stream shows what it does."""
    known, began = Watched(), time.monotonic()

    def tell(doing: Doing) -> None:
        known.take("", Note(doing=doing))

    with (
        Display(sys.stderr, lambda: known.standing(time.monotonic() - began)),
        Session(options, BuildProgress(tell), tell=tell) as session,
    ):
        yield session


@contextmanager
def watched(notes: Notes, options: SessionOptions, console: Console) -> Iterator[tuple[Session, Display]]:
    """A session that tells these notes what it does, and what shows that on the standard error stream. When it is interrupted, what
    was finished is shown before everything is stopped, which takes some seconds."""
    known, began = Watched(), time.monotonic()
    notes.heard = known.take
    context = click.get_current_context(silent=True)
    interrupts = context.find_object(Interrupts) if context is not None else None

    def standing() -> Standing:
        made = known.standing(time.monotonic() - began, options.ends() - time.monotonic())
        return replace(made, is_interrupted=interrupts is not None and interrupts.happened)

    session = Session(options, BuildProgress(notes.tell), folder=notes.folder, tell=notes.tell)
    with Display(sys.stderr, standing) as display, session:
        try:
            yield session, display
        except KeyboardInterrupt:
            report = notes.so_far()
            with display.aside():
                console.print(STOPPING, style="yellow", highlight=False, soft_wrap=True)
                if report.trials:
                    show_screen(report, notes, console)
            raise
