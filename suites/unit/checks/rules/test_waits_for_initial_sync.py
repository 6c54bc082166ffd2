"""waits-for-initial-sync: whom it accuses, whom it does not, and when it knows nothing."""

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules.waits_for_initial_sync import REQUIREMENT
from staleproof.checks.trial import Trial
from staleproof.core.entry import Opened

from ..life_script import RESTART, SLOW_PODS, SLOW_WIDGETS, LifeScript, three, tried
from ..script import WIDGETS, Script, told


def slow(resource: str, *, removed: str = "") -> LifeScript:
    """It has done everything and is killed; then this list does not arrive. Somebody may delete something meanwhile."""
    script = three(LifeScript(RESTART, SLOW_PODS, SLOW_WIDGETS)).idle(2).opens(1).opens(2).dies()
    if removed:
        script.removed(removed, WIDGETS if removed == "w" else "pods")
    return script.lives_again(slow=(resource,)).fires(1).fires(2)


def in_time(script: LifeScript, resource: str = "pods") -> Trial:
    return tried(script.first_list_arrives(resource).closes(1).closes(2).idle(2))


def watch_list() -> Script:
    """The initial events of a WatchList are a list."""
    opened = slow("pods").adds(Opened, stream=21, client="controller", resource="pods", watch_list=True, bookmarks=True)
    return opened.creates("w-d").initial_end(21).closes(1)


def fixed_names() -> LifeScript:
    """What is made at every start."""
    script = slow("pods").creates("lock", resource="leases.coordination.k8s.io", generated="")
    return script.creates("settings", resource="configmaps", generated="")


def unhindered() -> LifeScript:
    """The list is under way when another is complete, as it is at every start, and no fault has to do with it."""
    return three(LifeScript(RESTART, SLOW_PODS, SLOW_WIDGETS)).idle(2).opens(1).fires(1).dies().lives_again(slow=("pods",))


def empty() -> LifeScript:
    return LifeScript(RESTART, SLOW_PODS).step(1, "apply").opens(1).dies().lives_again(slow=("pods",)).fires(1)


CASES = {
    "creates before its children were listed": (
        "FAIL: the controller created pod/ns/w-d before its first list of pods was complete: the 4th live pod of widget/w, "
        "fault-free runs never had more than 3 by then, though pods had not been listed yet",
        in_time(slow("pods").creates("w-d")),
    ),
    "deletes what has no owner before the owners were listed": (
        f"FAIL: the controller deleted pod/ns/w-a before its first list of {WIDGETS} was complete: 2 live pods of widget/w left, "
        "fault-free runs kept 3, though widget/w had not been listed yet",
        in_time(slow(WIDGETS).deletes("w-a"), WIDGETS),
    ),
    "creates before a WatchList was complete": ("FAIL", tried(watch_list())),
    # innocent, though it looks suspicious
    "waits for its children": ("PASS", in_time(slow("pods"))),
    "waits for the owners": ("PASS", in_time(slow(WIDGETS), WIDGETS)),
    "has listed live what it needs": ("PASS", in_time(slow("pods").lists("pods", selector="app=w").creates("w-d"))),
    "needs no config maps in order to make pods": (
        "NOT_EXERCISED",
        in_time(slow("configmaps", removed="w-a").creates("w-d"), "configmaps"),
    ),
    "asks for deterministic names": ("PASS", in_time(slow("pods").refused("create", "w-0", "AlreadyExists"))),
    "makes what is really missing": ("PASS", in_time(slow("pods", removed="w-a").creates("w-d"))),
    "an excess after the list is for another requirement": (
        "PASS",
        tried(slow("pods").first_list_arrives("pods").closes(1).closes(2).creates("w-d")),
    ),
    "makes leases and settings at every start": ("PASS", in_time(fixed_names())),
    "its streams were open before the trial": (
        "NOT_EXERCISED",
        tried(three(LifeScript(SLOW_PODS)).opens(0).creates("w-d").closes(0)),
    ),
    "lets the children of a gone owner go": ("PASS", in_time(slow(WIDGETS, removed="w").deletes("w-a"), WIDGETS)),
    # nothing is proven unless a list was slow and there was work behind it
    "nothing happened": ("NOT_EXERCISED", tried(LifeScript(RESTART))),
    "no slow list": ("NOT_EXERCISED", tried(three(LifeScript(RESTART)).idle(2).dies().lives_again())),
    "no fault made it slow": ("NOT_EXERCISED", in_time(unhindered())),
    "nothing to repeat": ("NOT_EXERCISED", in_time(empty())),
}


@pytest.mark.parametrize(("words", "trial"), CASES.values(), ids=CASES)
def test_verdict(words: str, trial: Trial) -> None:
    assert told(verdict_of(REQUIREMENT, trial), words) == words
