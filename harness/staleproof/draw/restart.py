"""Plans of the restart scenario: the controller is killed, restarted, kept down, and starts from old or slow lists.

One plan restarts it several times, once in a step: what it does in a step does not depend on how often it was started before.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence

from staleproof.core.fault import AnyFault, Expire, Kill, Reject, Restart, SeverStream, SlowStart, Window
from staleproof.core.operator.observed import Observed, Written
from staleproof.draw.canonical import Workload, death, life, removal, round_trip, slow_to_start, turns
from staleproof.draw.family import Draft, Scenario
from staleproof.draw.incidents.forms import forms
from staleproof.draw.incidents.joint import STREAM_ENDS, behind
from staleproof.draw.incidents.joint import past as past_state
from staleproof.draw.profile import Profile

SCENARIO = Scenario("restart", settle=slow_to_start)
_AIMS = ("survives-restart",)
_DOWN_AIMS = {"death": ("cleans-up", "name-reuse"), "removal": ("cleans-up",)}
_WORST_FIRST = ("create", "delete", "update", "patch")


@SCENARIO.family
def kills(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Kill it at each of its writes, in each step of a plan at another one.

    Writes that change nothing are left out: the next life finds what it finds after the write before, or after a mere restart.
    """
    died = death(observed)
    ending = [each for each in observed.death if each.step == died.deletes]
    lives = [("each step of a primary's life", life(observed).steps, n, kills) for n, kills in _rounds(observed.life)]
    deaths = [("the step that deletes a primary", died.steps, n, kills) for n, kills in _rounds(ending)]
    return (
        Draft(f"kill it at a write in {where}, {n}", faults, steps, aims=(*_AIMS, "honest-status"))
        for where, steps, n, faults in profile.some((*lives, *deaths))
    )


