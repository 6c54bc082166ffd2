"""name-reuse: which controllers it accuses, which it does not, and when it knows nothing."""

from staleproof.checks.rules.identity import NAME_REUSE

from ...rule_cases import Cases, verdicts
from ...script import HOLD_WIDGETS, RESTART, WIDGETS, Script, beside, two_references


def two(script: Script, *names: str) -> Script:
    return script.creates(*names, generated="")


def applied(script: Script) -> Script:
    return two(script.step(1, "apply").applied("w", spec=2), "w-0", "w-1").idle(1)


def renewed(script: Script, *, collected: bool = True) -> Script:
    """The widget is deleted, its pods are collected or not, and another one takes its name."""
    script.step(2, "delete").removed("w", WIDGETS)
    if collected:
        script.removed("w-0").removed("w-1")
    return script.idle(2).step(3, "apply").applied("w", spec=2)


def recreated(script: Script) -> Script:
    return two(renewed(applied(script)), "w-2", "w-3").idle(3)


def uncollected(script: Script) -> Script:
    """There is no garbage collector: the pods of the first widget stay, too."""
    return two(renewed(applied(script), collected=False), "w-2", "w-3").idle(3)


def bare(script: Script) -> Script:
    """The second widget gets no children."""
    return renewed(applied(script), collected=False).idle(3)


def unseen(*, collected: bool = True) -> Script:
    """All that happens to the widget after the first step is hidden."""
    return renewed(applied(Script(HOLD_WIDGETS, RESTART)).hold(WIDGETS), collected=collected)


def seen(*, collected: bool = True) -> Script:
    """And then it is shown."""
    return unseen(collected=collected).let_go(WIDGETS)


def stale(script: Script, *names: str) -> Script:
    """Children whose owner reference has the uid of the first widget."""
    first = {"kind": "Widget", "name": "w", "uid": script.uids[WIDGETS, "w"], "controller": True}
    for name in names:
        script.creates(name, generated="", metadata={"ownerReferences": [first]})
    return script


def in_the_end(script: Script) -> Script:
    """It has all the time in the world."""
    return script.idle(3).released().passes(60)


def reported(script: Script) -> Script:
    """By a controller that creates nothing, of both widgets."""
    script.step(1, "apply").applied("w", spec=2).updates("w", status={"of": 2}).idle(1)
    script.step(2, "delete").removed("w", WIDGETS).idle(2).step(3, "apply").applied("w", spec=2)
    return script.updates("w", status={"of": 2}).idle(3)


def unreported(script: Script) -> Script:
    """And the second one is of no interest to it."""
    script.step(1, "apply").applied("w", spec=2).updates("w", status={"of": 2}).idle(1)
    return script.step(2, "delete").removed("w", WIDGETS).idle(2).step(3, "apply").applied("w", spec=2).idle(3)


def unseen_by_a_reporter() -> Script:
    script = Script(HOLD_WIDGETS, RESTART).step(1, "apply").applied("w", spec=2).updates("w", status={"of": 2}).idle(1)
    script.hold(WIDGETS).step(2, "delete").removed("w", WIDGETS).idle(2).step(3, "apply").applied("w", spec=2)
    return script.let_go(WIDGETS)


DELETED = (
    "FAIL: the controller deleted pod/ns/w-2, a child of the recreated widget/w: fault-free runs kept it, "
    "though it had {}been shown that widget/w had been recreated"
)
CREATED = (
    "the controller created pod/ns/{} for the widget/w that had been recreated since, "
    "though it had been shown that widget/w is another one now (uid ns-uid-4)"
)
MISPLACED = "FAIL: 0 pods belong to the recreated widget/w and 2 to the one before it; fault-free runs ended with 2 and 0"
NOTHING_DONE = (
    "FAIL: the controller was shown that widget/w had been recreated, and did nothing for it: "
    "0 pods of widget/w, fault-free runs ended with 1"
)
ANOTHER_REASON = (
    "INCONCLUSIVE: the recreated primary ended with fewer pods than in fault-free runs, "
    "and its predecessor does not have them: that may have another reason"
)


def scaled_and_renewed(script: Script) -> Script:
    """More are wanted, and then another widget takes the name."""
    two(script.step(1, "apply").applied("w", spec=1), "w-0").idle(1)
    two(script.step(2, "scale").applied("w", spec=3), "w-1", "w-2").idle(2)
    script.step(3, "recreate").removed("w", WIDGETS).removed("w-0").removed("w-1").removed("w-2").applied("w", spec=3)
    return two(script, "w-3", "w-4", "w-5").idle(3)


