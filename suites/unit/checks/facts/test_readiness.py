"""Whether an object says that it is ready."""

import pytest

from staleproof.checks.facts.readiness import is_silent, says_ready

READY, NOT_READY = {"type": "Ready", "status": "True"}, {"type": "Ready", "status": "Unknown"}
OTHER = {"type": "Synced", "status": "False"}


@pytest.mark.parametrize(
    ("status", "ready"),
    [
        (None, None),
        ({}, None),
        ({"conditions": [READY]}, True),
        ({"conditions": [OTHER, READY]}, True),
        ({"conditions": [NOT_READY]}, False),
        ({"conditions": [READY, {"type": "Available", "status": "False"}]}, False),
        ({"conditions": [OTHER]}, None),
        ({"conditions": [OTHER], "ready": False}, False),
        ({"ready": True}, True),
        ({"ready": 3}, None),
        ({"phase": "Ready"}, True),
        ({"phase": "Creating"}, False),
    ],
)
def test_it_says(status: object, ready: bool | None) -> None:  # noqa: FBT001
    assert says_ready({"metadata": {}, "status": status}) is ready


@pytest.mark.parametrize(
    ("status", "silent"),
    [
        ({}, True),
        ({"observedGeneration": 2, "ready": 3}, True),
        ({"observedGeneration": 2, "bucket": {"name": "b"}}, True),
        ({"conditions": [OTHER]}, False),
        ({"conditions": []}, True),
        ({"phase": "Ready"}, False),
        ({"done": False}, False),
    ],
)
def test_it_tells_of_no_state(status: object, silent: bool) -> None:  # noqa: FBT001
    assert is_silent({"metadata": {}, "status": status}) is silent