@SCENARIO.family
def restarts(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Restart it before each step: with SIGKILL in a primary's life, with SIGTERM around its death."""
    ways = (("life", life(observed).steps, False), ("death", death(observed).steps, True))
    return (
        Draft(
            f"restart it before each step of a primary's {name}",
            [Restart(gently=gently, window=Window(from_step=step)) for step in range(2, len(steps) + 1)],
            steps,
            aims=_AIMS,
        )
        for name, steps, gently in profile.some(ways)
    )


@SCENARIO.family
def down(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Keep it down during a step, every other one, so that it is shown the outcome and never the change. A primary that comes back
    may take over what its predecessor left, so in one plan it goes for good."""
    lived, died, gone, turned = life(observed), death(observed), removal(observed), turns(observed)
    missed = [("death", died.steps, [(died.deletes, died.deletes + 1), (died.returns, died.last)])]
    missed.append(("removal", gone.steps, [(gone.deletes, gone.last)]))
    if not observed.keeps_finalizer:  # else the primary would be applied while it is terminating, and never come back
        missed.append(("death", died.steps, [(died.deletes, died.last)]))
    missed += [("life", lived.steps, [(step, step + 1) for step in range(first, lived.last, 2)]) for first in (2, 3)]
    missed.append(("turns", turned.steps, [(step, step + 1) for step in (*turned.away, turned.goes) if step]))
    return (
        Draft(
            f"keep it down {' and '.join(f'from step {since} to {until}' for since, until in spans)} of a primary's {name}",
            [Restart(stays_down=True, window=Window(since, until)) for since, until in spans],
            steps,
            aims=(*_AIMS, *_DOWN_AIMS.get(name, ())),
        )
        for name, steps, spans in profile.some(each for each in missed if each[2])
    )


@SCENARIO.family
def behind_status(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Reject its creates, and kill it once it has written a status all the same: what that says is not done.

    The creates of one kind of child stand for all, except in profiles that try those that are treated alike.
    """
    died = death(observed)
    window = Window(died.returns, died.last)
    written = [each for each in observed.death if each.step == died.returns]
    statuses = [each for each in written if (each.resource, each.subresource) == (observed.resource, "status")]
    created = [each.resource for each in written if (each.verb, each.subresource) == ("create", "")]
    return (
        Draft(
            f"reject creates of {resource}, kill it once it has written a status",
            [
                Reject(resource=resource, verb="create", times=None, window=window),
                Kill(resource=status.resource, verb=status.verb, subresource="status", window=window),
            ],
            died.steps,
            aims=(),
        )
        for resource, status in profile.some(itertools.product(created if profile.alike else created[:1], statuses))
    )


@SCENARIO.family
def past(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Restart it on each earlier state of each resource that it reads at resourceVersion 0, and of all of them at once.

    A state that is like the present, or like a later one that is shown, is left out, and so is a resource without objects. The
    state after a change is shown where that was taken back, if it can be: then it asks for what no user wants any more.
    """
    lived, died = life(observed), death(observed)
    taken_back = lived.changes + 1 if observed.live[:1] == observed.returning[:1] else 0
    states = [("life", lived, "no-time-travel", each) for each in _pasts(observed.reads_past, lived) if each[0] != taken_back]
    for move in profile.each(observed.returning) if observed.returning else (None,):
        trip = round_trip(observed, move)
        name = f"round trip ({move.path})" if move else "round trip"
        states += [(name, trip, "no-time-travel", each) for each in _between(observed.reads_past, trip)]
    deaths = [("death", died, "no-delete-of-unseen", each) for each in _pasts(observed.reads_past, died)]
    return (
        Draft(
            f"restart on {' and '.join(shown)} of before step {step} of a primary's {name}",
            past_state(shown, step, Window(from_step=workload.last)),
            workload.steps,
            aims=(*_AIMS, aim),
        )
        for name, workload, aim, (step, shown) in (*profile.some(states), *profile.some(deaths))
    )


@SCENARIO.family
def past_turns(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Restart it on the primary without a block, and with a switch the other way, that has come back since. What `past` shows of a
    round trip is left out."""
    turned = turns(observed)
    returned = [step for step, move in zip(turned.away, observed.turned, strict=False) if move != observed.returning[0]]
    return (
        Draft(
            f"restart on {observed.resource} as it was before it was changed back in step {step + 1}",
            past_state([observed.resource], step + 1, Window(from_step=turned.last)),
            turned.steps,
            aims=(*_AIMS, "no-time-travel"),
        )
        for step in profile.some(returned if observed.resource in observed.reads_past else ())
    )


@SCENARIO.family
def past_relist(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """End its streams while an API server at hand is one step behind: it may list an older state than it has seen.

    Resources that did not change in that step are left out: of them the list shows what it has seen. So is a controller that asks
    for no older state then, as client-go does (`tools/cache/reflector.go`). The streams of each resource end in one way, those of
    the next in the other, except in profiles that try what is treated alike.
    """
    lived = life(observed)
    steps = [step for step in sorted({3, lived.last}) if 1 < step <= lived.last]
    listed = observed.watched if observed.relists_past else ()
    changed = {each: [step for step in steps if lived.may_change(each, step - 1, step)] for each in listed}
    some = [resource for resource, found in changed.items() if found]
    ways = itertools.product(STREAM_ENDS, some) if profile.alike else zip(itertools.cycle(STREAM_ENDS), some, strict=False)
    hows = {SeverStream: "cleanly", Expire: "with 410"}
    return (
        Draft(
            f"end the streams of {resource} {hows[end]} when there is only the state before the last step to list",
            [fault for step in changed[resource] for fault in behind(end, resource, step)],
            aims=(),
        )
        for end, resource in profile.some(ways)
    )


@SCENARIO.family
def slow_start(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Restart it while the first list of one resource, each in turn, is slow, and while one breaks off at first.

    There are as many children as there ever were, so that none can be made again unnoticed.
    """
    died = death(observed)
    window = Window(from_step=died.last)
    concerned = (*(child.resource for child in observed.children), observed.resource)
    resources = [each for each in concerned if each in observed.watched]
    ways = [(slow, resource) for slow in forms(SlowStart) for resource in (resources if slow["then"] == "ends" else resources[:1])]
    return (
        Draft(
            f"restart while the first list of {resource} {'is slow' if slow['then'] == 'ends' else 'breaks off'}",
            [SlowStart(resource=resource, window=window, **slow), Restart(window=window)],
            died.steps,
            aims=("waits-for-initial-sync", *_AIMS),
        )
        for slow, resource in profile.some(ways)
    )


def _pasts(resources: Sequence[str], workload: Workload) -> Iterator[tuple[int, Sequence[str]]]:
    """(step, resources) of each state at the beginning of a step that differs from the next one's: of each resource that does, and
    of all together that differ from the present."""
    for step in range(workload.last - 1, 0, -1):
        changed = [each for each in resources if workload.may_change(each, step, step + 1)]
        differ = [each for each in resources if workload.may_change(each, step, workload.last)]
        yield from ((step, (each,)) for each in changed)
        if changed and len(differ) > 1:
            yield step, differ


def _between(resources: Sequence[str], trip: Workload) -> Iterator[tuple[int, Sequence[str]]]:
    """(step, resources) of each state that was taken back: of all together that differ from the present, and of the first."""
    for step in (away + 1 for away in trip.away):
        if changed := [each for each in resources if trip.may_change(each, step, step + 1)]:
            yield step, changed
            if len(changed) > 1 and step == trip.away[0] + 1:
                yield step, changed[:1]


def _rounds(written: Iterable[Written]) -> Iterator[tuple[int, list[AnyFault]]]:
    """Kills at all of these writes that change something, in the fewest plans: one for each step in a plan. With their numbers."""
    changing = [each for each in written if each.changes]
    by_step = [_moments(list(group)) for _, group in itertools.groupby(changing, key=lambda each: each.step)]
    for number, faults in enumerate(itertools.zip_longest(*by_step), 1):
        yield number, [fault for fault in faults if fault is not None]


def _moments(written: list[Written]) -> list[Kill]:
    """Kills after the first and the last write of each kind in one step, and one before the first write of the worst kind."""
    ordered = sorted(written, key=lambda each: (_WORST_FIRST.index(each.verb), each.resource, each.subresource))
    after = [Kill(**each.selectors, nth=nth) for each in ordered for nth in sorted({1, each.times})]
    return after + [Kill(**each.selectors, moment="before") for each in ordered[:1]]
