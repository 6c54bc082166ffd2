"""plan.json: what is written can be read again; what is wrong is refused with its place."""

import base64
import json
from typing import Any, TypeVar

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from staleproof.core.fault import (
    AnyFault,
    DelayStream,
    HideOwnWrite,
    HoldStream,
    LoseAnswer,
    OwnWrite,
    RefuseWatchList,
    Reject,
    Reorder,
    RepeatFrame,
    Window,
)
from staleproof.core.plan.manifest import Manifest, Target
from staleproof.core.plan.plan import (
    API_VERSION,
    FurtherProgram,
    Plan,
    PlanError,
    Settle,
    Subject,
    contradictions,
    decode,
    encode,
    fault_problems,
    masked,
    program_problems,
)
from staleproof.core.plan.step import (
    Apply,
    Delete,
    Edit,
    Heartbeat,
    Lull,
    Patch,
    PatchStatus,
    Recreate,
    Remove,
    Rest,
    Resync,
    Step,
    Touch,
)

from ..fault_strategies import hostile_faults, opening_faults, read_faults, stream_faults, windows, write_faults
from ..structs import OBJECT, TEXT, anything

APPLIED = st.builds(
    lambda manifest, name: {**manifest, "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}, OBJECT, TEXT
)
NTH = st.sampled_from([-2, -1, 1, 3])
STEP: st.SearchStrategy[Step] = st.one_of(
    anything(Apply, object=APPLIED),
    *(anything(kind, nth=NTH) for kind in (Recreate, Remove, Edit, Heartbeat)),
    anything(PatchStatus, patch=st.builds(lambda status: {"status": status}, OBJECT)),
    *(anything(kind) for kind in (Patch, Touch, Delete, Resync, Lull, Rest)),
)
STEPS = 3
FAULT: st.SearchStrategy[AnyFault] = st.one_of(
    stream_faults("pods", steps=STEPS, namespace="trial", name="x"),
    opening_faults("pods", steps=STEPS),
    read_faults("pods", steps=STEPS),
    write_faults("pods", steps=STEPS),
)
HOSTILE: st.SearchStrategy[AnyFault] = st.one_of(*hostile_faults("pods", window=windows(STEPS)).values())


T = TypeVar("T")


def tuples(elements: st.SearchStrategy[T], *, least: int = 0) -> st.SearchStrategy[tuple[T, ...]]:
    return st.lists(elements, min_size=least, max_size=3).map(tuple)


PROGRAM = anything(FurtherProgram, command=tuples(TEXT, least=1), name=st.sampled_from(["poller", "web-hooks.2"]))
PLAN = st.builds(
    lambda faults, **fields: Plan(faults=faults[0], contract=faults[1], **fields),
    st.tuples(tuples(FAULT), st.just("legal")) | st.tuples(tuples(FAULT | HOSTILE), st.just("hostile")),
    scenario=TEXT,
    title=TEXT,
    aims=tuples(TEXT),
    manifests=tuples(OBJECT),
    before=tuples(APPLIED),
    steps=st.lists(STEP, min_size=STEPS, max_size=STEPS + 1).map(tuple),
    settle=anything(Settle),
    fresh=st.booleans(),
    controller=st.none()
    | anything(Subject, also=tuples(PROGRAM), image=st.just("")).filter(lambda each: not program_problems(each)),
)
SMALL = Plan(scenario="own-writes", steps=(Rest(seconds=1.0),))


@given(PLAN)
def test_round_trip(plan: Plan) -> None:
    assert decode(encode(plan)) == masked(plan)


@given(PLAN)
def test_a_plan_without_secrets_and_variables_is_written_as_it_is(plan: Plan) -> None:
    if plan.controller is not None:
        plan = msgspec.structs.replace(plan, controller=msgspec.structs.replace(plan.controller, env={}, also=()))
    assert masked(plan) == plan


@given(PLAN)
def test_the_reference_is_the_same_workload_without_faults_and_resyncs(plan: Plan) -> None:
    reference = plan.reference
    assert (reference.faults, reference.contract, reference.settle.resync, reference.fresh) == ((), "legal", False, False)
    kept = [step for step in plan.steps if not isinstance(step, Resync | Lull)]
    assert [step for step in reference.steps if not isinstance(step, Rest)] == [step for step in kept if not isinstance(step, Rest)]
    again = {"faults": plan.faults, "steps": plan.steps, "settle": plan.settle, "title": plan.title, "contract": plan.contract}
    assert msgspec.structs.replace(reference, **again, fresh=plan.fresh) == plan
    assert reference.reference.steps == reference.steps


def test_a_reference_rests_briefly() -> None:
    steps = (Rest(seconds=12.0), Rest(seconds=0.01))
    assert msgspec.structs.replace(SMALL, steps=steps).reference.steps == (Rest(seconds=0.1), Rest(seconds=0.01))


def test_a_reference_is_called_after_its_plan() -> None:
    assert msgspec.structs.replace(SMALL, title="hide a create").reference.title == "reference of: hide a create"


def test_what_is_left_to_defaults_is_not_written() -> None:
    data = encode(SMALL)
    assert data.endswith(b"}\n")
    assert json.loads(data) == {
        "apiVersion": "staleproof.dev/v1alpha1",
        "kind": "Plan",
        "scenario": "own-writes",
        "steps": [{"do": "rest", "seconds": 1.0}],
    }


# --- what is refused -------------------------------------------------------------------------------------------------------------


def changed(**fields: Any) -> bytes:  # noqa: ANN401  # any JSON
    raw = json.loads(encode(SMALL)) | fields
    return json.dumps({key: value for key, value in raw.items() if value != "absent"}).encode()


def step(**fields: Any) -> bytes:  # noqa: ANN401  # any JSON
    return changed(steps=[fields])


def fault(**fields: Any) -> bytes:  # noqa: ANN401  # any JSON
    return changed(faults=[{"fault": "Hold", "resource": "pods"}, {"resource": "pods"} | fields])


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        (b"", ["not JSON"]),
        (b"{", ["not JSON"]),
        (b"\xff", ["not JSON"]),
        (b'"\xff"', ["not JSON"]),
        (b"kind: Plan", ["not JSON"]),
        (b"[]", ['"kind": "Plan"', "found list"]),
        (b"null", ['"kind": "Plan"', "found NoneType"]),
        (b"{}", ['"kind": "Plan"', "found kind None"]),
        (changed(kind="History"), ['"kind": "Plan"', "found kind 'History'"]),
        (changed(apiVersion="absent"), [API_VERSION, "found None"]),
        (changed(apiVersion="staleproof.dev/v1"), [API_VERSION, "found 'staleproof.dev/v1'", "another version"]),
        (changed(scenario="absent"), ["scenario is missing"]),
        (changed(steps="absent"), ["steps is missing"]),
        (changed(scenario=5), ["Expected `str`, got `int`", "$.scenario"]),
        (changed(stpes=[]), ["there is no field 'stpes'; did you mean 'steps'?"]),
        (changed(steps={}), ["Expected `array`, got `object`", "$.steps"]),
        (changed(steps=[]), ["steps: a plan needs at least one step"]),
        (changed(settle={"idle": 1}), ["there is no field 'settle.idle'"]),
        (changed(settle={"idleSeconds": "1"}), ["$.settle.idleSeconds"]),
        (changed(aims=[1]), ["$.aims[0]"]),
        (changed(manifests=["x"]), ["$.manifests[0]"]),
        (changed(before=[{"kind": "Secret"}]), ["before[0] needs apiVersion, kind and metadata.name"]),
        (step(), ['step 1: "do" is missing']),
        (step(do="wait"), ["step 1: there is no step 'wait'"]),
        (step(do="rest", seconds="1"), ["$.steps[0].seconds"]),
        (step(do="rest", seconds=1, minutes=1), ["step 1 (rest): there is no field 'minutes'"]),
        (fault(), ['fault 2: "fault" is missing', "AddBookmarks, Coalesce"]),
        (fault(fault="Explode"), ["fault 2: there is no fault 'Explode'", "did you mean"]),
        (fault(fault="Hold", release="never"), ["fault 2 (Hold): release is 'never'", "expected one of events, relist"]),
        (fault(fault="Hold", window={"from": 1}), ["fault 2 (Hold)", "no field 'window.from'", "did you mean 'window.fromStep'"]),
        (fault(fault="Hold", window={"fromStep": 2}), ["fault 2 (Hold)", "fromStep is 2", "steps 1 to 1"]),
    ],
)
def test_what_is_wrong_is_named_with_its_place(data: bytes, parts: list[str]) -> None:
    with pytest.raises(PlanError) as caught:
        decode(data)
    message = str(caught.value)
    assert [part for part in parts if part not in message] == [], message


