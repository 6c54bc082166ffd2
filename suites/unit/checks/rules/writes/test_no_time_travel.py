"""no-time-travel: which controllers it accuses, which it does not, and when it knows nothing."""

from collections.abc import Mapping

import msgspec

from staleproof.checks.rules.writes import NO_TIME_TRAVEL
from staleproof.core.history.entry import Item
from staleproof.core.history.resource_version import Revision

from ...rule_cases import Cases, verdicts, witnesses
from ...script import HOLD, PAST, RESTART, WIDGETS, Script, Workload, beside, two_references

OLD = {WIDGETS: {"w": 101}}
"""A list of the widgets from before the last change."""


# --- workloads -------------------------------------------------------------------------------------------------------------------


def scaled(script: Script) -> Script:
    """Two pods, then four."""
    script.step(1, "apply").applied("w", spec=2).creates("w-a", "w-b").idle(1)
    return script.step(2, "scale").applied("w", spec=4).creates("w-c", "w-d").idle(2)


def plainly_owned(script: Script) -> Script:
    """The same; no reference says that the widget controls them."""
    script.step(1, "apply").applied("w", spec=2)
    plain = {"ownerReferences": [{"kind": "Widget", "name": "w", "uid": script.uid("w", WIDGETS)}]}
    script.creates("w-a", "w-b", metadata=plain).idle(1)
    return script.step(2, "scale").applied("w", spec=4).creates("w-c", "w-d", metadata=plain).idle(2)


def sets(script: Script, number: int) -> Script:
    return script.updates("w-c", "configmaps", subresource="", data={"n": number})


def written(script: Script) -> Script:
    """A child that says what the widget says."""
    script.step(1, "apply").applied("w", spec=2).creates("w-c", resource="configmaps", generated="", data={"n": 2}).idle(1)
    return sets(script.step(2, "change").applied("w", spec=4), 4).idle(2)


def waves(script: Script) -> Script:
    """The same, and then back."""
    return sets(written(script).step(3, "change").applied("w", spec=2), 2)


def recreated(script: Script) -> Script:
    script.step(1, "apply").applied("w", spec=2).creates("w-a", "w-b", generated="").idle(1)
    script.step(2, "delete").removed("w", WIDGETS).removed("w-a").removed("w-b").idle(2)
    return script.step(3, "apply").applied("w", spec=2).creates("w-c", "w-d", generated="").idle(3)


def applied(script: Script) -> Script:
    return script.step(1, "apply").applied("w", spec={"n": 2}).idle(1)


def changed(script: Script) -> Script:
    return applied(script).step(2, "change").applied("w", spec={"n": 4})


def shrunk(script: Script) -> Script:
    """Four pods, then two, of which one is still to go."""
    script.step(1, "apply").applied("w", spec=4).creates("w-a", "w-b", "w-c", "w-d").idle(1)
    return script.step(2, "scale").applied("w", spec=2).deletes("w-d")


def stored(script: Script) -> Script:
    """Another controller makes a claim for each of two, then of four; they have no owner."""
    script.step(1, "apply").applied("w", spec=2).creates("w-set", resource="replicasets.apps", generated="", spec=2)
    script.made("data-w-0", "claims", owner="").made("data-w-1", "claims", owner="").idle(1)
    script.step(2, "scale").applied("w", spec=4).updates("w-set", "replicasets.apps", subresource="", spec=4)
    return script.made("data-w-2", "claims", owner="").made("data-w-3", "claims", owner="").idle(2)


# --- what was done to the controller ---------------------------------------------------------------------------------------------


def returned(workload: Workload = scaled, past: Mapping[str, Mapping[str, int]] = OLD) -> Script:
    """It has done everything, is killed, and is shown what was there before."""
    return workload(Script(RESTART, PAST)).dies().lives_again(past=past)


def listed_again() -> Script:
    """Its stream ends, and it lists what another API server has at hand: the widget of before."""
    script = written(Script(PAST))
    script.page(WIDGETS, (Item("ns", "w", script.uids[WIDGETS, "w"], Revision(101)),), revision=101)
    script.entries[-1] = msgspec.structs.replace(script.entries[-1], fault=0)
    return script.fires()


def hidden() -> Script:
    """The user's second change is not shown to it."""
    return applied(Script(HOLD)).hold(WIDGETS).step(2, "change").applied("w", spec={"n": 4})


