"""no-duplicate-create: which controllers it accuses, which it does not, and when it knows nothing."""

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules.surplus import NO_DUPLICATE_CREATE
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome
from staleproof.core.plan.step import Edit, Step

from ...draft import STEPS
from ...rule_cases import Cases, verdicts, witnesses
from ...script import HOLD, HOLD_WIDGETS, WIDGETS, Script, beside, three, trial, two_references


def began(script: Script, *names: str, hidden: bool = True) -> Script:
    """Pods are created, and hidden or not."""
    script.step(1, "apply Widget/w").applied("w", spec=len(names))
    return (script.hold() if hidden else script).creates(*names)


def unseen() -> Script:
    """The first three pods are created, and hidden."""
    return began(trial(), "w-a", "w-b", "w-c")


def held() -> Script:
    """And it may look again."""
    return unseen().idle(1).step(2, "touch")


# --- other workloads


def four(script: Script) -> Script:
    return began(script, "w-a", "w-b", "w-c", hidden=False).applied("w").creates("w-d")


def scaled_up(script: Script) -> Script:
    return script.step(2, "scale").applied("w", spec=4).creates("w-c", "w-d")


def scaled(script: Script) -> Script:
    script = scaled_up(began(script, "w-a", "w-b", hidden=False))
    return script.step(3, "scale").applied("w", spec=1).deletes("w-d", "w-c", "w-b")


def named(script: Script) -> Script:
    script = script if script.plan.faults == () else script.hold()
    return script.step(1, "apply").applied("w", spec=2).creates("w-0", "w-1", generated="").step(2, "touch").applied("w")


def recreated(script: Script, *, hidden: bool = False) -> Script:
    script = began(script, "w-a", "w-b", "w-c", hidden=hidden).step(2, "recreate").removed("w", WIDGETS)
    return script.applied("w", spec=3).creates("w-d", "w-e", "w-f")


def nested(script: Script) -> Script:
    """Pods of a child with a generated name."""
    name = {"ref-1": "w-x1", "ref-2": "w-y2"}.get(script.namespace, "w-z3")
    script.step(1, "apply").applied("w", spec=3).made(name, "replicasets.apps")
    script = script if script.plan.faults == () else script.hold()
    return script.creates("w-a", "w-b", "w-c", owner=name, generated=f"{name}-").step(2, "touch").applied("w")


def scaled_later(script: Script, *, hidden: bool = False) -> Script:
    """Three pods, and six in the third step."""
    script = began(script, "w-a", "w-b", "w-c", hidden=hidden).idle(1).step(2, "touch").applied("w").idle(2)
    return script.step(3, "scale").applied("w", spec=6).creates("w-d", "w-e", "w-f").idle(3)


# --- trials


def repairs(script: Script, number: int) -> Script:
    """What no reference ever does."""
    return script.applied("w").creates(f"w-repair-{number}", resource="configmaps", generated="w-repair-")


def made_one_more() -> Script:
    """It makes a fourth pod in the second step, and only two in the third."""
    script = held().applied("w").creates("w-x").idle(2).let_go()
    return script.step(3, "scale").applied("w", spec=6).creates("w-d", "w-e").idle(3)


def many() -> Script:
    script = held().applied("w").creates(*(f"w-{n}" for n in range(3)))
    for more in range(10):
        script.applied("w").creates(*(f"w-{more}-{n}" for n in range(3)))
    return script.let_go()


def for_each_state(script: Script, *, deletes: bool = True) -> Script:
    """A child for each state of the primary; the one for the state before goes when the new one is shown."""
    script.step(1, "apply").applied("w", spec="a").creates("w-a", spec="a").idle(1)
    for number, (before, state) in enumerate((("a", "b"), ("b", "c")), 2):
        script.step(number, "change")
        script = script.hold() if number == 2 and not deletes else script
        script.applied("w", spec=state).creates(f"w-{state}", spec=state)
        script = (script.deletes(f"w-{before}") if deletes else script).idle(number)
    return script


def jobs(script: Script, *decisions: str) -> Script:
    """Jobs for the states of an input, as it is shown; old ones stay, and a status says what was done last. A trial hides them."""
    script.step(1, "apply").applied("w", spec=1)
    script = script if script.plan.faults == () else script.hold()
    for decision in decisions:
        for state in decision.split():
            script.creates(f"w-{len(script.entries)}", spec=state)
        script.updates("w", status={"rendered": decision})
    script = script if script.plan.faults == () else script.let_go()
    return script.idle(1).step(2, "touch").applied("w").idle(2)


