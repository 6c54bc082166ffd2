"""What was probably meant: a message for each wrong name."""

from typing import get_args

import pytest

from staleproof.core.control import AddFault
from staleproof.core.fault import AnyFault
from staleproof.core.fault.suggest import FAULTS, mistakes
from staleproof.core.plan.plan import Plan

HOLD = {"fault": "Hold", "resource": "pods"}
RELEASES = "expected one of events, relist, resume, trickle"
PLAN = {"apiVersion": "staleproof.dev/v1alpha1", "kind": "Plan", "scenario": "x", "steps": [{"do": "rest", "seconds": 1}]}


def test_every_fault_is_known_by_its_name() -> None:
    assert set(FAULTS.values()) == set(get_args(AnyFault))
    assert {kind.__struct_config__.tag for kind in FAULTS.values()} == set(FAULTS)


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ({"fault": "Hodl"}, "there is no fault 'Hodl'; did you mean 'Hold'?"),
        ({"fault": "hold"}, "there is no fault 'hold'; did you mean 'Hold'?"),
        ({"fault": "DelayStream"}, "there is no fault 'DelayStream'; did you mean 'Delay'?"),
        ({"fault": "RejectAnswer"}, "there is no fault 'RejectAnswer'; did you mean 'Reject'?"),
        ({"fault": 5}, f"there is no fault 5; there are {', '.join(sorted(FAULTS))}"),
        ({"resource": "pods"}, f'"fault" is missing; it names one of {", ".join(sorted(FAULTS))}'),
        ("Hold", "expected an object, found str"),
        (None, "expected an object, found NoneType"),
    ],
)
def test_which_fault_was_meant(fault: object, problem: str) -> None:
    assert mistakes({"faults": [fault]}) == [f"fault 1: {problem}"]


@pytest.mark.parametrize(
    ("name", "fields", "problem"),
    [
        ("Hold", {"relaese": "events"}, "there is no field 'relaese'; did you mean 'release'?"),
        (
            "Hold",
            {"by_seconds": 2},
            "there is no field 'by_seconds'; there are holds, name, namespace, program, release, resource, stream, window",
        ),
        ("Hold", {"Namespace": "x"}, "there is no field 'Namespace'; did you mean 'namespace'?"),
        ("Delay", {"by_seconds": 2}, "there is no field 'by_seconds'; did you mean 'bySeconds'?"),
        ("Reject", {"retryafter": 2}, "there is no field 'retryafter'; did you mean 'retryAfter'?"),
        # what is forgotten
        ("Delay", {}, "bySeconds is missing"),
        ("HideOwnWrite", {"write": {"nth": 2}}, "write.verb is missing"),
        # what is inside
        ("Hold", {"window": {"fromStp": 2}}, "there is no field 'window.fromStp'; did you mean 'window.fromStep'?"),
        ("Hold", {"window": {"x": 2}}, "there is no field 'window.x'; there are window.fromStep, window.seconds, window.untilStep"),
        ("HideOwnWrite", {"write": {"verb": "create", "nht": 2}}, "there is no field 'write.nht'; did you mean 'write.nth'?"),
        # values
        ("Hold", {"release": "evnts"}, f"release is 'evnts', {RELEASES}; did you mean 'events'?"),
        ("Hold", {"release": "xyz"}, f"release is 'xyz', {RELEASES}"),
        ("SlowStart", {"then": "close"}, "then is 'close', expected one of closes, ends; did you mean 'closes'?"),
        (
            "HideOwnWrite",
            {"write": {"verb": "crate"}},
            "write.verb is 'crate', expected one of create, delete, patch, update; did you mean 'create'?",
        ),
        ("Reject", {"code": 404}, "code is 404, expected one of 0, 409, 429, 500, 503, 504"),
        ("Reject", {"code": "500"}, "code is '500', expected one of 0, 409, 429, 500, 503, 504"),
        ("Delay", {"bySeconds": 0}, "bySeconds is 0, expected a positive number"),
        ("Skew", {"bySeconds": {"pods": 1, "services": -1.5}}, "bySeconds.services is -1.5, expected a positive number"),
        ("Skew", {"bySeconds": {}}, 'bySeconds is empty, expected for example {"pods": 2.0}'),
        ("Hold", {"stream": 0}, "stream is 0, expected a positive number"),
        ("Hold", {"window": {"fromStep": 0}}, "window.fromStep is 0, expected a positive number"),
        ("Hold", {"resource": ""}, 'resource is empty, expected for example "pods", "deployments.apps", "*"'),
    ],
)
def test_what_was_meant_in_a_fault(name: str, fields: dict[str, object], problem: str) -> None:
    assert mistakes({"faults": [{"fault": name, "resource": "pods"} | fields]}) == [f"fault 1 ({name}): {problem}"]


