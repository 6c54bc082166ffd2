"""What the controller wrote itself, and so what its end is compared in."""

from staleproof.checks.ends.convergence import differences
from staleproof.checks.ends.footprint import Counted, Footprint, footprint, own_footprint
from staleproof.checks.facts.roles import Role
from staleproof.checks.trial import Trial

from ..script import WIDGETS, Script, beside, trial


def settings(script: Script, *, extra: bool = False) -> Script:
    """A ConfigMap of the controller's, and a status; another user may label the one."""
    script.applied("w").creates("s", resource="configmaps", generated="", data={"k": "v"}).updates("w", status={"ready": 1})
    return script.applied("s", "configmaps", data={"k": "v"}, extra="e") if extra else script


def test_a_create_writes_everything_and_an_update_what_it_changes() -> None:
    found = own_footprint(Trial(settings(trial()).ends()))

    assert found.counted == {Counted("configmaps", "Widget")}
    assert found.has("configmaps", "data.k")
    assert found.has(WIDGETS, "status.ready")
    assert not found.has(WIDGETS, "spec")


def test_what_another_user_writes_is_not_compared() -> None:
    found = beside(settings(trial(), extra=True), settings)

    assert not footprint(found).has("configmaps", "extra")
    assert differences(found, len(found.entries)) == []


def test_what_any_run_wrote_is_compared_in_all() -> None:
    def labels(script: Script) -> Script:
        return settings(script).updates("s", "configmaps", subresource="", data={"k": "v"}, extra="e")

    found = beside(settings(trial()), labels)

    (difference,) = differences(found, len(found.entries))
    assert "extra" in difference.text


def test_objects_that_companions_make_are_not_counted() -> None:
    def accompanied(script: Script) -> Script:
        return settings(script).made("s-rs", "replicasets.apps", owner="")

    found = beside(settings(trial()), accompanied)

    assert differences(found, len(found.entries)) == []
    assert own_footprint(found).counted == {Counted("configmaps", "Widget")}


def test_the_pods_of_another_owner_are_not_its_own() -> None:
    def deployed(script: Script) -> Script:
        script.applied("w").creates("p", generated="").creates("d", resource="deployments.apps", generated="")
        return script.made("rs", "replicasets.apps", owner="").made("rs-1", owner="rs").made("rs-2", owner="rs")

    found = beside(deployed(trial()).removed("rs-2").made("rs-3", "replicasets.apps", owner=""), deployed)

    assert differences(found, len(found.entries)) == []
    assert footprint(found).counts(Role("Widget/w", "pods", "w-"))
    assert not footprint(found).counts(Role("ReplicaSet/rs", "pods", "rs-"))


def test_what_companions_write_to_the_status_of_its_own_is_not_compared() -> None:
    """The replicas of a StatefulSet, its claims, its revisions."""

    def stateful(script: Script, replicas: int = 2) -> Script:
        script.applied("w").creates("s", resource="statefulsets.apps", generated="", spec={"replicas": 2})
        script.applied("s", "statefulsets.apps", status={"replicas": replicas, "updateRevision": f"s-{replicas}"})
        script.made("s-1", "controllerrevisions.apps", owner="")
        for number in range(replicas):
            script.made(f"data-s-{number}", "persistentvolumeclaims", owner="")
        return script

    found = beside(stateful(trial(), 1), stateful)

    assert differences(found, len(found.entries)) == []


def test_what_it_reports_itself_is_no_state() -> None:
    found = beside(settings(trial()).updates("w", status={"ready": 7}), settings)

    assert footprint(found).has(WIDGETS, "status.ready")
    assert not footprint(found).state.has(WIDGETS, "status.ready")
    assert differences(found, len(found.entries)) == []


def test_a_child_that_is_given_another_owner_is_counted_with_both() -> None:
    def lets_go(script: Script) -> Script:
        script.applied("w").creates("p")
        metadata = {key: value for key, value in script._objects["pods", "p"]["metadata"].items() if key != "ownerReferences"}
        return script.updates("p", "pods", subresource="", metadata=metadata)

    assert own_footprint(Trial(lets_go(trial()).ends())).counted == {Counted("pods", ""), Counted("pods", "Widget")}


def test_footprints_are_joined() -> None:
    one, other = Footprint(frozenset({Counted("pods", "")}), {"pods": {"spec"}}), Footprint(frozenset(), {"pods": {"status"}})

    assert (one | other).counted == {Counted("pods", "")}
    assert (one | other).has("pods", "status")
    assert (one | other).has("pods", "spec")


def test_a_controller_that_sets_finalizers_says_how_long_an_object_is_there() -> None:
    def guarded(script: Script) -> Script:
        finalizers = {"finalizers": ["example.com/clean"]}
        script.applied("w")
        return script.updates("w", subresource="", metadata=script._objects[WIDGETS, "w"]["metadata"] | finalizers)

    found = beside(guarded(trial()), lambda script: guarded(script).removed("w", WIDGETS))

    assert Counted(WIDGETS, "") in footprint(found).counted
    assert [each.text for each in differences(found, len(found.entries))] == ["widget/w is there, fault-free runs ended without it"]
