"""What does harm only together: a fault, and the step that makes it one.

To hide the creates of a controller shows little unless somebody deletes the primary meanwhile, another one comes, or more time
passes than the controller is patient for; to hide its deletes, unless more is wanted again. By chance such pairs are rare, so each
is drawn as one: a fault for a step of the workload.
"""

from collections.abc import Iterator, Sequence
from functools import partial

import hypothesis.strategies as st

from staleproof.core.fault import (
    AnyFault,
    Expire,
    HideOwnWrite,
    OwnWrite,
    PastSnapshot,
    Reject,
    Release,
    Restart,
    SeverStream,
    Window,
)
from staleproof.core.observed import Written
from staleproof.core.step import Apply, Delete, Patch, Remove, Rest, Step, Touch, removes
from staleproof.draw.api_failure import REJECTIONS
from staleproof.draw.canonical import own_create
from staleproof.draw.deletion import unseen_end
from staleproof.draw.occasions import Occasions
from staleproof.draw.strategies.failing import compete, is_update
from staleproof.draw.strategies.users import LONG_SECONDS
from staleproof.draw.strategies.watching import Faults, Incident, in_step, release, until

_OUTAGE_SECONDS = 4.0
"""Long enough to tell a growing delay between retries from one that does not grow."""
_OFTEN = 3
_WHILE: tuple[tuple[str, type[Step]], ...] = (
    ("create", Rest),
    ("create", Apply),
    ("create", Delete),
    ("create", Remove),
    ("delete", Patch),
    ("delete", Touch),
)
"""Own writes, and what is done while they are hidden."""


def pairs(at: Occasions) -> Iterator[Incident]:
    """All kinds of them that have an occasion in this workload."""
    yield from _hidden(at)
    updates = [each for each in at.writes if is_update(at, each)]
    for of_children in (True, False):
        if some := [each for each in updates if (each.resource != at.observed.resource) is of_children]:
            yield partial(_refused_unseen, at, some)
    if at.every_write:
        yield partial(_outage, at)
    yield from _new_lives(at)


def _one_of(found: Sequence[Faults], draw: st.DrawFn) -> Faults:
    return draw(st.sampled_from(found))


# --- its own writes are hidden, or those of others -------------------------------------------------------------------------------


def _hidden(at: Occasions) -> Iterator[Incident]:
    for verb, kind in _WHILE:
        if hidden := list(_hidden_while(at, verb, kind)):
            yield partial(_one_of, hidden)
    if gone := list(_ends(at)):
        yield partial(_hide_end, at, gone)


def _hidden_while(at: Occasions, verb: str, kind: type[Step]) -> Iterator[Faults]:
    """Its own creates, or deletes, are hidden from it while such a step is done, and from then on; rests count if they are long.

    Where somebody else deletes one that it has made, a list tells what is left (KEP-5647, Risks).
    """
    for number, step in enumerate(at.steps, 1):
        is_one = isinstance(step, kind) and (not isinstance(step, Rest) or step.seconds >= LONG_SECONDS)
        for each in _own(at, verb, before=number) if is_one else ():
            if not isinstance(step, Remove):
                yield (HideOwnWrite(resource=each.resource, window=Window(each.step), write=OwnWrite(each.verb)),)
            elif each.resource == step.resource:
                yield (HideOwnWrite(resource=each.resource, window=Window(each.step), write=OwnWrite(each.verb), release="relist"),)


def _own(at: Occasions, verb: str, *, before: int) -> list[Written]:
    """Its creates, or deletes, of children in earlier steps; whoever creates by server-side apply patches."""
    children = [each for each in at.hideable(at.writes) if each.resource != at.observed.resource and each.step < before]
    verbs = {each.resource: own_create(at.observed, each.resource).verb if verb == "create" else verb for each in children}
    return [each for each in children if each.verb == verbs[each.resource]]


def _ends(at: Occasions) -> Iterator[int]:
    """The steps that delete the primary, where something comes after it."""
    watched = at.observed.resource in at.observed.watched
    return (n for n, step in enumerate(at.steps, 1) if watched and isinstance(step, Delete) and n < at.last)