def for_late_input(*decisions: str, usual: str = "new") -> Trial:
    return beside(jobs(trial(), *decisions), lambda script: jobs(script, usual))


def helped(script: Script, *names: str, adopts: bool = True) -> Script:
    """A user has made one of the three that are wanted, and the controller takes it over when it is shown, in a trial late. It
    knows its own creates by their answers."""
    is_hidden = script.plan.faults != ()
    script.step(1, "make one")
    script = (script.hold() if is_hidden else script).applied("x", "pods").idle(1).step(2, "apply").applied("w", spec=3)
    script = script if is_hidden else taken_over(script)
    for name in names:
        script.creates(name).updates("w", status={"last": name})
    return (taken_over(script.let_go()) if adopts else script.let_go()) if is_hidden else script


def taken_over(script: Script) -> Script:
    owner = {"kind": "Widget", "name": "w", "uid": script.uid("w", WIDGETS), "controller": True}
    known = script._objects["pods", "x"]["metadata"]
    return script.updates("x", "pods", subresource="", metadata=known | {"ownerReferences": [owner]})


def helped_late(*names: str, adopts: bool = True) -> Trial:
    return beside(helped(trial(), *names, adopts=adopts), lambda script: helped(script, "w-a", "w-b"))


def excess(name: str, nth: str) -> str:
    return (
        f"pod/ns/w-{name} is the {nth} live pod of widget/w; fault-free runs never had more than 3, "
        "though it had not been shown its own creates (resourceVersion 102\N{EN DASH}104)"
    )


