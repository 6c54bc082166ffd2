"""Strategies for plans, for tests of your own: `workloads` are what users do, `moves` are what they change, `schedules` are what
happens to the controller meanwhile, and `plans` are all of it.

They compose: `plans(workload=…, schedule=…)` and `workloads(changes=…)` take others in their place, and everything takes what was
observed of a controller. Where nobody says, that is the controller of the pytest run. All are drawn from lists and small numbers,
so the same seed gives the same plans.
"""

from collections.abc import Callable, Sequence
from typing import Literal

import hypothesis.strategies as st

from staleproof.core.fault import (
    AnyFault,
    CallFault,
    HideOwnWrite,
    HoldStream,
    Kill,
    LoseAnswer,
    OwnWrite,
    Reject,
    Release,
    Restart,
    SeverStream,
    SlowAnswer,
    Window,
)
from staleproof.core.move import Move
from staleproof.core.observed import Observed, Written
from staleproof.core.plan import Apply, Plan, Rest, Resync, Step, Touch
from staleproof.draw.canonical import slow_to_start
from staleproof.draw.drawn import drawn_family
from staleproof.draw.family import Draft, Scenario
from staleproof.draw.occasions import stirred, written
from staleproof.errors import UsageError

Steps = tuple[Step, ...]
Faults = tuple[AnyFault, ...]
SCENARIO = Scenario("drawn", settle=slow_to_start)
_MOST_REPLICAS, _RESTS, _LATE_SECONDS = 6, (0.5, 1.0), 1.0
_RELEASES: tuple[Release, ...] = ("events", "resume", "relist")
_HOWS: tuple[Literal["clean", "truncated", "reset"], ...] = ("clean", "truncated", "reset")
_AIMS = {
    "HideOwnWrite create": ("no-duplicate-create",),
    "HideOwnWrite delete": ("no-excess-delete",),
    "Hold": ("tolerates-skew",),
    "Sever": ("survives-stream-loss",),
    "Restart": ("survives-restart",),
    "Kill": ("survives-restart",),
    "LoseAnswer": ("survives-lost-answer",),
}
_observe: list[Callable[[], Sequence[Observed]]] = []


def observe_with(observe: Callable[[], Sequence[Observed]]) -> None:
    """Whom to ask what was observed, where a strategy is not told. The plugin says that, once a run."""
    _observe[:] = [observe]


@st.composite
def observations(draw: st.DrawFn) -> Observed:
    """What the controller of this run was observed to do with one of its samples. UsageError when there is no such run."""
    if not _observe:
        raise UsageError(
            "plans are drawn for a controller, and none was observed: let the test have the fixture `trial`, or give what was "
            "observed, as in plans(observed)"
        )
    return draw(st.sampled_from(list(_observe[0]())))


@st.composite
def moves(draw: st.DrawFn, observed: Observed | None = None, *, live: bool = False) -> Move:
    """What can be changed in the primary, and taken back: what the controller passes on comes first. Scaling is none of them.

    Args:
        observed: what the controller was observed to do; empty: that of this run's.
        live: nothing but what the controller passes on to anything but the primary.
    """
    observed = observed if observed is not None else draw(observations())
    scale = ".".join(observed.scale_path)
    found = [move for move in observed.changes if move.path != scale and move.returns and (move.live or not live)]
    if not found:
        raise UsageError(
            f"nothing of {observed.target} can be changed and taken back{' that the controller passes on' if live else ''}"
        )
    return draw(st.sampled_from(found))


@st.composite
def workloads(
    draw: st.DrawFn,
    observed: Observed | None = None,
    *,
    most_steps: int = 4,
    changes: st.SearchStrategy[Move] | None = None,
) -> Steps:
    """What users do: a primary appears, is scaled, changed and changed back, touched and listed again, time passes; at last it is
    touched. A change is taken back before another is made, because each was tried by itself; one that cannot be is the last.

    Args:
        observed: what the controller was observed to do; empty: that of this run's.
        most_steps: between the first step and the last.
        changes: what is changed; empty: `moves` that the controller passes on, if there are any.
    """
    observed = observed if observed is not None else draw(observations())
    replicas = draw(st.integers(1, _MOST_REPLICAS)) if observed.scale_path else observed.replicas
    steps: list[Step] = [Apply(object=observed.scaled(replicas) if observed.scale_path else observed.sample)]
    if changes is None and observed.returning:
        changes = moves(observed, live=True)
    changed: Move | None = None
    kinds = [*["scale"] * bool(observed.scale_path), *["change"] * (changes is not None), "touch", "rest"]
    kinds += ["resync"] * observed.relists_at_once
    for kind in draw(st.lists(st.sampled_from(kinds), max_size=most_steps)):
        if kind == "scale":
            replicas = draw(st.sampled_from([count for count in range(_MOST_REPLICAS + 1) if count != replicas]))
            steps.append(observed.scale(replicas))
        elif kind == "change" and changed is not None:
            steps.append(observed.undo(changed) if changed.returns else Touch(target=observed.target))
            changed = None if changed.returns else changed
        elif kind == "change" and changes is not None:
            changed = draw(changes)
            steps.append(observed.do(changed))
        elif kind == "resync":
            steps.append(Resync(resource=observed.resource))
        else:
            steps.append(Touch(target=observed.target) if kind == "touch" else Rest(seconds=draw(st.sampled_from(_RESTS))))
    return (*steps, Touch(target=observed.target))


