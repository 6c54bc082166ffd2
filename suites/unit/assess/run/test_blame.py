"""Whose fault an error is, however deep it is wrapped."""

import pytest

from staleproof.assess.run.blame import known
from staleproof.errors import HarnessBug, SetupError, UsageError

BUG, BROKEN, MISUSED = HarnessBug("bug"), SetupError("broken"), UsageError("misused")


def caused(error: BaseException, by: BaseException) -> BaseException:
    error.__cause__ = by
    return error


def during(error: BaseException, of: BaseException) -> BaseException:
    error.__context__ = of
    return error


def hiding(error: BaseException, what: BaseException) -> BaseException:
    error.__context__, error.__suppress_context__ = what, True
    return error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (BROKEN, BROKEN),
        (ValueError(), None),
        (caused(ValueError(), MISUSED), MISUSED),
        (during(KeyError(), caused(ValueError(), BROKEN)), BROKEN),
        (hiding(KeyError(), BROKEN), None),
        (BaseExceptionGroup("", [ValueError(), ExceptionGroup("", [OSError(), BROKEN])]), BROKEN),
        (caused(RuntimeError(), ExceptionGroup("", [MISUSED, BROKEN])), BROKEN),
        (ExceptionGroup("", [MISUSED, BROKEN, BUG]), BUG),
    ],
)
def test_what_is_to_blame(error: BaseException, expected: BaseException | None) -> None:
    assert known(error) is expected


def test_errors_that_came_from_each_other_end() -> None:
    one, other = ValueError(), KeyError()
    one.__context__, other.__context__ = other, one
    assert known(one) is None