CASES: Cases = {
    "a child for another state is other work": (
        beside(for_each_state(trial(), deletes=False).let_go().deletes("w-a", "w-b"), for_each_state),
        "PASS",
    ),
    "a second child for one state is none": (
        beside(for_each_state(trial(), deletes=False).applied("w", touched=1).creates("w-d", spec="c").let_go(), for_each_state),
        "FAIL: pod/ns/w-d is the 4th live pod of widget/w; fault-free runs never had more than 2, "
        "though it had not been shown its own creates (resourceVersion 104\N{EN DASH}106)",
    ),
    "a Job for a state that was there for a moment": (for_late_input("old", "new"), "PASS"),
    "two Jobs for each of two states, one after the other": (for_late_input("old", "old", "new", "new", usual="new new"), "PASS"),
    "two Jobs for one state": (for_late_input("new", "new"), "FAIL"),
    "two Jobs for the last state": (for_late_input("old", "new", "new"), "FAIL"),
    "two Jobs for a state that was there for a moment": (for_late_input("old", "old", "new"), "FAIL"),
    "the first of two that differ is made again": (for_late_input("first", "first second", usual="first second"), "FAIL"),
    "what a user has made, and it is to take over, is hidden": (helped_late("w-a", "w-b", "w-c"), "PASS"),
    "one more than that": (helped_late("w-a", "w-b", "w-c", "w-d"), "FAIL"),
    "what a user has made, and it never takes over, is hidden": (helped_late("w-a", "w-b", "w-c", adopts=False), "FAIL"),
    "creates again what it has not seen": (
        held().applied("w").creates("w-d", "w-e", "w-f").let_go(),
        "FAIL: " + "\n".join(excess(*which) for which in (("d", "4th"), ("e", "5th"), ("f", "6th"))),
    ),
    "its own status update is enough to make it look again": (unseen().updates("w", status=0).creates("w-d").let_go(), "FAIL"),
    "a list from the past has not shown them": (
        held().lists("pods", without=("w-a", "w-b", "w-c"), revision=100).applied("w").creates("w-d").let_go(),
        "FAIL",
    ),
    "after a restart what its predecessor did is unseen again": (three(trial()).restarted().applied("w").creates("w-d"), "FAIL"),
    "waits until it sees its own writes": (held().applied("w").let_go(), "PASS"),
    # --- innocent, though it looks suspicious
    "a burst in one reconciliation, though none of it has been seen": (
        began(trial(), *(f"w-{n}" for n in range(6))).let_go(),
        "NOT_EXERCISED",
    ),
    # a roll-out in another order than the references': three old pods were seen; the burst is cut in two by a chance event
    "an excess that the unseen creates do not explain is not staleness": (
        three(trial()).hold().creates("w-d").applied("w").creates("w-e").deletes("w-a", "w-b").let_go(),
        "PASS",
    ),
    "creates after the hold was released": (held().applied("w").let_go().applied("w").creates("w-d"), "PASS"),
    "creates after a list has shown the first ones": (held().applied("w").lists().applied("w").creates("w-d").let_go(), "PASS"),
    "a hold that ends with a list has shown them": (held().applied("w").relist().applied("w").creates("w-d"), "PASS"),
    "a list of a new life has shown them": (three(trial()).restarted().lists().applied("w").creates("w-d"), "NOT_EXERCISED"),
    "live reads move the frontier": (held().applied("w").gets("w-a").gets("w-b").gets("w-c").creates("w-d").let_go(), "PASS"),
    "replaces children that others deleted": (
        held().removed("w-a").removed("w-b").applied("w").creates("w-d", "w-e").let_go(),
        "PASS",
    ),
    "children on their way out are not live": (held().terminating("w-a").applied("w").creates("w-d").let_go(), "PASS"),
    "replaces what it deleted itself": (held().applied("w").deletes("w-a").creates("w-d").let_go(), "PASS"),
    "scaling up and down is measured against the peak of the same workload": (
        beside(scaled_up(began(trial(), "w-a", "w-b")).let_go(), scaled),
        "PASS",
    ),
    "below the peak of later steps": (
        beside(made_one_more(), scaled_later),
        "FAIL: pod/ns/w-x is the 4th live pod of widget/w; fault-free runs never had more than 3 by then, "
        "though it had not been shown its own creates (resourceVersion 102\N{EN DASH}104)",
    ),
    "late, with as many as there were by then": (
        beside(scaled_later(trial(), hidden=True).let_go(), scaled_later),
        "PASS",
    ),
    "deterministic names live on AlreadyExists": (
        beside(named(trial()).refused("create", "w-0", "AlreadyExists").refused("create", "w-1", "AlreadyExists").let_go(), named),
        "PASS",
    ),
    "the references' counts are a range": (beside(held().applied("w").creates("w-d").let_go(), three, four), "PASS"),
    "children of a second owner incarnation are counted apart": (
        beside(recreated(trial(), hidden=True).let_go(), recreated),
        "PASS",
    ),
    "children of generated children go by what they descend from": (beside(nested(trial()).let_go(), nested), "PASS"),
    "a role that no reference had is no duplicate": (
        repairs(repairs(held(), 1).hold("configmaps"), 2).let_go("configmaps").let_go(),
        "PASS",
    ),
    "writes to what is in no namespace are none of its business": (
        held().applied("w").asks("create", "nodes", namespace="").let_go(),
        "PASS",
    ),
    # --- nothing is proven unless it looked again while its creates were hidden
    "nothing happened": (trial(), "NOT_EXERCISED"),
    "nothing was hidden": (three(trial()), "NOT_EXERCISED"),
    "it was not made to look again": (unseen().let_go(), "NOT_EXERCISED"),
    "a look after the hold has ended": (unseen().let_go().step(2, "touch").applied("w"), "NOT_EXERCISED"),
}


test_verdict = verdicts(NO_DUPLICATE_CREATE, CASES, two_references(three))


def test_the_story_ends_with_the_write() -> None:
    assert witnesses(NO_DUPLICATE_CREATE, beside(held().applied("w").creates("w-d").let_go(), three))[-2:] == ["Asked", "Committed"]


def test_ten_findings_are_enough() -> None:
    assert len(verdict_of(NO_DUPLICATE_CREATE, beside(many(), three)).findings) == 10


def test_a_life_that_begins_when_a_child_was_set_aside_need_not_know_of_it() -> None:
    def outcome(*more: Step) -> Outcome:
        script = three(Script(HOLD, HOLD_WIDGETS, steps=(*STEPS, *more))).restarted().applied("w").creates("w-d")
        return verdict_of(NO_DUPLICATE_CREATE, beside(script, three)).outcome

    assert outcome() is Outcome.FAIL
    assert outcome(Edit(resource="pods", patch={"metadata": {"labels": None}})) is Outcome.INCONCLUSIVE
    assert outcome(Edit(resource="pods", patch={"metadata": {"annotations": {"a": "b"}}})) is Outcome.FAIL
