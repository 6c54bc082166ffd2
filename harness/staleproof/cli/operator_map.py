"""`staleproof map`: what the operator makes, deletes and changes when a user changes a primary, and when it is changed back."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from staleproof.assess.configuration import samples_of, session_options, subject_for
from staleproof.assess.learn.samples import observe_all
from staleproof.cli.option import SUBJECT, called, settings_of, takes
from staleproof.cli.watching import shown
from staleproof.core.operator.edge import Edge
from staleproof.core.operator.observed import Observed
from staleproof.drive.cluster.manifests import name_of
from staleproof.errors import UsageError
from staleproof.report.inert import inert

HEADINGS = ("move", "deletes", "makes", "makes anew", "changes", "not restored")


@click.command(name="map")
@takes(*SUBJECT, "crds", "samples", "primary", "before", "mutations")
def operator_map(**options: Any) -> int:  # noqa: ANN401  # click's
    """Show what each change of a field of the samples (a move) creates, deletes and changes, without any fault: many primaries side
    by side, each with a move of its own, are made, moved and moved back together. It takes a minute or two for each sample.

    Exit code 0: the map was learnt. 4: what is given is wrong. 11: the controller does not start, or is not reached.
    """
    settings = settings_of(options)
    samples = samples_of(settings, (), called)
    if not samples.primaries:
        raise UsageError("there is nothing to learn a map of: give primaries with --samples")
    given = session_options(settings, subject_for(settings, ()), samples.manifests, samples.before)
    console = Console(width=None if sys.stdout.isatty() else 120)
    with shown(replace(given, maps=True)) as session, session.doing("learning the operator"):
        seen = observe_all(session, samples)
    for observed in seen.observed:
        show(console, observed)
    for why in seen.left_out:
        console.print(Text(inert(f"left out: {why}")), soft_wrap=True)
    return 0


def show(console: Console, observed: Observed) -> None:
    """The map of one primary: first the moves that make or delete, then those that change, then in one line the rest."""
    name = name_of(observed.sample)
    if observed.alone:
        why = f"a second primary collides with the first ({', '.join(observed.alone)})"
        console.print(Text(inert(f"{name}: there is no map, because {why}")))
        return
    if not observed.edges:
        console.print(Text(inert(f"{name}: there is no map, because no move of it can be made and taken back")))
        return
    active, quiet = sorted_out(observed.edges)
    if active:
        console.print(_table(name, active))
    if quiet:
        paths = ", ".join(dict.fromkeys(edge.move.path for edge in quiet))
        console.print(Text(inert(f"a change of one of these has no effect on any object: {paths}")), soft_wrap=True)
    if observed.scale_path:
        scale = ".".join(observed.scale_path)
        console.print(Text(inert(f"not in the map, because each trial scales it anyway: {scale}")), soft_wrap=True)


def _table(name: str, active: Sequence[Edge]) -> Table:
    table = Table(title=Text(inert(f"{name}: what its moves do, without any fault")), title_justify="left")
    for heading in HEADINGS:
        table.add_column(heading, overflow="fold")
    for edge in active:
        columns = (edge.goes, edge.comes, edge.remakes, edge.changes, edge.leaves)
        table.add_row(*(Text(inert(each)) for each in (str(edge.move), *(", ".join(each) for each in columns))))
    return table


def sorted_out(edges: Iterable[Edge]) -> tuple[Sequence[Edge], Sequence[Edge]]:
    """Those that do something, what makes or deletes first; and those that do nothing."""
    every = sorted(edges, key=lambda edge: (not edge.takes_away, not edge.changes))
    does = [edge for edge in every if edge.takes_away or edge.changes or edge.leaves]
    return does, [edge for edge in every if edge not in does]
