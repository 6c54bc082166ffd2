"""no-external-leak: which controllers it accuses, which not, and when it knows nothing."""

from staleproof.checks.rules.external import NO_EXTERNAL_LEAK
from staleproof.core.fault import Kill

from ...outside import EVERY_MINUTE, Outside, beside
from ...rule_cases import Cases, verdicts, witnesses
from ...script import WIDGETS

KILL = Kill(resource=WIDGETS)
NOT_AT_RISK = "NOT_EXERCISED: nothing that the controller had made outside lost its primary, or might not have been recorded"


def waited(script: Outside) -> Outside:
    """The trial is released, and ends long after that."""
    return script.released().passes(9.0).reads().settled()


def applied(script: Outside) -> Outside:
    """The widget's role is made, under a name that is recorded."""
    return script.step(1, "apply").applied("w", spec=1).makes().says(1, ready=1).idle(1).passes(3.0)


def removed(script: Outside) -> Outside:
    """The user deletes the widget."""
    return script.step(2, "delete").removed("w", WIDGETS)


def honest(script: Outside) -> Outside:
    return removed(applied(script)).writes("DROP").has_no().reads().idle(2)


def keeps(script: Outside) -> Outside:
    """It never removes what it has made."""
    return waited(removed(applied(script)).idle(2))


def keeps_slowly() -> Outside:
    """The same of one that says that it looks every minute."""
    return removed(applied(Outside(declared=(EVERY_MINUTE,)))).idle(2)


def killed(script: Outside) -> Outside:
    """A role with a name of its own is made, and the process ends before the name is recorded."""
    script.step(1, "apply").applied("w", spec=1).writes().has("r-1", of="").reads()
    return script.dies().passes(1.0).restarted()


def lost(script: Outside) -> Outside:
    """A role with a name of its own is made, and the controller never hears of it."""
    script.step(1, "apply").applied("w", spec=1).calls("CREATE", "CREATE ROLE").answered("unknown", effect="lose-answer")
    return script.has("r-1", of="").reads()


def in_one_go(script: Outside) -> Outside:
    return script.step(1, "apply").applied("w", spec=1).makes("r-1").says(1, ready=1).idle(1).passes(9.0).reads()


CASES: Cases = {
    # --- of a primary that is gone
    "leaves the role of a deleted widget": (
        beside(keeps(Outside()), honest),
        f"FAIL: roles/w of db is left over of {WIDGETS}/w, which had been gone for 9.4 s; fault-free runs left fewer",
    ),
    "removes it": (beside(honest(Outside()), honest), "PASS"),
    "leaves it without faults, too": (beside(keeps(Outside()), keeps), "PASS"),
    "the widget is there again": (
        beside(removed(applied(Outside())).applied("w", spec=1).passes(9.0).reads(), honest),
        "PASS",
    ),
    "the widget is still going": (
        beside(applied(Outside()).terminating("w", WIDGETS).passes(9.0).reads(), honest),
        NOT_AT_RISK,
    ),
    # --- of which the record was lost
    "makes another, and forgets the first": (
        beside(waited(killed(Outside(KILL)).makes("r-2").says(1, ready=1)), in_one_go),
        "FAIL: roles/r-1 of db is left over, and no object had recorded it for 11.5 s; fault-free runs left fewer",
    ),
    "makes another for a widget that is there": (
        beside(waited(applied(Outside(KILL)).makes("w-2", of="w").idle(2)), applied),
        f"FAIL: roles/w-2 of db is there beside what {WIDGETS}/w has without faults, and had been for 9.3 s; "
        "fault-free runs left fewer",
    ),
    "has two in fault-free runs as well": (
        beside(waited(applied(Outside()).makes("w-2", of="w").idle(2)), lambda script: applied(script).makes("w-2", of="w")),
        NOT_AT_RISK,
    ),
    "finds it again": (
        beside(killed(Outside(KILL)).looks().has("r-1").says(1, ready=1).reads().passes(9.0).reads(), in_one_go),
        "PASS",
    ),
    "removes it, and makes another": (
        beside(killed(Outside(KILL)).writes("DROP").has_no("r-1").makes("r-2").says(1, ready=1).passes(9.0).reads(), in_one_go),
        "PASS",
    ),
    "the answer was lost, and it makes another": (
        beside(
            waited(lost(Outside(KILL)).makes("r-2")),
            in_one_go,
        ),
        "FAIL",
    ),
    "it sweeps slowly, as it says": (
        beside(waited(keeps_slowly()), honest),
        "INCONCLUSIVE",
    ),
    # --- not its own
    "another user made it": (
        beside(waited(removed(applied(Outside())).has_no().drifts("x", change="created")), keeps),
        "PASS",
    ),
    "it was there before": (
        beside(removed(Outside().has().reads().step(1, "apply").applied("w", spec=1).looks().passes(9.0)).reads(), honest),
        "NOT_EXERCISED: the controller made nothing in an external system",
    ),
    # --- nothing is known
    "makes nothing": (beside(Outside().applied("w"), honest), "NOT_EXERCISED: the controller made nothing in an external system"),
    "nothing is at risk": (beside(in_one_go(Outside()), in_one_go), NOT_AT_RISK),
    "the system is down at the end": (
        beside(removed(applied(Outside())).turns("down").passes(9.0).reads(), honest),
        "INCONCLUSIVE: roles/w of db is left, but nothing kept the controller from removing it for 0.2 s only, "
        "and it may take 5.0 s",
    ),
    "the trial ends at once": (beside(removed(applied(Outside())).reads(), honest), "INCONCLUSIVE"),
}


test_verdict = verdicts(NO_EXTERNAL_LEAK, CASES)


def test_what_was_made_and_the_end_of_its_primary_are_witnesses() -> None:
    found = witnesses(NO_EXTERNAL_LEAK, beside(keeps(Outside()), honest))
    assert found == ["ExternalState", "Committed", "ExternalState"]
