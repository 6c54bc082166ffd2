"""repairs-external-drift: which controllers it accuses, which not, and when it knows nothing."""

from staleproof.checks.rules.external import NO_DRIFT, REPAIRS_EXTERNAL_DRIFT
from staleproof.core.declared import DeclaredPostgreSQL, Within
from staleproof.core.fault import AnyFault, HoldStream, Kill
from staleproof.core.history.entry import Drifted

from ...outside import NEVER, WITHIN_5, Outside, beside, settled_role
from ...rule_cases import Cases, verdicts, witnesses
from ...script import SLOW_WIDGETS, WIDGETS

KILL = Kill(resource="pods")


def within(*faults: AnyFault) -> Outside:
    """It declares that it repairs within 5 s."""
    return settled_role(Outside(*faults, declared=(WITHIN_5,)))


def undeclared() -> Outside:
    return settled_role(Outside())


def polling(script: Outside) -> Outside:
    """It looks every second, and repairs what it finds."""
    return settled_role(script).polls(4, 1.0).drifts().passes(1.0).looks().makes(limit=5).polls(3, 1.0).idle(2)


def asleep(script: Outside) -> Outside:
    return settled_role(script).passes(4.0).drifts().passes(8.0).reads().idle(2)


def notified(script: Outside) -> Outside:
    """A notification tells it at once."""
    return settled_role(script).passes(4.0).drifts().notifies().makes(limit=5).passes(8.0).idle(2)


def made_by_another(script: Outside) -> Outside:
    """A role that bears the name of the widget, too."""
    script.reads().has("w-x", of="w", limit=1)
    return script.adds(Drifted, change="created", external="w-x", **drifted(script)).reads().passes(3.0)


def notified_early(script: Outside) -> Outside:
    """The system notifies it before the harness has the answer that the role is gone."""
    script.reads().notifies().has_no()
    return script.adds(Drifted, change="deleted", external="w", **drifted(script)).reads()


def annotated(script: Outside, name: str, value: str) -> Outside:
    known: dict[str, object] = script._objects[WIDGETS, "w"]["metadata"]
    return script.applied("w", metadata=known | {"annotations": {name: value}})


def drifted(script: Outside) -> dict[str, str]:
    return {"system": "db", "kind": "roles", "resource": WIDGETS, "namespace": script.namespace, "name": "w"}


