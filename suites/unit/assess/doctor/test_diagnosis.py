"""What the doctor says, given what was seen: the outcome of each check, its fix, and the exit code of all."""

from collections.abc import Sequence

import pytest

from staleproof.assess.doctor.diagnosis import (
    Beginning,
    Check,
    Sightings,
    exit_code,
    metrics,
    no_time,
    not_asked,
    reachable,
    reconciles,
    refused_sample,
    restarts,
    rights,
    unserved_sample,
    watches,
    webhooks,
)
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import Answered, Asked, Entry, Opened, Refused, RequestId, StreamId
from staleproof.errors import SetupError, UsageError

from ...checks.script import WIDGETS, Script, trial
from ...judged import result

WIDGET = {"apiVersion": "staleproof.dev/v1", "kind": "Widget", "metadata": {"name": "w"}}
SEEN = Sightings(asked=4, watched={"pods", WIDGETS})
SILENT = Sightings()
NO_WATCH = SetupError("the controller opened no watch within 30 s.\nLog ends:\n  | x")
NO_RIGHT = UsageError("the controller does not start as ServiceAccount a/b")


def began(seen: Sightings, error: Exception | None = None, **more: object) -> Beginning:
    return Beginning(seen=seen, seconds=1.0, error=error, **more)  # type: ignore[arg-type]  # by name


def said(check: Check) -> tuple[str, int]:
    return check.outcome, check.code


def test_what_is_seen_of_a_life() -> None:
    found = Sightings()
    entries: Sequence[Entry] = (
        Asked(at=0.0, request=RequestId(1), client="c", verb="list", resource=WIDGETS),
        Answered(at=0.0, request=RequestId(1), outcome="fail", code=403, reason="Forbidden"),
        Opened(at=0.0, stream=StreamId(1), client="c", resource=WIDGETS),
        Opened(at=0.0, stream=StreamId(2), client="c", resource="leases.coordination.k8s.io"),
    )
    for entry in entries:
        found.see(entry)
    assert (found.asked, found.watched, found.refused) == (3, {WIDGETS}, "403 Forbidden")
    found.see(Refused(at=0.0, client="c", resource="pods", code=404))
    assert found.refused == "404 to its watch of pods"


@pytest.mark.parametrize(
    ("beginning", "expected", "told"),
    [
        (began(SEEN), ("ok", 0), "asked the API server 4 times through the proxy, and was at rest after 1.0 s"),
        (began(SILENT, NO_WATCH), ("failed", 11), "it runs, and asked for nothing through the proxy in 1.0 s"),
        (began(SILENT, NO_WATCH, exit_code=3), ("failed", 11), "it exits by itself, with code 3"),
        (began(Sightings(asked=1), NO_RIGHT, exit_code=1), ("failed", 4), "with code 1, having asked the API server once"),
        (began(Sightings(asked=2), NO_WATCH), ("ok", 0), "it runs, and asked the API server 2 times"),
        (began(SILENT, SetupError("no such file"), is_started=False), ("failed", 11), "no such file"),
    ],
)
def test_reachable(beginning: Beginning, expected: tuple[str, int], told: str) -> None:
    check = reachable(beginning)
    assert said(check) == expected
    assert told in check.told
    assert bool(check.fix) is (check.outcome == "failed")


def test_an_image_is_told_what_a_pod_finds() -> None:
    assert "in-cluster configuration" in reachable(began(SILENT, NO_WATCH, is_image=True)).fix
    assert "in-cluster" not in reachable(began(SILENT, NO_WATCH)).fix


@pytest.mark.parametrize(
    ("beginning", "wanted", "expected", "told"),
    [
        (began(SEEN), [WIDGETS], ("ok", 0), f"pods, {WIDGETS}"),
        (began(SEEN), [], ("ok", 0), "pods"),
        (began(SEEN), ["gadgets"], ("warning", 0), "and not gadgets"),
        (began(Sightings(asked=1, refused="404 NotFound"), NO_WATCH), [], ("failed", 11), "the last refusal was 404 NotFound"),
        (began(Sightings(asked=1), NO_RIGHT), [], ("failed", 4), "it opened no watch within 1 s"),
    ],
)
def test_watches(beginning: Beginning, wanted: list[str], expected: tuple[str, int], told: str) -> None:
    check = watches(beginning, wanted)
    assert said(check) == expected
    assert told in check.told


def looked(script: Script) -> Check:
    return reconciles(Trial(script.ends()), WIDGET, (), WIDGETS, ["its last line"])


def test_reconciles() -> None:
    check = looked(trial().step(1, "apply").applied("w").creates("w-a").creates("w-b"))
    assert said(check) == ("ok", 0)
    assert check.name == "reconciles Widget/w"
    assert check.told.startswith("create pods ×2; at rest after ")  # noqa: RUF001  # a sign on purpose


