"""honest-status of what is in external systems: which controllers it accuses, which not, and when it knows nothing."""

from staleproof.checks.rules.reports import HONEST_STATUS
from staleproof.core.fault import Kill
from staleproof.core.history.entry import SystemTurned

from ...outside import EVERY_MINUTE, Outside, beside, settled_role
from ...rule_cases import Cases, verdicts, witnesses
from ...script import HOLD_WIDGETS, WIDGETS

READY, NOT_READY = [{"type": "Ready", "status": "True"}], [{"type": "Ready", "status": "False"}]
KILL, POLICY = Kill(resource=WIDGETS), "/roles/w?policy"
NOTHING = "NOT_EXERCISED: no fault touched the controller"


def repaired(script: Outside) -> Outside:
    """Its role is deleted and made again, and it says so."""
    script.drifts().looks().says(1, conditions=NOT_READY).makes(limit=5)
    return script.says(1, conditions=READY).idle(2)


def honest(script: Outside) -> Outside:
    return repaired(settled_role(script)).passes(9.0)


def waited(script: Outside) -> Outside:
    return script.released().passes(30.0).reads().settled()


def gone(script: Outside | None = None) -> Outside:
    """Its role is deleted, and it gets to know that."""
    return asks_in_vain(settled_role(script or Outside()).drifts(), "/roles/w")


def changed(script: Outside) -> Outside:
    """A workload: the role is changed for a second generation."""
    return script.reads().step(2, "patch").applied("w", metadata=metadata(script, 2), spec=2)


def metadata(script: Outside, generation: int) -> dict[str, object]:
    known: dict[str, object] = script._objects[WIDGETS, "w"]["metadata"]
    return known | {"generation": generation}


def first(script: Outside) -> Outside:
    return script.step(1, "apply").applied("w", metadata={"generation": 1}, spec=1)


def second(script: Outside | None = None) -> Outside:
    """The user wants a second generation, for which the controller has done nothing yet."""
    return changed(script or first(Outside()).makes(limit=5).says(1).idle(1))


def annotated(script: Outside) -> Outside:
    known: dict[str, object] = script._objects[WIDGETS, "w"]["metadata"]
    return script.step(3, "patch").applied("w", metadata=known | {"annotations": {"rotate": "now"}})


def with_a_pod() -> Outside:
    """A role and a pod."""
    made = Outside().step(1, "apply").applied("w", spec=1).makes(limit=5).creates("w-0")
    return made.says(1, conditions=READY).idle(1).passes(3.0)


def ready_by_another() -> Outside:
    """A prober writes that the widget is ready, and not the controller."""
    made = Outside().step(1, "apply").applied("w", spec=1).makes(limit=5)
    return made.applied("w", status={"conditions": READY}).idle(1).passes(3.0)


def asks_in_vain(script: Outside, path: str) -> Outside:
    return script.calls("GET", path).answered("fail", code="404")


