"""What the controller wrote itself, and so what its end is compared in."""

from staleproof.checks.ends.convergence import differences
from staleproof.checks.ends.footprint import Footprint, footprint, own_footprint
from staleproof.checks.trial import Trial

from ..script import WIDGETS, Script, beside, trial


def settings(script: Script, *, extra: bool = False) -> Script:
    """A ConfigMap of the controller's, and a status; somebody else may label the one."""
    script.applied("w").creates("s", resource="configmaps", generated="", data={"k": "v"}).updates("w", status={"ready": 1})
    return script.applied("s", "configmaps", data={"k": "v"}, extra="e") if extra else script


def test_a_create_writes_everything_and_an_update_what_it_changes() -> None:
    found = own_footprint(Trial(settings(trial()).ends()))

    assert found.counted == {"configmaps"}
    assert found.has("configmaps", "data.k")
    assert found.has(WIDGETS, "status.ready")
    assert not found.has(WIDGETS, "spec")


def test_what_somebody_else_writes_is_not_compared() -> None:
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
    assert own_footprint(found).counted == {"configmaps"}


def test_footprints_are_joined() -> None:
    one, other = Footprint(frozenset({"pods"}), {"pods": {"spec"}}), Footprint(frozenset(), {"pods": {"status"}})

    assert (one | other).counted == {"pods"}
    assert (one | other).has("pods", "status")
    assert (one | other).has("pods", "spec")


def test_who_sets_finalizers_says_how_long_an_object_is_there() -> None:
    def guarded(script: Script) -> Script:
        finalizers = {"finalizers": ["example.com/clean"]}
        script.applied("w")
        return script.updates("w", subresource="", metadata=script._objects[WIDGETS, "w"]["metadata"] | finalizers)

    found = beside(guarded(trial()), lambda script: guarded(script).removed("w", WIDGETS))

    assert WIDGETS in footprint(found).counted
    assert [each.text for each in differences(found, len(found.entries))] == ["widget/w is there, fault-free runs ended without it"]
