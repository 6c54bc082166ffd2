"""waits-for-initial-sync: which controllers it accuses, which it does not, and when it knows nothing."""

from msgspec import structs

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules.surplus import WAITS_FOR_INITIAL_SYNC
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome
from staleproof.core.history.entry import Opened
from staleproof.core.plan.step import Edit

from ...rule_cases import Cases, verdicts
from ...script import RESTART, SLOW_PODS, SLOW_WIDGETS, WIDGETS, Script, beside, three, two_references


def slow(resource: str, *, removed: str = "") -> Script:
    """It has done everything and is killed; then this list does not arrive. A user may delete something meanwhile."""
    script = three(Script(RESTART, SLOW_PODS, SLOW_WIDGETS)).idle(2).opens(1).opens(2).dies()
    if removed:
        script.removed(removed, WIDGETS if removed == "w" else "pods")
    return script.lives_again(slow=(resource,)).fires(1).fires(2)


def in_time(script: Script, resource: str = "pods") -> Script:
    return script.first_list_arrives(resource).closes(1).closes(2).idle(2)


def watch_list() -> Script:
    """The initial events of a WatchList are a list."""
    opened = slow("pods").adds(Opened, stream=21, client="controller", resource="pods", watch_list=True, bookmarks=True)
    return opened.creates("w-d").initial_end(21).closes(1)


def fixed_names() -> Script:
    """What is made at every start."""
    script = slow("pods").creates("lock", resource="leases.coordination.k8s.io", generated="")
    return script.creates("settings", resource="configmaps", generated="")


def unhindered() -> Script:
    """The list is under way when another is complete, as it is at every start, and no fault has to do with it."""
    return three(Script(RESTART, SLOW_PODS, SLOW_WIDGETS)).idle(2).opens(1).fires(1).dies().lives_again(slow=("pods",))


def empty() -> Script:
    return Script(RESTART, SLOW_PODS).step(1, "apply").opens(1).dies().lives_again(slow=("pods",)).fires(1)


def of_input(script: Script, *, state: str = "new") -> Script:
    return script.step(1, "apply").applied("w", spec=1).creates("w-a", spec=state).idle(1).step(2, "touch").applied("w").idle(2)


def made_anew(state: str) -> Trial:
    """A life makes a pod from this state of an input, and the next one another for the new state; a user tidies up."""
    script = of_input(Script(RESTART, SLOW_PODS), state=state).opens(1).dies().lives_again(slow=("pods",)).fires(1)
    script.creates("w-b", spec="new").removed("w-a").first_list_arrives("pods").closes(1).idle(3)
    return beside(script, of_input)


CASES: Cases = {
    "makes another for another state of the input": (made_anew("old"), "PASS"),
    "makes another for the same state": (made_anew("new"), "FAIL"),
    "creates before its children were listed": (
        in_time(slow("pods").creates("w-d")),
        "FAIL: pod/ns/w-d is the 4th live pod of widget/w, made before its first list of pods was complete; "
        "fault-free runs never had more than 3, though pods had not been listed yet",
    ),
    "deletes what has no owner before the owners were listed": (
        in_time(slow(WIDGETS).deletes("w-a"), WIDGETS),
        f"FAIL: the controller deleted pod/ns/w-a before its first list of {WIDGETS} was complete: 2 live pods of widget/w left, "
        "fault-free runs kept 3, though widget/w had not been listed yet",
    ),
    "creates before a WatchList was complete": (watch_list(), "FAIL"),
    # innocent, though it looks suspicious
    "waits for its children": (in_time(slow("pods")), "PASS"),
    "waits for the owners": (in_time(slow(WIDGETS), WIDGETS), "PASS"),
    "has listed live what it needs": (in_time(slow("pods").lists("pods", selector="app=w").creates("w-d")), "PASS"),
    "needs no config maps in order to make pods": (
        in_time(slow("configmaps", removed="w-a").creates("w-d"), "configmaps"),
        "NOT_EXERCISED",
    ),
    "asks for deterministic names": (in_time(slow("pods").refused("create", "w-0", "AlreadyExists")), "PASS"),
    "makes what is really missing": (in_time(slow("pods", removed="w-a").creates("w-d")), "PASS"),
    "an excess after the list is for another requirement": (
        slow("pods").first_list_arrives("pods").closes(1).closes(2).creates("w-d"),
        "PASS",
    ),
    "makes leases and settings at every start": (in_time(fixed_names()), "PASS"),
    "its streams were open before the trial": (three(Script(SLOW_PODS)).opens(0).creates("w-d").closes(0), "NOT_EXERCISED"),
    "lets the children of a gone owner go": (in_time(slow(WIDGETS, removed="w").deletes("w-a"), WIDGETS), "PASS"),
    # nothing is proven unless a list was slow and there was work behind it
    "nothing happened": (Script(RESTART), "NOT_EXERCISED"),
    "no slow list": (three(Script(RESTART)).idle(2).dies().lives_again(), "NOT_EXERCISED"),
    "no fault made it slow": (in_time(unhindered()), "NOT_EXERCISED"),
    "nothing to repeat": (in_time(empty()), "NOT_EXERCISED"),
}


test_verdict = verdicts(WAITS_FOR_INITIAL_SYNC, CASES, two_references(three))


def test_a_life_that_begins_when_a_child_was_set_aside_need_not_know_of_it() -> None:
    script = in_time(slow("pods").creates("w-d"))
    edit = Edit(resource="pods", patch={"metadata": {"labels": None}})
    script.plan = structs.replace(script.plan, steps=(*script.plan.steps, edit))

    assert verdict_of(WAITS_FOR_INITIAL_SYNC, beside(script, three)).outcome is Outcome.INCONCLUSIVE
