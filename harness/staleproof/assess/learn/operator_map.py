"""The operator's map: what each move of the primary makes and deletes, learnt from many primaries side by side.

Each primary, a copy of the sample, has one move; all appear, are moved and are moved back together, without any fault. A move that
the API server refuses, or that the controller cannot stand, is found by halving. There is no map where a second primary has no room
beside the first, nor in a run whose profile has no sweeps.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial

import msgspec

from staleproof.assess.learn.accepted_moves import went_wrong
from staleproof.assess.learn.traits import took
from staleproof.assess.run.worker import Task
from staleproof.assess.trial.session import Session
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.usability import interruption
from staleproof.checks.trial import Trial, indexed
from staleproof.core.history.history import History
from staleproof.core.history.provenance import Commit
from staleproof.core.operator.edge import Edge
from staleproof.core.operator.observed import ChildKind, Observed
from staleproof.core.plan.move import Move
from staleproof.core.plan.pace import longest_pause, restless_fields
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import TOGETHER, Step
from staleproof.core.times import AT_ONCE_SECONDS, MAP_IDLE_SECONDS, MAP_SECONDS, PATIENT_QUIET_SECONDS, REST_SECONDS
from staleproof.draw.copies import WIDTH, Copy, chunks, copies, mentioned, there_and_back
from staleproof.draw.mutations.trials import structural_first
from staleproof.draw.order import side_by_side
from staleproof.draw.sweep import worst_first
from staleproof.drive.trial.dry_run import refused_returns
from staleproof.drive.trial.workload import Refused

_MOST_MAPPED = 40
MAP_PART = 5
_MOST_SHOWN = 8
_PAUSES = 3
"""A step that is waited for longer may have so many more pauses."""
_WAYS = 3
"""The steps of a copy: it appears, is moved, and is moved back."""
_Planned = Callable[[tuple[Step, ...]], Plan]
_Named = Set[tuple[str, str]]
"""Resource and name of each child, where the name of its primary is left out."""
_Children = Sequence[tuple[Incarnation, str]]
"""Each child, with the name of the copy that it belongs to."""


class _Begun(msgspec.Struct, frozen=True):
    """Which moves there are to learn, and until when they are, on the monotonic clock, which the workers share."""

    moves: list[Move]
    ends: float


class Learnt(msgspec.Struct, frozen=True):
    """What was learnt of some moves, while the controller worked on many primaries at once.

    Attributes:
        edges: what they do.
        step: how long one primary's part of a step takes (`side_by_side`), in seconds.
        rests: whether it came to rest with any of them.
        pause: how long it waits before it goes on by itself, in seconds; 0: it does at once, or it was not looked at with patience.
    """

    edges: tuple[Edge, ...] = ()
    step: float = 0.0
    rests: bool = False
    pause: float = 0.0

    def __add__(self, other: "Learnt") -> "Learnt":
        edges = (*self.edges, *other.edges)
        return Learnt(edges, max(self.step, other.step), self.rests or other.rests, max(self.pause, other.pause))


def has_map(session: Session, seen: Observed) -> bool:
    """Whether a map is to be learnt of this primary."""
    return session.options.maps and not seen.alone and seen.name not in session.options.kept_names


def parts_of_map(session: Session, seen: Observed, planned: _Planned) -> list[Task]:
    """The parts in which a map is learnt, by whichever worker has time; none if there is no map. `planned` makes a plan without
    faults of steps."""
    if not has_map(session, seen):
        return []
    about = seen.sample, seen.before
    begun = msgspec.json.decode(session.once("moves of the map", about, lambda: _begun(session, seen)), type=_Begun)

    def part(group: Sequence[Move]) -> Task:
        found = partial(_learnt, session, seen, group, planned, begun.ends)
        names = [move.name for move in group]
        return session.task("a part of the map", (*about, names), lambda: msgspec.json.encode(found()))

    return [part(group) for group in chunks(begun.moves)]


def learnt_of(session: Session, parts: Sequence[Task]) -> Learnt:
    """The map, of the parts of which each is learnt now, unless it was."""
    return sum((msgspec.json.decode(session.done(each), type=Learnt) for each in parts), Learnt())


def looked_at_patiently(session: Session, seen: Observed, known: Learnt, planned: _Planned) -> Learnt:
    """The map, once its worst moves were made again side by side, and what comes of each was waited for with patience: what comes
    some seconds later is there, and so is the pause before it. One that never rests is not waited for."""
    worst = worth_patience(known.edges)
    if not worst or not known.rests:
        return known
    made = copies(seen, [edge.move for edge in worst])
    plan = planned(there_and_back(made)[:_WAYS])
    try:
        history = session.references.take(session.references.shared_run("patient moves", plan, partial(_patiently, session)))
    except Refused:
        return known
    if not _is_sound(indexed(history), made):
        return known
    found, pause = _learnt_from(indexed(history), made), longest_pause(history, restless_fields(history))
    edges = looked_at_again(known.edges, worst, found.edges)
    return Learnt(edges, max(known.step, found.step), rests=True, pause=pause if pause > AT_ONCE_SECONDS else 0.0)


def _patiently(session: Session, plan: Plan) -> History:
    """A run in which each move has some seconds; and, where something came late in it, one in which each step has them after the
    last that comes."""
    plan, seconds = _unhurried(plan, REST_SECONDS), look_seconds(session.options.patience)
    history = session.watch(plan, lasts=(0.0, *(seconds for _ in plan.steps[1:]), 0.0))
    is_late = longest_pause(history, restless_fields(history)) > AT_ONCE_SECONDS
    return session.watch(_unhurried(plan, PATIENT_QUIET_SECONDS)) if is_late else history


def look_seconds(patience: float) -> float:
    """How long a move is given to show what comes of it later: half of the user's patience, if there is any and that is less than
    all get. What comes later than that is waited for in each trial all the same."""
    return max(REST_SECONDS, min(PATIENT_QUIET_SECONDS, patience / 2)) if patience else PATIENT_QUIET_SECONDS


def _learnt_from(trial: Trial, made: Sequence[Copy]) -> Learnt:
    """What a run of these copies shows."""
    step = took([trial]).get(TOGETHER, 0.0) / side_by_side(len(made))
    return Learnt(tuple(edges_in(trial, made)), step, trial.steps[0].idle)


def _unhurried(plan: Plan, idle_seconds: float) -> Plan:
    """The plan, each step of which is over when the controller has done nothing for so long, at least."""
    idle = max(idle_seconds, plan.settle.idle_seconds)
    settle = msgspec.structs.replace(plan.settle, idle_seconds=idle, limit_seconds=plan.settle.limit_seconds + _PAUSES * idle)
    return msgspec.structs.replace(plan, settle=settle)


def worth_patience(edges: Sequence[Edge]) -> list[Edge]:
    """As many as have room side by side of those that take something away: the worst, and then others of their fields."""
    worst = worst_first(edges)
    return [*worst, *(edge for edge in edges if edge.takes_away and edge not in worst)][:WIDTH]


def looked_at_again(edges: Sequence[Edge], some: Sequence[Edge], found: Sequence[Edge]) -> tuple[Edge, ...]:
    """The map, in which some edges are what was found when their moves were made once more."""
    return tuple(replace(found[some.index(edge)], move=edge.move) if edge in some else edge for edge in edges)


def map_in_words(seen: Observed) -> str:
    """The first of what makes or deletes something, in words."""
    return "; ".join([str(edge) for edge in seen.edges if edge.takes_away][:_MOST_SHOWN])


def _begun(session: Session, seen: Observed) -> bytes:
    """The moves that are worth it and that the API server lets go back; none when there is no time for a map."""
    began = time.monotonic()
    seconds = map_seconds(session.options.ends() - began, session.watched_seconds)
    moves = _returning(session, seen, structural_first(list(_worth_a_look(seen)), _MOST_MAPPED)) if seconds else []
    return msgspec.json.encode(_Begun(moves, began + seconds))


def map_seconds(left: float, took: float) -> float:
    """How long the map may be learnt: in a run that has little time left, no more than a part of it; and not at all where what was
    learnt so far took longer than that part."""
    part = max(0.0, left) / MAP_PART
    return min(MAP_SECONDS, part) if part > took else 0.0


def _worth_a_look(seen: Observed) -> Iterator[Move]:
    """Labels own nothing, and scaling is tried in each life."""
    scale = ".".join(seen.scale_path)
    return (move for move in seen.changes if not move.is_label and move.path != scale)


def _returning(session: Session, seen: Observed, moves: Sequence[Move]) -> list[Move]:
    """Those of them that the API server lets go back."""
    answers = session.call(lambda environment: refused_returns(environment, seen.sample, seen.before, moves))
    return [move for move, answer in zip(moves, answers, strict=True) if not answer]


def _learnt(session: Session, seen: Observed, moves: Sequence[Move], planned: _Planned, ends: float) -> Learnt:
    """What these moves do; where something goes wrong, those of each half by itself."""
    if not moves or time.monotonic() > ends:
        return Learnt()
    made = copies(seen, moves)
    plan = planned(there_and_back(made))
    try:
        history = session.watch(_unhurried(plan, MAP_IDLE_SECONDS))
        if _is_hasty(indexed(history), made, seen.children):
            if time.monotonic() > ends:
                return Learnt()
            history = session.watch(_unhurried(plan, PATIENT_QUIET_SECONDS))
    except Refused:
        history = None
    if history is not None and _is_sound(indexed(history), made):
        found = _learnt_from(indexed(history), made)
        own = tuple(replace(edge, move=move) for edge, move in zip(found.edges, moves, strict=True))  # a copy has hosts of its own
        return msgspec.structs.replace(found, edges=own)
    if history is not None:
        session.renew()
    if len(moves) == 1:
        return Learnt()
    middle = len(moves) // 2
    first, second = (_learnt(session, seen, half, planned, ends) for half in (moves[:middle], moves[middle:]))
    return first + second


def _is_hasty(trial: Trial, made: Sequence[Copy], children: Sequence[ChildKind]) -> bool:
    """Whether nothing is wrong with a run but that it did not wait for all that the controller did in a step."""
    return _is_sound(trial, made) and (comes_late(trial, made, children) or goes_late(trial, made))


def _is_sound(trial: Trial, made: Sequence[Copy]) -> bool:
    """Whether all was done, and the controller stood it. One that never rests is taken as it is with one primary only: many may be
    in the way of one another."""
    is_at_rest = trial.steps[0].idle or len(made) == 1
    return is_at_rest and not interruption(trial) and not went_wrong(trial)[0]


def comes_late(trial: Trial, made: Sequence[Copy], children: Sequence[ChildKind]) -> bool:
    """Whether a copy was moved before it had as many children of a kind as another, or as one primary has alone, and was given some
    of them later: the controller is slow, or its life had only begun."""
    every, ends = _children(trial, made), _ends(trial)
    counts = [[_count(_there(every, copy, end)) for end in ends[:_WAYS]] for copy in made]
    wanted = Counter({child.resource: child.stays for child in children})
    for first, *_ in counts:
        wanted |= first
    return any(
        first[resource] < wanted[resource] and any(each[resource] > first[resource] for each in later)
        for first, *later in counts
        for resource in wanted
    )


def goes_late(trial: Trial, made: Sequence[Copy]) -> bool:
    """Whether the way back made a child anew of a kind of which the move made none anew: the move may not have come to that."""
    back, moved = _remade(trial, made, 2), _remade(trial, made, 1)
    return any(late - soon for late, soon in zip(back, moved, strict=True))


def edges_in(trial: Trial, made: Sequence[Copy]) -> list[Edge]:
    """What the moves of these copies did in a run in which all appear, are moved and are moved back."""
    children, ends = _children(trial, made), _ends(trial)

    def there(copy: Copy, step: int) -> _Named:
        return _there(children, copy, ends[step - 1])

    def changed(copy: Copy) -> set[str]:
        mine = (each for each, owner in children if owner == copy.name)
        return {each.resource for each in mine if any(_is_change(commit, ends[0], ends[1]) for commit in each.commits)}

    remade = _remade(trial, made, 1)
    return [
        _edge(copy.move, changed(copy), of, *(there(copy, step) for step in (1, 2, 3)))
        for copy, of in zip(made, remade, strict=True)
    ]


def _children(trial: Trial, made: Sequence[Copy]) -> _Children:
    every, names = object_history(trial).objects.values(), {copy.name for copy in made}
    meant = {name: name for name in names} | {each.uid: each.name for each in every if each.name in names}
    return [(each, _owner(each, meant, trial)) for each in every if each.creator is not None]


def _remade(trial: Trial, made: Sequence[Copy], since: int) -> list[set[str]]:
    """Of which kinds each copy's children were made anew in the step after this one."""
    children, ends = _children(trial, made), _ends(trial)

    def remade(copy: Copy) -> set[str]:
        mine = [each for each, owner in children if owner == copy.name]
        return {each.resource for each in mine if any(_is_made_anew(each, other, ends[since - 1], ends[since]) for other in mine)}

    return [remade(copy) for copy in made]