POD: Manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}}
TWO_STEPS = (Rest(seconds=1.0), Rest(seconds=1.0))


def hold(window: Window) -> AnyFault:
    return HoldStream(resource="pods", window=window)


@pytest.mark.parametrize(
    ("faults", "problems"),
    [
        ((), []),
        ((hold(Window(1, 2, 0.5)), hold(Window(2, 3)), hold(Window(2, 99))), []),
        ((HideOwnWrite(resource="pods", write=OwnWrite("create", 3)), DelayStream(resource="pods", by_seconds=0.1)), []),
        ((hold(Window(0)),), ["window.fromStep is 0, expected a positive number"]),
        ((hold(Window(3)),), ["fromStep is 3, the plan has steps 1 to 2"]),
        ((hold(Window(2, 2)),), ["untilStep 2 is not after fromStep 2"]),
        ((hold(Window(2, 1)),), ["untilStep 1 is not after fromStep 2"]),
        ((hold(Window(1, None, 0.0)),), ["window.seconds is 0, expected a positive number"]),
        ((hold(Window(1, None, -1.0)),), ["window.seconds is -1, expected a positive number"]),
        (
            (hold(Window()), hold(Window(3, 2, 0.0))),
            [
                "window.seconds is 0, expected a positive number",
                "fromStep is 3, the plan has steps 1 to 2",
                "untilStep 2 is not after fromStep 3",
            ],
        ),
    ],
)
def test_contradictions(faults: tuple[AnyFault, ...], problems: list[str]) -> None:
    """They are of the last fault."""
    plan = Plan(scenario="x", steps=TWO_STEPS, faults=faults)
    expected = [f"fault {len(faults)} (Hold): {problem}" for problem in problems]
    assert contradictions(plan) == expected
    if expected:
        with pytest.raises(PlanError) as caught:
            decode(encode(plan))
        first = [problem for problem in expected if "positive" in problem] or expected  # single values come before what fits
        assert str(caught.value) == "; ".join(first)


