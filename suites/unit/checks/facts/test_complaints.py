"""What a controller itself says is wrong, in words for people."""

import pytest

from staleproof.checks.facts.complaints import complaints, says_it_failed
from staleproof.checks.trial import Trial

from ..script import WIDGETS, Script, trial


def heard(script: Script) -> list[str]:
    return complaints(Trial(script.ends()), WIDGETS, "w")


def condition(kind: str, status: str, **said: str) -> dict[str, str]:
    return {"type": kind, "status": status, **said}


def test_nothing_is_wrong_where_nothing_says_so() -> None:
    assert heard(trial().applied("w")) == []
    assert heard(trial().applied("w", status={"conditions": [condition("Ready", "True")]})) == []


def test_only_the_latest_conditions_count() -> None:
    def complains() -> Script:
        missing = condition("Ready", "False", reason="SecretMissing", message="secret db is not there")
        return trial().applied("w", status={"conditions": [missing]})

    assert heard(complains()) == ["Ready is False, SecretMissing: secret db is not there"]
    assert heard(complains().applied("w", status={"conditions": [condition("Ready", "True")]})) == []


def test_some_conditions_are_bad_when_they_hold() -> None:
    conditions = [condition("Degraded", "True", message="no quorum"), condition("ReconcileError", "False")]
    assert heard(trial().applied("w", status={"conditions": [*conditions, condition("Synced", "Unknown")]})) == [
        "Degraded is True, no quorum",
        "Synced is Unknown, without a reason",
    ]


def test_not_all_that_is_false_has_failed() -> None:
    """Conditions as kstatus has them: nothing is going on any more."""

    def failed(*conditions: dict[str, str]) -> bool:
        return says_it_failed(Trial(trial().applied("w", status={"conditions": list(conditions)}).ends()), WIDGETS, "w")

    assert not failed(condition("Ready", "True"), condition("Reconciling", "False"), condition("Paused", "False"))
    assert failed(condition("Ready", "False"))
    assert failed(condition("Ready", "True"), condition("Degraded", "True"))


@pytest.mark.parametrize(
    ("kind", "status", "reason", "is_trouble"),
    [
        ("Progressing", "False", "", False),
        ("Terminating", "False", "NotDeleted", False),
        ("Upgradeable", "False", "Pinned", False),
        ("Unavailable", "False", "", False),
        ("NotReady", "False", "", False),
        ("ScalingLimited", "Unknown", "", False),
        ("Installed", "True", "", False),
        ("PluginReady", "True", "", False),
        ("FailoverReady", "True", "", False),
        ("NoErrors", "True", "", False),
        ("PluginReady", "False", "", True),
        ("NotReady", "True", "", True),
        ("Invalid", "True", "", True),
        ("unavailable", "True", "", True),
        ("Unavailable", "True", "NoQuorum", True),
        ("Disconnected", "True", "", True),
        ("DatabaseReady", "False", "Starting", True),
        ("ResolvedRefs", "False", "RefNotPermitted", True),
        ("Progressing", "False", "ReplicaSetCreateError", True),
    ],
)
def test_false_is_a_trouble_only_where_true_is_good(kind: str, status: str, reason: str, is_trouble: bool) -> None:  # noqa: FBT001
    script = trial().applied("w", status={"conditions": [condition(kind, status, reason=reason)]})
    assert bool(heard(script)) is is_trouble


def test_conditions_may_be_anywhere_in_the_status_and_have_their_causes_below_them() -> None:
    error = {"type": "ServiceError", "status": "True", "reason": "Unresolved", "message": 'port "81" of service s1 not matched'}
    valid = condition("Valid", "False", reason="ErrorPresent", message="see Errors for details") | {"errors": [error]}
    accepted = condition("Accepted", "False", reason="NoMatchingListener")
    assert heard(trial().applied("w", status={"conditions": [valid], "parents": [{"conditions": [accepted]}]})) == [
        'Valid is False, ErrorPresent: see Errors for details; Unresolved: port "81" of service s1 not matched',
        "Accepted is False, NoMatchingListener",
    ]


def test_warnings_about_the_object_are_reported_once() -> None:
    def event(name: str, about: str, kind: str) -> dict[str, object]:
        return {"type": kind, "reason": "Missing", "message": f"no secret for {about}", "involvedObject": {"name": about}}

    script = trial().applied("w")
    for number, (about, kind) in enumerate((("w", "Warning"), ("w", "Warning"), ("w", "Normal"), ("other", "Warning"))):
        script = script.applied(f"e{number}", "events", **event(f"e{number}", about, kind))
    assert heard(script) == ["event Missing: no secret for w"]