def _hide_end(at: Occasions, gone: Sequence[int], draw: st.DrawFn) -> Faults:
    """The primary is gone, and perhaps made anew, unseen: most telling where a list shows the new one for the old one."""
    how: Release = "relist" if draw(st.booleans()) else release(draw)
    return (unseen_end(at.observed, draw(st.sampled_from(gone)), how),)


def _refused_unseen(at: Occasions, updates: Sequence[Written], draw: st.DrawFn) -> Faults:
    """Somebody else edits an object just before it is updated; of a child that is hidden, too, so who is refused has still to learn
    why."""
    each = draw(st.sampled_from(updates))
    competes = compete(at, each)
    if each.resource == at.observed.resource or each.resource not in at.observed.watched:
        return (competes,)
    return competes, HideOwnWrite(resource=each.resource, window=in_step(each.step), write=OwnWrite(each.verb))


# --- it is down, or led to the past ----------------------------------------------------------------------------------------------


def _new_lives(at: Occasions) -> Iterator[Incident]:
    if changes := [number for number, step in enumerate(at.steps[:-1], 1) if isinstance(step, Patch)]:
        yield partial(_missed, changes)
    # who only reacts to changes never learns of what went unseen
    if removals := [number for number in changes if removes(at.steps[number - 1])]:
        yield from [partial(_missed, removals)] * _OFTEN
    if pasts := list(_pasts(at)):
        yield partial(_past, at, pasts)
    if at.observed.watched and (behind := list(_behind(at))):
        yield partial(_past_relist, behind)


def _missed(changes: Sequence[int], draw: st.DrawFn) -> Faults:
    """It is down while the primary changes: it is shown the outcome and never the change."""
    return (Restart(stays_down=True, window=in_step(draw(st.sampled_from(changes)))),)


def _pasts(at: Occasions) -> Iterator[tuple[int, int, Sequence[str]]]:
    """(step, earlier step, resources) of each earlier state that it may be shown in a step, of one resource or of all at once.

    Those in which there was something come more often than that there was nothing, before the first step.
    """
    for step in range(at.last, 1, -1):
        for before in range(step - 1, 0, -1):
            changed = [each for each in at.observed.reads_past if at.changed(each, before, step)]
            shown: list[Sequence[str]] = [(each,) for each in changed]
            shown += [changed] if len(changed) > 1 else []
            yield from [(step, before, each) for each in shown] * (_OFTEN if before > 1 else 1)


def _past(at: Occasions, pasts: Sequence[tuple[int, int, Sequence[str]]], draw: st.DrawFn) -> Faults:
    """Restart it on an earlier state."""
    step, before, resources = draw(st.sampled_from(pasts))
    window = until(at, step, draw)
    snapshots = (PastSnapshot(resource=each, as_of_step=before, window=window) for each in resources)
    return (*snapshots, Restart(window=Window(from_step=step)))


def _behind(at: Occasions) -> Iterator[tuple[str, int]]:
    """(resource, step) of each step that leaves the primary as it is, where the step before it changed something of the resource.

    The primary comes as often as all its children: of those the controller may know itself which there are.
    """
    quiet = [number for number, step in enumerate(at.steps, 1) if number > 2 and not isinstance(step, Apply | Delete | Patch)]
    primary, *children = at.observed.watched
    for resource in (*[primary] * max(1, len(children)), *children):
        yield from ((resource, step) for step in quiet if at.changed(resource, step - 1, step))


def _past_relist(behind: Sequence[tuple[str, int]], draw: st.DrawFn) -> Faults:
    """Its streams end while the API server at hand is one step behind: it may list an older state than it has seen."""
    resource, step = draw(st.sampled_from(behind))
    window = in_step(step)
    ends: tuple[AnyFault, ...] = (SeverStream(resource=resource, window=window), Expire(resource=resource, window=window))
    return draw(st.sampled_from(ends)), PastSnapshot(resource=resource, as_of_step=step - 1, window=window)


# --- its requests fail for long --------------------------------------------------------------------------------------------------


def _outage(at: Occasions, draw: st.DrawFn) -> Faults:
    """Every one of these writes is rejected for seconds."""
    each = draw(st.sampled_from(at.every_write))
    window, code = Window(each.step, seconds=_OUTAGE_SECONDS), draw(st.sampled_from(REJECTIONS))
    return (Reject(resource=each.resource, verb=each.verb, subresource=each.subresource, code=code, times=None, window=window),)
