"""What fault-free runs show of what a controller keeps outside."""

from typing import Any

from staleproof.assess.learn.outside import Adapter, calls, outside
from staleproof.checks.trial import Trial
from staleproof.core.declared import DeclaredPostgreSQL, Within
from staleproof.core.history.entry import Called, ExternalState, Held
from staleproof.core.operator.observed import Calls, Outside

from ...checks.script import WIDGETS, Script, trial

DB = DeclaredPostgreSQL(name="db", repairs=Within(within="3s"))
BARE = {"roles": {"login": False, "connectionLimit": -1}}
ADAPTER = Adapter(DB, ("drift", "read_state"), BARE)


def role(external: str, *, of: str = "w", **fields: Any) -> Held:  # noqa: ANN401  # what a role has
    return Held(kind="roles", external=external, digest=external, fields=fields, resource=WIDGETS if of else "", name=of)


def called(script: Script, verb: str, number: int, *, name: str = "w") -> Script:
    return script.adds(Called, call=number, system="db", verb=verb, text=verb, resource=WIDGETS if name else "", name=name)


def run(*held: Held, creates: int = 1) -> Trial:
    script = called(trial().step(1, "apply"), "SELECT", 1)
    for number in range(creates):
        script = called(script, "CREATE", 2 + number)
    script = called(script, "SET", 90, name="")
    script = script.adds(ExternalState, system="db", objects=held).idle(1)
    return Trial(called(script.step(2, "touch"), "SELECT", 91).idle(2).ends())


def test_only_calls_that_change_something_for_an_object_of_the_trial_count_and_of_them_the_fewest() -> None:
    assert calls([run(creates=3), run(creates=2)]) == (Calls(1, "db", 2),)
    assert calls([run(creates=1), run(creates=0)]) == ()


def test_what_is_there_for_the_primary_and_what_of_it_may_change() -> None:
    runs = [run(role("a", login=True, connectionLimit=-1), role("x", of="")), run(role("a", login=True), role("b", login=True))]
    assert outside(runs, [ADAPTER]) == (Outside("db", "roles", 1, {"login": False}, ("drift", "read_state"), 3.0),)


def test_what_keeps_what_the_system_tells_is_known_by_its_name_if_every_run_has_it() -> None:
    slot = Held(kind="slots", external="s", digest="s", resource="namespaces", name="s")
    keeping = Adapter(DB, ("drift", "read_state"), BARE, frozenset({"slots"}))
    every = [run(role("a"), slot), run(role("a"), slot, Held(kind="slots", external="t", digest="t"))]
    assert outside(every, [keeping])[1:] == (Outside("db", "slots", 0, {}, ("drift", "read_state"), 3.0, ("s",)),)
    assert len(outside([run(role("a"), slot), run(role("a"))], [keeping])) == 1


def test_nothing_that_the_controller_has_not_said_is_changed() -> None:
    (found,) = outside([run(role("a", login=False, connectionLimit=-1))], [ADAPTER])
    assert found.otherwise == {}


def test_of_a_system_that_holds_nothing_it_is_known_what_can_be_done_with_it() -> None:
    never = Adapter(DeclaredPostgreSQL(name="db", repairs="never"), ("slow",), {})
    assert outside([run()], [never]) == (Outside("db", can=("slow",), repairs_within=0.0),)
