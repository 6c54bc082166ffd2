"""What the references have in common, and what counts as a difference."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from staleproof.checks.ends.hull import baseline, ends_with_more, group
from staleproof.checks.ends.states import final_objects
from staleproof.checks.facts.object_history import names
from staleproof.checks.facts.roles import Names, Role
from staleproof.checks.trial import Trial
from staleproof.core.history.history import History, UnstableField
from staleproof.core.plan.step import Apply

from ..script import NAMESPACE, WIDGETS, Script, reference, trial

PODS = Role("Widget/w", "pods", "w-")
CLAIMS = "persistentvolumeclaims"


def apply(script: Script) -> Script:
    return script.step(1, "apply").applied("w")


def one(script: Script, name: str = "w-a", **fields: Any) -> Script:  # noqa: ANN401  # JSON
    return apply(script).creates(name, **fields)


def timed(script: Script, name: str) -> Script:
    spec, status = {"who": script.namespace, "me": name}, {"startTime": f"2026-01-01T00:00:0{len(name)}Z"}
    return one(script, name, spec=spec, status=status)


def several(script: Script, *specs: dict[str, int]) -> Script:
    apply(script)
    for number, spec in enumerate(specs):
        script.creates(f"w-{number}", spec=spec)
    return script


def left(script: Script, *called: str, **metadata: object) -> Script:
    return apply(script).creates(*called, metadata=metadata).step(2, "delete").removed("w", WIDGETS)


def cleaned(script: Script) -> Script:
    return apply(script).creates("w-a").step(2, "delete").deletes("w-a").removed("w", WIDGETS)


def claimed(script: Script) -> Script:
    """The StatefulSet controller makes a claim, and leaves it."""
    return apply(script).applied("claim", CLAIMS)


def claims(script: Script) -> Script:
    return apply(script).creates("claim", resource=CLAIMS, owner="", generated="")


def released(script: Script, *, spec: int, owner: str = "") -> Script:
    """The controller takes the owner away from what it has made, or gives it another one."""
    one(script, spec=spec)
    metadata = script._objects["pods", script._generated["pods", "w-a"]]["metadata"]
    owners = [reference | {"name": owner} for reference in metadata["ownerReferences"] if owner]
    return script.updates(metadata["name"], "pods", subresource="", metadata=metadata | {"ownerReferences": owners})


def nested(script: Script, name: str) -> Script:
    apply(script).made(name, "replicasets.apps", metadata={"generateName": "w-"})
    return script.creates(f"{name}-a", owner=name, generated=f"{name}-")


def addressed(script: Script, ip: int, port: int = 80) -> Script:
    return one(script, spec={"ip": f"10.0.0.{ip}", "port": port})


def placed(script: Script, node: str, *, says: str = "status", shown: str = "") -> Script:
    """A pod on a Node, of which the widget tells."""
    one(script, spec={"nodeName": node}, status={"hostIP": f"10.0.0.{node[-1]}"})
    fields = {"status": {"on": shown or node}} if says == "status" else {"spec": {"on": shown or node}}
    return script.updates("w", WIDGETS, subresource="status" if says == "status" else "", **fields)


def two(script: Script, says: str, *, swapped: bool = False) -> Script:
    """Two pods of their own names on two Nodes, and a widget that says on which the first is."""
    nodes = ["node-2", "node-1"] if swapped else ["node-1", "node-2"]
    for name, node in zip(("w-0", "w-1"), nodes, strict=True):
        apply(script).creates(name, generated="", spec={"nodeName": node})
    return script.updates("w", WIDGETS, status={"primaryOn": says})


def both(workload: Callable[..., Script], *args: object, **fields: object) -> tuple[Script, Script]:
    """Two references that do the same."""
    return workload(reference(1), *args, **fields), workload(reference(2), *args, **fields)


CASES: dict[str, tuple[Script, tuple[Script, Script], str]] = {
    "names, uids, times and the namespace of one run": (
        timed(trial(), "w-abc"),
        (timed(reference(1), "w-a"), timed(reference(2), "w-ab")),
        "",
    ),
    "a field that differs between the references is masked": (
        addressed(trial(), 3),
        (addressed(reference(1), 1), addressed(reference(2), 2)),
        "",
    ),
    "a field that does not differ": (
        addressed(trial(), 3, port=81),
        (addressed(reference(1), 1), addressed(reference(2), 2)),
        "pod of widget/w: spec.port is 81, fault-free runs ended with 80",
    ),
    "a field that is there only here": (
        one(trial(), spec={"a": 1, "b": 2}),
        both(one, spec={"a": 1}),
        "pod of widget/w: spec.b is 2, fault-free runs ended with <not set>",
    ),
    "a field that is there only in the references": (
        one(trial(), spec={}),
        both(one, spec={"a": 1}),
        "pod of widget/w: spec.a is <not set>, fault-free runs ended with 1",
    ),
    "a long text": (
        one(trial(), spec={"a": "same\n" * 50 + "b=2"}),
        both(one, spec={"a": "same\n" * 50 + "b=1"}),
        "pod of widget/w: spec.a is b=2, fault-free runs ended with b=1",
    ),
    "a number that the references do not agree on": (
        one(trial(), status={"ready": 7}),
        (one(reference(1), status={"ready": 1}), one(reference(2), status={"ready": 2})),
        "pod of widget/w: status.ready is 7, fault-free runs ended with 1 or 2",
    ),
    "within their range": (
        one(trial(), status={"ready": 2}),
        (one(reference(1), status={"ready": 1}), one(reference(2), status={"ready": 3})),
        "",
    ),
    "an object of its own": (
        one(trial()).applied("x", "configmaps"),
        both(one),
        "configmap/x is there, fault-free runs ended without it",
    ),
    "no object of its own": (trial(), both(apply), "widget/w is missing, fault-free runs ended with it"),
    "values in another combination": (
        several(trial(), {"a": 0, "b": 0}, {"a": 1, "b": 0}),
        (several(reference(1), {"a": 0, "b": 0}, {"a": 1, "b": 1}), several(reference(2), {"a": 0, "b": 1}, {"a": 1, "b": 0})),
        "",
    ),
    "objects whose names have nothing in common": (
        one(trial(), "1c3d", generated=""),
        (one(reference(1), "8f2a", generated=""), one(reference(2), "77aa", generated="")),
        "",
    ),
    "an object in its grace period is gone": (one(trial()).creates("w-b").terminating("w-b"), both(one), ""),
    "but not one with a finalizer": (
        one(trial()).creates("w-b", metadata={"finalizers": ["x/y"]}).terminating("w-b"),
        both(one),
        "2 pods of widget/w, fault-free runs ended with 1",
    ),
    "children left to a garbage collector": (left(trial(), "w-a"), both(left, "w-a", "w-b"), ""),
    "more of them": (left(trial(), "w-a", "w-b", "w-c"), both(left, "w-a", "w-b"), ""),
    "also where there were none": (left(trial(), "w-a"), both(cleaned), ""),
    "unless something else keeps them": (
        left(trial(), "w-a", finalizers=["x/y"]),
        both(cleaned),
        "1 pod of Widget that is not in the trial, fault-free runs ended with 0",
    ),
    "a claim that a StatefulSet left is not needed": (apply(trial()), both(claimed), ""),
    "but not more than any left": (
        claimed(trial()),
        both(apply),
        "persistentvolumeclaims/claim is there, fault-free runs ended without it",
    ),
    "nor one less of its own": (
        apply(trial()),
        both(claims),
        "persistentvolumeclaims/claim is missing, fault-free runs ended with it",
    ),
    "what the controller has released stays as it was": (released(trial(), spec=0), both(released, spec=1), ""),
    "and is one more": (released(trial(), spec=0), both(apply), "pod/w- is there, fault-free runs ended without it"),
    "what has another owner is not released": (
        released(trial(), spec=0, owner="v"),
        both(released, spec=1, owner="v"),
        "pod of widget/w: spec is 0, fault-free runs ended with 1",
    ),
    "where the scheduler has put a pod, in a status": (placed(trial(), "node-2"), both(placed, "node-1"), ""),
    "where another pod is": (
        two(trial(), "node-2"),
        both(two, "node-1"),
        "widget/w: status.primaryOn is 'node-2', fault-free runs ended with 'node-1'",
    ),
    "where it is now": (two(trial(), "node-2", swapped=True), both(two, "node-1"), ""),
    "another place than that": (
        placed(trial(), "node-2", shown="nowhere"),
        both(placed, "node-1"),
        "widget/w: status.on is 'nowhere', fault-free runs ended with 'node-1'",
    ),
    "or in what is asked for": (
        placed(trial(), "node-2", says="spec"),
        both(placed, "node-1", says="spec"),
        "widget/w: spec.on is 'node-2', fault-free runs ended with 'node-1'",
    ),
    "children of a generated child": (nested(trial(), "w-z3"), (nested(reference(1), "w-x1"), nested(reference(2), "w-y2")), ""),
}


@pytest.mark.parametrize(("script", "references", "difference"), CASES.values(), ids=CASES)
def test_differences(script: Script, references: tuple[Script, Script], difference: str) -> None:
    of = Trial(script.ends(), [each.ends() for each in references])

    assert baseline(of).difference(final_objects(of), of.namespace) == difference


def needing(script: Script) -> Script:
    return script.had("x", "configmaps", data={"a": "1"})


def changed(script: Script) -> Script:
    return apply(script).applied("x", "configmaps", data={"a": "2"})


def changed_back(script: Script) -> Script:
    return changed(script).applied("x", "configmaps", data={"a": "1"})


@pytest.mark.parametrize(
    ("done", "usual", "difference"),
    [
        (apply, changed, "configmap/x is as it was, or gone; fault-free runs changed it"),
        (changed, apply, "configmap/x was changed, fault-free runs left it as it was"),
        (changed, changed, ""),
        (apply, changed_back, ""),
        (changed_back, apply, ""),
        (changed, changed_back, "configmap/x: data.a is '2', fault-free runs ended with '1'"),
        (changed_back, changed, "configmap/x: data.a is '1', fault-free runs ended with '2'"),
    ],
)
def test_what_the_workload_needs_is_there_in_any_case(
    done: Callable[[Script], Script], usual: Callable[[Script], Script], difference: str
) -> None:
    of = Trial(done(needing(trial())).ends(), [usual(needing(reference(number))).ends() for number in (1, 2)])
    assert baseline(of).difference(baseline(of).without_unchanged(final_objects(of), of), of.namespace) == difference


def revisions(script: Script, *contents: str) -> Script:
    """One object for each state that was worked on."""
    apply(script)
    for number, content in enumerate(contents, 1):
        script.creates(f"w-revision-{number}", resource="configmaps", generated="", data=content)
    return script


def listed(script: Script, *items: dict[str, Any]) -> Script:
    return one(script, spec={"env": list(items)})


A, B, C = {"name": "a", "value": "1"}, {"name": "b", "value": "2"}, {"name": "b", "value": "1"}
WIDER: dict[str, tuple[Script, tuple[Script, ...], list[str]]] = {
    "further than without waking, as far as with it": (
        one(trial()).applied("w-disk", "configmaps"),
        (*both(one), one(reference(3, "woken")).applied("w-disk", "configmaps").applied("w-name", "configmaps")),
        [],
    ),
    "further than that": (
        one(trial()).creates("w-b", "w-c"),
        (*both(one), one(reference(3, "woken")).creates("w-b")),
        ["3 pods of widget/w, fault-free runs ended with 1 to 2"],
    ),
    "a state that was never seen left nothing": (
        revisions(trial(), "first", "last"),
        (*both(revisions, "first", "between", "last"), revisions(reference(3, "final"), "last")),
        [],
    ),
    "nothing at all was kept": (
        revisions(trial()),
        (*both(revisions, "first", "last"), revisions(reference(3, "final"), "last")),
        ["0 configmaps of widget/w, fault-free runs ended with 1"],
    ),
    "another content than any": (
        revisions(trial(), "first", "else"),
        (*both(revisions, "first", "between", "last"), revisions(reference(3, "final"), "last")),
        ["configmap of widget/w: data is 'else', fault-free runs ended with 'between'"],
    ),
    "a list in another order": (listed(trial(), B, A), both(listed, A, B), []),
    "a list with other things": (
        listed(trial(), C, A),
        both(listed, A, B),
        ["pod of widget/w: spec.env[0].name is 'b', fault-free runs ended with 'a'"],
    ),
    "objects of one role differ among themselves": (
        several(trial(), {"a": 7}, {"a": 8}),
        both(several, {"a": 1}, {"a": 2}),
        [],
    ),
    "one end has none of them": (
        one(trial(), spec={"a": 2}),
        (*both(one, spec={"a": 1}), apply(reference(3, "final"))),
        ["pod of widget/w: spec.a is 2, fault-free runs ended with 1"],
    ),
}


@pytest.mark.parametrize(("script", "references", "found"), WIDER.values(), ids=WIDER)
def test_the_hull_of_all_references(script: Script, references: tuple[Script, ...], found: list[str]) -> None:
    of = Trial(script.ends(), [each.ends() for each in references])
    differences = list(baseline(of).differences(final_objects(of), of.namespace))
    assert [each.text for each in differences] == found
    assert not any(each.unstable for each in differences), "what wakes a controller makes no fault-free run unstable"


@pytest.mark.parametrize(("path", "found"), [("spec.a", []), ("spec.b", ["spec.a is 2"])])
def test_what_was_unstable_anywhere_in_the_run_is_masked(path: str, found: list[str]) -> None:
    history = one(trial(), spec={"a": 2}).ends()
    unstable = (UnstableField(*PODS, path),)
    of = Trial(
        replace(history, header=structs.replace(history.header, unstable=unstable)),
        [each.ends() for each in both(one, spec={"a": 1})],
    )
    texts = [each.text for each in baseline(of).differences(final_objects(of), of.namespace)]
    assert [text.partition(": ")[2].partition(",")[0] for text in texts] == found


def test_beside_one_run_alone_what_is_unstable_is_found_under_names_that_may_be_generated() -> None:
    def secret(script: Script, value: int) -> History:
        return apply(script).creates("w-default-user", resource="secrets", generated="", data={"password": value}).ends()

    unstable = (UnstableField("Widget/w", "secrets", "w-default-user", "data.password"),)
    history = secret(trial(), 2)
    of = Trial(replace(history, header=structs.replace(history.header, unstable=unstable)), [secret(reference(1), 1)])
    assert not list(baseline(of).differences(final_objects(of), of.namespace))


@pytest.mark.parametrize(("watched", "found"), [("w", []), ("x", ["spec.a is 2"])])
def test_what_is_unstable_for_a_primary_is_so_for_those_that_are_made_from_the_same_sample(watched: str, found: list[str]) -> None:
    """The names of copies go on where that of the sample ends."""

    def copied(script: Script, a: int) -> History:
        return script.applied("w-b").creates("w-b-0", owner="w-b", generated="w-b-", spec={"a": a}).ends()

    header = structs.replace(
        copied(trial(), 2).header, unstable=(UnstableField(f"Widget/{watched}", "pods", f"{watched}-", "spec.a"),)
    )
    steps = (Apply(object={"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w-b"}}),)
    header = structs.replace(header, plan=structs.replace(header.plan, steps=steps))
    of = Trial(replace(copied(trial(), 2), header=header), [copied(reference(n), 1) for n in (1, 2)])
    texts = [each.text for each in baseline(of).differences(final_objects(of), of.namespace)]
    assert [text.partition(": ")[2].partition(",")[0] for text in texts] == found


@pytest.mark.parametrize(("called", "more"), [(["w-a"], False), (["w-a", "w-b"], False), (["w-a", "w-b", "w-c"], True)])
def test_more_of_a_role_than_any_reference_ended_with(called: list[str], *, more: bool) -> None:
    references = one(reference(1)).ends(), apply(reference(2)).creates("w-a", "w-b").ends()
    of = Trial(apply(trial()).creates(*called).deletes(*called).ends(), references)

    assert ends_with_more(of, PODS, until=7 + 4 * len(called)) is more
    assert not ends_with_more(of, PODS)


def test_names_that_have_nothing_in_common_are_not_stable() -> None:
    references = one(reference(1), "8f2a", generated="").ends(), one(reference(2), "77aa", generated="").ends()

    assert {named.name for named in names(Trial(trial().ends(), references)).stable} == {"w"}


def test_counts_are_kept_for_each_reference() -> None:
    references = one(reference(1)).ends(), apply(reference(2)).creates("w-a", "w-b").ends()

    assert baseline(Trial(trial().ends(), references)).counts[PODS] == [1, 2]


@pytest.mark.parametrize("owners", [[{"kind": "Widget", "name": "w", "uid": "u", "controller": True}], []])
def test_what_a_touch_left_on_an_object_or_a_child_that_copied_it_is_no_state(owners: list[dict[str, Any]]) -> None:
    metadata = {"name": "w-0", "annotations": {"staleproof.dev/touched": "2", "a": "b"}, "ownerReferences": owners}
    ((flat,),) = group([("pods", {"kind": "Pod", "metadata": metadata})], NAMESPACE, Names()).values()

    assert {path for path in flat if "annotations" in path} == {"metadata.annotations.a"}


@pytest.mark.parametrize(("generation", "seen", "value"), [(2, 2, "<generation>"), (3, 3, "<generation>"), (3, 2, 2)])
def test_an_observed_generation_is_up_to_date_or_not_whatever_the_number(generation: int, seen: int, value: object) -> None:
    status = {"observedGeneration": seen, "conditions": [{"type": "Ready", "observedGeneration": seen}]}
    obj = {"kind": "Pod", "metadata": {"name": "w", "generation": generation}, "status": status}
    ((flat,),) = group([("pods", obj)], NAMESPACE, Names()).values()

    assert {value for path, value in flat.items() if path.endswith("observedGeneration")} == {value}


def test_bookkeeping_and_what_every_namespace_has_are_left_out() -> None:
    script = trial().applied("leader", "leases.coordination.k8s.io").applied("kube-root-ca.crt", "configmaps")

    assert group(final_objects(Trial(script.ends())), NAMESPACE, Names()) == {}