@st.composite
def schedules(draw: st.DrawFn, steps: Steps, observed: Observed | None = None, *, most_faults: int = 2) -> Faults:
    """What happens to the controller in these steps: one fault or more, each of which has an occasion, as far as can be known.

    Args:
        steps: the workload.
        observed: what the controller was observed to do; empty: that of this run's.
        most_faults: at most so many; never two that restart it.
    """
    observed = observed if observed is not None else draw(observations())
    sources = _sources(observed, steps)
    drawn = [draw(source) for source in draw(st.lists(st.sampled_from(sources), min_size=1, max_size=most_faults))]
    return _together(drawn)


@st.composite
def plans(
    draw: st.DrawFn,
    observed: Observed | None = None,
    *,
    workload: st.SearchStrategy[Steps] | None = None,
    schedule: Callable[[Steps], st.SearchStrategy[Faults]] | None = None,
) -> Plan:
    """Complete plans, ready to be run: a workload, and a schedule of faults over it.

    Args:
        observed: what the controller was observed to do; empty: that of this run's.
        workload: where the steps come from; empty: `workloads`.
        schedule: makes of the steps where the faults come from; empty: `schedules`.
    """
    observed = observed if observed is not None else draw(observations())
    steps = draw(workload if workload is not None else workloads(observed))
    faults = draw(schedule(steps) if schedule is not None else schedules(steps, observed))
    told = ", ".join(f"{fault.tag} of {fault.resource} from step {fault.window.from_step}" for fault in faults)
    kinds = [f"{fault.tag} {fault.write.verb}" if isinstance(fault, HideOwnWrite) else fault.tag for fault in faults]
    aims = dict.fromkeys(aim for kind in kinds for aim in _AIMS.get(kind, ()))
    return SCENARIO.plan(Draft(f"drawn: {told}", (*aims, "converges-after-catch-up"), faults, steps), observed)


def _together(faults: Sequence[AnyFault]) -> Faults:
    """Those that do not take one another's occasion, the first before the others."""
    kept: list[AnyFault] = []
    for fault in faults:
        if not any(_takes(other, fault) or _takes(fault, other) for other in kept):
            kept.append(fault)
    return tuple(kept)


def _takes(one: AnyFault, other: AnyFault) -> bool:
    """Whether the other may come to nothing beside the one: there is one restart, of each resource one fault about requests and one
    about streams, and a controller that is shown nothing may not write what it wrote before."""
    if "restarts" in one.effects & other.effects:
        return True
    if one.resource == other.resource and isinstance(one, CallFault) == isinstance(other, CallFault):
        return True
    if "restarts" in one.effects and one.window.from_step == other.window.from_step:
        return not isinstance(other, CallFault)  # what comes in that step is in the lists of the new life
    waits = isinstance(other, CallFault | HideOwnWrite)
    return isinstance(one, HoldStream) and waits and one.window.from_step <= other.window.from_step


DRAWN = drawn_family(SCENARIO.name, plans)


# --- faults with an occasion -----------------------------------------------------------------------------------------------------


def _sources(observed: Observed, steps: Steps) -> list[st.SearchStrategy[AnyFault]]:
    """Where faults may come from, the most valuable first: there is always one, as it can be restarted at any step."""
    writes = [each for each in written(observed, steps) if not each.subresource and each.changes]
    hidden = [each for each in writes if each.resource in observed.watched]
    seen = stirred(observed, steps)
    found: list[st.SearchStrategy[AnyFault]] = []
    if hidden:
        found.append(st.builds(_hide, st.sampled_from(hidden), st.integers(1, 2), st.sampled_from(_RELEASES)))
    if writes:
        found += [st.builds(make, st.sampled_from(writes)) for make in (_kill, _lose, _late, _reject)]
    if seen:
        found += [
            st.builds(_hold, st.sampled_from(seen), st.sampled_from(_RELEASES)),
            st.builds(_sever, st.sampled_from(seen), st.sampled_from(_HOWS)),
        ]
    return [*found, st.integers(2, len(steps)).map(lambda step: Restart(window=Window(from_step=step)))]


def _hide(at: Written, nth: int, release: Release) -> AnyFault:
    write = OwnWrite(at.verb, min(nth, at.times))
    return HideOwnWrite(resource=at.resource, window=Window(from_step=at.step), write=write, release=release)


def _hold(at: tuple[str, int], release: Release) -> AnyFault:
    return HoldStream(resource=at[0], window=Window(from_step=at[1]), release=release)


def _sever(at: tuple[str, int], how: Literal["clean", "truncated", "reset"]) -> AnyFault:
    return SeverStream(resource=at[0], how=how, window=Window(at[1], at[1] + 1))


def _kill(at: Written) -> AnyFault:
    return Kill(**at.selectors)


def _lose(at: Written) -> AnyFault:
    return LoseAnswer(**at.selectors)


def _late(at: Written) -> AnyFault:
    return SlowAnswer(**at.selectors, by_seconds=_LATE_SECONDS)


def _reject(at: Written) -> AnyFault:
    return Reject(**at.selectors)
