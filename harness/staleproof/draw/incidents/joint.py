"""Incidents that show little one by one: two faults together, or a fault and the step that makes it one.

To hide the creates of a controller shows little unless the primary is deleted meanwhile, another one comes, or more time
passes than the controller is patient for; to hide its deletes, unless more is wanted again. By chance such pairs are rare, so each
is an incident of its own: a fault for a step of the workload.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

from staleproof.core.fault import (
    AnyFault,
    Compete,
    Expire,
    HideOwnWrite,
    HoldStream,
    OwnWrite,
    PastSnapshot,
    Reject,
    Release,
    Restart,
    SeverStream,
    Skew,
    Window,
)
from staleproof.core.operator.observed import Observed, Written
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.masking import SECRET
from staleproof.core.plan.step import TOUCHED, Apply, Delete, Patch, Recreate, Remove, Rest, Step, Touch
from staleproof.core.times import LAGS_SECONDS, LONG_SECONDS, OUTAGE_SECONDS
from staleproof.draw.canonical import ending, own_create
from staleproof.draw.incidents.forms import values
from staleproof.draw.incidents.single import Faults, in_step, until
from staleproof.draw.occasions import Occasions, numbered

_OFTEN = 3
STREAM_ENDS: tuple[type[SeverStream | Expire], ...] = (SeverStream, Expire)

# --- two at once -----------------------------------------------------------------------------------------------------------------


def two_writes_hidden(at: Occasions) -> Iterator[Faults]:
    """The first of two kinds of writes to children in one step: a controller that waits for one to the primary may make none."""
    children = [each for each in at.hideable(at.writes) if each.resource != at.observed.resource]
    for one, two in itertools.product(children, children):
        windows = until(at, one.step) if one.step == two.step and one.resource < two.resource else []
        for window, how in itertools.product(windows, values(HideOwnWrite, "release")):
            both = ((each.resource, OwnWrite(each.verb)) for each in (one, two))
            yield tuple(HideOwnWrite(resource=each, window=window, write=write, release=how) for each, write in both)


def two_held(at: Occasions) -> Iterator[Faults]:
    """Two resources are not shown, the primary not among them: a controller that does not see it does nothing to its children."""
    for step, one, two in _both_seen(at):
        if at.observed.resource not in (one, two) and one < two:
            for window, release in itertools.product(until(at, step), values(HoldStream, "release")):
                yield tuple(HoldStream(resource=each, window=window, release=release) for each in (one, two))


def skewed(at: Occasions) -> Iterator[Faults]:
    """One resource lags behind another, which lags, too."""
    ways = itertools.product(_both_seen(at), LAGS_SECONDS)
    return ((Skew(by_seconds={one: lag, two: lag / 2}, window=Window(step)),) for (step, one, two), lag in ways)


def _both_seen(at: Occasions) -> list[tuple[int, str, str]]:
    """Steps in which events of two resources come, with those, either way."""
    pairs = itertools.permutations(at.seen, 2)
    return [(step, one, two) for (one, step), (two, other) in pairs if step == other and one != two]


# --- its own writes are hidden, or those of users --------------------------------------------------------------------------------


def hidden_while(verb: str, kind: type[Step], at: Occasions) -> Iterator[Faults]:
    """Its own creates, or deletes, of children are hidden from it while such a step is done, and from then on; rests count if they
    are long. A controller that creates by server-side apply patches.

    Where another user deletes one that it has made, a list shows what is left (KEP-5647, Risks).
    """
    children = [each for each in at.hideable(at.writes) if each.resource != at.observed.resource]
    own = [each for each in children if each.verb == (own_create(at.observed, each.resource).verb if verb == "create" else verb)]
    release: Release = "relist" if kind is Remove else "events"
    for number, step in numbered(at.steps, kind):
        if not isinstance(step, Rest) or step.seconds >= LONG_SECONDS:
            for each in own:
                if each.step < number and (not isinstance(step, Remove) or each.resource == step.resource):
                    write = OwnWrite(each.verb)
                    yield (HideOwnWrite(resource=each.resource, window=Window(each.step), write=write, release=release),)


def end_hidden(at: Occasions) -> Iterator[Faults]:
    """The primary is gone, and perhaps made anew, unseen: most telling where a list shows the new one for the old one."""
    hows = ("relist",) * 4 + values(HoldStream, "release")
    for step, _ in numbered(at.steps[:-1], Delete) if at.observed.resource in at.observed.watched else ():
        yield from ((unseen_end(at.observed, step, how),) for how in hows)


def replaced_unseen(at: Occasions) -> Iterator[Faults]:
    """Another user makes a child again under its name, and the controller is not shown that while the next step is done, at least:
    what it then does to that name, it does to another object."""
    for number, step in numbered(at.steps[:-1], Recreate):
        for window in until(at, number) if step.resource in at.observed.watched else ():
            if window.until_step != number + 1:
                yield from (
                    (HoldStream(resource=step.resource, window=window, release=each),) for each in values(HoldStream, "release")
                )


def unseen_end(observed: Observed, step: int, release: Release) -> AnyFault:
    """Hide that the primary, which is deleted in this step, is gone, though not that it is to go: the controller may have to remove
    its finalizer first."""
    ends = [each for each in ending(observed) if (each.resource, each.subresource) == (observed.resource, "")]
    verb = next((each.verb for each in ends if each.verb in ("update", "patch")), None)
    window = Window(from_step=step)
    if not observed.keeps_finalizer or verb is None:
        return HoldStream(resource=observed.resource, window=window, release=release)
    last = sum(each.times for each in ends if each.verb == verb)
    return HideOwnWrite(resource=observed.resource, window=window, write=OwnWrite(verb, last), release=release)


# --- another user writes just before it ------------------------------------------------------------------------------------------


def competed(at: Occasions) -> Iterator[Faults]:
    """Another user edits an object just before it is updated."""
    return ((compete(at, each),) for each in at.updates)


def refused_update(at: Occasions, *, of_children: bool) -> Iterator[Faults]:
    """The same of children, which are hidden, too, or of the primary."""
    return (
        refused(at, each) for each in at.updates if not each.subresource and of_children == (each.resource != at.observed.resource)
    )


def refused(at: Occasions, each: Written) -> Faults:
    """Another user's edit just before that write; of a child that is hidden, too, until the next step: the controller that was
    refused has still to learn why."""
    if each.resource == at.observed.resource or each.resource not in at.observed.watched or each.subresource:
        return (compete(at, each),)
    return compete(at, each), HideOwnWrite(resource=each.resource, window=in_step(each.step), write=OwnWrite(each.verb))


def compete(at: Occasions, each: Written) -> Compete:
    """Where there is another primary, it is not known which is written first, so it has a newer version and is otherwise as
    it was."""
    if each.resource != at.observed.resource:
        return Compete(**each.selectors, edit=annotated(each.step))
    names = {step.object["metadata"]["name"] for _, step in numbered(at.steps[: each.step], Apply)}
    is_sure = len(names) == 1 and at.observed.target.kind != SECRET
    return Compete(**each.selectors, edit=_next_edit(at, each.step) if is_sure else {})


def _next_edit(at: Occasions, since: int) -> Manifest:
    """What the workload changes next in the primary; both may be there in the end. Empty: it does not change it any more."""
    number, step = next(((number, step) for number, step in numbered(at.steps, Patch, Touch, Delete) if number > since), (0, None))
    if isinstance(step, Touch):
        return annotated(number)
    return step.patch if isinstance(step, Patch) else {}


def annotated(number: int) -> Manifest:
    """As a touch does it, so that no rule takes it for a difference."""
    return {"metadata": {"annotations": {TOUCHED: str(number)}}}


def all_rejected(at: Occasions) -> Iterator[Faults]:
    """Every one of these writes is rejected for seconds."""
    return _rejected(at.every_write)


def clean_up_rejected(at: Occasions) -> Iterator[Faults]:
    """The same of the deletes of children when the primary goes: a controller that lets it go all the same leaves them for good."""
    ends = {number for number, _ in numbered(at.steps, Delete)}
    return _rejected(each for each in at.writes if each.verb == "delete" and each.step in ends)


def _rejected(writes: Iterable[Written]) -> Iterator[Faults]:
    for each in writes:
        selectors = {**each.selectors, "window": Window(each.step, seconds=OUTAGE_SECONDS)}
        yield from ((Reject(**selectors, code=code, times=None),) for code in values(Reject, "code"))  # type: ignore[arg-type]  # they are its fields


# --- it is down, or led to the past ----------------------------------------------------------------------------------------------


def down(misses: Callable[[Step], bool], at: Occasions) -> Iterator[Faults]:
    """It is down while such a step is done, after the first and before the last: it is shown the outcome and never the change."""
    steps = [number for number, step in enumerate(at.steps, 1) if 1 < number < at.last and misses(step)]
    return ((Restart(stays_down=True, window=in_step(step)),) for step in steps)


def led_back(at: Occasions) -> Iterator[Faults]:
    """It is restarted on an earlier state, of one resource or of all that have changed since.

    Those in which there was something come more often than that there was nothing, before the first step.
    """
    for step in range(at.last, 1, -1):
        for before in range(step - 1, 0, -1):
            changed = [each for each in at.observed.reads_past if at.changed(each, before, step)]
            shown: list[Sequence[str]] = [(each,) for each in changed]
            for resources in shown + [changed] * (len(changed) > 1):
                yield from [past(resources, before, window) for window in until(at, step)] * (_OFTEN if before > 1 else 1)


def past(resources: Iterable[str], as_of_step: int, window: Window) -> Faults:
    """Restart it in a step in which it lists these resources as they were at the beginning of an earlier one."""
    snapshots = (PastSnapshot(resource=each, as_of_step=as_of_step, window=window) for each in resources)
    return (*snapshots, Restart(window=Window(window.from_step)))


def listed_behind(at: Occasions) -> Iterator[Faults]:
    """Its streams end in a step that leaves the primary as it is, while the API server at hand does not know of the step before.

    The primary comes as often as all its children: of those the controller may know itself which there are. A controller that asks
    for no older state then cannot be shown one.
    """
    if not at.observed.relists_past:
        return
    quiet = [number for number, step in enumerate(at.steps, 1) if number > 2 and not isinstance(step, Apply | Delete | Patch)]
    primary, children = at.observed.watched[:1], at.observed.watched[1:]
    for resource in (*primary * max(1, len(children)), *children):
        for step in (number for number in quiet if at.changed(resource, number - 1, number)):
            yield from (behind(end, resource, step) for end in STREAM_ENDS)


def behind(end: type[SeverStream | Expire], resource: str, step: int) -> Faults:
    """Its streams end, and the API server at hand is one step behind: it may list an older state than it has seen."""
    window = in_step(step)
    return end(resource=resource, window=window), PastSnapshot(resource=resource, as_of_step=step - 1, window=window)