def test_every_problem_is_reported_with_its_number() -> None:
    found = mistakes({"faults": [HOLD, HOLD | {"b": 1, "a": 1}, {"fault": "Hodl"}]})
    assert [problem.partition(":")[0] for problem in found] == ["fault 2 (Hold)", "fault 2 (Hold)", "fault 3"]
    assert ["'a'" in found[0], "'b'" in found[1]] == [True, True]


def test_a_body_may_have_one_fault() -> None:
    assert mistakes({"fault": HOLD | {"fault": "Hodl"}}, AddFault) == ["fault: there is no fault 'Hodl'; did you mean 'Hold'?"]
    assert mistakes({"fault": {"fault": "Hold"}}, AddFault) == ["fault (Hold): resource is missing"]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"fauls": []}, "there is no field 'fauls'; did you mean 'faults'?"),
        ({"contract": "hostil"}, "contract is 'hostil', expected one of hostile, legal; did you mean 'hostile'?"),
        ({"contract": "xyz"}, "contract is 'xyz', expected one of hostile, legal"),
        ({"settle": {"idleSecond": 1}}, "there is no field 'settle.idleSecond'; did you mean 'settle.idleSeconds'?"),
        ({"controller": {"cmd": []}}, "there is no field 'controller.cmd'; did you mean 'controller.command'?"),
        ({"steps": [{"do": "rst", "seconds": 1}]}, "step 1: there is no step 'rst'; did you mean 'rest'?"),
        ({"steps": [{"do": "rest"}]}, "step 1 (rest): seconds is missing"),
        ({"steps": [{"do": "rest", "seconds": 0}]}, "step 1 (rest): seconds is 0, expected a positive number"),
        ({"settle": {"idleSeconds": -1}}, "settle.idleSeconds is -1, expected a positive number"),
        ({"steps": [{"do": "delete", "target": {"kind": "Pod", "name": "x"}}]}, "step 1 (delete): target.apiVersion is missing"),
        ({"faults": [HOLD | {"release": "evnts"}]}, f"fault 1 (Hold): release is 'evnts', {RELEASES}; did you mean 'events'?"),
    ],
)
def test_a_whole_plan(fields: dict[str, object], problem: str) -> None:
    assert mistakes(PLAN | fields, Plan) == [problem]


def test_what_a_plan_forgets() -> None:
    assert mistakes({"stesp": []}, Plan) == ["there is no field 'stesp'; did you mean 'steps'?", "scenario is missing"]


@pytest.mark.parametrize(
    "fields", [{"window": {"seconds": "1"}}, {"nth": None}, {"resource": 5}, {"retryAfter": None}, {"code": 429, "nth": 7}]
)
def test_types_are_left_to_the_decoding_and_the_rest_may_be(fields: dict[str, object]) -> None:
    assert mistakes({"faults": [{"fault": "Reject", "resource": "pods"} | fields]}) == []


@pytest.mark.parametrize("fields", [{}, {"controller": None}, {"controller": {"env": {"A": "b"}}}, {"aims": [1]}, {"settle": 5}])
def test_nothing_to_say_of_a_plan(fields: dict[str, object]) -> None:
    assert mistakes(PLAN | fields, Plan) == []


@pytest.mark.parametrize("raw", [{}, {"faults": []}, {"faults": [HOLD]}, {"faults": {}}, {"fault": 5}, [], None, "x"])
def test_nothing_to_say(raw: object) -> None:
    assert mistakes(raw) == []
