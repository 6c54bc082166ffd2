"""What the doctor says of a controller's work, given what was seen: the outcome of each check, and its fix."""

import pytest

from staleproof.assess.doctor.check import Check
from staleproof.assess.doctor.diagnosis import (
    Companions,
    metrics,
    reconciles,
    refused_sample,
    rights,
    unserved_sample,
    webhooks,
)
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import Exited
from staleproof.drive.subject.webhooks import Calls
from staleproof.drive.trial.workload import Refused
from staleproof.errors import UsageError

from ...checks.script import WIDGETS, Script, trial
from ...judged import result

WIDGET = {"apiVersion": "staleproof.dev/v1", "kind": "Widget", "metadata": {"name": "w"}}


def said(check: Check) -> tuple[str, int]:
    return check.outcome, check.code


def looked(script: Script, *log: str, companions: Companions = Companions()) -> Check:  # noqa: B008  # a value
    return reconciles(Trial(script.ends()), WIDGET, (), WIDGETS, log or ["its last line"], companions)


def test_reconciles() -> None:
    check = looked(trial().step(1, "apply").applied("w").creates("w-a").creates("w-b"))
    assert said(check) == ("ok", 0)
    assert check.name == "reconciles Widget/w"
    assert check.found.startswith("create pods ×2; at rest after ")  # noqa: RUF001  # a sign on purpose


def test_what_does_nothing_is_reported_with_its_log_and_what_is_missing() -> None:
    check = looked(trial().step(1, "apply").applied("w"))
    assert said(check) == ("failed", 4)
    assert "it did nothing within" in check.found
    assert check.log == ("its last line",)
    lacks = {**WIDGET, "spec": {"secretRef": {"name": "key"}}}
    check = reconciles(Trial(trial().step(1, "apply").applied("w").ends()), lacks, (), WIDGETS, [])
    assert "what the sample mentions is not there: Secret/key (spec.secretRef.name)" in check.found


def test_what_a_controller_says_of_a_sample_is_a_warning() -> None:
    status = {"conditions": [{"type": "Ready", "status": "False", "reason": "NoKey"}]}
    check = looked(trial().step(1, "apply").applied("w").creates("w-a").applied("w", status=status))
    assert said(check) == ("warning", 0)
    assert "it says: Ready is False, NoKey" in check.found


def test_what_a_run_has_and_the_doctor_has_not_is_named() -> None:
    """Only where it is lacking, and never as advice to do what is done already."""
    status = {"conditions": [{"type": "Available", "status": "False"}]}
    script = trial().step(1, "apply").applied("w").creates("w-a").applied("w", status=status)
    assert "companions" not in looked(script).fix
    assert "a run starts kwok for what it creates" in looked(script, companions=Companions(("kwok",), a_run_has=True)).fix
    assert "--companions=auto starts kwok" in looked(script, companions=Companions(("kwok",))).fix


NO_HOST = "pod w-a does not have a host assigned"


@pytest.mark.parametrize(
    ("log", "outcome", "words"),
    [
        (["ERROR no quorum", "ERROR no quorum"], "warning", "its log has 2 times the error below"),
        ([f"ERROR Reconciler error: {NO_HOST}"], "warning", "there is no kubelet here"),
        (["ERROR no quorum"], "ok", "create pods"),
        (["INFO no quorum", "INFO no quorum"], "ok", "create pods"),
        (["ERROR the object has been modified"] * 3, "ok", "create pods"),
    ],
)
def test_a_reconcile_that_ends_in_an_error_is_not_well(log: list[str], outcome: str, words: str) -> None:
    check = looked(trial().step(1, "apply").applied("w").creates("w-a"), *log)
    assert check.outcome == outcome
    assert words in check.found
    assert check.log == ((log[-1],) if outcome == "warning" else ())


