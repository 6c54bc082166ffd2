"""no-delete-of-unseen: which controllers it accuses, and which not, and when it knows nothing. Only owners need references."""

from staleproof.checks.rules.identity import NO_DELETE_OF_UNSEEN
from staleproof.core.history.entry import Listed, Withheld

from ...rule_cases import Cases, verdicts
from ...script import HOLD, HOLD_WIDGETS, PAST, RESTART, WIDGETS, Script, beside, losing, trial


def named(script: Script) -> Script:
    return script.step(1, "apply Widget/w").applied("w", spec=2).creates("w-0", "w-1", generated="").idle(1)


def recreated() -> Script:
    """Another user puts another object under the name of a child, unseen."""
    return named(trial()).step(2, "recreate").hold().removed("w-1").made("w-1")


def scaled() -> Script:
    """And fewer are wanted."""
    return recreated().step(3, "scale").applied("w", spec=1)


def seen(script: Script) -> Script:
    """The same without a fault: it deletes the one that was made, because fewer are wanted."""
    named(script).step(2, "recreate").removed("w-1").made("w-1").idle(2)
    return script.step(3, "scale").applied("w", spec=1).deletes("w-1").idle(3)


def seen_later(script: Script) -> Script:
    """It needs it for one step more."""
    named(script).step(2, "recreate").removed("w-1").made("w-1").idle(2).step(3, "scale").idle(3)
    return script.step(4, "scale").applied("w", spec=1).deletes("w-1").idle(4)


def scaled_back(script: Script) -> Script:
    """Fewer are wanted for a step, so that there are two of that name before a user makes another one."""
    named(script).step(2, "scale").applied("w", spec=1).deletes("w-1").idle(2)
    script.step(3, "scale").applied("w", spec=2).creates("w-1", generated="").idle(3)
    script.step(4, "recreate").removed("w-1").made("w-1").idle(4)
    return script.step(5, "scale").applied("w", spec=1).deletes("w-1").idle(5)


def saw_no_scaling() -> Script:
    """It is not shown that fewer are wanted for a step."""
    script = Script(HOLD, HOLD_WIDGETS)
    named(script).hold(WIDGETS, fault=1).step(2, "scale").applied("w", spec=1).idle(2)
    script.step(3, "scale").applied("w", spec=2).idle(3).relist(WIDGETS, fault=1)
    script.step(4, "recreate").hold().removed("w-1").made("w-1").idle(4)
    return script.step(5, "scale").applied("w", spec=1).deletes("w-1").idle(5).let_go()


def reaped(script: Script, *, hidden: bool = False) -> Script:
    """Failed pods are deleted by their names, whatever owns them."""
    script.step(1, "apply").applied("w").made("w-x").idle(1).step(2, "recreate")
    script = script.hold(WIDGETS) if hidden else script
    script.removed("w", WIDGETS).removed("w-x").applied("w").made("w-y", phase="Failed").deletes("w-y").idle(2)
    return script.step(3, "touch").idle(3)


def taken(script: Script) -> Script:
    """The one that was made is another user's, and stays."""
    named(script).step(2, "recreate").removed("w-1").made("w-1", owner="").idle(2)
    return script.step(3, "scale").applied("w", spec=1).idle(3)


def sooner(script: Script) -> Script:
    """It deletes its own before a user makes another one."""
    return named(script).step(2, "recreate").deletes("w-1").made("w-1").idle(2).step(3, "scale").applied("w", spec=1).idle(3)


def another_owner() -> Script:
    """The widget is replaced unseen."""
    return named(trial()).step(2, "recreate").hold(WIDGETS).removed("w", WIDGETS).applied("w", spec=2).made("w-2")


def replaced(script: Script) -> Script:
    """The widget is replaced and gets children of its own."""
    named(script).step(2, "recreate").removed("w", WIDGETS).applied("w", spec=2)
    return script.creates("w-2", "w-3", generated="").idle(2).step(3, "touch")


def idle(script: Script) -> Script:
    return replaced(script).dies().lives_again().idle(3)


