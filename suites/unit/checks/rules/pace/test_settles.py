"""settles: which controllers it accuses, which it does not, and when it knows nothing."""

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules.pace import SETTLES
from staleproof.core.fault import Reject
from staleproof.core.history.entry import Ended, Opened
from staleproof.core.history.provenance import LEADER

from ...rule_cases import Cases, verdicts
from ...script import WIDGETS, Script, beside, losing, trial

NOT_AGAIN = (
    "NOT_EXERCISED: the controller did not list its primaries again after it had settled, because the plan does not tell it to"
)
NEWS = "NOT_EXERCISED: it changed something when it looked again and then no more: it may have had news from outside"
CHANGED = f"NOT_EXERCISED: another user changed {WIDGETS}/w after the controller had settled"


def late(number: int, first: str) -> str:
    writes = "1 write" if number == 1 else f"{number} writes"
    return f"FAIL: {writes} after it had settled and nothing had changed, the first: {first}, though nothing had changed"


def done(script: Script) -> Script:
    return script.step(1, "apply").applied("w", spec=1).creates("w-a").updates("w", status=1).released()


def settled() -> Script:
    return done(trial()).settled()


def again() -> Script:
    """Settled, and the primaries are listed once more."""
    return settled().resynced()


def watch_list() -> Script:
    return settled().adds(Opened, stream=9, client="controller", resource=WIDGETS, watch_list=True).initial_end(9)


def lock() -> Script:
    """Leader election by annotation."""
    return done(trial().applied("lock", "configmaps", metadata={"annotations": {LEADER: "{}"}})).settled().resynced()


def at(second: int) -> str:
    return f"2026-01-01T00:00:0{second}Z"


def beats() -> Script:
    """It says when it looked last."""
    script = done(trial()).updates("w", status={"seen": at(1)}).settled().resynced()
    return script.updates("w", status={"seen": at(2)}).updates("w", status={"seen": at(3)})


def unread() -> Script:
    """It reads a Secret and does not watch them; then that is gone."""
    script = trial().step(1, "apply").applied("w", spec=1).made("c", "secrets").gets("c", "secrets").updates("w", status=1)
    return script.removed("c", "secrets").released().settled().resynced()


def never_answered() -> Script:
    """It tries again what was never answered."""
    script = done(Script(losing("patch"))).asks("patch", WIDGETS, "w", subresource="status").loses_the_answer().settled()
    return script.resynced().asks("patch", WIDGETS, "w", subresource="status")


def was_rejected() -> Script:
    """It tries again what was rejected."""
    return done(Script(Reject(resource="pods"))).rejected("patch", name="w-a").settled().resynced().asks("patch", "pods", "w-a")


def looks(times: int) -> Script:
    """It changes something each time."""
    script = settled()
    for number in range(times):
        script.resynced().updates("w", status=10 + number)
    return script


def reported(times: int, *, by: str = "status", status: str = "") -> Script:
    """It changes its pod, or only the status of that, each time that it looks, and another controller reports on the pod, or does
    what is no report."""
    script = done(trial()).settled()
    for number in range(times):
        script.resynced().updates("w-a", "pods", subresource=status, **{status or "spec": {"changes": number}})
        script.applied("w-a", "pods", **{by: {"reports": number}})
    return script


def replaced(times: int) -> Script:
    """It changes its set each time that it looks, and another controller makes a pod of that anew."""
    script = done(trial()).creates("w-s", resource="replicasets.apps", generated="", spec=0).settled()
    for number in range(times):
        script.resynced().updates("w-s", "replicasets.apps", subresource="", spec=number + 1).made(f"w-s-{number}", owner="w-s")
    return script


def over_and_over(script: Script, times: int) -> Script:
    """It makes a request and throws it away, so many times in one step."""
    script.step(1, "apply").applied("w", spec=1)
    for number in range(times):
        script.creates(f"w-r{number}", resource="configmaps").deletes(f"w-r{number}", resource="configmaps")
    return script.idle(1).step(2, "touch")


def once(script: Script) -> Script:
    return over_and_over(script, 1)


def ended(times: int) -> Script:
    return over_and_over(trial(), times).rests(20).released().settled().resynced()


def round_and_round(times: int) -> str:
    seconds = (times - 1) * 0.8
    return (
        f"FAIL: it made and removed a configmap of widget/w {times} times within {seconds:.1f} s, one after the other; "
        "fault-free runs did so 1 times at most"
    )


def rolls_back(times: int, *, failed: bool) -> Script:
    """It makes a pod and a ConfigMap, and takes the pod back where it could not make the ConfigMap, or always."""
    script = Script(Reject(resource="configmaps")).step(1, "apply").applied("w", spec=1)
    for number in range(times):
        script.creates(f"w-{number}")
        if failed:
            script.rejected("create", "configmaps")
        script.deletes(f"w-{number}").passes(2.0**number)
    script.creates("w-a").creates("w-c", resource="configmaps").idle(1).step(2, "touch")
    return script.released().settled().resynced()


def makes_each_once(script: Script) -> Script:
    return (
        script.step(1, "apply").applied("w", spec=1).creates("w-a").creates("w-c", resource="configmaps").idle(1).step(2, "touch")
    )


