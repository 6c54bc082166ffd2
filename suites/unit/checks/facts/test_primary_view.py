"""Which state of a primary a life knew, and on which one its work had been done."""

from staleproof.checks.facts.primary_view import Views
from staleproof.checks.trial import Trial

from ..life_script import PAST, RESTART, LifeScript
from ..script import WIDGETS, Script


def views(script: Script) -> tuple[Views, Evidence]:
    evidence = Trial(script.unfinished(), ())
    made = Views(evidence)
    for index, entry in enumerate(evidence.history.entries):
        made.advance(index, entry)
    return made, evidence


def scaled() -> LifeScript:
    script = LifeScript(RESTART, PAST).step(1, "apply").applied("w", spec=2).creates("w-a")
    return script.applied("w", spec=4).creates("w-b")


def test_work_is_done_on_what_had_been_shown_by_then() -> None:
    script = scaled()
    made, _ = views(script)

    assert (made.acted_on[script.uid("w-a")], made.acted_on[script.uid("w-b")]) == (101, 103)


def test_an_old_list_shows_less_than_what_had_been_acted_on() -> None:
    script = scaled().dies().lives_again(past={WIDGETS: {"w": 101}})
    made, evidence = views(script)
    widget = evidence.population.children[script.uid("w", WIDGETS)]

    assert made.known(widget.uid) == 101
    assert (made.is_behind(script.uid("w-b"), widget), made.is_behind(script.uid("w-a"), widget)) == (True, False)


def test_an_old_list_without_it_is_a_view_of_it_and_no_list_is_none() -> None:
    script = scaled().dies().lives_again(past={WIDGETS: {}})
    made, evidence = views(script)
    widget = evidence.population.children[script.uid("w", WIDGETS)]
    assert made.is_behind(script.uid("w-a"), widget)

    made, evidence = views(scaled().dies().lives_again(slow=(WIDGETS,)))
    assert not made.is_behind(script.uid("w-a"), widget)


def test_what_an_answer_told_is_known() -> None:
    script = scaled().dies().lives_again(past={WIDGETS: {"w": 101}}).updates("w", status={"replicas": 2})
    made, evidence = views(script)
    widget = evidence.population.children[script.uid("w", WIDGETS)]

    assert made.known(widget.uid) == 105
    assert not made.is_behind(script.uid("w-b"), widget)


def test_a_newer_revision_that_wants_the_same_is_no_newer_state() -> None:
    script = LifeScript(RESTART, PAST).applied("w", spec=2).updates("w", status={"replicas": 0}).creates("w-a")
    script.dies().lives_again(past={WIDGETS: {"w": 101}})
    made, evidence = views(script)

    assert not made.is_behind(script.uid("w-a"), evidence.population.children[script.uid("w", WIDGETS)])


def test_the_primary_is_at_the_top_of_the_owners() -> None:
    script = LifeScript(RESTART).applied("w").creates("rs", resource="replicasets.apps", generated="").creates("p", owner="rs")
    script.made("alone", owner="")
    made, _ = views(script)

    for name, resource in (("p", "pods"), ("rs", "replicasets.apps")):
        found = made.primary_of(script.uid(name, resource))
        assert found is not None
        assert found.named.name == "w"
    assert made.primary_of(script.uid("alone")) is None
    assert made.primary_of(script.uid("w", WIDGETS)) is None
