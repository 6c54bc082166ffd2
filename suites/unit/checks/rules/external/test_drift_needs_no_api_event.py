"""drift-needs-no-api-event: which controllers it accuses, which not, and when it knows nothing."""

from staleproof.checks.rules.external import DRIFT_NEEDS_NO_API_EVENT, NO_DRIFT
from staleproof.core.fault import AnyFault
from staleproof.core.plan.step import Resync

from ...draft import STEPS
from ...outside import NEVER, WITHIN_5, Outside, beside, settled_role
from ...rule_cases import Cases, verdicts, witnesses
from ...script import HOLD_WIDGETS, RESTART, WIDGETS

SILENT = "NOT_EXERCISED: the API server was not silent between the drift and the repair"


def within(*faults: AnyFault) -> Outside:
    """It declares that it repairs within 5 s."""
    return settled_role(Outside(*faults, declared=(WITHIN_5,)))


def late(script: Outside) -> Outside:
    """Something has drifted, and nothing was done about it for 9 s."""
    return script.drifts().passes(9.0).reads()


def polling(script: Outside) -> Outside:
    return settled_role(script).polls(4, 1.0).drifts().passes(1.0).makes(limit=5).idle(2)


CASES: Cases = {
    # --- an event had to wake it
    "repairs when it is touched": (
        late(within()).applied("w").makes(limit=5),
        "FAIL: roles/w of db was deleted, and was repaired only once something of widget/ns/w had come from the API server, "
        "which was silent for 9.3 s; 5 s are declared",
    ),
    "repairs when a child changes": (
        late(settled_role(Outside(declared=(WITHIN_5,))).creates("w-a")).applied("w-a", "pods").makes(limit=5),
        "FAIL",
    ),
    "repairs when it is made to list again": (
        late(settled_role(Outside(declared=(WITHIN_5,), steps=(*STEPS, Resync(resource=WIDGETS)))))
        .step(3, "resync")
        .makes(limit=5),
        "FAIL",
    ),
    "repairs when its watch has ended": (late(within()).ended(WIDGETS, fault=None).watches(WIDGETS).makes(limit=5), "FAIL"),
    "repairs when it starts again": (late(within(RESTART)).restarted().makes(limit=5), "FAIL"),
    "learnt": (beside(late(settled_role(Outside())).passes(9.0).applied("w").makes(limit=5), polling), "FAIL"),
    # --- it noticed by itself
    "repairs by itself": (within().drifts().passes(4.0).makes(limit=5), "PASS"),
    "its own writes are no events": (within().drifts().passes(4.0).says(1, ready=1).makes(limit=5), "PASS"),
    "its own list is no event": (within().drifts().lists(WIDGETS).passes(4.0).makes(limit=5), "PASS"),
    "something of another object is no event": (within().applied("v").drifts().applied("v").passes(4.0).makes(limit=5), "PASS"),
    "a notification is none": (within().drifts().notifies().makes(limit=5), "PASS"),
    "one of two by itself": (within().drifts().makes(limit=5).drifts().applied("w").makes(limit=5), "PASS"),
    # --- nothing is known
    "an event came at once": (within().drifts().applied("w").passes(4.0).makes(limit=5), SILENT),
    "an event came in time": (within().drifts().passes(4.0).applied("w").makes(limit=5), SILENT),
    "late by itself": (within().drifts().passes(9.0).makes(limit=5), "PASS"),
    "late after an event, too": (within().drifts().passes(9.0).reads().applied("w").passes(9.0).makes(limit=5), SILENT),
    "never repaired": (late(within()), "NOT_EXERCISED: roles/w of db was deleted, and was not repaired at all"),
    "too short": (within().drifts().passes(2.0), "NOT_EXERCISED: it had too little time to repair it"),
    "nothing drifts": (within().passes(9.0), f"NOT_EXERCISED: {NO_DRIFT}"),
    "not claimed": (late(settled_role(Outside(declared=(NEVER,)))).applied("w").makes(limit=5), "NOT_EXERCISED"),
    "undeclared, and only events make it repair": (late(settled_role(Outside())).applied("w").makes(limit=5), "NOT_EXERCISED"),
    "its own writes were kept from it": (
        within(HOLD_WIDGETS)
        .drifts()
        .hold(WIDGETS)
        .says(1, ready=1, beat=2)
        .passes(9.0)
        .let_go(WIDGETS)
        .applied("w")
        .makes(limit=5),
        "NOT_EXERCISED: writes about that primary were kept from the controller meanwhile",
    ),
    "the system was down until the event": (
        within().drifts().turns("down").passes(20.0).turns("up").applied("w").makes(limit=5),
        SILENT,
    ),
    "it was not there until it started again": (within(RESTART).dies().drifts().passes(9.0).restarted().makes(limit=5), SILENT),
}


test_verdict = verdicts(DRIFT_NEEDS_NO_API_EVENT, CASES)


def test_the_drift_the_event_and_the_repair_are_witnesses() -> None:
    woken = late(within()).applied("w").makes(limit=5)
    found = witnesses(DRIFT_NEEDS_NO_API_EVENT, beside(woken, polling))
    assert found == ["Drifted", "ExternalState", "Delivered", "ExternalState"]
