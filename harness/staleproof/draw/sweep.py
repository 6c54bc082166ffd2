"""Plans of the sweep scenario: many primaries, each with a move of its own, and one fault for all of them.

A sweep asks the same of many edges of the operator's map for the price of one trial. Its primaries, the copies, differ in nothing
but their names and their moves; they are made, moved and moved back together. What is found in it accuses no controller: each copy
that is suspected is run alone, with the same steps and the same fault.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from staleproof.core.fault import HoldStream, Kill, LoseAnswer, Release, Skew, Window
from staleproof.core.fault.model import ANY
from staleproof.core.grouping import grouped
from staleproof.core.operator.edge import Edge
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.plan import Plan, Settle
from staleproof.core.plan.step import Patch, in_parts
from staleproof.core.times import PATIENT_QUIET_SECONDS, SKEW_SECONDS
from staleproof.core.wording import plural
from staleproof.draw.canonical import with_a_start
from staleproof.draw.copies import SWEEP, WIDTH, Copy, back_and_there, chunks, copies, copies_in, made_anew, there, there_and_back
from staleproof.draw.family import Draft, Scenario
from staleproof.draw.incidents.joint import past
from staleproof.draw.profile import Profile


def moved(observed: Observed) -> Settle:
    """For plans with moves: what they take away may come again a while later, and a start takes long. The API server is never away,
    so what does not come soon is compared at once, and waited for only then."""
    pause = max(observed.pause_seconds, observed.moved_pause_seconds)
    return with_a_start(dataclasses.replace(observed, pause_seconds=pause).settle())


SCENARIO = Scenario(SWEEP, settle=moved, alike=False)
_SHOWN = 3
_MOST_KILLED, _MOST_LEFT = 4, 4
_MOST_CHANGING = 2 * WIDTH
"""Of the moves that only change what is there, so many are in sweeps: most of them change the same child in the same way."""
_RELEASES: tuple[Release, ...] = ("relist", "events", "resume")


@SCENARIO.family
def switched_back(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Restart it on the primaries as they were while they were otherwise; what they own is live again, or otherwise."""
    is_read = observed.resource in observed.reads_past
    there = (there_and_back, "moved, and moved back since")
    back = (back_and_there, "moved back, and moved again since")
    ways = [(edges, way) for edges in chunks(worst_first(observed.edges)) for way in (there, back)]
    ways += [(edges, there) for edges in _changing(observed, profile)]
    return (
        Draft(
            f"restart on {observed.resource} as they were when they were {title}: {_about(edges)}",
            past([observed.resource], 3, Window(from_step=4)),
            steps(_swept(observed, edges)),
            aims=("no-time-travel", "survives-restart"),
        )
        for edges, (steps, title) in (ways if is_read else ())
    )


