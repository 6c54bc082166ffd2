"""honest-status: which controllers it accuses, which it does not, and when it knows nothing."""

from typing import Any

from staleproof.checks.judge import judge
from staleproof.checks.rules.reports import HONEST_STATUS
from staleproof.checks.trial import Trial
from staleproof.core.fault import Reject

from ...rule_cases import Cases, verdicts, witnesses
from ...script import WIDGETS, Script, beside, trial, two_references

NO_FAULT = "NOT_EXERCISED: no fault touched the controller"


def grown(script: Script, *, last: int = 3) -> Script:
    """One pod more in each step, and their number in the status."""
    for number in (1, 2, 3):
        script.step(number, "scale").wants(number).creates(f"w-{number}")
        script.says(replicas=last if number == 3 else number).idle(number)
    return script


def reports(script: Script, ready: str = "True", **more: Any) -> Script:  # noqa: ANN401  # JSON
    """It makes nothing, and says so."""
    script.step(1, "apply").wants(1).says(conditions=[{"type": "Ready", "status": "Unknown"}])
    return script.says(conditions=[{"type": "Ready", "status": ready}], **more).idle(1)


def tells_nothing(script: Script) -> Script:
    return script.step(1, "apply").wants(1).creates("w-1").says(tries=3).idle(1)


def touched() -> Script:
    """A fault fires before anything is done."""
    return trial().opens().fires()


def rejected(times: int) -> Script:
    """Its last report is rejected so often."""
    script = grown(Script(Reject(resource=WIDGETS, verb="update", subresource="status", times=None)).opens(), last=2)
    for _ in range(times):
        script.rejected("update", WIDGETS, "w", subresource="status")
    return script


def late(script: Script) -> Script:
    """It has had all the time that it may need."""
    return script.released().passes(60).settled().resynced()


STALE = (
    "FAIL: widget/w: status.replicas is 2, and of pods there are 3; without faults it was their number at the end of every step "
    "(3 different ones)"
)
CASES: Cases = {
    "a count that is right": (late(grown(touched())), "PASS"),
    "a count that stays as it was": (late(grown(touched(), last=2)), STALE),
    "without any fault": (late(grown(trial(), last=2)), NO_FAULT),
    "put right at the end": (late(grown(touched(), last=2)).says(replicas=3), "PASS"),
    "put right once something else is made elsewhere": (
        late(grown(touched(), last=2)).applied("ns-probe", "namespaces").says(replicas=3),
        STALE,
    ),
    "wrong only at the end": (late(grown(touched())).says(replicas=2), "PASS"),
    "too little time": (
        grown(touched(), last=2),
        f"INCONCLUSIVE{STALE[4:]}, but it had 0.1 s to catch up, and may need 7.6 s after what was done to it",
    ),
    "its report was rejected once": (
        rejected(1).released().passes(120).settled().resynced(),
        f"INCONCLUSIVE{STALE[4:]}, but it has not tried the update of the status of widgets.example.com/w again, and nothing tells "
        "how long it waits by itself",
    ),
    "its report was rejected whenever it tried": (
        late(rejected(2)),
        "NOT_EXERCISED: its update of the status of widgets.example.com/w was rejected 2 times, and it may try that again later",
    ),
    "its report came after all": (late(rejected(2).says(replicas=2)), STALE),
    "a condition that is not so": (
        beside(late(reports(touched(), "False")), reports),
        "FAIL: widget/w: status.conditions[Ready].status is 'False', fault-free runs ended with 'True', and all that it reports on "
        "is as they left it",
    ),
    "one that is so": (beside(late(reports(touched())), reports), "PASS"),
    "nothing that could be held against anything": (
        beside(late(tells_nothing(touched())), tells_nothing),
        "NOT_EXERCISED: its status says nothing that can be held against the objects (status.tries fits no count)",
    ),
    "something else to report on": (
        beside(late(reports(touched(), "False").creates("w-1")), reports),
        "NOT_EXERCISED: there is something else to report on than at the end of fault-free runs: 1 pod of widget/w, "
        "fault-free runs ended with 0",
    ),
    "nothing changed since": (
        beside(late(reports(trial()).opens().fires()), reports),
        "NOT_EXERCISED: nothing that it could report on changed once a fault had touched it",
    ),
}

test_verdict = verdicts(HONEST_STATUS, CASES, two_references(grown))


def test_its_story_is_the_last_status_that_it_wrote() -> None:
    wrong = Trial(late(grown(touched(), last=2)).ends(), two_references(grown))

    assert witnesses(HONEST_STATUS, wrong) == ["FaultFired", "Asked", "Committed", "Settled"]


def test_it_is_judged_in_place_of_the_end_where_there_is_nothing_but_a_status() -> None:
    compared = beside(late(reports(touched(), "False")), reports)
    verdicts_by_slug = {each.requirement: each for each in judge(compared.history, [each.history for each in compared.references])}

    assert [each.severity for each in verdicts_by_slug["honest-status"].findings] == ["misreported"]
    assert verdicts_by_slug["converges-after-catch-up"].why == "it writes nothing but status, which honest-status judges"
