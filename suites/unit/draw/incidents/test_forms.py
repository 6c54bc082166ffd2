"""The forms of faults: values for their fields, from their classes and their types."""

import pytest

from staleproof.core.fault import AnyFault, DelayStream, Expire, HoldStream, Reject, Restart, SeverStream
from staleproof.core.times import LAGS_SECONDS
from staleproof.draw.incidents.forms import forms, values
from staleproof.draw.incidents.table import KINDS


def test_a_class_says_which_values_are_tried_and_else_its_types_do() -> None:
    assert values(SeverStream, "how") == ("clean", "truncated", "reset")
    assert values(Expire, "at") == ("stream", "resume")
    assert values(DelayStream, "by_seconds") == LAGS_SECONDS
    assert values(Restart, "gently") == (False, True)
    assert values(HoldStream, "resource") == values(Reject, "retry_after") == ()


def test_forms_are_all_combinations() -> None:
    assert forms(Restart) == ({"gently": False, "stays_down": False}, {"gently": True, "stays_down": False})
    assert len(forms(Reject)) == 15


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.often], ids=lambda kind: kind.__name__)
def test_what_can_come_alone_has_forms(kind: type[AnyFault]) -> None:
    assert forms(kind)