def half_shrunk() -> Script:
    """Restarted, it is shown the widget without its own last status; what is wanted is the same."""
    script = shrunk(Script(RESTART, PAST)).updates("w", status={"replicas": 3})
    return script.dies().lives_again(past={WIDGETS: {"w": 106}})


def dying() -> Script:
    script = scaled(Script(RESTART, PAST)).step(3, "delete").terminating("w", WIDGETS)
    return script.dies().lives_again(past=OLD)


def overwritten() -> Script:
    """What it wrote itself is not shown to it either."""
    return applied(Script(HOLD)).hold(WIDGETS).updates("w", subresource="", spec={"n": 4})


# --- verdicts --------------------------------------------------------------------------------------------------------------------

DELETED = "the controller deleted pod/ns/w-{} on an older view of widget/w: {} live pods of widget/w left, fault-free runs kept 4"
SHOWN = "though it had been shown widget/w {} since it started, and had acted on {}"
OLDER = SHOWN.format("only up to resourceVersion 101", 104)
SET_BACK = (
    "FAIL: the controller set data.n of configmap/ns/w-c back from 4 to 2 on an older view of widget/w, "
    f"{SHOWN.format('only up to resourceVersion 101', 103)}"
)


def back_later(script: Script) -> Script:
    """The user goes back, two steps later."""
    return sets(written(script).step(3, "touch").idle(3).step(4, "change").applied("w", spec=2), 2).idle(4)


def back_twice() -> Script:
    """It goes back on a past list in the third step, and in the fourth for the user."""
    script = written(Script(RESTART, PAST)).step(3, "touch").dies().lives_again(past=OLD)
    script = sets(sets(script, 2).lists(WIDGETS), 4).idle(3).step(4, "change").applied("w", spec=2)
    return sets(script, 2).idle(4)


def there_and_back(script: Script) -> Script:
    """The user changes the widget and changes it back."""
    return waves(script).idle(3)


def back_there(value: object = 4) -> Script:
    """Then it is restarted on the widget as it was in between."""
    script = there_and_back(Script(RESTART, PAST)).step(4, "touch").dies().lives_again(past={WIDGETS: {"w": 103}})
    return script.updates("w-c", "configmaps", subresource="", data={"n": value})


def named_anew(script: Script) -> Script:
    """There and back once more, with values that no other run has."""
    for name in (script.uid("w", WIDGETS), "x", script.uid("w", WIDGETS)):
        script.updates("w-c", "configmaps", subresource="", data={"n": name})
    return script


def three_values(script: Script) -> Script:
    """The user changes the widget twice, and then back to the first."""
    sets(written(script).step(3, "change").applied("w", spec=6), 6).idle(3)
    return sets(script.step(4, "change").applied("w", spec=2), 2).idle(4)


def between() -> Script:
    script = three_values(Script(RESTART, PAST)).step(5, "touch").dies().lives_again(past={WIDGETS: {"w": 103}})
    return sets(script, 4)


def members(script: Script, *names: str) -> Script:
    """A ConfigMap that says who is ready."""
    for name in names:
        script.updates("w-c", "configmaps", subresource="", data={"members": name})
    return script


def appearing(script: Script, *names: str) -> Script:
    script.step(1, "apply").applied("w", spec=2).creates("w-c", resource="configmaps", generated="", data={"members": "-"}).idle(1)
    return members(script.step(2, "change").applied("w", spec=4), *names).idle(2)


def flapping(script: Script) -> Script:
    """Both are ready at once; later one goes and comes again."""
    return members(appearing(script, "a,b").step(3, "a pod goes"), "a", "a,b").idle(3)


def one_by_one() -> Script:
    """They are ready one after the other."""
    script = appearing(Script(RESTART, PAST), "a", "a,b").step(3, "a pod goes").dies().lives_again(past=OLD)
    return members(script, "a", "a,b").idle(3)


