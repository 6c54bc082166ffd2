"""What the doctor says of a life of the controller, given how it began: does it run, watch, stay up and begin again?"""

from collections import Counter
from collections.abc import Sequence

import pytest

from staleproof.assess.doctor.beginning import Beginning, Sightings, ports, reachable, restarts, stays_up, watches
from staleproof.assess.doctor.check import Check
from staleproof.core.history.entry import Answered, Asked, Entry, Exited, Opened, Refused, RequestId, StreamId
from staleproof.drive.trial.lives import ControllerExited
from staleproof.errors import SetupError, UsageError

from ...checks.script import WIDGETS

SEEN = Sightings(requests=4, watched={"pods", WIDGETS})
SILENT = Sightings()
NO_WATCH = SetupError("the controller opened no watch within 30 s.\nLog ends:\n  | x")
NO_RIGHT = UsageError("the controller does not start as ServiceAccount a/b")
DIED = ControllerExited("the controller exited with code 1 soon after it had begun.", 1)
PAIR = "ERROR problem running manager: open /tmp/k8s-webhook-server/serving-certs/tls.crt: no such file or directory"
KIND = 'ERROR Reconciler error: no matches for kind "Issuer" in version "cert-manager.io/v1"'


def began(seen: Sightings, error: Exception | None = None, **more: object) -> Beginning:
    return Beginning(seen=seen, seconds=1.0, error=error, **more)  # type: ignore[arg-type]  # by name


def said(check: Check) -> tuple[str, int]:
    return check.outcome, check.code


def test_what_is_seen_of_a_life() -> None:
    found = Sightings(news_at=1.0)
    entries: Sequence[Entry] = (
        Asked(at=2.0, request=RequestId(1), client="c", verb="list", resource=WIDGETS),
        Answered(at=3.0, request=RequestId(1), outcome="fail", code=403, reason="Forbidden"),
        Opened(at=4.0, stream=StreamId(1), client="c", resource=WIDGETS),
        Opened(at=5.0, stream=StreamId(2), client="c", resource="leases.coordination.k8s.io"),
        Asked(at=6.0, request=RequestId(2), client="c", verb="list", resource=WIDGETS),
    )
    for entry in entries:
        found.see(entry)
    assert (found.requests, found.watched, found.refused, found.news_at) == (4, {WIDGETS}, "403 Forbidden", 5.0)
    assert found.answers == {f"list {WIDGETS}: 403 Forbidden": 1}
    found.see(Refused(at=7.0, client="c", resource="pods", namespace="a", code=404))
    assert (found.refused, found.answers["watch pods in a: 404"]) == ("404 to its watch of pods", 1)
    found.see(Answered(at=8.0, request=RequestId(2), outcome="ok", code=200))
    assert sum(found.answers.values()) == 2


@pytest.mark.parametrize(
    ("beginning", "expected", "words"),
    [
        (began(SEEN), ("ok", 0), "asked the API server 4 times through the proxy, and was at rest after 1.0 s"),
        (began(SILENT, NO_WATCH), ("failed", 11), "it runs, and asked for nothing through the proxy in 1.0 s"),
        (began(SILENT, NO_WATCH, exit_code=3), ("failed", 11), "it exits by itself, with code 3"),
        (began(Sightings(requests=1), NO_RIGHT, exit_code=1), ("failed", 4), "with code 1, having asked the API server once"),
        (began(Sightings(requests=2), NO_WATCH), ("ok", 0), "it runs, and asked the API server 2 times"),
        (began(SILENT, SetupError("no such file"), is_started=False), ("failed", 11), "no such file"),
        (began(SEEN, DIED, exit_code=1, deaths=(1, 1, 1)), ("failed", 11), "with code 1, 1.0 s after its start, 3 times in a row"),
        (
            began(SEEN, SetupError("poller opened no watch within 30 s.\nlog")),
            ("failed", 11),
            "poller opened no watch within 30 s.",
        ),
        (began(SEEN, deaths=(1,)), ("warning", 0), "it runs, but exited by itself before (once, with code 1)"),
    ],
)
def test_reachable(beginning: Beginning, expected: tuple[str, int], words: str) -> None:
    check = reachable(beginning)
    assert said(check) == expected
    assert words in check.found
    assert bool(check.fix) is (check.outcome != "ok")