@SCENARIO.family
def children_as_they_were(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Restart it on what goes and comes with the moves, or is changed by them, as it was while the primaries were otherwise: what
    has come back is not in its lists, and what is gone is."""
    return (
        Draft(
            f"restart on {resource} as they were when {observed.resource} were moved: {_about(edges)}",
            past([resource], 3, Window(from_step=4)),
            there_and_back(_swept(observed, edges)),
            aims=("survives-restart", "converges-after-catch-up"),
        )
        for resource, edges in _by_resource(observed, profile, observed.reads_past)
    )


@SCENARIO.family
def unseen_return(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The primaries are otherwise for a moment and back again, unseen."""
    is_watched = observed.resource in observed.watched
    return (
        Draft(
            f"{observed.resource} are moved and moved back unseen, release by {release}: {_about(edges)}",
            [HoldStream(resource=observed.resource, window=Window(2, 4), release=release)],
            there_and_back(_swept(observed, edges)),
            aims=("tolerates-coalescing", "converges-after-catch-up"),
        )
        for edges in (_every(observed, profile) if is_watched else ())
        for release in profile.each(_RELEASES)
    )


@SCENARIO.family
def unseen_children(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """What goes and comes with the moves, or is changed by them, is hidden until all are back: a controller that compares with what
    it was shown finds nothing to do."""
    return (
        Draft(
            f"{resource} hidden while {observed.resource} are moved and moved back: {_about(edges)}",
            [HoldStream(resource=resource, window=Window(2))],
            there_and_back(_swept(observed, edges)),
            aims=("converges-after-catch-up",),
        )
        for resource, edges in _by_resource(observed, profile, observed.watched)
    )


@SCENARIO.family
def lost_answers(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The answers to the first writes to what goes and comes with the moves, or is changed by them, are lost, as many as there are
    primaries."""
    return (
        Draft(
            f"answers to writes to {resource} are lost while {observed.resource} are moved and moved back: {_about(edges)}",
            [LoseAnswer(resource=resource, verb="write", subresource="", times=len(edges), window=Window(2, 4))],
            there_and_back(_swept(observed, edges)),
            aims=("survives-lost-answer", "converges-after-catch-up"),
        )
        for resource, edges in _by_resource(observed, profile, observed.watched)
    )


@SCENARIO.family
def late(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """What the controller makes is shown late while the primaries are moved and moved back, or the primaries are."""
    return (
        Draft(
            f"{title} {SKEW_SECONDS:g} s late while {observed.resource} are moved and moved back: {_about(edges)}",
            [Skew(by_seconds=dict.fromkeys(lagging, SKEW_SECONDS))],
            there_and_back(_swept(observed, edges)),
            aims=("tolerates-skew", "converges-after-catch-up"),
        )
        for edges in profile.more(_every(observed, profile))
        for title, resources in (("what it makes", _effects(edges)), (observed.resource, {observed.resource}))
        if (lagging := [each for each in observed.watched if each in resources])
    )


@SCENARIO.family
def made_anew_since(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Restart it on the primaries of the same names that were there before: they asked for something else."""
    return (
        Draft(
            f"restart on {observed.resource} as they were before others of their names were made: {_about(edges)}",
            past([observed.resource], 2, Window(from_step=4)),
            made_anew(_swept(observed, edges)),
            aims=("no-delete-of-unseen", "name-reuse", "survives-restart"),
        )
        for edges in (chunks(worst_first(observed.edges)) if observed.resource in observed.reads_past else ())
    )


@SCENARIO.family
def made_anew_unseen(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The primaries are deleted and others of their names are made, unseen: an informer that lists again makes one change of both.
    A controller that holds its primaries by a finalizer sees them go."""
    is_unseen = observed.resource in observed.watched and not observed.keeps_finalizer
    return (
        Draft(
            f"{observed.resource} are deleted and others of their names made unseen, release by {release}: {_about(edges)}",
            [HoldStream(resource=observed.resource, window=Window(2, 4), release=release)],
            made_anew(_swept(observed, edges)),
            aims=("name-reuse", "tolerates-coalescing"),
        )
        for edges in (chunks(worst_first(observed.edges)) if is_unseen else ())
        for release in profile.each(_RELEASES)
    )


@SCENARIO.family
def killed_on_the_way_back(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Kill it at the first write of the way back, and at the first one to what the move takes away: one primary, no sweep, because
    the number of a write is one primary's. Of the edges that do most harm, but for those that only make it anew
    (`killed_in_between`)."""
    # Each with the primary that it has in a sweep, so that the runs without faults are those of a suspect that is run alone.
    swept = [(edges, _swept(observed, edges)) for edges in chunks(worst_first(observed.edges))]
    pairs = [pair for edges, made in swept for pair in zip(edges, made, strict=True)]
    some = [(edge, made) for edge, made in pairs if edge.goes or edge.comes]
    return (
        Draft(
            f"kill it at a write{'' if about == ANY else f' to {about}'} when {edge.move.path} ({edge.move.kind}) is moved back",
            [Kill(resource=about, verb="write", window=Window(3, 4))],
            there_and_back([made]),
            aims=("survives-restart", "converges-after-catch-up"),
        )
        for edge, made in (some if profile.alike else some[:_MOST_KILLED])
        for about in (ANY, edge.takes_away[0])
    )


@SCENARIO.family
def killed_in_between(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Kill it once it has deleted what a move has it make anew: what else has to be done is left to the next life. Nothing is moved
    back, or all of it would be done once more."""
    remade = [(edge, resource) for edge in worst_first(observed.edges) for resource in edge.remakes]
    return (
        Draft(
            f"kill it at a delete of {resource} when {edge.move.path} ({edge.move.kind}) is moved",
            [Kill(resource=resource, verb="delete", window=Window(2, 3))],
            there(copies(observed, [edge.move])),
            aims=("survives-restart", "converges-after-catch-up"),
        )
        for edge, resource in (remade if profile.alike else remade[:_MOST_KILLED])
    )


@SCENARIO.family
def way_back(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """No fault: what the way back from a move leaves behind, or does not restore, by the map; one move for each such resource. The
    end is waited for longer: what is left may be taken away some seconds later."""
    alike = grouped((edge.leaves, edge) for edge in observed.edges if edge.leaves)
    return (
        Draft(
            f"no fault: {edge.move.path} ({edge.move.kind}) is moved and moved back",
            [],
            there_and_back(copies(observed, [edge.move])),
            replace(moved(observed), quiet_seconds=max(moved(observed).quiet_seconds, PATIENT_QUIET_SECONDS)),
            aims=("path-independent",),
        )
        for edge in [edges[0] for edges in alike.values()][:_MOST_LEFT]
    )


def _swept(observed: Observed, edges: Sequence[Edge]) -> list[Copy]:
    """The primaries of a sweep of these edges."""
    return copies(observed, [edge.move for edge in edges])


def _every(observed: Observed, profile: Profile) -> list[Sequence[Edge]]:
    """The edges of each sweep of all moves with an effect: first those that take something away."""
    return [*chunks(worst_first(observed.edges)), *_changing(observed, profile)]


def _changing(observed: Observed, profile: Profile) -> Iterator[Sequence[Edge]]:
    """The edges of each sweep of the other moves that change what is there: they take nothing away, or only make it anew."""
    worst = worst_first(observed.edges)
    found = _innermost([each for each in observed.edges if each.changes and not (each.goes or each.comes) and each not in worst])
    return chunks(found if profile.alike else found[:_MOST_CHANGING])


def _effects(edges: Iterable[Edge]) -> set[str]:
    """The resources of which moves do something."""
    return {resource for edge in edges for resource in (*edge.takes_away, *edge.changes)}


def _by_resource(observed: Observed, profile: Profile, some: Sequence[str]) -> Iterator[tuple[str, Sequence[Edge]]]:
    """Each of these resources, or the first, that goes or comes with moves, with the edges of each sweep of such moves; then those
    that moves only change, with the first sweep of these."""
    there = {resource for edge in observed.edges for resource in edge.takes_away}
    for resource in profile.some(each for each in some if each in there):
        for edges in chunks([edge for edge in worst_first(observed.edges) if resource in edge.takes_away]):
            yield resource, edges
    for edges in profile.each(profile.more(_changing(observed, profile))):
        for resource in some:
            if changing := [edge for edge in edges if resource in edge.changes]:
                yield resource, changing


def worst_first(edges: Sequence[Edge]) -> list[Edge]:
    """Those by which something live is taken away, the most kinds of it first. Of those that only make it anew, there are no more
    than one sweep has: what rolls its own pods does so at each change of their template."""
    kept = _innermost([edge for edge in edges if edge.takes_away])
    worst = sorted(kept, key=lambda edge: (-len(edge.takes_away), edges.index(edge)))
    rolls = [edge for edge in worst if not edge.goes and not edge.comes]
    return [edge for edge in worst if edge not in rolls] + rolls[:WIDTH]


def _innermost(edges: Sequence[Edge]) -> list[Edge]:
    """In their order; of a field, and of the blocks around it, of which the moves do the same: the innermost."""
    kept: list[Edge] = []
    for each in sorted(edges, key=lambda edge: -len(edge.move.path)):
        alike = (edge.move.path for edge in kept if _harm(edge) == _harm(each))
        if not any(f"{path}.".startswith(f"{each.move.path}.") for path in alike):
            kept.append(each)
    return sorted(kept, key=edges.index)


def _harm(edge: Edge) -> Sequence[str]:
    """What an old view would have the controller delete, or else overwrite."""
    return edge.takes_away or edge.changes


def _about(edges: Sequence[Edge]) -> str:
    paths = list(dict.fromkeys(edge.move.path for edge in edges))
    more = f" and {plural(len(paths) - _SHOWN, 'other field')}" if len(paths) > _SHOWN else ""
    return f"{', '.join(paths[:_SHOWN])}{more}"


def only_changes(plan: Plan, edges: Sequence[Edge]) -> bool:
    """Whether it is a sweep of moves that take nothing away, by these edges; False where they say nothing of its moves."""
    fields = {_field(part.patch) for part in in_parts(plan.steps) if isinstance(part, Patch)}
    swept = [edge for edge in edges if copies_in(plan) and _field(edge.move.do) in fields]
    return bool(swept) and not any(edge.takes_away for edge in swept)


def _field(patch: object) -> Sequence[str]:
    """What a patch of one field, or of one block, is about."""
    path = []
    while isinstance(patch, dict) and len(patch) == 1:
        ((key, patch),) = patch.items()
        path.append(key)
    return tuple(path)
