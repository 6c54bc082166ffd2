"""Which moves are tried on a controller, and in which order, so that few runs show what it passes on."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

from msgspec import structs

from staleproof.core.operator.dependency import names_accessory
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.move import Move, MoveKind, collide
from staleproof.core.plan.step import Patch
from staleproof.draw.mutations.sample_moves import LABEL_MAPS, parsed

_REFERENCE = re.compile(r"(?:\.r|[a-z0-9]R)ef(?:erence)?s?(?:\[\d*\])?(?:\.|$)")
"""`issuerRef.` or `.references[0].`, and not `.href`."""
_GROUPS: tuple[tuple[MoveKind, ...], ...] = (
    ("up", "down", "zero", "quantity", "duration"),
    ("append-entry", "remove-entry", "reorder"),
    ("map-add", "map-remove"),
    ("string",),
    ("toggle", "enum", "set"),
    ("remove-block",),
)
"""Each in turn, so that no kind keeps the others out."""
_LAST: tuple[MoveKind, ...] = ("remove-value",)
"""That a value goes is tried where nothing else is known of it."""
_STRUCTURAL: tuple[tuple[MoveKind, ...], ...] = (_GROUPS[4], ("remove-block", "zero"))
"""What makes or takes away whole objects, if anything does: a switch is turned, or something is asked for no more."""
_STRUCTURAL_PART = 0.7
_SWITCHES = _GROUPS[4] + _GROUPS[5]
"""What may turn the controller off, or take away what it needs: it comes last, and is taken back at once if it can be."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A move, and the steps that are made: the one after which it shows whether the controller passes it on, and, where it is taken
    back at once, that."""

    move: Move
    steps: tuple[Patch, ...]

    @property
    def is_taken_back(self) -> bool:
        return len(self.steps) > 1


def trials(observed: Observed, known: Collection[str], most: int, *, is_careful: bool = False) -> list[Tried]:
    """Moves that do not get into one another's way, at most so many steps, and none of these fields again; none that makes a
    reference to another object lead nowhere, as plans rest on what is passed on. `is_careful`: each is taken back at once, if it
    can be."""
    chosen: list[Move] = []
    left = most
    taken = {*known, ".".join(observed.scale_path)}
    for move in _in_turn([move for move in observed.changes if move.path not in taken and not _leads_nowhere(move)]):
        cost = len(_steps(observed, move, is_careful=is_careful))
        if cost <= left and move.path not in taken and not any(collide(move.do, other.do) for other in chosen):
            chosen.append(move)
            taken.add(move.path)
            left -= cost
    chosen.sort(key=lambda move: (move.kind in _SWITCHES, not move.returns))
    return [Tried(move, _steps(observed, move, is_careful=is_careful)) for move in chosen]


def spread(moves: Sequence[Move], most: int) -> list[Move]:
    """At most so many of them, of each group of kinds about as many as of any other, in the order in which they come."""
    chosen = {move.name for move in islice(_in_turn(moves, (*_GROUPS, _LAST)), most)}
    return [move for move in moves if move.name in chosen]


def structural_first(moves: Sequence[Move], most: int) -> list[Move]:
    """At most so many of them, in the order in which they come: as far as there are such, most are of kinds that may make or
    take away whole objects (`_STRUCTURAL_PART`); the rest are spread."""
    structural = [move for move in moves if any(move.kind in kinds for kinds in _STRUCTURAL)]
    first = list(islice(_in_turn(structural, _STRUCTURAL), int(most * _STRUCTURAL_PART)))
    chosen = {move.name for move in first}
    rest = spread([move for move in moves if move.name not in chosen], most - len(first))
    chosen |= {move.name for move in rest}
    return [move for move in moves if move.name in chosen]


def with_live(moves: Sequence[Move], live: Sequence[Move]) -> tuple[Move, ...]:
    """All of them: those found live first, then others of the same fields, then the rest."""
    paths = {move.path: move.live for move in live}
    names = {move.name for move in live}
    rest = [structs.replace(move, live=paths.get(move.path, "")) for move in moves if move.name not in names]
    return (*live, *sorted(rest, key=lambda move: not move.live))


def for_good(observed: Observed, reasons: Mapping[str, str]) -> Observed:
    """With the moves of these names as such that cannot be taken back, for these reasons."""
    moves = tuple(structs.replace(move, returns=False) if move.name in reasons else move for move in observed.changes)
    lasting = (f"{move}: {reasons[move.name]}" for move in moves if move.name in reasons)
    return replace(observed, changes=moves, for_good=(*observed.for_good, *lasting))


def returning_first(moves: Sequence[Move], tried: Collection[str]) -> tuple[Move, ...]:
    """All of them: of those that were tried and are live, those that can be taken back come first."""
    own = [move for move in moves if move.live and move.name in tried]
    own.sort(key=lambda move: (move.live == "later", not move.returns))
    return (*own, *(move for move in moves if move not in own))


def beside_live(observed: Observed, tried: Collection[str], most: int) -> list[Move]:
    """So many of what was not seen to be passed on, for plans to change as well: what was tried, because the controller stands it;
    where nothing that is passed on can be taken back, what was not tried, too."""
    scale = ".".join(observed.scale_path)
    quiet = [move for move in observed.changes if not (move.live or move.is_label or move.path == scale) and move.returns]
    known = spread([move for move in quiet if move.name in tried], most)
    left = 0 if observed.returning else most - len(known)
    return known + spread([move for move in quiet if move.name not in tried], left)


def returning_only(moves: Sequence[Move], known: Collection[str]) -> tuple[Move, ...]:
    """All of them; what the API server was not asked about counts as what cannot be taken back."""
    unknown = {move.name for move in moves if not move.is_label} - set(known)
    return tuple(structs.replace(move, returns=False) if move.name in unknown else move for move in moves)


def refers(path: str) -> bool:
    """Whether a field is part of a reference to another object, as `spec.issuerRef.name` is."""
    return _REFERENCE.search(path) is not None


def _leads_nowhere(move: Move) -> bool:
    """Whether it may make the primary refer to an object that is not there."""
    return refers(move.path) or (move.kind == "string" and _is_name(move.path))


def _is_name(path: str) -> bool:
    """Whether a field is stated to have the name of an object, as `spec.tls.secretName` and `spec.imagePullSecrets[0].name` do."""
    fields: list[str] = []
    for key in parsed(path):
        fields = [*fields[:-1], f"{fields[-1]}[]"] if isinstance(key, int) else [*fields, key]
    return LABEL_MAPS.isdisjoint(fields) and names_accessory(fields)


def _in_turn(moves: Sequence[Move], groups: Sequence[tuple[MoveKind, ...]] = _GROUPS) -> Iterator[Move]:
    """Each once. An image first: nothing is changed more often, and beside another change of its list it could not be tried. In a
    group, each field has its turn before any has a second one."""
    images = [move for move in moves if move.kind == "string" and move.path.rpartition(".")[2] == "image"]
    turns = zip_longest(*(_field_by_field([move for move in moves if move.kind in kinds]) for kinds in groups))
    in_turn = (move for each in turns for move in each if move is not None)
    yield from {move.name: move for move in (*images, *in_turn, *moves)}.values()


def _field_by_field(moves: Sequence[Move]) -> list[Move]:
    """The first of each field, then the second of each, and so on."""
    nth = Counter[str]()
    numbered = []
    for move in moves:
        numbered.append((nth[move.path], move))
        nth[move.path] += 1
    return [move for _, move in sorted(numbered, key=lambda each: each[0])]


def _steps(observed: Observed, move: Move, *, is_careful: bool) -> tuple[Patch, ...]:
    is_taken_back = (is_careful or move.kind in _SWITCHES) and move.returns
    return (observed.do(move), observed.undo(move)) if is_taken_back else (observed.do(move),)
