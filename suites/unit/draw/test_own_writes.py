"""Plans of the own-writes scenario: each can be run, and each can prove something."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from staleproof.core.fault import HideOwnWrite, OwnWrite, Window
from staleproof.core.observed import ChildKind, Observed
from staleproof.core.plan import Apply, Manifest, Patch, Plan, Rest, Resync, Settle, Target, Touch, contradictions, decode, encode
from staleproof.draw.own_writes import AIMS, POKES, can_draw, canonical, idempotence, plans

TARGET = Target("example.com/v1", "Widget", "w")
PODS = ChildKind("pods", creates=4, deletes=3, stable_names=False)
SERVICES = ChildKind("services", creates=1, deletes=0, stable_names=True)


def sample(replicas: int) -> Manifest:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"replicas": replicas}}


def observed(*children: ChildKind, replicas: int = 3, scales: bool = True, relists_at_once: bool = True) -> Observed:
    path = ("spec", "replicas") if scales else ()
    return Observed(sample(replicas), "widgets.example.com", path, children, relists_at_once=relists_at_once)


@st.composite
def controllers(draw: st.DrawFn) -> Observed:
    """Anything that a fault-free run may show: the workload observed is apply, scale up by one, scale down by three."""
    replicas, scales = draw(st.integers(0, 8)), draw(st.booleans())
    creates, deletes = (replicas + 1, min(3, replicas + 1)) if scales else (2, 0)
    pods = ChildKind("pods", creates, deletes, stable_names=draw(st.booleans()))
    others = [SERVICES, ChildKind("jobs.batch", 3, 0, stable_names=False)]
    once = draw(st.lists(st.sampled_from(others), max_size=2))
    return observed(pods, *once, replicas=replicas, scales=scales, relists_at_once=draw(st.booleans()))


def test_the_canonical_plan_hides_the_first_create_and_all_after_it_then_touches() -> None:
    assert list(canonical(observed(PODS), "create", "touch")) == [
        Plan(
            scenario="own-writes",
            title="hide own creates of pods, then touch",
            aims=("no-duplicate-create", "converges-after-catch-up"),
            steps=(Apply(object=sample(3)), Touch(target=TARGET)),
            faults=(HideOwnWrite(resource="pods", window=Window(from_step=1), write=OwnWrite("create")),),
            settle=Settle(resync=True),
        )
    ]


def test_the_canonical_plan_of_deletes_leaves_something_that_could_be_deleted_in_excess() -> None:
    down = Patch(target=TARGET, patch={"spec": {"replicas": 1}})

    assert list(canonical(observed(PODS), "delete", "resync")) == [
        Plan(
            scenario="own-writes",
            title="hide own deletes of pods, then resync",
            aims=("no-excess-delete", "converges-after-catch-up"),
            steps=(Apply(object=sample(3)), down, Resync(resource="widgets.example.com")),
            faults=(HideOwnWrite(resource="pods", window=Window(from_step=2), write=OwnWrite("delete")),),
            settle=Settle(resync=True),
        )
    ]
    (small,) = canonical(observed(PODS, replicas=1), "delete", "touch")
    assert small.steps[:2] == (Apply(object=sample(3)), down)


def test_a_sample_that_wants_nothing_is_made_to_want_something() -> None:
    (plan,) = canonical(observed(PODS, replicas=0), "create", "touch")

    assert plan.steps[0] == Apply(object=sample(1))


def test_idempotence_needs_no_fault() -> None:
    plan = idempotence(observed(PODS))

    assert (plan.aims, plan.faults, plan.settle.resync) == (("settles",), (), True)
    assert plan.steps == (Apply(object=sample(3)), Patch(target=TARGET, patch={"spec": {"replicas": 4}}))
    assert idempotence(observed(PODS, scales=False)).steps == (Apply(object=sample(3)),)


def test_only_what_the_controller_writes_can_be_hidden() -> None:
    assert [plan.faults[0].resource for plan in canonical(observed(PODS, SERVICES), "create", "touch")] == ["pods", "services"]
    assert [plan.faults[0].resource for plan in canonical(observed(PODS, SERVICES), "delete", "touch")] == ["pods"]
    assert list(canonical(observed(PODS, scales=False), "delete", "touch")) == []
    assert list(canonical(observed(PODS, relists_at_once=False), "delete", "resync")) == []
    assert can_draw(observed(PODS))
    assert not can_draw(observed(ChildKind("pods", 0, 3, stable_names=True)))


@given(controllers(), st.sampled_from(("create", "delete")), st.sampled_from(POKES))
def test_canonical_plans_make_sense(of: Observed, verb: str, poke: str) -> None:
    for plan in canonical(of, "create" if verb == "create" else "delete", "touch" if poke == "touch" else "resync"):
        check(plan, of)


@given(st.data())
def test_drawn_plans_make_sense(data: st.DataObject) -> None:
    of = data.draw(controllers())

    check(data.draw(plans(of)), of)


def check(plan: Plan, of: Observed) -> None:
    """It is free of contradictions, survives the file, its fault can fire, and something makes the controller look again."""
    assert contradictions(plan) == []
    assert decode(encode(plan)) == plan
    (fault,) = plan.faults
    assert isinstance(fault, HideOwnWrite)
    assert plan.aims == AIMS["delete" if fault.write.verb == "delete" else "create"]
    assert 1 <= fault.write.nth <= caused(plan, of, fault)
    after = plan.steps[fault.window.from_step :]
    assert any(isinstance(step, Touch | Resync) for step in after)
    assert all(step.seconds > 0 for step in plan.steps if isinstance(step, Rest))


def caused(plan: Plan, of: Observed, fault: HideOwnWrite) -> int:
    """How many such writes the step in which the fault waits for its own can be relied on to cause."""
    counts = [0]
    for step in plan.steps:
        match step:
            case Apply(object=manifest):
                counts.append(manifest["spec"]["replicas"] if of.scale_path else 1)
            case Patch(patch=patch):
                counts.append(patch["spec"]["replicas"])
            case _:
                counts.append(counts[-1])
    before, now = counts[fault.window.from_step - 1], counts[fault.window.from_step]
    if fault.resource != "pods":
        return 1 if fault.window.from_step == 1 and fault.write.verb == "create" else 0
    if not of.scale_path:
        return 1
    return now - before if fault.write.verb == "create" else before - now


@pytest.mark.parametrize("verb", ["create", "delete"])
def test_a_delete_is_only_hidden_where_something_is_left(verb: str) -> None:
    @given(plans(observed(PODS)))
    def holds(plan: Plan) -> None:
        (fault,) = plan.faults
        assert isinstance(fault, HideOwnWrite)
        step = plan.steps[fault.window.from_step - 1]
        if fault.write.verb == verb == "delete":
            assert isinstance(step, Patch)
            assert step.patch["spec"]["replicas"] > 0

    holds()