def worker_for_each_uid() -> Script:
    """It is shown late, frame by frame, that more are wanted and that there is another widget; and the worker of the first widget
    goes on beside that of the second."""
    script = two(Script(HOLD_WIDGETS).step(1, "apply").applied("w", spec=1), "w-0").idle(1).hold(WIDGETS)
    script.step(2, "scale").applied("w", spec=3).idle(2)
    script.step(3, "recreate").removed("w", WIDGETS).removed("w-0").applied("w", spec=3).closes()
    script = stale(script.shows_next(WIDGETS), "w-1").shows_next(WIDGETS).shows_next(WIDGETS)
    script = two(stale(two(script, "w-3"), "w-2"), "w-4", "w-5")
    return script.removed("w-1").removed("w-2").idle(3)


def from_input(script: Script) -> Script:
    return renewed(applied(script)).creates("w-c", spec="new").idle(3)


def replacing(state: str) -> Script:
    """The new widget gets a pod from this state of an input, which is replaced by one of the new state, delete first."""
    return seen().creates("w-c", spec=state).deletes("w-c").creates("w-d", spec="new").idle(3)


CASES: Cases = {
    "replaces what it had made from an input that was shown late": (beside(replacing("old"), from_input), "PASS"),
    "replaces what is as ever": (beside(replacing("new"), from_input), "FAIL"),
    "has a worker for each uid, and the first is still at it": (beside(worker_for_each_uid(), scaled_and_renewed), "PASS"),
    "cleans up by name after the new one has come": (two(seen(), "w-2", "w-3").deletes("w-2").idle(3), DELETED.format("")),
    "deletes the children of an owner that it has not been shown": (
        unseen().made("w-2").made("w-3").deletes("w-2").let_go(WIDGETS).idle(3),
        DELETED.format("not "),
    ),
    "goes on making children for the first one": (
        stale(seen().idle(3), "w-2", "w-3").idle(3),
        f"FAIL: {CREATED.format('w-2')}\n{CREATED.format('w-3')}",
    ),
    "ends with the children of the first one": (in_the_end(stale(seen(), "w-2", "w-3")), MISPLACED),
    "across a restart": (in_the_end(stale(renewed(applied(Script(RESTART)).dies()).lives_again(), "w-2", "w-3")), MISPLACED),
    "takes the new one for done": (in_the_end(seen()), NOTHING_DONE),
    # innocent, though it looks suspicious
    "had too little time for the new one": (stale(seen(), "w-2", "w-3").idle(3), "INCONCLUSIVE"),
    "makes children for the new one": (two(seen(), "w-2", "w-3").idle(3), "PASS"),
    "replaces pods of the first one as long as it knows no better": (
        two(stale(unseen(), "w-8", "w-9").let_go(WIDGETS).removed("w-8").removed("w-9"), "w-2", "w-3").idle(3),
        "PASS",
    ),
    "finishes what was under way": (two(stale(seen(), "w-8").removed("w-8"), "w-2", "w-3").idle(3), "PASS"),
    "collects the children of the first one": (
        beside(
            two(seen(collected=False), "w-2", "w-3").deletes("w-0", "w-1").idle(3),
            lambda script: uncollected(script).deletes("w-0", "w-1"),
        ),
        "PASS",
    ),
    "what is never collected proves nothing": (beside(two(seen(collected=False), "w-2", "w-3").idle(3), uncollected), "PASS"),
    "a new one without children": (seen().idle(3), ANOTHER_REASON),
    "a new one that is deleted again needs no children": (
        two(seen(), "w-2", "w-3").idle(3).terminating("w", WIDGETS).deletes("w-2", "w-3"),
        "INCONCLUSIVE",
    ),
    # nothing could be seen
    "nothing happened": (Script(HOLD_WIDGETS), "NOT_EXERCISED"),
    "nothing was recreated": (applied(Script(HOLD_WIDGETS)), "NOT_EXERCISED"),
    "nothing was late": (recreated(Script(HOLD_WIDGETS)), "NOT_EXERCISED"),
    "without faults the new one has no children": (beside(seen(), bare), "NOT_EXERCISED"),
    # it creates nothing, and writes to the primary
    "never reports on the new one": (
        beside(in_the_end(unseen_by_a_reporter()), reported),
        "NOT_EXERCISED: it writes nothing but status, which honest-status judges",
    ),
    "reports on the new one": (beside(unseen_by_a_reporter().updates("w", status={"of": 2}).idle(3), reported), "PASS"),
    "does not report on the new one without faults either": (beside(unseen_by_a_reporter().idle(3), unreported), "NOT_EXERCISED"),
}


test_verdict = verdicts(NAME_REUSE, CASES, two_references(recreated))