ROW_19 = (
    "hostile: an event never appears twice (legality row 19, as:pkg/storage/cacher/cache_watcher.go)"
    '; if that is wanted, say "contract": "hostile"'
)


def test_what_is_hostile_must_be_asked_for() -> None:
    plan = Plan(scenario="x", steps=TWO_STEPS, faults=(hold(Window()), RepeatFrame(resource="pods")))
    assert contradictions(plan) == [f"fault 2 (RepeatFrame): {ROW_19}"]
    assert contradictions(msgspec.structs.replace(plan, contract="hostile")) == []


@pytest.mark.parametrize(
    ("fault", "row"),
    [
        (Reject(resource="pods", code=409), "32"),
        (LoseAnswer(resource="pods", code=503), "31"),
        (RefuseWatchList(resource="pods"), "26b"),
    ],
)
def test_a_legal_fault_may_be_used_in_a_hostile_way(fault: AnyFault, row: str) -> None:
    (problem,) = fault_problems([fault], "legal")
    assert f"legality row {row}" in problem
    assert '"contract": "hostile"' in problem
    assert fault_problems([fault], "hostile") == []


def test_nonsense_is_nonsense_under_any_contract() -> None:
    fault = Reorder(resource="pods", by_seconds=0.0)
    assert fault_problems([fault], "hostile") == ["fault 1 (Reorder): bySeconds is 0, expected a positive number"]


def test_faults_outside_a_plan_have_no_steps_to_fit() -> None:
    assert fault_problems([hold(Window(99))], "legal") == []


def test_how_long_to_wait_must_be_positive() -> None:
    plan = Plan(scenario="x", steps=TWO_STEPS, settle=Settle(idle_seconds=0.0, deadline_seconds=-1.0))
    assert contradictions(plan) == [
        "settle.idleSeconds is 0, expected a positive number",
        "settle.deadlineSeconds is -1, expected a positive number",
    ]


# --- what is not written ---------------------------------------------------------------------------------------------------------

SECRETIVE = st.sampled_from(["hunter2xyz", "s3cr3t-s3cr3t", "correct horse"])
PAYLOAD = st.dictionaries(TEXT, SECRETIVE | st.none(), max_size=3)


def secret(data: dict[str, str | None], plain: dict[str, str | None]) -> Manifest:
    coded = {key: value and base64.b64encode(value.encode()).decode() for key, value in data.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "database"}, "data": coded, "stringData": plain}


