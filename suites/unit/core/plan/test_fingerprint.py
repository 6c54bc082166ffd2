"""Fingerprints name files that people keep and commands that they copy, so they never change."""

from typing import Any

import msgspec
import pytest

from staleproof.core.fault import HoldStream
from staleproof.core.plan.fingerprint import fingerprint, identity
from staleproof.core.plan.plan import Plan, Settle, Subject
from staleproof.core.plan.step import Apply

WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"replicas": 3, "paused": False}}
PLAN = Plan(scenario="own-writes", title="hold", steps=(Apply(object=WIDGET),), faults=(HoldStream(resource="pods"),))
MANAGER = Subject(command=("./bin/manager", "--kubeconfig={kubeconfig}"), env={"TOKEN": "a"})


def test_the_fingerprint_is_the_same_for_ever() -> None:
    assert fingerprint(PLAN) == "33b2887cca"


@pytest.mark.parametrize(
    ("fields", "same"),
    [
        ({"controller": Subject(command=("./bin/manager",))}, True),
        ({"manifests": (WIDGET,)}, True),
        ({"title": "another", "aims": ("settles",), "scenario": "mine"}, True),
        ({"settle": Settle(deadline_seconds=60.0)}, True),
        ({"steps": (Apply(object=dict(reversed(WIDGET.items()))),)}, True),
        ({"faults": ()}, False),
        ({"faults": (HoldStream(resource="widgets.example.com"),)}, False),
        ({"steps": (Apply(object=WIDGET | {"spec": {"replicas": 4, "paused": False}}),)}, False),
        ({"steps": (*PLAN.steps, *PLAN.steps)}, False),
    ],
)
def test_the_fingerprint_is_of_workload_and_faults(fields: dict[str, Any], same: bool) -> None:  # noqa: FBT001  # a column
    assert (fingerprint(msgspec.structs.replace(PLAN, **fields)) == fingerprint(PLAN)) is same


def test_the_identity_of_a_controller_is_the_same_for_ever() -> None:
    assert identity(MANAGER) == "2bbfb9"


@pytest.mark.parametrize(
    ("fields", "same"),
    [
        ({"env": {"TOKEN": "b"}}, True),
        ({"env": {"TOKEN": "a", "MODE": "x"}}, False),
        ({"arguments": ("-v",)}, False),
        ({"command": ("./bin/other",)}, False),
        ({"image": "example.com/manager"}, False),
    ],
)
def test_two_controllers_are_told_apart_by_what_may_be_written(fields: dict[str, Any], same: bool) -> None:  # noqa: FBT001
    assert (identity(msgspec.structs.replace(MANAGER, **fields)) == identity(MANAGER)) is same
