"""What there was of a trial at a moment."""

import copy

from staleproof.checks.ends.states import final_objects, lasting_objects, namespaced_kinds
from staleproof.checks.trial import Trial

from ..script import WIDGETS, Script, beside, trial


def called(objects: list[tuple[str, dict[str, object]]]) -> list[str]:
    return [str(obj["metadata"]["name"]) for _, obj in objects]  # type: ignore[index]  # JSON


def test_a_state_can_be_looked_at_in_the_middle() -> None:
    of = Trial(trial().applied("w").creates("w-a").deletes("w-a").ends())
    middle = next(index for index, entry in enumerate(of.entries) if getattr(entry, "type", "") == "DELETED")

    assert [obj["metadata"]["name"] for _, obj in final_objects(of)] == ["w"]
    assert [obj["metadata"]["name"] for _, obj in final_objects(of, until=middle)] == ["w", "w-a"]


def test_the_kinds_of_a_namespace_are_those_of_the_fault_free_runs() -> None:
    assert namespaced_kinds(beside(trial().applied("x", "configmaps"))) == {"Widget", "Pod"}


def owned(script: Script) -> Script:
    return script.applied("w").creates("w-a").made("x", "configmaps", owner="")


def test_what_a_garbage_collector_would_take_does_not_last() -> None:
    of = beside(owned(trial()).removed("w", "widgets.example.com"), owned)
    assert called(final_objects(of)) == ["w-a", "x"]
    assert called(lasting_objects(of)) == ["x"]


def test_what_is_given_a_second_owner_is_as_it_is_and_what_is_given_none_is_released() -> None:
    script = trial().applied("w").applied("v").creates("w-a", metadata={"labels": {"app": "w"}})
    metadata = script._objects["pods", "w-a"]["metadata"]
    (own,) = metadata["ownerReferences"]
    plain, other = {**own, "controller": False}, {**own, "name": "v", "uid": script.uid("v", WIDGETS), "controller": False}

    def ends(references: list[dict[str, object]]) -> dict[str, object]:
        changed = {**metadata, "ownerReferences": references}
        of = Trial(copy.deepcopy(script).updates("w-a", "pods", subresource="", metadata=changed).ends())
        return next(obj["metadata"] for resource, obj in final_objects(of) if resource == "pods")

    assert "labels" in ends([plain, other])
    assert "labels" not in ends([])
    script.updates("w-a", "pods", subresource="", metadata={**metadata, "ownerReferences": [plain, other]})
    assert "labels" in ends([other])
    assert "labels" not in ends([])
