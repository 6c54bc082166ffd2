"""Plans of the external scenario: what the controller keeps in another system drifts, without any event in Kubernetes, or the
system is down while the primary changes.

The API is silent until what drifted is repaired, or until it should have been; only then is the primary touched. So a controller
that needs an event differs from one that looks by itself, and from one that never looks.
"""

from collections.abc import Iterator
from itertools import islice

from msgspec import structs

from staleproof.core.fault import (  # what is imported by its name gets no plans of its own elsewhere
    AnyFault,
    KillAtCall,
    LateNotification,
    LoseNotification,
    RejectCall,
    RepeatNotification,
    Restart,
    SlowStart,
    Window,
    process,
    streams,
)
from staleproof.core.operator.observed import Observed, Outside
from staleproof.core.plan.step import AwaitRepair, Delete, Drift, Rest, Resync, Step, Touch, TurnSystem, at_once
from staleproof.core.times import (
    AWAY_SECONDS,
    DOWN_SECONDS,
    FIRST_LIST_SECONDS,
    LATE_NOTIFICATION_SECONDS,
    NEVER_REPAIRED_SECONDS,
    OUTAGE_FACTOR,
    REPAIRED_FACTOR,
    REPAIRED_SECONDS,
    REPAIRED_SPARE_SECONDS,
    SLOW_SYSTEM_SECONDS,
    WAITS_SECONDS,
)
from staleproof.draw.canonical import UNWOKEN, appear, slow_to_start
from staleproof.draw.family import Draft, Scenario
from staleproof.draw.profile import Profile

_OTHERS = 3
_OF_ORDER = ("converges-after-catch-up",)
SCENARIO = Scenario("external", settle=slow_to_start)


def patience_for(outside: Outside) -> float:
    """How long the repair of what drifted is waited for: longer than the controller says that it takes. One that says that it never
    repairs is given some seconds, to be seen."""
    if outside.repairs_within is None:
        return REPAIRED_SECONDS
    if outside.repairs_within == 0:
        return NEVER_REPAIRED_SECONDS
    return REPAIRED_FACTOR * outside.repairs_within + REPAIRED_SPARE_SECONDS