SECRET = st.builds(secret, PAYLOAD, PAYLOAD)
SECRET_STEP: st.SearchStrategy[Step] = st.one_of(
    st.builds(Apply, object=SECRET),
    st.builds(
        lambda manifest: Patch(target=Target("v1", "Secret", "database"), patch={k: manifest[k] for k in ("data", "stringData")}),
        SECRET,
    ),
    st.builds(lambda manifest: Edit(resource="secrets", patch={k: manifest[k] for k in ("data", "stringData")}), SECRET),
    STEP,
)
SECRET_PLAN = st.builds(
    Plan,
    scenario=TEXT,
    manifests=tuples(SECRET | OBJECT),
    before=tuples(SECRET | APPLIED),
    steps=tuples(SECRET_STEP, least=1),
    controller=st.none() | st.builds(Subject, env=st.dictionaries(st.text(min_size=1, max_size=8), SECRETIVE, max_size=3)),
)


@given(SECRET_PLAN)
def test_no_secret_is_written_and_what_is_written_can_be_run(plan: Plan) -> None:
    data = encode(plan)
    for value in ("hunter2xyz", "s3cr3t-s3cr3t", "correct horse"):
        assert value.encode() not in data
        assert base64.b64encode(value.encode()) not in data
    assert decode(data) == masked(plan)
    assert encode(decode(data)) == data


@given(SECRET_PLAN)
def test_a_trial_and_its_references_have_the_same_placeholders(plan: Plan) -> None:
    without = msgspec.structs.replace(plan, manifests=(), before=())
    assert masked(plan).reference.steps == masked(plan.reference).steps == masked(without).reference.steps


POLLER = FurtherProgram(command=("./bin/poller",), env={"PASSWORD": "long enough"})


@pytest.mark.parametrize(
    ("also", "image", "expected"),
    [
        ((POLLER, FurtherProgram(name="poller", command=("./other",))), "", ["'poller' is there twice; each program needs a name"]),
        ((FurtherProgram(name="controller", command=("p",)),), "", ["'controller' is what the controller itself is called"]),
        ((FurtherProgram(name="a b", command=("p",)),), "", ["'a b' cannot be a name; it takes letters, digits"]),
        ((FurtherProgram(command=("/usr/bin/proxy",)),), "", ["'proxy' cannot be a name: it would be that of another log"]),
        ((POLLER,), "example.com/acme", ["a controller that is an image cannot have further programs yet"]),
        ((POLLER, FurtherProgram(name="other", command=("./bin/poller",))), "", []),
    ],
)
def test_what_is_wrong_with_further_programs(also: tuple[FurtherProgram, ...], image: str, expected: list[str]) -> None:
    subject = Subject(("./m",) if not image else (), image, also=also)
    found = program_problems(subject)
    assert len(found) == len(expected)
    assert all(f"also: {words}" in each for words, each in zip(expected, found, strict=True))
    plan = msgspec.structs.replace(SMALL, controller=subject)
    assert contradictions(plan) == [f"controller: {each}" for each in found]


def test_a_fault_that_happens_to_no_program_of_the_subject_is_refused() -> None:
    fault = HoldStream(resource="pods", program="poler")
    plan = msgspec.structs.replace(SMALL, faults=(fault,), controller=Subject(("./m",), also=(POLLER,)))
    assert contradictions(plan) == ["fault 1 (Hold): there is no program 'poler'; the subject has poller"]
    alone = msgspec.structs.replace(plan, controller=Subject(("./m",)))
    assert contradictions(alone) == ["fault 1 (Hold): there is no program 'poler'; the subject has no further programs (also)"]


def test_variables_of_further_programs_are_written_by_name_only() -> None:
    plan = msgspec.structs.replace(SMALL, controller=Subject(("./m",), also=(POLLER,)))
    assert b"long enough" not in encode(plan)
    written = decode(encode(plan)).controller
    assert written is not None
    assert written.also[0].env == {"PASSWORD": "$PASSWORD"}


def test_a_further_program_has_the_controllers_rights_and_nothing_else_of_it() -> None:
    subject = Subject(("./m",), arguments=("-v",), env={"A": "1"}, service_account="ns/manager", also=(POLLER,))
    assert subject.programs == ("poller",)
    assert subject.further("poller") == Subject(("./bin/poller",), env=POLLER.env, service_account="ns/manager")