CASES: Cases = {
    # --- ready though it knows better
    "says ready, and had the answer that it is gone": (
        gone().says(1, conditions=READY, beat=1).reads().passes(1.0).makes(limit=5),
        "FAIL: widget/ns/w was said to be ready while roles/w of db was deleted, and the controller knew that",
    ),
    "says ready after its own write was refused": (
        settled_role(Outside())
        .drifts(change="changed", limit=9)
        .calls("ALTER", "ALTER ROLE w")
        .answered("fail", code="42501")
        .says(1, conditions=READY, beat=1)
        .reads(),
        "FAIL",
    ),
    "says that it is not, and then that it is": (
        settled_role(Outside()).drifts().says(1, conditions=NOT_READY).says(1, conditions=READY).reads(),
        "FAIL",
    ),
    "goes on to be ready": (
        gone().passes(9.0).reads(),
        "FAIL: widget/ns/w went on to be ready for 9.1 s after the controller had learnt that roles/w of db was deleted",
    ),
    "says that it is not ready": (gone().says(1, conditions=NOT_READY).passes(9.0).reads(), "PASS"),
    "says nothing and repairs it at once": (gone().makes(limit=5).says(1, conditions=READY, beat=1).passes(9.0), "PASS"),
    "says ready when it has repaired it": (beside(waited(honest(Outside())), honest), "PASS"),
    "has only asked, and may not have compared": (
        settled_role(Outside()).drifts(change="changed", limit=9).looks().says(1, conditions=READY, beat=1).passes(9.0).reads(),
        "PASS",
    ),
    "hears that what it makes is there already": (
        settled_role(Outside())
        .drifts(change="changed", limit=9)
        .calls("CREATE", "CREATE ROLE w")
        .answered("fail", code="42710")
        .says(1, conditions=READY, beat=1)
        .reads(),
        "PASS",
    ),
    "a changed thing whose repair is refused stays ready": (
        settled_role(Outside()).drifts(change="changed", limit=9).calls("ALTER").answered("fail", code="42501").passes(9.0).reads(),
        "PASS",
    ),
    "does not know": (settled_role(Outside()).drifts().passes(9.0).reads(), "PASS"),
    "the answer was lost": (
        settled_role(Outside())
        .drifts()
        .calls()
        .answered("unknown", effect="cut")
        .says(1, conditions=READY, beat=1)
        .passes(9.0)
        .reads(),
        "PASS",
    ),
    "says that another part of it is not ready, and then that all is": (
        with_a_pod()
        .drifts(change="changed", limit=9)
        .step(2, "lose")
        .removed("w-0")
        .says(1, conditions=NOT_READY)
        .creates("w-0")
        .says(1, conditions=READY)
        .idle(2)
        .reads(),
        "PASS",
    ),
    "says that the system is down, and then that it is up": (
        settled_role(Outside())
        .drifts(change="changed", limit=9)
        .passes(2.0)
        .turns("down")
        .calls("SELECT", "SELECT 1", of="")
        .answered("unknown", effect="cut")
        .says(1, conditions=NOT_READY)
        .passes(4.0)
        .turns("up")
        .calls("SELECT", "SELECT 1", of="")
        .answered()
        .says(1, conditions=READY)
        .reads(),
        "PASS",
    ),
    "says ready, and what it asks for need not be there": (
        asks_in_vain(
            asks_in_vain(settled_role(Outside()), POLICY)
            .says(1, conditions=READY, beat=1)
            .drifts(change="changed", limit=9)
            .passes(3.0),
            POLICY,
        )
        .says(1, conditions=READY, beat=2)
        .reads(),
        "PASS",
    ),
    "goes on to be ready, and what it asks for was not there before": (
        asks_in_vain(asks_in_vain(settled_role(Outside()), "/replicas/w").passes(3.0).drifts(), "/replicas/w").passes(9.0).reads(),
        "PASS",
    ),
    "says ready, and in another condition that it is not as it should be": (
        settled_role(Outside())
        .says(1, conditions=[*READY, {"type": "Synced", "status": "True"}])
        .drifts(change="changed", limit=9)
        .looks()
        .calls("ALTER")
        .answered("fail", code="42501")
        .says(1, conditions=[*READY, {"type": "Synced", "status": "False"}])
        .reads(),
        "PASS",
    ),
    "another writer says ready, and it writes beside that": (
        asks_in_vain(ready_by_another().drifts(), "/roles/w")
        .updates("w", status={"conditions": READY, "lastError": "role is gone"})
        .reads(),
        "PASS",
    ),
    "another writer says ready": (asks_in_vain(ready_by_another().drifts(), "/roles/w").passes(9.0).reads(), NOTHING),
    "makes it anew under another id, and its primary stays ready": (
        asks_in_vain(settled_role(Outside()).drifts(), "/roles/w").makes("w-2", limit=5).passes(9.0).reads(),
        "PASS",
    ),
    # --- not ready though all is right
    "does not say ready again": (
        beside(waited(settled_role(Outside()).drifts().says(1, conditions=NOT_READY).makes(limit=5).idle(2)), honest),
        "FAIL: widget/ns/w said that it is not ready 30.4 s after what had drifted was right again (roles/w of db was deleted), "
        "and said that it is before",
    ),
    "overwrites ready by what it had seen before": (
        beside(waited(repaired(settled_role(Outside())).says(1, conditions=NOT_READY)), honest),
        "FAIL",
    ),
    "fault-free runs end so, too": (
        beside(
            waited(repaired(settled_role(Outside())).says(1, conditions=NOT_READY)),
            lambda script: repaired(settled_role(script)).says(1, conditions=NOT_READY),
        ),
        "PASS",
    ),
    "looks every minute, as it says": (
        beside(
            waited(repaired(settled_role(Outside(declared=(EVERY_MINUTE,)))).says(1, conditions=NOT_READY)),
            honest,
        ),
        "PASS",
    ),
    "the system is down since": (
        beside(
            waited(settled_role(Outside()).drifts().says(1, conditions=NOT_READY).makes(limit=5).turns("down").idle(2)),
            honest,
        ),
        "PASS",
    ),
    "was not ready before": (
        beside(
            waited(
                settled_role(Outside()).says(1, conditions=NOT_READY).drifts().says(1, conditions=NOT_READY, beat=1).makes(limit=5)
            ),
            honest,
        ),
        "PASS",
    ),
    "its primary is gone before it says ready again": (
        beside(
            waited(
                settled_role(Outside(KILL))
                .drifts()
                .looks()
                .says(1, conditions=NOT_READY)
                .makes(limit=5)
                .dies()
                .step(2, "delete")
                .removed("w", WIDGETS)
                .restarted()
                .writes("DROP")
                .has_no()
                .reads()
                .idle(2)
            ),
            lambda script: repaired(settled_role(script)).step(2, "delete").removed("w", WIDGETS).writes("DROP").has_no().reads(),
        ),
        "PASS",
    ),
    "is not ready as another system is down": (
        beside(
            waited(repaired(settled_role(Outside())).adds(SystemTurned, system="s3", state="down").says(1, conditions=NOT_READY)),
            honest,
        ),
        "PASS",
    ),
    # --- a generation too soon
    "reports the generation before it calls": (
        changed(first(Outside()).makes(limit=5).says(1).idle(1)).says(2).makes(limit=6),
        "FAIL: widget/ns/w reported generation 2 0.4 s before db was changed for it",
    ),
    "reports the first one before it calls": (first(Outside().reads()).says(1).makes(limit=5), "FAIL"),
    "reports it though the call was refused": (
        changed(first(Outside()).makes(limit=5).says(1).idle(1))
        .calls("ALTER")
        .answered("fail", code="42501")
        .says(2)
        .passes(5.0)
        .reads()
        .makes(limit=6),
        "FAIL",
    ),
    "reports it with the word that it is ready": (
        changed(first(Outside()).makes(limit=5).says(1, ready=1).idle(1)).says(2, ready=2).makes(limit=6),
        "FAIL",
    ),
    "reports it, and that it is not ready": (
        changed(first(Outside()).makes(limit=5).says(1, ready=1).idle(1)).says(2, conditions=NOT_READY).makes(limit=6),
        "PASS",
    ),
    "reports it after the call": (changed(first(Outside()).makes(limit=5).says(1).idle(1)).makes(limit=6).says(2), "PASS"),
    "reports it, and much later something else changes": (
        changed(first(Outside()).makes(limit=5).says(1).idle(1)).says(2).passes(9.0).makes(limit=6),
        "PASS",
    ),
    "reports one for which nothing had to be done": (
        changed(first(Outside()).makes(limit=5).says(1).idle(1)).says(2).looks().reads(),
        "PASS",
    ),
    "reports one, and another user changes something": (
        changed(first(Outside()).makes(limit=5).says(1).idle(1)).says(2).writes("ALTER").drifts(change="changed", limit=9),
        "PASS",
    ),
    "reports one for which nothing had to be done, and the user deletes the primary at once": (
        changed(first(Outside()).makes(limit=5).says(1).idle(1)).says(2).terminating("w", WIDGETS).writes("DROP").has_no().reads(),
        "PASS",
    ),
    "reports one for which nothing had to be done, and repairs what drifts": (
        second().says(2).idle(2).drifts(change="changed", limit=9).notifies().makes(limit=5),
        "PASS",
    ),
    "reports one, and what had drifted before is repaired": (
        second(first(Outside()).makes(limit=5).says(1).idle(1).drifts(change="changed", limit=9)).says(2).makes(limit=5),
        "PASS",
    ),
    "reports one after a ping that failed, and much later repairs what drifts": (
        second().calls("SELECT", "SELECT 1", of="").answered("fail", code="57P01").says(2).passes(60.0).drifts().makes(limit=5),
        "PASS",
    ),
    "reports one, and the user changes a Secret that it names": (
        second(first(Outside()).applied("w-p", "secrets", data={"a": "1"}).makes(limit=5).says(1).idle(1))
        .says(2)
        .idle(2)
        .step(3, "patch")
        .applied("w-p", "secrets", data={"a": "2"})
        .makes(limit=6),
        "PASS",
    ),
    "reports one, and the user asks for something by an annotation": (annotated(second().says(2).idle(2)).makes(limit=6), "PASS"),
    "reports it, and in a part of its status that it is still at it": (
        second().updates("w", status={"observedGeneration": 2, "role": {"state": "Updating"}}).makes(limit=6),
        "PASS",
    ),
    "reports it, and what kopf notes of a handler's progress": (
        second()
        .updates("w", status={"observedGeneration": 2, "kopf": {"progress": {"on_update": {"success": False}}}})
        .makes(limit=6),
        "PASS",
    ),
    # --- nothing is known
    "nothing is outside": (beside(Outside().step(1, "apply").applied("w").says(1, ready=1), honest), NOTHING),
    "nothing drifts, and no generation is reported": (
        Outside().step(1, "apply").applied("w", spec=1).makes(limit=5).says(conditions=READY),
        NOTHING,
    ),
}


test_verdict = verdicts(HONEST_STATUS, CASES)


def test_the_drift_the_answer_and_the_status_are_witnesses() -> None:
    lies = gone(Outside(HOLD_WIDGETS)).says(1, conditions=READY, beat=1).reads()
    assert witnesses(HONEST_STATUS, beside(lies, honest)) == ["Drifted", "Replied", "Asked", "Committed"]