def test_an_error_said_once_counts_where_nothing_but_the_primary_was_written() -> None:
    script = trial().step(1, "apply").applied("w").updates("w", WIDGETS)
    assert looked(script, "ERROR no quorum").outcome == "warning"
    assert looked(script, "INFO ready").outcome == "ok"


def test_one_that_dies_over_a_sample_is_reported_with_why() -> None:
    check = looked(
        trial().step(1, "apply").applied("w").adds(Exited, life=1, code=2), "ERROR open /etc/w.yaml: no such file or directory"
    )
    assert said(check) == ("failed", 11)
    assert "it exited with code 2 over it; it reads /etc/w.yaml" in check.found


def test_a_real_history() -> None:
    history = result("expectations-hidden-creates").history.references[0]
    sample = {**WIDGET, "metadata": {"name": "sample"}}
    check = reconciles(Trial(history), sample, (), "widgets.staleproof.dev", [])
    assert said(check) == ("ok", 0)
    assert "create pods ×3" in check.found  # noqa: RUF001  # as above


def test_a_sample_that_is_refused() -> None:
    assert said(refused_sample("Widget/w", UsageError("no\nlog"))) == ("failed", 4)
    assert (refused_sample("Widget/w", UsageError("no\nlog")).found, refused_sample("Widget/w", UsageError("no")).fix) == ("no", "")
    check = refused_sample("Widget/w", Refused("422 Invalid", 1))
    assert (said(check), "until `kubectl apply` takes it" in check.fix) == (("failed", 4), True)
    assert said(unserved_sample("Widget/w")) == ("failed", 11)


@pytest.mark.parametrize(
    ("account", "refused", "works", "worked", "expected"),
    [
        ("a/b", "", True, True, ("ok", 0)),
        ("a/b", "", True, False, ("not asked", 0)),
        ("a/b", "", False, False, ("not asked", 0)),
        ("a/b", "asked 2 times to list secrets", True, True, ("warning", 0)),
        ("a/b", "asked 2 times to list secrets", False, False, ("failed", 4)),
        ("", "", True, True, ("not asked", 0)),
    ],
)
def test_rights(account: str, refused: str, works: bool, worked: bool, expected: tuple[str, int]) -> None:  # noqa: FBT001
    """A controller that did nothing that takes a right is not praised for it."""
    assert said(rights(account, refused, works=works, has_worked=worked, is_users_cluster=False)) == expected
    assert rights(account, refused, works=works, has_worked=worked, is_users_cluster=True).outcome == "not asked"


@pytest.mark.parametrize(
    ("calls", "trouble", "has_some", "theirs", "expected"),
    [
        ({"x": Calls(2)}, "", True, False, ("ok", 0)),
        ({"x": Calls(117, 3)}, "", True, False, ("ok", 0)),
        ({"x": Calls(117, 117), "y": Calls(2)}, "", True, False, ("warning", 0)),
        ({"x": Calls(117, 117, 117)}, "", True, False, ("failed", 11)),
        ({"x": Calls(4, 0, 4), "y": Calls(2)}, "", True, False, ("failed", 11)),
        ({}, "", True, False, ("warning", 0)),
        ({}, "nobody answers", True, False, ("failed", 11)),
        ({}, "nobody answers", False, False, ("failed", 11)),
        ({}, "", False, False, ("not asked", 0)),
        ({}, "", True, True, ("not asked", 0)),
    ],
)
def test_webhooks(calls: dict[str, Calls], trouble: str, has_some: bool, theirs: bool, expected: tuple[str, int]) -> None:  # noqa: FBT001
    assert said(webhooks(calls, trouble, has_some=has_some, is_users_cluster=theirs)) == expected


def test_metrics() -> None:
    assert said(metrics("", "", 7)) == ("not asked", 0)
    assert said(metrics("http://x/metrics", "", 7)) == ("ok", 0)
    assert said(metrics("http://x/metrics", "it answers 404", 7)) == ("failed", 11)
    assert "{metrics_port} (7 now)" in metrics("http://x/metrics", "it answers 404", 7).fix
