"""recovers-in-bounded-time: which controllers it accuses, which it does not, and when it knows nothing."""

from staleproof.checks.rules.pace import RECOVERS_IN_BOUNDED_TIME
from staleproof.core.fault import AnyFault, HoldStream, LoseAnswer, Refuse, Reject, Skew
from staleproof.core.history.entry import Ended
from staleproof.core.plan.step import Rest

from ...draft import STEPS
from ...rule_cases import ONE_POD, Cases, verdicts
from ...script import HOLD, WIDGETS, Script, beside, two_references

SETS = "replicasets.apps"
SKEW = Skew(by_seconds={WIDGETS: 1.0})
LATE = f"after it had been shown everything, though fault-free runs never pause longer than 0.3 s; until then, {ONE_POD}"
NOTHING_LEFT = "NOT_EXERCISED: when it had been shown everything there was nothing left for it to do"
TOO_SHORT = "a hold of 6.9 s is too short to send a controller to sleep"


def behind(*faults: AnyFault, seconds: float = 12.0) -> Script:
    """It has made one of two children and waits for that to be shown; a rest goes by."""
    script = Script(*(faults or (HOLD,)), steps=(*STEPS[:1], Rest(seconds=seconds)))
    script.step(1, "apply").hold().applied("w", spec=2).creates("w-0")
    return script.step(2, "rest").passes(seconds)


def selecting() -> Script:
    """It watches its children by their label only, and waits for all to be shown. The hold has ended, and nothing has come yet."""
    script = Script(HoldStream(resource=SETS), steps=(*STEPS[:1], Rest(seconds=12.0)))
    script.step(1, "apply").watches(SETS, selector="app=x").hold(SETS).applied("w", spec=2)
    script.creates("w-0", "w-1", resource=SETS, metadata={"labels": {"app": "x"}}).step(2, "rest").passes(12.0)
    return script.closes()


def usual(script: Script) -> Script:
    """What it does without faults."""
    script.step(1, "apply").applied("w", spec=2).creates("w-0", "w-1", resource=SETS, metadata={"labels": {"app": "x"}})
    return script.updates("w", status={"ready": 2})


def done(script: Script) -> Script:
    return script.creates("w-1").updates("w", status={"ready": 2})


def slow(script: Script) -> Script:
    return script.pair(pause=2.0)


def disturbed(other: AnyFault) -> tuple[Script, str]:
    script = done(behind(HOLD, other).fires(1).let_go().released().passes(8.0))
    return script, f"NOT_EXERCISED: {other.tag} fired, too, and may have sent it to sleep or kept it waiting"


CASES: Cases = {
    "sleeps on, and converges": (done(behind().let_go().released().passes(8.0)), f"FAIL: it first wrote 8.2 s {LATE}"),
    "its watch is opened again just before it wakes": (
        done(behind().let_go().released().passes(8.0).ended("pods", "clean", fault=None).watches().passes(0.3)),
        f"FAIL: it first wrote 8.7 s {LATE}",
    ),
    "does not wake after events": (
        behind().let_go().released().passes(10.0).settled(ok=False),
        f"FAIL: it had not written 10.2 s {LATE}",
    ),
    "does not wake after a list": (
        behind().relist().released().passes(10.0).settled(ok=False),
        f"FAIL: it had not written 10.2 s {LATE}",
    ),
    "wakes after events": (done(behind().let_go().released().passes(2.0)), "PASS"),
    "wakes after a list": (done(behind().relist().released().passes(2.0)), "PASS"),
    "wakes after a resumption": (
        done(behind().closes().ended(how="clean").passes(1.6).watches().shows("w-0").released().passes(2.0)),
        "PASS",
    ),
    # --- innocent, though it looks suspicious
    "has not caught up until it is shown what a label selects": (
        beside(selecting().passes(8.0).shows("w-0", SETS).shows("w-1", SETS).passes(2.0).updates("w", status={"ready": 2}), usual),
        "PASS",
    ),
    "has not caught up until it watches again": (
        done(behind().closes().ended(how="expired").passes(20.0).lists().passes(20.0).watches().released()),
        "PASS",
    ),
    "waited for what was shown later": (done(behind().let_go().passes(4.0).applied("w", spec=2).passes(4.0)), "PASS"),
    "was awake, and refused": (done(behind().let_go().refused("create", "w-1", "AlreadyExists").passes(8.0)), "PASS"),
    "pauses as long without faults": (beside(done(behind().let_go().released().passes(8.0)), slow), "PASS"),
    # --- nothing is known unless it had to wake by itself
    "had done everything before": (Script(HOLD).hold().pair().passes(12.0).let_go(), NOTHING_LEFT),
    "another user does the rest": (
        behind().updates("w", status={"ready": 2}).let_go().made("w-1", metadata={"generateName": "w-"}).passes(9.0),
        NOTHING_LEFT,
    ),
    "empty": (Script(HOLD), "NOT_EXERCISED"),
    "not fired": (Script(HOLD).pair(), "NOT_EXERCISED: nothing was kept from the controller"),
    "short": (done(behind(seconds=6.0).let_go()), f"NOT_EXERCISED: {TOO_SHORT}"),
    "short, and it never went on": (
        behind(seconds=6.0).let_go().released().passes(10.0).settled(ok=False),
        f"NOT_EXERCISED: it never went on, and {TOO_SHORT}",
    ),
    "poked": (done(behind().let_go().step(1, "touch").passes(8.0)), "NOT_EXERCISED: the workload went on after the hold"),
    "restarted": (done(behind().restarted()), "NOT_EXERCISED: the controller's process was stopped or started meanwhile"),
    "never caught up": (done(behind().closes().ended(how="expired")), "NOT_EXERCISED: it was not shown everything after the hold"),
    "another fault goes on": (
        done(behind(HOLD, SKEW).opens(1).fires(1).let_go().released().closes(1)),
        "NOT_EXERCISED: Skew went on after the hold",
    ),
    "rejected": disturbed(Reject(resource="pods")),
    "lost an answer": disturbed(LoseAnswer(resource="pods")),
    "refused": disturbed(Refuse(resource="pods")),
    "ended too soon": (behind().let_go().released().passes(1.0).settled(ok=False), "INCONCLUSIVE"),
    # --- what was waited for beyond the usual time is judged as if the trial had ended before
    "short, and it went on when it was waited for": (
        done(behind(seconds=6.0).let_go().released().passes(30.0)).settled(overdue=22.0),
        f"NOT_EXERCISED: it never went on, and {TOO_SHORT}",
    ),
    "long, and it went on when it was waited for": (
        done(behind().let_go().released().passes(30.0)).settled(overdue=22.0),
        f"FAIL: it had not written 30.2 s {LATE}",
    ),
    "never settled": (behind().adds(Ended), "INCONCLUSIVE: the trial has no settling phase"),
}


test_verdict = verdicts(RECOVERS_IN_BOUNDED_TIME, CASES, two_references())