CASES: Cases = {
    "sets again what was there between two other values": (beside(between(), three_values), "FAIL"),
    "sets back what follows something else, as they do, and they did so once only": (beside(one_by_one(), flapping), "PASS"),
    "sets again what the user has set back meanwhile": (
        beside(back_there(), there_and_back),
        "FAIL: the controller set data.n of configmap/ns/w-c back from 2 to 4 on an older view of widget/w, "
        f"{SHOWN.format('only up to resourceVersion 103', 105)}",
    ),
    "sets it to what it is": (beside(back_there(2), there_and_back), "PASS"),
    "sets back a value that names one run, as all do": (
        beside(named_anew(back_there(2)), lambda script: named_anew(there_and_back(script).step(4, "touch"))),
        "PASS",
    ),
    "sets back what the user sets back in a later step": (beside(back_twice(), back_later), "FAIL"),
    "data of what it takes for too many, which has no owner": (
        beside(returned(stored).lists("claims").deletes("data-w-3", resource="claims", precondition=True), stored),
        "FAIL",
    ),
    "such data, with the widget as it is": (
        beside(stored(Script(RESTART, PAST)).dies().lives_again().deletes("data-w-3", resource="claims"), stored),
        "NOT_EXERCISED",
    ),
    "deletes what it made for a newer view": (
        returned().deletes("w-c", "w-d"),
        f"FAIL: {DELETED.format('c', 3)}, {OLDER}\n{DELETED.format('d', 2)}, {OLDER}",
    ),
    "whose they are follows from a plain owner reference, too": (
        beside(returned(plainly_owned).deletes("w-d"), plainly_owned),
        f"FAIL: {DELETED.format('d', 3)}, {OLDER}",
    ),
    "does not find the owner in an old list and deletes its children": (
        returned(past={WIDGETS: {}}).deletes("w-a"),
        f"FAIL: {DELETED.format('a', 3)}, {SHOWN.format('not at all', 104)}",
    ),
    "writes older content back": (beside(sets(returned(written), 2), written), SET_BACK),
    "goes back by a list without being restarted": (beside(sets(listed_again(), 2), written), SET_BACK),
    "overwrites what the user has changed meanwhile": (
        beside(hidden().updates("w", subresource="", spec={"n": 2}, mine=True).let_go(WIDGETS), changed),
        "FAIL: the controller set spec.n of widget/ns/w back from 4 to 2, "
        "though it had been shown it only up to resourceVersion 101, and 102 had changed that",
    ),
    "whichever it picks": (returned().deletes("w-a"), "FAIL"),
    "takes a new incarnation's children for an old one's": (beside(returned(recreated).deletes("w-c"), recreated), "FAIL"),
    # innocent, though it looks suspicious
    "has looked since": (beside(sets(listed_again().gets("w", WIDGETS), 2), written), "NOT_EXERCISED"),
    "waits until it knows better": (returned().idle(2).applied("w", note=1), "PASS"),
    "reads its primary live before it deletes": (returned().gets("w", WIDGETS).deletes("w-c"), "NOT_EXERCISED"),
    "is refused because of its precondition": (beside(hidden().asks("update", WIDGETS, "w").let_go(WIDGETS), changed), "PASS"),
    "scales down as wanted": (
        beside(half_shrunk().deletes("w-c").idle(2), lambda script: shrunk(script).deletes("w-c").idle(2)),
        "NOT_EXERCISED",
    ),
    "lets the children of a dying primary go": (dying().deletes("w-a", "w-b", "w-c", "w-d"), "NOT_EXERCISED"),
    "replaces what it has created too much": (
        returned(lambda script: scaled(script).creates("w-e", "w-f")).deletes("w-e", "w-f"),
        "PASS",
    ),
    "follows the user up and down": (beside(waves(Script(RESTART, PAST)), waves), "NOT_EXERCISED"),
    "repairs what another user has changed": (
        beside(sets(written(Script(RESTART)).applied("w-c", "configmaps", data={"n": 7}).dies().lives_again(), 4), written),
        "NOT_EXERCISED",
    ),
    "a status that goes back is for another requirement": (
        returned().updates("w", status={"replicas": 4}).updates("w", status={"replicas": 2}),
        "PASS",
    ),
    "the change was still under way when it asked": (
        beside(overwritten().updates("w", subresource="", spec={"n": 2}).let_go(WIDGETS), changed),
        "NOT_EXERCISED",
    ),
    # nothing is proven unless it saw less than had been done
    "nothing happened": (Script(HOLD), "NOT_EXERCISED"),
    "no fault": (scaled(Script(HOLD)), "NOT_EXERCISED"),
    "a restart with fresh lists": (scaled(Script(RESTART)).restarted().lists(WIDGETS).lists("pods").idle(2), "NOT_EXERCISED"),
    "nothing was done for the newer one": (hidden().let_go(WIDGETS), "NOT_EXERCISED"),
}


test_verdict = verdicts(NO_TIME_TRAVEL, CASES, two_references(scaled))


def test_the_story_ends_with_the_write() -> None:
    assert witnesses(NO_TIME_TRAVEL, beside(returned().deletes("w-c"), scaled))[-2:] == ["Asked", "Committed"]