@SCENARIO.family
def drift(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Another user deletes, or changes, what the controller keeps there; the API is silent, and then the primary is touched."""
    return (
        Draft(
            f"{words} while the API is silent",
            steps=_silent(observed, outside, step),
            aims=("repairs-external-drift", "drift-needs-no-api-event") if _claims(outside) else (),
        )
        for outside, words, step in profile.some(_drifts(observed))
    )


@SCENARIO.family
def unheard(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The same, and the system's notification of it is lost; where there are none, nothing is lost."""
    return (
        Draft(
            f"{words} and no notification is sent",
            steps=_silent(observed, outside, structs.replace(step, notifies=False)),
            aims=("repairs-external-drift", "drift-needs-no-api-event") if _claims(outside) else (),
        )
        for outside, words, step in profile.some(_drifts(observed))
        if "notify" in outside.can
    )


@SCENARIO.family
def missed(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The same while the controller is down: no notification and no poll of its own has seen it happen."""
    return (
        Draft(
            f"{words} while the controller is down",
            [Restart(stays_down=True, window=Window(2, 3))],
            (appear(observed), step, AwaitRepair(seconds=patience_for(outside)), UNWOKEN),
            aims=("survives-restart", "repairs-external-drift") if _claims(outside) else ("survives-restart",),
        )
        for outside, words, step in profile.some(_drifts(observed))
    )


@SCENARIO.family
def stopped(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The same while the controller's process is stopped: it goes on as if no time had passed."""
    return (
        Draft(
            f"{words} while the controller is paused",
            [process.Pause(window=Window(2, 3))],
            (appear(observed), step, AwaitRepair(seconds=patience_for(outside)), UNWOKEN),
            aims=("repairs-external-drift",) if _claims(outside) else (),
        )
        for outside, words, step in profile.more(_first(observed))
    )


@SCENARIO.family
def unlisted(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The same while a new life of the controller waits for its first list: it knows none of its primaries yet."""
    window = Window(2, 3)
    return (
        Draft(
            f"{words} before the controller's first list has come",
            [Restart(window=window), SlowStart(resource=observed.resource, by_seconds=FIRST_LIST_SECONDS, window=window)],
            (appear(observed), step, AwaitRepair(seconds=patience_for(outside)), UNWOKEN),
            aims=("survives-restart", "repairs-external-drift") if _claims(outside) else ("survives-restart",),
        )
        for outside, words, step in profile.more(_first(observed))
        if observed.resource in observed.watched
    )


@SCENARIO.family
def replaced(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Another user deletes it, and creates another of the same name, with nothing said of it: it is there, and not what it was."""
    return (
        Draft(
            f"one of the {outside.kind} in {outside.system} is replaced by one that another user has created",
            steps=_silent(observed, outside, structs.replace(step, change="created")),
            aims=("repairs-external-drift", "drift-needs-no-api-event") if _claims(outside) else (),
        )
        for outside, _, step in profile.more(_first(observed))
        if outside.otherwise
    )


@SCENARIO.family
def told(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The system notifies of what drifts, and that goes wrong on its way: it is lost, comes twice, late, or out of order."""
    for outside, words, step in profile.more(_first(observed)):
        if "notify" not in outside.can:
            continue
        aimed = ("repairs-external-drift", "drift-needs-no-api-event") if _claims(outside) else ()
        for said, fault in _notices(outside.system):
            yield Draft(f"{words} and the notification {said}", [fault], _silent(observed, outside, step), aims=aimed)
        if outside.otherwise:
            changed = Drift(system=outside.system, kind=outside.kind, change="changed", fields=outside.otherwise)
            late = LateNotification(system=outside.system, by_seconds=LATE_NOTIFICATION_SECONDS, window=Window(2, 3))
            wait = AwaitRepair(seconds=patience_for(outside))
            steps = (appear(observed), changed, step, wait, Touch(target=observed.target), wait)
            yield Draft(f"{words} and its notification comes before that of an earlier change", [late], steps, aims=aimed)


@SCENARIO.family
def unkept(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """What keeps notifications for the controller (a replication slot) is lost while the controller is down, and with it those that
    were sent meanwhile."""
    for outside, words, step in profile.more(_first(observed)):
        kept = [each for each in observed.outside if each.system == outside.system and each.names]
        for each in kept if "notify" in outside.can and _claims(outside) else ():
            lost = Drift(system=each.system, kind=each.kind, name=each.names[0])
            yield Draft(
                f"{words} while the controller is down, and its notification is lost with the {each.kind}",
                [Restart(stays_down=True, window=Window(2, 4))],
                (appear(observed), step, lost, AwaitRepair(seconds=patience_for(outside)), UNWOKEN),
                aims=("survives-restart", "repairs-external-drift"),
            )


@SCENARIO.family
def overtaken(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The primary is changed and what is outside drifts: the notification comes before the watch event, or after it."""
    for outside, words, step in profile.more(_first(observed)):
        if "notify" not in outside.can or observed.change is None or observed.resource not in observed.watched:
            continue
        wait = AwaitRepair(seconds=patience_for(outside))
        late = streams.DelayStream(resource=observed.resource, by_seconds=LATE_NOTIFICATION_SECONDS, window=Window(2, 4))
        held = (appear(observed), observed.change, step, wait, UNWOKEN)
        yield Draft(f"{words} and its notification comes before a change of the primary is shown", [late], held, aims=_OF_ORDER)
        notice = LateNotification(system=outside.system, by_seconds=LATE_NOTIFICATION_SECONDS, window=Window(2, 3))
        steps = (appear(observed), step, observed.change, wait, UNWOKEN)
        yield Draft(f"{words} and its notification comes after a change of the primary is shown", [notice], steps, aims=_OF_ORDER)


@SCENARIO.family
def refused(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The first call that may repair it is rejected, and nothing happens in Kubernetes that would make the controller try again."""
    return (
        Draft(
            f"{words} and the first call after it is rejected",
            [RejectCall(system=outside.system, window=Window(2, 4))],
            (appear(observed), step, AwaitRepair(seconds=patience_for(outside)), UNWOKEN),
            aims=("repairs-external-drift",),
        )
        for outside, words, step in profile.some(_drifts(observed))
        if _claims(outside)
    )


@SCENARIO.family
def quiet(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Nothing happens, and the primary is touched and listed anew: calls that nothing asks for show."""
    look = (Touch(target=observed.target), Resync(resource=observed.resource))
    steps = (appear(observed), Rest(seconds=WAITS_SECONDS), *look, Rest(seconds=WAITS_SECONDS), *look, UNWOKEN)
    if observed.calls:
        yield Draft("nothing happens, and the controller is made to look again", steps=steps, aims=("calm-external-calls",))


@SCENARIO.family
def recovered(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The system is down for longer than a period, while nothing happens in Kubernetes; it is up again, and something drifts. A
    controller whose last look has failed has to look again."""
    for outside, words, step in profile.more(_first(observed)):
        if _claims(outside) and {"stop", "start"} <= set(outside.can):
            down, up = (TurnSystem(system=outside.system, state=state) for state in ("down", "up"))
            away = outside.repairs_within or DOWN_SECONDS
            wait = AwaitRepair(seconds=patience_for(outside) + OUTAGE_FACTOR * away)
            yield Draft(
                f"{outside.system} was down for {away:g} s, and then {words}",
                steps=(appear(observed), down, Rest(seconds=away), up, step, wait, UNWOKEN),
                aims=("repairs-external-drift",),
            )


@SCENARIO.family
def parts(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The system is down for long while a change of the primary is taken back that its children follow: they have to follow at
    once. What the change itself has brought, with the system up, shows that it needs nothing there. Other changes, which no child
    follows, wait for the system meanwhile."""
    other_changes = at_once([observed.do(move) for move in observed.changes if not move.live and not move.is_label][:_OTHERS])
    waiting = [other_changes] if other_changes is not None else []
    turns = [(system, step) for system, step in _turns(observed) if step.state == "down"]
    for move in observed.returning[:1]:
        for system, down in profile.some(turns):
            up = TurnSystem(system=system, state="up")
            back = (down, *waiting, observed.undo(move), Rest(seconds=WAITS_SECONDS), up, Rest(seconds=AWAY_SECONDS))
            yield Draft(
                f"{system} is down while the primary is changed back",
                steps=(appear(observed), observed.do(move), *back),
                aims=("calm-external-calls",),
            )


@SCENARIO.family
def unrecorded(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The controller is killed between a call that makes something and the write that records it, and then the primary goes."""
    ends = (Delete(target=observed.target), Rest(seconds=WAITS_SECONDS))
    for system in profile.some(dict.fromkeys(each.system for each in observed.outside if each.count)):
        yield Draft(
            f"the controller is killed at a call to {system}, and the primary is deleted",
            [KillAtCall(system=system, window=Window(1, 2))],
            (appear(observed), Rest(seconds=AWAY_SECONDS), *ends),
            aims=("no-external-leak", "survives-restart"),
        )


@SCENARIO.family
def outage(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The system is down, or slow, while the primary is changed, and while it is deleted."""
    changes: list[tuple[str, Step]] = [
        ("changed" if observed.change else "touched", observed.change or Touch(target=observed.target)),
        ("deleted", Delete(target=observed.target)),
    ]
    return (
        Draft(
            f"{system} is {turned.state} while the primary is {words}",
            steps=(appear(observed), turned, change, TurnSystem(system=system, state="up"), UNWOKEN),
            aims=(),
        )
        for system, turned in profile.some(_turns(observed))
        for words, change in changes
    )


def _silent(observed: Observed, outside: Outside, step: Drift) -> tuple[Step, ...]:
    """It drifts, and the API is silent until it should have been repaired; then the primary is touched."""
    wait = AwaitRepair(seconds=patience_for(outside))
    return (appear(observed), step, wait, Touch(target=observed.target), wait)


def _claims(outside: Outside) -> bool:
    """Whether the controller may be one that repairs what drifts: it does not say that it never does."""
    return outside.repairs_within != 0


def _drifts(observed: Observed) -> Iterator[tuple[Outside, str, Drift]]:
    """What drifts, in words, and the step; of what its system's adapter can change."""
    for outside in observed.outside:
        if outside.count and {"read_state", "drift"} <= set(outside.can):
            of = f"one of the {outside.kind} in {outside.system}"
            yield outside, f"{of} is deleted", Drift(system=outside.system, kind=outside.kind)
            if outside.otherwise:
                changed = Drift(system=outside.system, kind=outside.kind, change="changed", fields=outside.otherwise)
                yield outside, f"{of} is changed", changed


def _first(observed: Observed) -> Iterator[tuple[Outside, str, Drift]]:
    """Of each kind of thing the first way in which it drifts: it is deleted."""
    for outside in observed.outside:
        yield from islice((each for each in _drifts(observed) if each[0] is outside), 1)


def _notices(system: str) -> Iterator[tuple[str, AnyFault]]:
    """What may happen to a notification, in words, and the fault."""
    window = Window(2, 3)
    yield "is lost", LoseNotification(system=system, window=window)
    yield "comes twice", RepeatNotification(system=system, window=window)
    yield "comes late", LateNotification(system=system, by_seconds=LATE_NOTIFICATION_SECONDS, window=window)


def _turns(observed: Observed) -> Iterator[tuple[str, TurnSystem]]:
    """Systems that the controller calls, each down if it can be, and slow."""
    for system in dict.fromkeys(each.system for each in observed.calls):
        can = {name for outside in observed.outside if outside.system == system for name in outside.can}
        if {"stop", "start"} <= can:
            yield system, TurnSystem(system=system, state="down")
        if "slow" in can:
            yield system, TurnSystem(system=system, state="slow", seconds=SLOW_SYSTEM_SECONDS)