def _ends(trial: Trial) -> list[int]:
    """The position at which each step ended."""
    return [len(trial.entries) if step.ended is None else step.ended for step in trial.steps]


def _there(children: _Children, copy: Copy, before: int) -> _Named:
    """What a copy had before this position."""
    mine = (each for each, owner in children if owner == copy.name and each.is_live(before=before))
    return {(each.resource, each.name.replace(copy.name, "")) for each in mine}


def _is_change(commit: Commit, since: int, until: int) -> bool:
    """Whether the controller wrote to what was there, and that is there still."""
    return since < commit.index < until and commit.by is not None and commit.entry.type == "MODIFIED" and not commit.deletes


def _is_made_anew(each: Incarnation, other: Incarnation, since: int, until: int) -> bool:
    """Whether the controller deleted a child between these positions, and made another one under its name."""
    if each.named != other.named or each.deleter is None or each.deleted is None:
        return False
    return since < each.deleted < other.created < until


def _edge(move: Move, changed: Set[str], remade: Set[str], at_first: _Named, moved: _Named, back: _Named) -> Edge:
    """What comes and goes: under names that come back, or, where names are never the same twice, by how many there are."""
    before, then, after = _count(at_first), _count(moved), _count(back)
    goes = {resource for resource, name in at_first - moved if then[resource] < before[resource] or (resource, name) in back}
    comes = {resource for resource, _ in moved - at_first if then[resource] > before[resource] or resource in goes}
    leaves = {resource for resource in before | after if before[resource] != after[resource]}
    replaced = {resource for resource, _ in at_first ^ moved} - goes - comes
    remakes = remade - goes - comes
    return Edge(move, *(tuple(sorted(each)) for each in (goes, comes, changed | replaced, leaves, remakes)))


def _count(named: _Named) -> Counter[str]:
    """How many there are of each resource."""
    return Counter(resource for resource, _ in named)


def _owner(child: Incarnation, meant: Mapping[str, str], trial: Trial) -> str:
    """The copy whose child it is: that which owns it, directly or not; or whose name it has in its own; or which a label means, by
    its name or its uid. Empty for none. `meant`: the copies, by both."""
    objects, seen = object_history(trial).objects, child
    while seen.owner_uid in objects:
        seen = objects[seen.owner_uid]
    labels = seen.first.entry.object["metadata"].get("labels") or {}
    return next(
        iter((*mentioned(set(meant.values()), seen.name), *(meant[value] for value in labels.values() if value in meant))), ""
    )
