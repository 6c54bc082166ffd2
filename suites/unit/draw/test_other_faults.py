"""Plans of the scenario of other faults."""

from msgspec import structs

from staleproof.core.fault import DelayStream, HoldStream, PastSnapshot, Pause, SeverStream, Window
from staleproof.draw.incidents.table import KINDS
from staleproof.draw.other_faults import covering, families
from staleproof.draw.profile import PROFILES, STANDARD
from staleproof.draw.scenarios import FAMILIES

from .seen import widgets


def test_a_fault_that_no_scenario_knows_has_a_family_called_after_it() -> None:
    assert [str(family) for family in families({*KINDS} - {Pause, PastSnapshot})] == ["other-faults/Pause"]
    assert {family.name for family in FAMILIES if family.scenario == "other-faults"} >= {"DelayStream", "Pause"}


def test_each_value_of_its_fields_is_tried() -> None:
    (family,) = families({*KINDS} - {DelayStream})
    faults = [fault for plan in family(widgets(), STANDARD) for fault in plan.faults]
    assert {fault.resource for fault in faults} == {"widgets.example.com", "configmaps", "pods"}
    assert {fault.by_seconds for fault in faults if isinstance(fault, DelayStream)} == {0.3, 0.6, 1.0}
    assert len(faults) == 3
    assert not list(family(widgets(), PROFILES["smoke"]))


def test_titles_say_which_form_it_is() -> None:
    (family,) = families({*KINDS} - {HoldStream})
    titles = [plan.title for plan in family(widgets(), STANDARD)]
    assert titles[0] == "Hold of configmaps from step 2 (release events)"
    assert len(set(titles)) == len(titles)


def test_few_show_every_value() -> None:
    lags, windows = (0.3, 0.6, 1.0), (Window(2), Window(3))
    delays = {(each, lag): DelayStream(resource=each, by_seconds=lag, window=windows[0]) for each in "ab" for lag in lags}
    every = [(structs.replace(delay, window=window),) for delay in delays.values() for window in windows]
    assert covering(every) == [(delays["a", 0.3],), (delays["b", 0.6],), (delays["a", 1.0],)]


def test_of_nothing_there_is_nothing_and_one_covers_itself() -> None:
    assert covering([]) == []
    assert covering([(SeverStream(resource="a"),)] * 2) == [(SeverStream(resource="a"),)]
