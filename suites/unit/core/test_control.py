"""Bodies of the control API: what makes sense is read, what does not is refused with what to do, whatever it is."""

import json
import re
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from staleproof.core.control import AddFault, InstallPlan, Release, SeverStreams, Step, read
from staleproof.core.fault import HoldStream, Window
from staleproof.core.plan.plan import PlanError

BODIES = (InstallPlan, AddFault, Step, Release, SeverStreams)
HOLD = {"fault": "Hold", "resource": "pods"}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["faults", "fault", "step", "how", "x"]), inner),
    max_leaves=8,
)


def body(**fields: Any) -> bytes:  # noqa: ANN401  # any JSON
    return json.dumps(fields).encode()


def test_a_body_is_read() -> None:
    plan = read(body(faults=[HOLD | {"window": {"seconds": 2}}], namespace="n"), InstallPlan)
    assert plan == InstallPlan((HoldStream(resource="pods", window=Window(seconds=2.0)),), "n")
    assert read(body(step=3, revision=7), Step) == Step(3, 7)
    assert read(b"", InstallPlan) == InstallPlan()


@pytest.mark.parametrize(
    ("data", "model", "said"),
    [
        (b"{", InstallPlan, "not JSON"),
        (b"\xff\xfe", InstallPlan, "not JSON"),
        (b"[" * 100_000, InstallPlan, "not JSON"),
        (b'{"step": 1e400}', Step, "not JSON: Number out of range"),
        (b"[]", Step, "Expected `object`, got `array`"),
        (body(falts=[]), InstallPlan, "there is no field 'falts'; did you mean 'faults'?"),
        (body(nonsense=1), Step, "there is no field 'nonsense'; there are revision, step"),
        (body(fault=HOLD), InstallPlan, "there is no field 'fault'; did you mean 'faults'?"),
        (body(faults=[{"fault": "Hodl", "resource": "pods"}]), InstallPlan, "there is no fault 'Hodl'; did you mean 'Hold'?"),
        (body(fault=HOLD | {"resorce": "pods"}), AddFault, "there is no field 'resorce'; did you mean 'resource'?"),
        (body(fault=[]), AddFault, "fault: expected an object, found list"),
        (body(), AddFault, "fault is missing"),
        (body(contract="hostil"), InstallPlan, "contract is 'hostil', expected one of hostile, legal; did you mean 'hostile'?"),
        (body(faults=[HOLD | {"release": "evnts"}]), InstallPlan, "fault 1 (Hold): release is 'evnts', expected one of events, "),
        (body(fault=HOLD | {"window": {"fromStp": 1}}), AddFault, "did you mean 'window.fromStep'?"),
        (body(faults=[{"fault": ["Hold"]}]), InstallPlan, "fault 1"),
        (body(fault=HOLD | {"stream": -1}), AddFault, "fault (Hold): stream is -1, expected a positive number"),
        (body(fault={"fault": "DropFrame", "resource": "pods"}), AddFault, 'if that is wanted, say "contract": "hostile"'),
        (body(step="one"), Step, "Expected `int`"),
        (body(step=0), Step, "steps are counted from 1"),
        (body(resource="pods"), Release, "resource and revision go together"),
        (body(revision=7), Release, "resource and revision go together"),
        (body(resource="pods", how="softly"), SeverStreams, "how is 'softly', expected one of "),
    ],
)
def test_what_makes_no_sense_is_refused(data: bytes, model: type, said: str) -> None:
    with pytest.raises(PlanError, match=re.escape(said)):
        read(data, model)


def test_what_is_hostile_is_let_in_when_it_is_wanted() -> None:
    wanted = read(body(fault={"fault": "DropFrame", "resource": "pods"}, contract="hostile"), AddFault)
    assert wanted.fault.contract == "hostile"


@pytest.mark.parametrize("fault", [{"fault": "Kill", "resource": "pods"}, {"fault": "Restart"}, {"fault": "Pause"}])
def test_what_is_done_to_the_process_needs_a_runner(fault: dict[str, str]) -> None:
    kind = fault["fault"]
    refused = f" ({kind}): it is done to the controller's process, which the proxy"
    with pytest.raises(PlanError, match=re.escape(f"fault 2{refused}")):
        read(body(faults=[HOLD, fault]), InstallPlan)
    with pytest.raises(PlanError, match=re.escape(f"fault 1{refused}")):
        read(body(fault=fault), AddFault)
    assert read(body(faults=[HOLD, fault], runner=True), InstallPlan).faults[1].tag == kind


@given(JSON, st.sampled_from(BODIES))
def test_whatever_comes_is_read_or_refused(value: object, model: type) -> None:
    with suppress(PlanError):
        assert isinstance(read(json.dumps(value).encode(), model), model)