def test_what_does_nothing_is_told_with_its_log_and_what_is_missing() -> None:
    check = looked(trial().step(1, "apply").applied("w"))
    assert said(check) == ("failed", 4)
    assert "it did nothing within" in check.told
    assert check.log == ("its last line",)
    lacks = {**WIDGET, "spec": {"secretRef": {"name": "key"}}}
    check = reconciles(Trial(trial().step(1, "apply").applied("w").ends()), lacks, (), WIDGETS, [])
    assert "what the sample mentions is not there: Secret/key (spec.secretRef.name)" in check.told


def test_what_a_controller_says_of_a_sample_is_a_warning() -> None:
    status = {"conditions": [{"type": "Ready", "status": "False", "reason": "NoKey"}]}
    check = looked(trial().step(1, "apply").applied("w").creates("w-a").applied("w", status=status))
    assert said(check) == ("warning", 0)
    assert "it says: Ready is False, NoKey" in check.told


def test_a_real_history() -> None:
    history = result("expectations-hidden-creates").history.references[0]
    sample = {**WIDGET, "metadata": {"name": "sample"}}
    check = reconciles(Trial(history), sample, (), "widgets.staleproof.dev", [])
    assert said(check) == ("ok", 0)
    assert "create pods ×3" in check.told  # noqa: RUF001  # as above


def test_a_sample_that_is_refused() -> None:
    assert said(refused_sample("Widget/w", UsageError("no\nlog"))) == ("failed", 4)
    assert refused_sample("Widget/w", UsageError("no\nlog")).told == "no"
    assert said(unserved_sample("Widget/w")) == ("failed", 11)


@pytest.mark.parametrize(
    ("seconds", "code", "again", "expected", "told"),
    [
        (0.2, 0, began(SEEN), ("ok", 0), "within 0.2 s of TERM (exit code 0); its next life was at rest after 1.0 s"),
        (0.2, 143, began(SEEN), ("ok", 0), "exit code 143"),
        (10.0, 137, began(SEEN), ("warning", 0), "was killed after 10 s"),
        (0.2, 0, began(Sightings(watched={"pods"})), ("warning", 0), f"does not watch {WIDGETS} any more"),
        (0.2, 0, began(SILENT, NO_WATCH), ("failed", 11), "did not come back: the controller opened no watch within 30 s."),
    ],
)
def test_restarts(seconds: float, code: int, again: Beginning, expected: tuple[str, int], told: str) -> None:
    check = restarts(seconds, code, again, SEEN.watched)
    assert said(check) == expected
    assert told in check.told


@pytest.mark.parametrize(
    ("account", "refused", "works", "theirs", "expected"),
    [
        ("a/b", "", True, False, ("ok", 0)),
        ("a/b", "asked 2 times to list secrets", True, False, ("warning", 0)),
        ("a/b", "asked 2 times to list secrets", False, False, ("failed", 4)),
        ("", "", True, False, ("not asked", 0)),
        ("", "", True, True, ("not asked", 0)),
    ],
)
def test_rights(account: str, refused: str, works: bool, theirs: bool, expected: tuple[str, int]) -> None:  # noqa: FBT001
    assert said(rights(account, refused, works=works, is_users_cluster=theirs)) == expected


@pytest.mark.parametrize(
    ("calls", "trouble", "has_some", "theirs", "expected"),
    [
        ("x 2", "", True, False, ("ok", 0)),
        ("", "", True, False, ("warning", 0)),
        ("", "nobody answers", True, False, ("failed", 11)),
        ("", "nobody answers", False, False, ("failed", 11)),
        ("", "", False, False, ("not asked", 0)),
        ("", "", True, True, ("not asked", 0)),
    ],
)
def test_webhooks(calls: str, trouble: str, has_some: bool, theirs: bool, expected: tuple[str, int]) -> None:  # noqa: FBT001
    assert said(webhooks(calls, trouble, has_some=has_some, is_users_cluster=theirs)) == expected


def test_metrics() -> None:
    assert said(metrics("", "", 7)) == ("not asked", 0)
    assert said(metrics("http://x/metrics", "", 7)) == ("ok", 0)
    assert said(metrics("http://x/metrics", "it answers 404", 7)) == ("failed", 11)
    assert "{metrics_port} (7 now)" in metrics("http://x/metrics", "it answers 404", 7).fix


def test_the_exit_code_is_that_of_the_first_that_failed() -> None:
    fine, late = not_asked("metrics", "no URL"), no_time("metrics", 50)
    wrong, away = refused_sample("x", UsageError("no")), unserved_sample("y")
    assert exit_code([fine]) == exit_code([]) == 0
    assert exit_code([fine, late]) == 10
    assert (exit_code([late, wrong, away]), exit_code([away, wrong])) == (4, 11)
