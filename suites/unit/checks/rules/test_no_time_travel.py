"""no-time-travel: whom it accuses, whom it does not, and when it knows nothing."""

from collections.abc import Callable, Mapping

import msgspec
import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules.no_time_travel import REQUIREMENT
from staleproof.checks.trial import Trial
from staleproof.core.entry import Item

from ..life_script import PAST, RESTART, AnyScript, LifeScript
from ..script import HOLD, WIDGETS, Script, reference, told

OLD = {WIDGETS: {"w": 101}}
"""A list of the widgets from before the last change."""


# --- workloads -------------------------------------------------------------------------------------------------------------------


def scaled(script: AnyScript) -> AnyScript:
    """Two pods, then four."""
    script.step(1, "apply").applied("w", spec=2).creates("w-a", "w-b").idle(1)
    return script.step(2, "scale").applied("w", spec=4).creates("w-c", "w-d").idle(2)


def sets(script: AnyScript, number: int) -> AnyScript:
    return script.updates("w-c", "configmaps", subresource="", data={"n": number})


def written(script: AnyScript) -> AnyScript:
    """A child that says what the widget says."""
    script.step(1, "apply").applied("w", spec=2).creates("w-c", resource="configmaps", generated="", data={"n": 2}).idle(1)
    return sets(script.step(2, "change").applied("w", spec=4), 4).idle(2)


def waves(script: AnyScript) -> AnyScript:
    """The same, and then back."""
    return sets(written(script).step(3, "change").applied("w", spec=2), 2)


def recreated(script: AnyScript) -> AnyScript:
    script.step(1, "apply").applied("w", spec=2).creates("w-a", "w-b", generated="").idle(1)
    script.step(2, "delete").removed("w", WIDGETS).removed("w-a").removed("w-b").idle(2)
    return script.step(3, "apply").applied("w", spec=2).creates("w-c", "w-d", generated="").idle(3)


def applied(script: AnyScript) -> AnyScript:
    return script.step(1, "apply").applied("w", spec={"n": 2}).idle(1)


def changed(script: AnyScript) -> AnyScript:
    return applied(script).step(2, "change").applied("w", spec={"n": 4})


def shrunk(script: AnyScript) -> AnyScript:
    """Four pods, then two, of which one is still to go."""
    script.step(1, "apply").applied("w", spec=4).creates("w-a", "w-b", "w-c", "w-d").idle(1)
    return script.step(2, "scale").applied("w", spec=2).deletes("w-d")


def tried(script: Script, workload: Callable[[Script], Script] = scaled) -> Trial:
    return Trial(script.ends(), tuple(workload(reference(number)).ends() for number in (1, 2)))


# --- what was done to the controller ---------------------------------------------------------------------------------------------


def returned(workload: Callable[[LifeScript], LifeScript] = scaled, past: Mapping[str, Mapping[str, int]] = OLD) -> LifeScript:
    """It has done everything, is killed, and is shown what was there before."""
    return workload(LifeScript(RESTART, PAST)).dies().lives_again(past=past)


def listed_again() -> LifeScript:
    """Its stream ends, and it lists what another API server has at hand: the widget of before."""
    script = written(LifeScript(PAST))
    script.page(WIDGETS, (Item("ns", "w", script.uids[WIDGETS, "w"], 101),), revision=101)
    script.entries[-1] = msgspec.structs.replace(script.entries[-1], fault=0)
    return script.fires()


def hidden() -> Script:
    """The user's second change is not shown to it."""
    return applied(LifeScript(HOLD)).hold(WIDGETS).step(2, "change").applied("w", spec={"n": 4})


def half_shrunk() -> LifeScript:
    """Restarted, it is shown the widget without its own last status; what is wanted is the same."""
    script = shrunk(LifeScript(RESTART, PAST)).updates("w", status={"replicas": 3})
    return script.dies().lives_again(past={WIDGETS: {"w": 106}})


def dying() -> LifeScript:
    script = scaled(LifeScript(RESTART, PAST)).step(3, "delete").terminating("w", WIDGETS)
    return script.dies().lives_again(past=OLD)


def overwritten() -> Script:
    """What it wrote itself is not shown to it either."""
    return applied(LifeScript(HOLD)).hold(WIDGETS).updates("w", subresource="", spec={"n": 4})


# --- verdicts --------------------------------------------------------------------------------------------------------------------