NONE_DRIFTED = "NOT_EXERCISED: nothing that belongs to a primary was changed or deleted in an external system"
BY_ITSELF = (
    "NOT_EXERCISED: it repaired nothing of db by itself, nor did it without faults: declare it "
    "(repairs: never, or within so many seconds, of db)"
)
CASES: Cases = {
    # --- declared
    "never repairs": (
        within().drifts().passes(8.0).reads().idle(2),
        "FAIL: roles/w of db was deleted, and was not repaired for 8.8 s; 5 s are declared",
    ),
    "repairs late": (
        within().drifts().passes(8.0).makes(limit=5),
        "FAIL: roles/w of db was deleted, and was repaired after 8.2 s; 5 s are declared",
    ),
    "repairs what is gone, and not what is changed": (
        within().drifts(change="changed", limit=9).polls(3, 4.0).reads(),
        "FAIL: roles/w of db was changed, and was not repaired for 13.3 s; 5 s are declared",
    ),
    "changes something else only": (
        within().drifts(change="changed", limit=9).passes(4.0).has(limit=9, login=True).writes("ALTER").reads().passes(5.0).reads(),
        "FAIL",
    ),
    "repairs in time": (within().drifts().passes(4.0).makes(limit=5).passes(9.0).reads(), "PASS"),
    "a little late": (within().drifts().passes(6.5).makes(limit=5), "PASS"),
    "makes it anew, otherwise": (within().drifts().makes(limit=5, password="other").passes(9.0).reads(), "PASS"),
    "puts a changed field back": (
        within().drifts(change="changed", limit=9).passes(3.0).makes(limit=5).passes(9.0).reads(),
        "PASS",
    ),
    "gives a changed field another value": (
        within().drifts(change="changed", limit=5, password="theirs").makes(limit=5, password="new").passes(9.0).reads(),
        "PASS",
    ),
    "a write that may have done it came in time": (within().drifts().passes(3.0).writes().passes(9.0).has(limit=5).reads(), "PASS"),
    "one of two is not repaired": (
        within().drifts().makes(limit=5).passes(1.0).drifts(change="changed", limit=9).passes(8.0).reads(),
        "FAIL",
    ),
    "the same thing drifts again before it is late": (
        within().drifts(change="changed", limit=9).passes(4.0).drifts(change="changed", limit=8).passes(4.0).makes(limit=5),
        "PASS",
    ),
    "makes it anew under another id": (
        within().drifts().looks().makes("w-2", limit=5).passes(9.0).reads(),
        "PASS",
    ),
    "replaces what is changed by one with another id": (
        within()
        .drifts(change="changed", limit=9)
        .looks()
        .makes("w-2", limit=5)
        .writes("DROP")
        .has_no()
        .reads()
        .passes(9.0)
        .reads(),
        "PASS",
    ),
    "waits for an answer that only brings news": (
        within().calls("GET", "/roles?watch", of="").drifts().passes(60.0).reads(),
        "FAIL: roles/w of db was deleted, and was not repaired for 60.7 s; 5 s are declared",
    ),
    # --- it could not
    "the system asked it to wait": (
        within().drifts().looks().calls("PUT", "/roles/w").answered("fail", code="429").passes(30.0).makes(limit=5),
        "PASS",
    ),
    "the system is down": (within().drifts().turns("down").passes(20.0).turns("up").passes(1.0).makes(limit=5), "PASS"),
    "the system is slow": (within().drifts().turns("slow").passes(20.0).turns("up").passes(1.0).makes(limit=5), "PASS"),
    "the system was down, and it is given twice as long": (
        within().drifts().turns("down").passes(10.0).turns("up").passes(19.0).makes(limit=5),
        "PASS",
    ),
    "the system was down long ago": (
        within().drifts().turns("down").passes(2.0).turns("up").passes(19.0).makes(limit=5),
        "FAIL",
    ),
    "the system is down at the end": (within().drifts().turns("down").passes(20.0).idle(2), "NOT_EXERCISED"),
    "its calls go wrong": (
        within().drifts().calls("CREATE").passes(9.0).answered("fail", effect="reject").passes(4.0).makes(limit=5),
        "PASS",
    ),
    "the answer is lost": (
        within().drifts().calls("CREATE").passes(6.0).answered("unknown", effect="lose-answer").has(limit=5).reads(),
        "PASS",
    ),
    "the system refuses what it asks": (
        within().drifts().calls("CREATE").answered("fail", code="42501").passes(9.0).reads(),
        "FAIL",
    ),
    "its process is not there": (within(KILL).drifts().dies().passes(20.0).restarted().passes(1.0).makes(limit=5), "PASS"),
    "it may have to be elected": (within(KILL).drifts().dies().restarted().passes(18.0).makes(limit=5), "PASS"),
    "drifts while it is not there, and a new life does not look": (
        within(KILL).dies().drifts().passes(5.0).restarted().updates("w", status={"x": 1}).passes(9.0).reads(),
        "FAIL",
    ),
    "a fault is open": (
        within(HoldStream(resource="pods")).hold().fires().drifts().passes(9.0).let_go().passes(4.0).makes(limit=5),
        "PASS",
    ),
    # --- nothing is known
    "nothing drifts": (within().passes(9.0).reads(), f"NOT_EXERCISED: {NO_DRIFT}"),
    "another user makes something": (within().drifts("x", change="created").passes(9.0).reads(), f"NOT_EXERCISED: {NO_DRIFT}"),
    "what drifts belongs to no primary": (within().has("x", of="").drifts("x").passes(9.0).reads(), f"NOT_EXERCISED: {NO_DRIFT}"),
    "its primary is going": (within().terminating("w", WIDGETS).drifts().passes(9.0).reads(), f"NOT_EXERCISED: {NO_DRIFT}"),
    "its primary is deleted at once": (within().drifts().removed("w", WIDGETS).passes(9.0).reads(), "NOT_EXERCISED"),
    "the user wants something else at once": (
        within().drifts(change="changed", limit=9).applied("w", spec=2).passes(9.0).reads(),
        "NOT_EXERCISED",
    ),
    "too short": (
        within().drifts().passes(3.0).reads(),
        "NOT_EXERCISED: roles/w of db was deleted, and it had 3.7 s to repair it and may take 7.0 s",
    ),
    "not claimed": (
        settled_role(Outside(declared=(NEVER,))).drifts().passes(60.0).reads(),
        "NOT_EXERCISED: it is declared that the controller never repairs what drifts in db (repairs: never)",
    ),
    "what only an event made it repair is for another requirement": (
        within().drifts().passes(9.0).reads().applied("w").makes(limit=5),
        "PASS",
    ),
    "late after an event, too": (within().drifts().passes(1.0).applied("w").passes(9.0).makes(limit=5), "FAIL"),
    "another user made it, and deletes it": (
        made_by_another(within()).drifts("w-x").passes(9.0).reads(),
        NONE_DRIFTED,
    ),
    "its primary is paused": (within().applied("w", spec={"paused": True}).passes(3.0).drifts().passes(9.0).reads(), NONE_DRIFTED),
    "its primary is paused by an annotation": (
        annotated(within(), "example.com/paused", "true").passes(3.0).drifts().passes(9.0).reads(),
        NONE_DRIFTED,
    ),
    # --- undeclared
    "repaired one as it wrote again what had met a conflict": (
        undeclared().says_blindly().drifts().passes(0.5).makes(limit=5).passes(3.0).drifts().passes(30.0).reads(),
        BY_ITSELF,
    ),
    "repaired one as the user changed the primary": (
        undeclared().applied("w", spec=2).drifts().passes(0.5).makes(limit=6).passes(3.0).drifts().passes(30.0).reads(),
        BY_ITSELF,
    ),
    "repaired one as its first list came": (
        settled_role(Outside(SLOW_WIDGETS))
        .dies()
        .lives_again(slow=(WIDGETS,))
        .opens()
        .fires()
        .drifts()
        .passes(3.0)
        .closes()
        .first_list_arrives(WIDGETS)
        .makes(limit=5)
        .passes(3.0)
        .drifts()
        .passes(30.0)
        .reads(),
        BY_ITSELF,
    ),
    "was notified while the drift was made": (
        notified_early(undeclared()).makes(limit=5).passes(3.0).drifts().passes(30.0).reads(),
        "NOT_EXERCISED: only notifications told it of what drifted in db, and nothing how often it looks: declare it "
        "(repairs: never, or within so many seconds, of db)",
    ),
    "undeclared, never seen to repair": (
        undeclared().drifts().passes(60.0).reads(),
        "NOT_EXERCISED: it repaired nothing of db by itself, nor did it without faults: "
        "declare it (repairs: never, or within so many seconds, of db)",
    ),
    "undeclared, and another system is declared": (
        settled_role(Outside(declared=(DeclaredPostgreSQL(name="other", repairs=Within(within="1s")),)))
        .drifts()
        .passes(60.0)
        .reads(),
        "NOT_EXERCISED",
    ),
    "undeclared, and only events make it repair": (
        undeclared().drifts().passes(9.0).applied("w").makes(limit=5).drifts().passes(60.0).reads(),
        "NOT_EXERCISED",
    ),
    "learnt from fault-free runs, never": (beside(asleep(Outside()).passes(9.0).reads(), polling), "FAIL"),
    "learnt from fault-free runs, a little longer than they took": (beside(asleep(Outside()).makes(limit=5), polling), "PASS"),
    "learnt from itself": (undeclared().polls(4, 1.0).drifts().makes(limit=5).drifts().passes(30.0).reads(), "FAIL"),
    "only notifications are known to tell it": (
        beside(asleep(Outside()).passes(60.0).reads(), notified),
        "NOT_EXERCISED: only notifications told it of what drifted in db, and nothing how often it looks: "
        "declare it (repairs: never, or within so many seconds, of db)",
    ),
    "a slow poller, of which the fault-free runs saw a gap": (
        beside(
            asleep(Outside()).passes(60.0).reads(),
            lambda script: settled_role(script).polls(4, 40.0).drifts().notifies().makes(limit=5).idle(2),
        ),
        "NOT_EXERCISED",
    ),
}


test_verdict = verdicts(REPAIRS_EXTERNAL_DRIFT, CASES)


def test_the_drift_and_the_repair_are_witnesses() -> None:
    late = within().drifts().passes(8.0).makes(limit=5)
    assert witnesses(REPAIRS_EXTERNAL_DRIFT, beside(late, polling)) == ["Drifted", "ExternalState", "ExternalState"]
