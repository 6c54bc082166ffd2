"""name-reuse: whom it accuses, whom it does not, and when it knows nothing."""

from collections.abc import Callable

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules.name_reuse import REQUIREMENT
from staleproof.checks.trial import Trial
from staleproof.core.fault import HoldStream

from ..life_script import RESTART, AnyScript, LifeScript
from ..script import WIDGETS, Script, reference, told

HELD = HoldStream(resource=WIDGETS)


def two(script: AnyScript, *names: str) -> AnyScript:
    return script.creates(*names, generated="")


def applied(script: AnyScript) -> AnyScript:
    return two(script.step(1, "apply").applied("w", spec=2), "w-0", "w-1").idle(1)


def renewed(script: AnyScript, *, collected: bool = True) -> AnyScript:
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


def tried(script: Script, workload: Callable[[Script], Script] = recreated) -> Trial:
    return Trial(script.ends(), tuple(workload(reference(number)).ends() for number in (1, 2)))


def unseen(*, collected: bool = True) -> LifeScript:
    """All that happens to the widget after the first step is hidden."""
    return renewed(applied(LifeScript(HELD, RESTART)).hold(WIDGETS), collected=collected)


def seen(*, collected: bool = True) -> LifeScript:
    """And then it is shown."""
    return unseen(collected=collected).let_go(WIDGETS)


def stale(script: LifeScript, *names: str) -> LifeScript:
    """Children whose owner reference has the uid of the first widget."""
    first = {"kind": "Widget", "name": "w", "uid": script.uids[WIDGETS, "w"], "controller": True}
    for name in names:
        script.creates(name, generated="", metadata={"ownerReferences": [first]})
    return script


def in_the_end(script: LifeScript) -> Trial:
    """It has all the time in the world."""
    return tried(script.idle(3).released().passes(60))


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
CASES = {
    "cleans up by name after the new one has come": (
        DELETED.format(""),
        tried(two(seen(), "w-2", "w-3").deletes("w-2").idle(3)),
    ),
    "deletes the children of an owner that it has not been shown": (
        DELETED.format("not "),
        tried(unseen().made("w-2").made("w-3").deletes("w-2").let_go(WIDGETS).idle(3)),
    ),
    "goes on making children for the first one": (
        f"FAIL: {CREATED.format('w-2')}\n{CREATED.format('w-3')}",
        tried(stale(seen().idle(3), "w-2", "w-3").idle(3)),
    ),
    "ends with the children of the first one": (MISPLACED, in_the_end(stale(seen(), "w-2", "w-3"))),
    "across a restart": (
        MISPLACED,
        in_the_end(stale(renewed(applied(LifeScript(RESTART)).dies()).lives_again(), "w-2", "w-3")),
    ),
    "takes the new one for done": (NOTHING_DONE, in_the_end(seen())),
    # innocent, though it looks suspicious
    "had too little time for the new one": ("INCONCLUSIVE", tried(stale(seen(), "w-2", "w-3").idle(3))),
    "makes children for the new one": ("PASS", tried(two(seen(), "w-2", "w-3").idle(3))),
    "replaces pods of the first one as long as it knows no better": (
        "PASS",
        tried(two(stale(unseen(), "w-8", "w-9").let_go(WIDGETS).removed("w-8").removed("w-9"), "w-2", "w-3").idle(3)),
    ),
    "finishes what was under way": ("PASS", tried(two(stale(seen(), "w-8").removed("w-8"), "w-2", "w-3").idle(3))),
    "collects the children of the first one": (
        "PASS",
        tried(
            two(seen(collected=False), "w-2", "w-3").deletes("w-0", "w-1").idle(3),
            lambda script: uncollected(script).deletes("w-0", "w-1"),
        ),
    ),
    "what nobody collects proves nothing": ("PASS", tried(two(seen(collected=False), "w-2", "w-3").idle(3), uncollected)),
    "a new one without children": (ANOTHER_REASON, tried(seen().idle(3))),
    "a new one that is deleted again needs no children": (
        "INCONCLUSIVE",
        tried(two(seen(), "w-2", "w-3").idle(3).terminating("w", WIDGETS).deletes("w-2", "w-3")),
    ),
    # nothing could be seen
    "nothing happened": ("NOT_EXERCISED", tried(LifeScript(HELD))),
    "nothing was recreated": ("NOT_EXERCISED", tried(applied(LifeScript(HELD)))),
    "nothing was late": ("NOT_EXERCISED", tried(recreated(LifeScript(HELD)))),
    "without faults the new one has no children": ("NOT_EXERCISED", tried(seen(), bare)),
}


@pytest.mark.parametrize(("words", "trial"), CASES.values(), ids=CASES)
def test_verdict(words: str, trial: Trial) -> None:
    assert told(verdict_of(REQUIREMENT, trial), words) == words
