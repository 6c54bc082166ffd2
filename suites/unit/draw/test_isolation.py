"""Plans of the isolation scenario."""

from dataclasses import replace

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


def test_it_has_host_names_of_its_own_where_a_cluster_has_one_of_each() -> None:
    seen = widgets()
    sample = {**seen.sample, "spec": {**seen.sample["spec"], "host": "w.example.com", "mirror": "m.example.com"}}
    (plan,) = isolation.second_primary(replace(seen, sample=sample, hosts=("w.example.com",)), STANDARD)
    _, second, _ = plan.steps
    assert isinstance(second, Apply)
    assert (second.object["spec"]["host"], second.object["spec"]["mirror"]) == ("w-other.example.com", "m.example.com")


def test_there_is_none_where_it_has_no_room() -> None:
    assert list(isolation.second_primary(replace(widgets(), alone=("192.0.2.1",)), STANDARD)) == []
