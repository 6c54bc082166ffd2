"""What the references have in common, and what counts as a difference."""

from typing import Any

from staleproof.checks.facts.baseline import Baseline, final_objects, group, learn
from staleproof.checks.facts.object_history import names_of
from staleproof.checks.facts.roles import Names, Role, learn_names
from staleproof.core.history import History
from staleproof.core.plan import TOUCHED

from ..script import NAMESPACE, WIDGETS, Script, reference, trial


def one(script: Script, name: str = "w-a", **fields: Any) -> History:  # noqa: ANN401  # JSON
    return script.step(1, "apply").applied("w").creates(name, **fields).ends()


def baseline(*references: History) -> Baseline:
    return learn(references, learn_names([names_of(reference) for reference in references]))


def difference(history: History, *references: History) -> str:
    return baseline(*references).difference(final_objects(history), history.header.namespace)


def test_names_uids_times_and_the_namespace_of_one_run_make_no_difference() -> None:
    def run(script: Script, name: str) -> History:
        started = f"2026-01-01T00:00:0{len(name)}Z"
        return one(script, name, spec={"who": script.namespace, "me": name}, status={"startTime": started})

    assert difference(run(trial(), "w-abc"), run(reference(1), "w-a"), run(reference(2), "w-ab")) == ""


def test_what_a_touch_left_on_an_object_or_a_child_that_copied_it_is_no_state() -> None:
    def paths(owners: list[dict[str, Any]]) -> set[str]:
        metadata = {"name": "w-0", "annotations": {TOUCHED: "2", "a": "b"}, "ownerReferences": owners}
        found = group([("pods", {"kind": "Pod", "metadata": metadata})], NAMESPACE, Names())
        return {path for flats in found.values() for flat in flats for path in flat if "annotations" in path}

    assert paths([{"kind": "Widget", "name": "w", "uid": "u", "controller": True}]) == {"metadata.annotations.a"}
    assert paths([]) == {"metadata.annotations.a"}


def test_an_observed_generation_is_up_to_date_or_not_whatever_the_number() -> None:
    def observed(generation: int, seen: int) -> set[object]:
        status = {"observedGeneration": seen, "conditions": [{"type": "Ready", "observedGeneration": seen}]}
        obj = {"kind": "Pod", "metadata": {"name": "w", "generation": generation}, "status": status}
        flats = group([("pods", obj)], NAMESPACE, Names()).values()
        return {value for flat in flats for one in flat for path, value in one.items() if path.endswith("observedGeneration")}

    assert observed(2, 2) == observed(3, 3) == {"<generation>"}
    assert observed(3, 2) == {2}


def test_fields_that_differ_between_the_references_are_masked() -> None:
    references = one(reference(1), spec={"ip": "10.0.0.1", "port": 80}), one(reference(2), spec={"ip": "10.0.0.2", "port": 80})

    assert difference(one(trial(), spec={"ip": "10.0.0.3", "port": 80}), *references) == ""
    assert difference(one(trial(), spec={"ip": "10.0.0.3", "port": 81}), *references) == (
        "pod of widget/w: spec.port is 81, fault-free runs ended with 80"
    )


def test_a_field_that_is_there_only_here_or_only_there_is_a_difference() -> None:
    references = one(reference(1), spec={"a": 1}), one(reference(2), spec={"a": 1})

    assert "spec.b is 2, fault-free runs ended with <not set>" in difference(one(trial(), spec={"a": 1, "b": 2}), *references)
    assert "spec.a is <not set>, fault-free runs ended with 1" in difference(one(trial(), spec={}), *references)


def test_values_need_not_come_in_the_combinations_of_the_references() -> None:
    def pair(script: Script, *specs: dict[str, int]) -> History:
        for number, spec in enumerate(specs):
            script = script if number else script.step(1, "apply").applied("w")
            script.creates(f"w-{number}", spec=spec)
        return script.ends()

    references = (
        pair(reference(1), {"a": 0, "b": 0}, {"a": 1, "b": 1}),
        pair(reference(2), {"a": 0, "b": 1}, {"a": 1, "b": 0}),
    )

    assert difference(pair(trial(), {"a": 0, "b": 0}, {"a": 1, "b": 0}), *references) == ""


def test_objects_whose_names_nothing_is_in_common_are_counted_together() -> None:
    references = one(reference(1), "8f2a", generated=""), one(reference(2), "77aa", generated="")
    renamed = [names_of(reference) for reference in references]

    assert {named.name for named in renamed[0] & renamed[1]} == {"w"}
    assert difference(one(trial(), "1c3d", generated=""), *references) == ""


def test_objects_that_only_wait_for_their_grace_period_are_gone_but_not_those_with_a_finalizer() -> None:
    references = one(reference(1)), one(reference(2))

    leaving = trial().step(1, "apply").applied("w").creates("w-a", "w-b").terminating("w-b").ends()
    leaked = trial().step(1, "apply").applied("w").creates("w-a").creates("w-b", metadata={"finalizers": ["x/y"]})

    assert difference(leaving, *references) == ""
    assert "2 pods of widget/w" in difference(leaked.terminating("w-b").ends(), *references)


def test_children_left_to_a_garbage_collector_are_no_state_unless_there_were_none() -> None:
    def left(script: Script, *names: str, **metadata: object) -> History:
        script.step(1, "apply").applied("w").creates(*names, metadata=metadata)
        return script.step(2, "delete").removed("w", WIDGETS).ends()

    def cleaned(script: Script) -> History:
        return script.step(1, "apply").applied("w").creates("w-a").step(2, "delete").deletes("w-a").removed("w", WIDGETS).ends()

    leaving = left(reference(1), "w-a", "w-b"), left(reference(2), "w-a", "w-b")
    assert difference(left(trial(), "w-a"), *leaving) == difference(left(trial(), "w-a", "w-b", "w-c"), *leaving) == ""
    assert difference(left(trial(), "w-a", "w-b", finalizers=["x/y"]), *leaving) == ""
    assert "pod of Widget that is gone" in difference(left(trial(), "w-a"), cleaned(reference(1)), cleaned(reference(2)))


def test_children_of_a_generated_child_are_compared_whatever_its_name() -> None:
    def nested(script: Script, name: str) -> History:
        script.step(1, "apply").applied("w").made(name, "replicasets.apps", metadata={"generateName": "w-"})
        return script.creates(f"{name}-a", owner=name, generated=f"{name}-").ends()

    assert difference(nested(trial(), "w-z3"), nested(reference(1), "w-x1"), nested(reference(2), "w-y2")) == ""


def test_bookkeeping_and_what_every_namespace_has_are_left_out() -> None:
    script = trial().applied("leader", "leases.coordination.k8s.io").applied("kube-root-ca.crt", "configmaps")

    assert group(final_objects(script.ends()), NAMESPACE, Names()) == {}


def test_a_state_can_be_looked_at_in_the_middle() -> None:
    history = trial().applied("w").creates("w-a").deletes("w-a").ends()
    middle = next(i for i, entry in enumerate(history.entries) if getattr(entry, "type", "") == "DELETED")

    assert [obj["metadata"]["name"] for _, obj in final_objects(history)] == ["w"]
    assert [obj["metadata"]["name"] for _, obj in final_objects(history, until=middle)] == ["w", "w-a"]


def test_counts_are_kept_for_each_reference() -> None:
    two = reference(2).step(1, "apply").applied("w").creates("w-a", "w-b").ends()

    assert baseline(one(reference(1)), two).counts[Role("Widget/w", "pods", "w-")] == [1, 2]