def test_why_it_exits_is_reported_with_the_option_that_cures_it_and_its_line() -> None:
    log = ("INFO the variable WATCH_NAMESPACE is not set", *("INFO x" for _ in range(30)), PAIR, "INFO all informers stopped")
    check = reachable(began(SEEN, DIED, exit_code=1, deaths=(1, 1, 1), log=log))
    assert "it finds no certificate for its webhooks" in check.found
    assert "{webhook_cert_dir}" in check.fix
    assert "WATCH_NAMESPACE" not in check.found
    assert check.log == (PAIR,)


def test_the_fix_for_an_image_says_what_a_pod_finds() -> None:
    assert "in-cluster configuration" in reachable(began(SILENT, NO_WATCH, is_image=True)).fix
    assert "in-cluster" not in reachable(began(SILENT, NO_WATCH)).fix


@pytest.mark.parametrize(
    ("beginning", "wanted", "expected", "words"),
    [
        (began(SEEN), [WIDGETS], ("ok", 0), f"pods, {WIDGETS}"),
        (began(SEEN), [], ("ok", 0), "pods"),
        (began(SEEN), ["gadgets"], ("warning", 0), "and not gadgets"),
        (began(Sightings(requests=1, refused="404 NotFound"), NO_WATCH), [], ("failed", 11), "the last refusal was 404 NotFound"),
        (began(Sightings(requests=1), NO_RIGHT), [], ("failed", 4), "it opened no watch within 1 s"),
        (began(SEEN, log=(KIND,)), [WIDGETS], ("warning", 0), "the API server does not know Issuer"),
        (began(SEEN, log=("INFO no matches for kind Issuer in version x",)), [WIDGETS], ("ok", 0), "pods"),
    ],
)
def test_watches(beginning: Beginning, wanted: list[str], expected: tuple[str, int], words: str) -> None:
    check = watches(beginning, wanted)
    assert said(check) == expected
    assert words in check.found


def test_a_lease_in_a_namespace_that_is_missing_is_named() -> None:
    """Once is enough for one that does not work; of one that does, what it asked for again and was refused."""
    lease = "create leases.coordination.k8s.io in w-system: 404 NotFound"
    check = watches(began(Sightings(requests=2, answers=Counter({lease: 1})), NO_WATCH), [])
    assert said(check) == ("failed", 11)
    assert "its Lease is to be in the namespace w-system, which is not there" in check.found
    assert "--leader-elect=false" in check.fix
    for times, outcome in ((1, "ok"), (2, "warning")):
        seen = Sightings(requests=4, watched={WIDGETS}, answers=Counter({lease: times}))
        assert watches(began(seen), [WIDGETS]).outcome == outcome


@pytest.mark.parametrize(
    ("seconds", "code", "again", "expected", "words"),
    [
        (0.2, 0, began(SEEN), ("ok", 0), "within 0.2 s of TERM (exit code 0); its next life was at rest after 1.0 s"),
        (0.2, 143, began(SEEN), ("ok", 0), "exit code 143"),
        (10.0, 137, began(SEEN), ("warning", 0), "was killed after 10 s"),
        (0.2, 0, began(Sightings(watched={"pods"})), ("warning", 0), f"does not watch {WIDGETS} any more"),
        (0.2, 0, began(SILENT, NO_WATCH), ("failed", 11), "did not come back: the controller opened no watch within 30 s."),
        (0.2, 0, began(SEEN, DIED, deaths=(1, 1, 1), log=(PAIR,)), ("failed", 11), "finds no certificate for its webhooks"),
    ],
)
def test_restarts(seconds: float, code: int, again: Beginning, expected: tuple[str, int], words: str) -> None:
    check = restarts(seconds, code, again, SEEN.watched)
    assert said(check) == expected
    assert words in check.found


def test_stays_up() -> None:
    assert stays_up([], 12.3).found == "it did not exit by itself in 12 s"
    exits = [Exited(at=1.0, life=1, code=2), Exited(at=2.0, life=2, code=1, log=("INFO y", PAIR))]
    check = stays_up(exits, 12.3)
    assert said(check) == ("failed", 11)
    assert "exited by itself 2 times in 12 s, at last with code 1; it finds no certificate" in check.found
    assert check.log == (PAIR,)


@pytest.mark.parametrize(("fixed", "outcome"), [(None, "not asked"), (set(), "ok"), ({8080, 443}, "warning")])
def test_ports(fixed: set[int] | None, outcome: str) -> None:
    check = ports(fixed)
    assert said(check) == (outcome, 0)
    assert ("443, 8080: with -n 2" in check.found) is bool(fixed)
