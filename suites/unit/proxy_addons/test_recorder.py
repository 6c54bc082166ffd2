"""What a status tells the client about its write."""

import pytest

# The leaf under test; mypy does not follow the mapping of folders.
from staleproof.proxy_addons.recorder import outcome_of  # type: ignore[import-not-found]  # noqa: TID251


@pytest.mark.parametrize(
    ("code", "retry_after", "outcome"),
    [
        (200, False, "ok"),
        (201, False, "ok"),
        (304, False, "fail"),
        (404, False, "fail"),
        (409, False, "fail"),
        (429, True, "fail"),
        (429, False, "fail"),
        (500, True, "fail"),
        (503, True, "fail"),
        (500, False, "unknown"),
        (502, False, "unknown"),
        (503, False, "unknown"),
        (504, False, "unknown"),
    ],
)
def test_only_a_5xx_without_retry_after_leaves_it_open(code: int, *, retry_after: bool, outcome: str) -> None:
    assert outcome_of(code, retry_after=retry_after) == outcome