def sweeping(script: Script) -> Script:
    return replaced(script).dies().lives_again().deletes("w-2", precondition=True).idle(3)


def swept(widget: int | None = None) -> Script:
    """It starts, perhaps on an old list of widgets, and deletes a child of the new one, naming its incarnation."""
    script = replaced(Script(RESTART, PAST)).dies().lives_again(past={WIDGETS: {"w": widget}} if widget else None)
    return script.deletes("w-2", precondition=True).idle(3)


def cut() -> Script:
    """Nothing was withheld: the stream was cut, and the controller still believes in the old incarnation."""
    script = recreated()
    script.entries = [entry for entry in script.entries if not isinstance(entry, Withheld)]
    return script.deletes("w-1").let_go()


def never_heard_of() -> Script:
    script = Script(losing(), HOLD).step(1, "apply").applied("w", spec=1).hold(fault=1).creates("w-0", generated="")
    script.loses_the_answer().refused("create", "w-0", "AlreadyExists").step(2, "scale").applied("w", spec=0)
    return script.deletes("w-0").let_go(fault=1)


CLAIMS = "persistentvolumeclaims"


def claimed(script: Script, name: str = "data-w-0", **labels: str) -> Script:
    """Another controller makes a claim without an owner."""
    return script.made(name, CLAIMS, owner="", metadata={"labels": labels} if labels else {})


def stored(script: Script, name: str = "data-w-0", **labels: str) -> Script:
    """A widget and its claim; the controller deletes the claim with the widget, and both are made again."""
    claimed(script.step(1, "apply").applied("w"), name, **labels).idle(1).step(2, "delete").terminating("w", WIDGETS)
    script.deletes(name, resource=CLAIMS).removed("w", WIDGETS).idle(2).step(3, "apply").applied("w")
    return claimed(script, name, **labels).idle(3).step(4, "touch")


def labelled(script: Script) -> Script:
    return stored(script, "store", app="w")


def unlike(script: Script) -> Script:
    """Nothing tells whose the claim is."""
    return stored(script, "store", app="x")


def tidied(script: Script) -> Script:
    """The claim of the widget that is there is deleted without any fault, too."""
    return stored(script).deletes("data-w-0", resource=CLAIMS).idle(4)


def started(script: Script, **past: int) -> Script:
    """It starts on a list of widgets of the past, and of claims as they are."""
    script.dies().lives_again(past={WIDGETS: past})
    return script.lists(CLAIMS)


def swept_claims(script: Script, name: str = "data-w-0", *, precondition: bool = True, **past: int) -> Script:
    """It takes the claim for one of the widget before, and makes sure that it gets it."""
    return started(script, **(past or {"w": 104})).deletes(name, resource=CLAIMS, precondition=precondition).idle(4)


def looks(script: Script) -> Script:
    return started(script, w=104).gets("w", WIDGETS).deletes("data-w-0", resource=CLAIMS).idle(4)


def swept_all() -> Script:
    return started(stored(Script(RESTART, PAST)), w=104).deletes_all(CLAIMS).idle(4)


def past_list() -> Script:
    """In the list there is no widget at all."""
    script = stored(Script(RESTART, PAST)).dies()
    script.lives_again()
    empty = {"request": 99, "client": "controller", "resource": WIDGETS}
    script.entries = [entry for entry in script.entries if not (isinstance(entry, Listed) and entry.resource == WIDGETS)]
    script.adds(Listed, revision=101, fault=1, **empty).lists(CLAIMS)
    return script.deletes("data-w-0", resource=CLAIMS).idle(4)


STRANGER = (
    "FAIL: the controller deleted pod/ns/w-1 (uid ns-uid-4), an incarnation that it had never been shown, "
    "though it had not been shown that incarnation (resourceVersion 105)"
)
OWNED = (
    "FAIL: the controller deleted pod/ns/w-2, a child of the 2nd widget/w, an incarnation that it had never been shown, "
    "though it had not been shown its owner, widget/w of resourceVersion 105"
)
OF_ANOTHER = (
    "FAIL: the controller deleted persistentvolumeclaims/ns/{}, which belongs to the 2nd widget/w, an incarnation that it had "
    "never been shown, though it had not been shown that primary, widget/w of resourceVersion 106"
)