CASES: Cases = {
    "takes back what it has begun, as another request failed": (beside(rolls_back(4, failed=True), makes_each_once), "PASS"),
    "takes back what it has begun, and nothing failed": (beside(rolls_back(4, failed=False), makes_each_once), "FAIL"),
    "writes the same status again, which is a cost": (again().updates("w"), "PASS"),
    "changes something": (again().updates("w", status=2).creates("w-b").deletes("w-b"), late(3, f"update {WIDGETS}/w")),
    "goes on": (looks(3), late(3, f"update {WIDGETS}/w")),
    "goes on, and then it is enough": (looks(3).resynced(), NEWS),
    "has not been made to look so often": (looks(2), NEWS),
    "goes on, and another controller reports on it": (reported(3), late(3, "update pods/w-a")),
    "does so twice": (reported(2), NEWS),
    "goes on, and another controller makes its pods": (replaced(3), late(3, "update replicasets.apps/w-s")),
    "reports on it each time, as another controller does": (reported(3, status="status"), NEWS),
    "another user changes it each time": (reported(3, by="spec"), NEWS),
    "goes back": (again().updates("w", status=2).updates("w", status=1), late(2, f"update {WIDGETS}/w")),
    "goes back to what it has changed": (
        again().updates("w", status=2).updates("w", status=3).updates("w", status=2),
        late(3, f"update {WIDGETS}/w"),
    ),
    "makes anew what it deleted": (
        done(trial()).creates("w-c", generated="").settled().resynced().deletes("w-c").creates("w-c", generated=""),
        late(2, "delete pods/w-c"),
    ),
    "goes on with its work": (again().creates("w-b").updates("w", status=2), NEWS),
    "writes before another user changes something": (
        again().creates("w-b").deletes("w-b").applied("w", spec=2),
        late(2, "create pods/w-b"),
    ),
    "tries again twice": (never_answered().asks("patch", WIDGETS, "w", subresource="status"), NEWS),
    "writes a time, which is a cost": (beats(), "PASS"),
    "sets a time that was not set": (again().updates("w", status={"seen": at(1)}), NEWS),
    "compares before it writes": (done(trial()), "PASS"),
    "a WatchList of the primaries is a list as well": (watch_list(), "PASS"),
    # --- writes that are no work
    "lease": (settled().asks("update", "leases.coordination.k8s.io", "leader").resynced(), "PASS"),
    "event": (settled().asks("create", "events").resynced(), "PASS"),
    "tokenreview": (settled().asks("create", "tokenreviews.authentication.k8s.io", namespace="").resynced(), "PASS"),
    "accessreview": (settled().asks("create", "localsubjectaccessreviews.authorization.k8s.io").resynced(), "PASS"),
    "token": (settled().asks("create", "serviceaccounts", "default", subresource="token").resynced(), "PASS"),
    "cluster-scoped": (settled().asks("update", "nodes", "node-1", namespace="").resynced(), "PASS"),
    "refused": (settled().refused("update", "w", "Conflict", resource=WIDGETS).resynced(), "PASS"),
    "failed": (settled().fails("update", "w", WIDGETS).resynced(), "PASS"),
    "leader election by annotation": (lock().updates("lock", "configmaps", renewed=1), "PASS"),
    # --- writes for a reason
    "tries again what was never answered": (never_answered(), "PASS"),
    "tries again what was rejected": (was_rejected(), "PASS"),
    "another user changed something before": (again().applied("w", spec=2).creates("w-b"), CHANGED),
    "another user changed the same before": (settled().applied("w", spec=2).updates("w").resynced(), CHANGED),
    "what is shown only then is a change for the controller": (
        done(trial()).hold().made("w-x").released().settled().let_go().updates("w").resynced(),
        "NOT_EXERCISED: when it settled it had not been shown everything yet",
    ),
    "what it does not watch may have changed": (unread().updates("w"), "PASS"),
    "news for it if it writes": (
        unread().updates("w", status=2).updates("w", status=1),
        "NOT_EXERCISED: when it settled it had not read what had become of secrets, which it does not watch",
    ),
    # --- nothing is known unless everything was reconciled again
    "empty": (trial(), "NOT_EXERCISED: the controller never wrote anything"),
    "still busy": (done(trial()).settled(ok=False, why="still busy"), "NOT_EXERCISED: it never settled (still busy)"),
    "not reconciled again": (settled(), NOT_AGAIN),
    "another resource was listed": (settled().lists("pods"), NOT_AGAIN),
    "never settled": (done(trial()).adds(Ended), "INCONCLUSIVE: the trial has no settling phase"),
}


test_verdict = verdicts(SETTLES, CASES)


ROUNDS: Cases = {
    "goes round": (beside(ended(18), once), round_and_round(18)),
    "as often as needed": (beside(ended(4), once), round_and_round(4)),
    "a little more often than usual": (beside(ended(3), once), "PASS"),
    "as often as without faults, too": (beside(ended(5), lambda script: over_and_over(script, 3)), "PASS"),
    "it is unknown how often is usual": (ended(18), "PASS"),
    "at one time": (
        beside(done(trial()).creates("w-b", "w-c", "w-d").deletes("w-b", "w-c", "w-d").settled().resynced(), done),
        "PASS",
    ),
}

test_rounds = verdicts(SETTLES, ROUNDS)


def test_it_is_restless_as_long_as_it_goes_on() -> None:
    def severity(script: Script) -> list[str]:
        return [each.severity for each in verdict_of(SETTLES, beside(script, once)).findings]

    assert severity(ended(6)) == ["transient"]
    assert severity(over_and_over(trial(), 6).released().settled(ok=False).adds(Ended)) == ["restless"]