DELETED = "the controller deleted pod/ns/w-{} on an older view of widget/w: {} live pods of widget/w left, fault-free runs kept 4"
SHOWN = "though it had been shown widget/w {} since it started, and had acted on {}"
OLDER = SHOWN.format("only up to resourceVersion 101", 104)
SET_BACK = (
    "FAIL: the controller set data.n of configmap/ns/w-c back from 4 to 2 on an older view of widget/w, "
    f"{SHOWN.format('only up to resourceVersion 101', 103)}"
)
CASES = {
    "deletes what it made for a newer view": (
        f"FAIL: {DELETED.format('c', 3)}, {OLDER}\n{DELETED.format('d', 2)}, {OLDER}",
        tried(returned().deletes("w-c", "w-d")),
    ),
    "does not find the owner in an old list and deletes its children": (
        f"FAIL: {DELETED.format('a', 3)}, {SHOWN.format('not at all', 104)}",
        tried(returned(past={WIDGETS: {}}).deletes("w-a")),
    ),
    "writes older content back": (SET_BACK, tried(sets(returned(written), 2), written)),
    "goes back by a list without being restarted": (SET_BACK, tried(sets(listed_again(), 2), written)),
    "overwrites what the user has changed meanwhile": (
        "FAIL: the controller set spec.n of widget/ns/w back from 4 to 2, "
        "though it had been shown it only up to resourceVersion 101, and 102 had changed that",
        tried(hidden().updates("w", subresource="", spec={"n": 2}, mine=True).let_go(WIDGETS), changed),
    ),
    "whichever it picks": ("FAIL", tried(returned().deletes("w-a"))),
    "takes a new incarnation's children for an old one's": ("FAIL", tried(returned(recreated).deletes("w-c"), recreated)),
    # innocent, though it looks suspicious
    "has looked since": ("NOT_EXERCISED", tried(sets(listed_again().gets("w", WIDGETS), 2), written)),
    "waits until it knows better": ("PASS", tried(returned().idle(2).applied("w", note=1))),
    "reads its primary live before it deletes": ("NOT_EXERCISED", tried(returned().gets("w", WIDGETS).deletes("w-c"))),
    "is refused because of its precondition": ("PASS", tried(hidden().asks("update", WIDGETS, "w").let_go(WIDGETS), changed)),
    "scales down as wanted": (
        "NOT_EXERCISED",
        tried(half_shrunk().deletes("w-c").idle(2), lambda script: shrunk(script).deletes("w-c").idle(2)),
    ),
    "lets the children of a dying primary go": ("NOT_EXERCISED", tried(dying().deletes("w-a", "w-b", "w-c", "w-d"))),
    "replaces what it has created too much": (
        "PASS",
        tried(returned(lambda script: scaled(script).creates("w-e", "w-f")).deletes("w-e", "w-f")),
    ),
    "follows the user up and down": ("NOT_EXERCISED", tried(waves(LifeScript(RESTART, PAST)), waves)),
    "repairs what somebody else has changed": (
        "NOT_EXERCISED",
        tried(sets(written(LifeScript(RESTART)).applied("w-c", "configmaps", data={"n": 7}).dies().lives_again(), 4), written),
    ),
    "a status that goes back is for another requirement": (
        "PASS",
        tried(returned().updates("w", status={"replicas": 4}).updates("w", status={"replicas": 2})),
    ),
    "the change was still under way when it asked": (
        "NOT_EXERCISED",
        tried(overwritten().updates("w", subresource="", spec={"n": 2}).let_go(WIDGETS), changed),
    ),
    # nothing is proven unless it saw less than had been done
    "nothing happened": ("NOT_EXERCISED", tried(LifeScript(HOLD))),
    "no fault": ("NOT_EXERCISED", tried(scaled(LifeScript(HOLD)))),
    "a restart with fresh lists": (
        "NOT_EXERCISED",
        tried(scaled(LifeScript(RESTART)).restarted().lists(WIDGETS).lists("pods").idle(2)),
    ),
    "nothing was done for the newer one": ("NOT_EXERCISED", tried(hidden().let_go(WIDGETS))),
}


@pytest.mark.parametrize(("words", "trial"), CASES.values(), ids=CASES)
def test_verdict(words: str, trial: Trial) -> None:
    assert told(verdict_of(REQUIREMENT, trial), words) == words


def test_the_story_ends_with_the_write() -> None:
    trial = tried(returned().deletes("w-c"))
    (finding,) = verdict_of(REQUIREMENT, trial).findings

    assert [type(trial.entries[index]).__name__ for index in finding.witnesses][-2:] == ["Asked", "Committed"]
