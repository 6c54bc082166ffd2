"""Plans about external systems: what drifts there, and what is done while one is down; only what its adapter can do."""

from dataclasses import replace

import pytest
from msgspec import structs

from staleproof.core.fault import (
    DelayStream,
    KillAtCall,
    LateNotification,
    LoseNotification,
    Pause,
    RejectCall,
    RepeatNotification,
    Restart,
    SlowStart,
    Window,
)
from staleproof.core.operator.observed import Calls, Observed, Outside
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import AwaitRepair, Delete, Drift, Patch, Rest, Resync, Touch, TurnSystem, describe
from staleproof.core.times import NEVER_REPAIRED_SECONDS, REPAIRED_SECONDS
from staleproof.draw.other_faults import families
from staleproof.draw.outside import SCENARIO
from staleproof.draw.profile import PROFILES, STANDARD

from .seen import CHANGE, TARGET, WIDGETS, check, widgets

ALL = ("count_calls", "drift", "read_state", "slow", "start", "stop")
DELETED = Drift(system="db", kind="roles")
CHANGED = Drift(system="db", kind="roles", change="changed", fields={"login": False})


def keeper(*, can: tuple[str, ...] = ALL, within: float | None = None, count: int = 1) -> Observed:
    """A controller that keeps a role in `db` for each Widget."""
    outside = Outside("db", "roles" if count else "", count, {"login": False} if count else {}, can, within)
    return replace(widgets(), calls=(Calls(1, "db", 2),), outside=(outside,))


def plans(name: str, of: Observed, profile: str = STANDARD.name) -> list[Plan]:
    found = [plan for family in SCENARIO.families if family.name == name for plan in family.plans(of, PROFILES[profile])]
    for plan in found:
        check(plan, of)
    return found


def test_what_is_kept_outside_is_deleted_and_changed_while_the_api_is_silent() -> None:
    found = plans("drift", keeper())
    assert [plan.steps[1] for plan in found] == [DELETED, CHANGED]
    for plan in found:
        wait = AwaitRepair(seconds=REPAIRED_SECONDS)
        assert plan.steps[2:] == (wait, Touch(target=TARGET), wait)
        assert plan.faults == ()
    assert len(plans("drift", keeper(), "smoke")) == 1


@pytest.mark.parametrize(("within", "seconds"), [(None, REPAIRED_SECONDS), (5.0, 12.0), (0.0, NEVER_REPAIRED_SECONDS)])
def test_a_repair_is_waited_for_as_long_as_the_controller_says(within: float | None, seconds: float) -> None:
    assert {plan.steps[2] for plan in plans("drift", keeper(within=within))} == {AwaitRepair(seconds=seconds)}


def test_the_same_where_the_notification_is_lost_if_the_system_tells_of_it_at_all() -> None:
    found = plans("unheard", keeper(can=(*ALL, "notify")))
    assert [plan.steps[1] for plan in found] == [unheard(DELETED), unheard(CHANGED)]
    assert plans("unheard", keeper()) == []


def unheard(step: Drift) -> Drift:
    return structs.replace(step, notifies=False)


def test_the_same_while_the_controller_is_down() -> None:
    found = plans("missed", keeper())
    assert [plan.steps[1] for plan in found] == [DELETED, CHANGED]
    assert {plan.faults for plan in found} == {(Restart(stays_down=True, window=Window(2, 3)),)}


def test_the_same_while_it_is_paused_and_before_its_first_list() -> None:
    (paused,) = plans("stopped", keeper())
    assert paused.steps[1] == DELETED
    assert paused.faults == (Pause(window=Window(2, 3)),)
    (unlisted,) = plans("unlisted", keeper())
    assert unlisted.steps[1] == DELETED
    restart, slow = unlisted.faults
    assert restart == Restart(window=Window(2, 3))
    assert isinstance(slow, SlowStart)
    assert (slow.resource, slow.window) == (WIDGETS, Window(2, 3))
    for name in ("stopped", "unlisted"):
        assert plans(name, keeper(), "smoke") == []


def test_another_user_creates_in_its_place_what_is_not_as_it_was() -> None:
    (plan,) = plans("replaced", keeper())
    assert plan.steps[1] == Drift(system="db", kind="roles", change="created")
    assert plans("replaced", replace(keeper(), outside=(Outside("db", "roles", 1, {}, ALL),))) == [], "nothing of it would differ"


def test_what_the_system_tells_is_lost_comes_twice_late_and_out_of_order() -> None:
    found = plans("told", keeper(can=(*ALL, "notify")))
    assert {type(plan.faults[0]) for plan in found} == {LoseNotification, RepeatNotification, LateNotification}
    assert all(step.notifies for plan in found for step in plan.steps if isinstance(step, Drift))
    first, second = found[-1].steps[1:3]
    assert (first, second) == (CHANGED, DELETED)
    assert found[-1].faults[0].window == Window(2, 3), "the second notification is in time"
    assert plans("told", keeper()) == [], "the system tells of nothing"


def test_the_system_tells_of_it_before_and_after_a_change_of_the_primary_is_shown() -> None:
    before, after = plans("overtaken", keeper(can=(*ALL, "notify")))
    assert before.steps[1:3] == (CHANGE, DELETED)
    assert isinstance(before.faults[0], DelayStream)
    assert after.steps[1:3] == (DELETED, CHANGE)
    assert isinstance(after.faults[0], LateNotification)


