"""What no two runs need to agree on."""

from staleproof.checks.facts.instability import is_harmless, pooled, unstable_fields
from staleproof.core.fault import HoldStream, Restart, Window
from staleproof.core.history.history import History, UnstableField
from staleproof.core.plan.but_for import woken

from ..script import Script, reference


def made(number: int, *specs: object, **ends: object) -> History:
    script = reference(number).step(1, "apply").applied("w")
    for place, spec in enumerate(specs):
        script.creates(f"w-{place}", spec=spec)
    return (script.stuck() if ends else script).ends()


def paths(*runs: History) -> list[str]:
    return sorted(each.path for each in unstable_fields(runs))


def test_what_differs_between_ends_or_between_objects_of_a_role() -> None:
    assert paths(made(1, {"a": 1, "b": 2}), made(2, {"a": 1, "b": 2})) == []
    assert paths(made(1, {"a": 1, "b": 2}), made(2, {"a": 1, "b": 3})) == ["spec.b"]
    assert paths(made(1, {"a": 1}, {"a": 2}), made(2, {"a": 1}, {"a": 2})) == ["spec.a"]
    assert unstable_fields([made(1, 1), made(2, 2)]) == {UnstableField("Widget/w", "pods", "w-", "spec")}


def test_one_run_tells_nothing_and_neither_does_one_that_did_not_settle() -> None:
    assert paths(made(1, {"a": 1}, {"a": 2})) == paths() == []
    assert paths(made(1, {"a": 1}), made(2, {"a": 2}, stuck=True)) == []


def test_all_workloads_together_are_reported_once_and_in_order() -> None:
    first, second = UnstableField("", "pods", "w", "a"), UnstableField("", "pods", "w", "b")
    assert pooled([{second}, {first, second}, ()]) == (first, second)


def test_only_plans_without_harm_tell_anything() -> None:
    restarted = Script(Restart(window=Window(2))).plan
    harmless = woken(restarted)
    assert harmless is not None
    assert is_harmless(harmless)
    assert is_harmless(restarted.reference)
    assert not is_harmless(restarted)
    assert not is_harmless(Script(HoldStream(resource="pods")).plan)