def labelled_map(script: Script, name: str) -> Script:
    return script.creates(name, resource="configmaps", owner="", generated="c-", metadata={"labels": {"app": "w"}})


def cleans_up(script: Script) -> Script:
    """It makes a ConfigMap for each state of a widget, without an owner, and deletes them when the widget is gone."""
    labelled_map(script.step(1, "apply").applied("w", spec=1), "c-1").idle(1)
    labelled_map(script.step(2, "scale").applied("w", spec=2), "c-2").idle(2)
    script.step(3, "delete").removed("w", WIDGETS).deletes("c-1", "c-2", resource="configmaps", precondition=True).idle(3)
    return labelled_map(script.step(4, "apply").applied("w", spec=1), "c-3").idle(4)


def cleans_up_late() -> Script:
    """All that is shown late, frame by frame: there is another widget when it makes the second ConfigMap for the first one."""
    script = labelled_map(Script(HOLD_WIDGETS).step(1, "apply").applied("w", spec=1), "c-1").idle(1).hold(WIDGETS)
    script.step(2, "scale").applied("w", spec=2).idle(2).step(3, "delete").removed("w", WIDGETS).idle(3)
    script.step(4, "apply").applied("w", spec=1).closes()
    labelled_map(script.shows_next(WIDGETS), "c-2").shows_next(WIDGETS)
    script.deletes("c-1", "c-2", resource="configmaps", precondition=True)
    return labelled_map(script.shows_next(WIDGETS), "c-3").idle(4)