def test_what_keeps_what_the_system_tells_is_lost_while_it_is_down() -> None:
    of = keeper(can=(*ALL, "notify"))
    slots = Outside("db", "slots", 0, {}, (*ALL, "notify"), names=("s",))
    (plan,) = plans("unkept", replace(of, outside=(*of.outside, slots)))
    assert plan.steps[1:3] == (DELETED, Drift(system="db", kind="slots", name="s"))
    assert plan.faults == (Restart(stays_down=True, window=Window(2, 4)),)
    assert plans("unkept", of) == []


def test_drift_is_aimed_at_unless_the_controller_says_that_it_never_repairs() -> None:
    claimed = {slug for name in ("drift", "missed") for plan in plans(name, keeper()) for slug in plan.aims}
    assert claimed >= {"repairs-external-drift", "drift-needs-no-api-event", "survives-restart"}
    unclaimed = {slug for name in ("drift", "missed") for plan in plans(name, keeper(within=0.0)) for slug in plan.aims}
    assert unclaimed.isdisjoint({"repairs-external-drift", "drift-needs-no-api-event"})


def test_the_first_call_after_a_drift_is_rejected_unless_the_controller_says_that_it_never_repairs() -> None:
    found = plans("refused", keeper())
    assert [plan.steps[1] for plan in found] == [DELETED, CHANGED]
    assert {plan.faults for plan in found} == {(RejectCall(system="db", window=Window(2, 4)),)}
    assert not any(isinstance(step, Touch) for plan in found for step in plan.steps)
    assert plans("refused", keeper(within=0.0)) == []


def test_it_is_made_to_look_while_nothing_happens() -> None:
    (plan,) = plans("quiet", keeper())
    assert [type(step) for step in plan.steps[1:]] == [Rest, Touch, Resync, Rest, Touch, Resync, Rest]
    assert plan.aims == ("calm-external-calls",)


def test_something_drifts_after_an_outage_in_which_nothing_else_happened() -> None:
    (plan,) = plans("recovered", keeper(within=5.0))
    assert [type(step) for step in plan.steps[1:]] == [TurnSystem, Rest, TurnSystem, Drift, AwaitRepair, Rest]
    assert plan.steps[2] == Rest(seconds=5.0)
    assert plan.aims == ("repairs-external-drift",)
    assert plans("recovered", keeper(within=0.0)) == []
    assert plans("recovered", keeper(can=("drift", "read_state"))) == [], "it cannot be stopped"


def test_a_change_is_taken_back_while_the_system_is_down_for_long() -> None:
    (plan,) = plans("parts", keeper())
    assert plan.steps[1] == CHANGE
    assert [type(step) for step in plan.steps[2:]] == [TurnSystem, Patch, Rest, TurnSystem, Rest]
    assert plan.steps[3] == keeper().undo(keeper().returning[0])


def test_another_change_that_no_child_follows_waits_for_the_system_meanwhile() -> None:
    of = keeper()
    waits = structs.replace(of.returning[0], live="", do={"spec": {"tier": "gold"}}, undo={"spec": {"tier": None}})
    (plan,) = plans("parts", replace(of, changes=(*of.changes, waits)))
    assert plan.steps[3] == of.do(waits)
    assert plan.steps[4] == of.undo(of.returning[0])


def test_it_is_killed_at_a_call_and_the_primary_goes() -> None:
    (plan,) = plans("unrecorded", keeper())
    assert plan.faults == (KillAtCall(system="db", window=Window(1, 2)),)
    assert [type(step) for step in plan.steps[1:]] == [Rest, Delete, Rest]
    assert "no-external-leak" in plan.aims


def test_a_system_is_down_or_slow_and_back_while_the_user_changes_or_deletes_the_primary() -> None:
    found = [[describe(step) for step in plan.steps[1:4]] for plan in plans("outage", keeper())]
    change, delete = describe(CHANGE), describe(Delete(target=TARGET))
    assert found == [[f"db {how}", what, "db is up"] for how in ("is down", "answers 2 s late") for what in (change, delete)]


@pytest.mark.parametrize(
    ("of", "family"),
    [
        (keeper(can=("count_calls", "slow")), "drift"),
        (keeper(can=("count_calls", "slow")), "missed"),
        (keeper(count=0), "drift"),
        (keeper(count=0), "unrecorded"),
        (replace(keeper(), calls=()), "quiet"),
        (replace(keeper(), calls=()), "parts"),
        (replace(keeper(), changes=()), "parts"),
        (keeper(can=("count_calls", "slow")), "parts"),
        (replace(keeper(), calls=()), "outage"),
        (widgets(), "drift"),
        (widgets(), "outage"),
    ],
)
def test_nothing_is_done_that_cannot_be_or_shows_nothing(of: Observed, family: str) -> None:
    assert plans(family, of) == []


def test_a_system_that_cannot_be_stopped_is_slow_only() -> None:
    turned = [plan.steps[1] for plan in plans("outage", keeper(can=("slow",)))]
    assert {step.state for step in turned if isinstance(step, TurnSystem)} == {"slow"}


@pytest.mark.parametrize("name", ["RejectCall", "SlowCall", "LoseCallAnswer", "KillAtCall"])
def test_each_fault_about_calls_has_plans_where_there_are_calls(name: str) -> None:
    (family,) = [each for each in families(()) if each.name == name]
    (first, *_) = [plan.faults[0] for plan in family.plans(keeper(), STANDARD)]
    assert (first.tag, first.about, first.window) == (name, "db", Window(1, 2))
    assert list(family.plans(widgets(), STANDARD)) == []
