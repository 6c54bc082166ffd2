"""Plans of the isolation scenario."""

from staleproof.core.plan.step import Apply
from staleproof.draw import isolation
from staleproof.draw.profile import STANDARD

from .seen import MAPS, PODS, WIDGETS, widgets


def test_the_second_primary_is_the_same_under_another_name() -> None:
    (plan,) = isolation.second_primary(widgets(), STANDARD)
    first, second, _ = plan.steps

    assert isinstance(first, Apply)
    assert isinstance(second, Apply)
    assert second.object == {**first.object, "metadata": {"name": "w-other"}}
    assert first.object["metadata"] == {"name": "w"}
    assert plan.faults[0].resource == PODS


def test_only_what_it_watches_can_be_hidden() -> None:
    (plan,) = isolation.second_primary(widgets(watched=(WIDGETS, MAPS)), STANDARD)

    assert plan.faults[0].resource == MAPS
    assert list(isolation.second_primary(widgets(watched=(WIDGETS,)), STANDARD)) == []