CASES: Cases = {
    "evicts what took the name": (
        beside(scaled().evicts("w-1").let_go(), taken),
        "FAIL",
    ),
    "evicts that incarnation only": (beside(scaled().evicts("w-1", precondition=True).let_go(), taken), "PASS"),
    "deletes what it had made for the one before, as that is gone": (beside(cleans_up_late(), cleans_up), "NOT_EXERCISED"),
    "deletes by name what took that name unseen": (scaled().deletes("w-1").let_go(), STRANGER),
    "an old view is evidence also when nothing was withheld": (cut(), "FAIL"),
    "deletes a child of an owner that was replaced unseen": (
        another_owner().deletes("w-2").let_go(WIDGETS),
        OWNED,
    ),
    # --- whichever incarnation it is
    "what had to go whatever was known of it": (beside(scaled().deletes("w-1").let_go().idle(3), seen), "PASS"),
    "what had to go, though fewer had that name before": (beside(saw_no_scaling(), scaled_back), "PASS"),
    "what is deleted by name whatever owns it": (beside(reaped(trial(), hidden=True).let_go(WIDGETS), reaped), "PASS"),
    "what is needed for longer": (beside(scaled().deletes("w-1").let_go().idle(3), seen_later), "FAIL"),
    "what is another user's": (
        beside(named(trial()).step(2, "x").hold().removed("w-1").made("w-1", owner="").step(3, "y").deletes("w-1").let_go(), taken),
        "FAIL",
    ),
    "what was deleted before it was made again": (beside(scaled().deletes("w-1").let_go().idle(3), sooner), "FAIL"),
    # a sweeper of orphans lists children as they are now, and the primaries of before
    "to know a child is not to know its owner": (beside(swept(101), idle), OWNED),
    # --- what another controller made without an owner
    "a claim that has the primary's name in its own": (
        beside(swept_claims(stored(Script(RESTART, PAST))), stored),
        OF_ANOTHER.format("data-w-0"),
    ),
    "deleted by name": (beside(swept_claims(stored(Script(RESTART, PAST)), precondition=False), stored), "FAIL"),
    "deleted with all others": (beside(swept_all(), stored), "FAIL"),
    "from a list in which there was no primary yet": (beside(past_list(), stored), "FAIL"),
    "though a user makes it again": (beside(claimed(swept_claims(stored(Script(RESTART, PAST)))), stored), "FAIL"),
    "one that a label names": (
        beside(swept_claims(labelled(Script(RESTART, PAST)), "store"), labelled),
        OF_ANOTHER.format("store"),
    ),
    "one that nothing ties to a primary": (
        beside(swept_claims(unlike(Script(RESTART, PAST)), "store"), unlike),
        "NOT_EXERCISED",
    ),
    "unless one of the references has it otherwise": (
        beside(swept_claims(labelled(Script(RESTART, PAST)), "store"), labelled, unlike),
        "NOT_EXERCISED",
    ),
    "unless it is shown the primary": (beside(swept_claims(stored(Script(RESTART, PAST)).resynced()), stored), "FAIL"),
    "unless fault-free runs delete such a claim, too": (
        beside(swept_claims(stored(Script(RESTART, PAST))), tidied),
        "NOT_EXERCISED",
    ),
    "names the incarnation it means": (
        scaled().refused("delete", "w-1", "Conflict", uid="ns-uid-3").let_go().deletes("w-1"),
        "PASS",
    ),
    "looks before it deletes": (scaled().gets("w-1").deletes("w-1").let_go(), "PASS"),
    "a precondition on the right uid shows that it has learnt of it somehow": (
        recreated().deletes("w-1", precondition=True).let_go(),
        "PASS",
    ),
    # --- innocent, though it looks suspicious
    "knows the owner": (beside(swept(), idle), "NOT_EXERCISED"),
    "need not know the owner where fault-free runs do the same": (beside(swept(101), sweeping), "NOT_EXERCISED"),
    "the children of an owner that is gone may go": (
        another_owner().removed("w", WIDGETS).deletes("w-2").let_go(WIDGETS),
        "PASS",
    ),
    "what it created itself it knows though it has not seen it": (
        trial().step(1, "apply").hold().applied("w", spec=2).creates("w-0", "w-1", generated="").deletes("w-1").let_go(),
        "NOT_EXERCISED",
    ),
    "what it does not watch it may delete by name": (
        trial().step(1, "apply").applied("w").made("w-rs", "replicasets.apps").deletes("w-rs", resource="replicasets.apps"),
        "NOT_EXERCISED",
    ),
    "an owner that it does not watch does not matter": (
        trial().step(1, "apply").applied("w").made("rs", "replicasets.apps").made("rs-1", owner="rs").deletes("rs-1"),
        "NOT_EXERCISED",
    ),
    "a list in the middle has shown it": (recreated().lists("pods").deletes("w-1").let_go(), "NOT_EXERCISED"),
    "a list at the end of the hold has shown it": (recreated().relist().deletes("w-1"), "NOT_EXERCISED"),
    "a deletecollection names no object": (recreated().deletes_all().let_go(), "NOT_EXERCISED"),
    "a new life knows only what it was shown": (
        named(trial()).restarted().lists("pods", without=("w-1",)).hold().deletes("w-1").let_go(),
        "NOT_EXERCISED",
    ),
    # nothing says that the view of the new life is old: it may delete by name what it does not watch
    "what was kept from an earlier life is forgotten with it": (recreated().let_go().restarted().deletes("w-1"), "NOT_EXERCISED"),
    "what it made itself and never heard of is no stranger": (never_heard_of(), "NOT_EXERCISED"),
    # --- nothing is proven unless it deletes by a name that was taken unseen
    "nothing happened": (trial(), "NOT_EXERCISED"),
    "nothing hidden": (named(trial()).deletes("w-1"), "NOT_EXERCISED"),
    "nothing deleted": (recreated().let_go(), "NOT_EXERCISED"),
    "another name": (scaled().deletes("w-0").let_go(), "NOT_EXERCISED"),
    "after the release": (recreated().let_go().step(3, "scale").applied("w", spec=1).deletes("w-1"), "NOT_EXERCISED"),
    "in no namespace": (recreated().asks("delete", "pods", "w-1", namespace="").let_go(), "NOT_EXERCISED"),
}


test_verdict = verdicts(NO_DELETE_OF_UNSEEN, CASES)
