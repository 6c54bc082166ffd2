"""no-excess-delete: which controllers it accuses, which it does not, and when it knows nothing."""

from typing import Any

from staleproof.checks.rules.surplus import NO_EXCESS_DELETE

from ...rule_cases import Cases, verdicts
from ...script import WIDGETS, Script, beside, trial, two_references

# --- workloads


def three(script: Script, *, generated: str = "w-") -> Script:
    return script.step(1, "apply Widget/w").applied("w", spec=3).creates("w-a", "w-b", "w-c", generated=generated).idle(1)


def shrunk(script: Script, to: int = 1, *gone: str, **deletes: Any) -> Script:  # noqa: ANN401
    return script.applied("w", spec=to).deletes(*(gone or ("w-c", "w-b")), **deletes)


def scaled(script: Script) -> Script:
    """Three pods, then one."""
    return shrunk(three(script).step(2, "scale"))


def evicted(script: Script) -> Script:
    """Three pods, then two."""
    return three(script).step(2, "scale").applied("w", spec=2).evicts("w-a").idle(2).step(3, "touch").applied("w", spec=2).idle(3)


def evicts_on() -> Script:
    """It has another one evicted, as it was not shown that the first is gone."""
    script = three(trial()).hold().step(2, "scale").applied("w", spec=2).evicts("w-a").idle(2)
    return script.step(3, "touch").applied("w", spec=2).evicts("w-b").idle(3).let_go()


def named(script: Script) -> Script:
    return shrunk(three(script, generated="").step(2, "scale"))


def emptied(script: Script) -> Script:
    return shrunk(three(script).step(2, "scale"), 0, "w-c", "w-b", "w-a")


def waves(script: Script) -> Script:
    return scaled(script).step(3, "scale").applied("w", spec=2).creates("w-d")


def replaced(script: Script) -> Script:
    """None is left of the three."""
    return shrunk(three(script).step(2, "scale"), 1, "w-c", "w-b", "w-a").creates("w-d")


def grown(script: Script) -> Script:
    script.step(1, "apply").applied("w", spec=4).creates("w-a", "w-b", "w-c", "w-d")
    return shrunk(script.step(2, "scale"), 3, "w-d")


def recreated(script: Script, *, hidden: bool = False) -> Script:
    three(script).step(2, "recreate").removed("w", WIDGETS).applied("w", spec=1)
    return (script.hold() if hidden else script).creates("w-d").deletes("w-c", "w-b").applied("w").deletes("w-a")


def taken(script: Script, *, hidden: bool = False) -> Script:
    """Four, then three; a user deletes one; then two. Where that is hidden, the controller replaces nothing."""
    script.step(1, "apply").applied("w", spec=4).creates("w-a", "w-b", "w-c", "w-d").idle(1).step(2, "scale")
    script = (script.hold() if hidden else script).applied("w", spec=3).deletes("w-d").idle(2)
    script.step(3, "a user deletes one").removed(script._generated.get(("pods", "w-a"), "w-a"))
    script = (script if hidden else script.creates("w-e")).idle(3).step(4, "scale").applied("w", spec=2)
    return script.deletes("w-c" if hidden else "w-e").idle(4)


def pair(script: Script, *, state: str = "new") -> Script:
    return script.step(1, "apply").applied("w", spec=2).creates("w-a", "w-b", spec=state).updates("w", status={"ready": 2}).idle(1)


def single(script: Script) -> Script:
    return script.step(1, "apply").applied("w", spec=1).creates("w-a").idle(1)


# --- trials


def holding(*, generated: str = "w-") -> Script:
    """From the scaling on everything is hidden."""
    return three(trial(), generated=generated).step(2, "scale").hold()


def held() -> Script:
    """Two of the three are deleted, and that is hidden."""
    return shrunk(holding()).idle(2).step(3, "touch").applied("w")


def kept_from_creating() -> Script:
    script = trial().step(1, "apply").hold().applied("w", spec=4).creates("w-a", "w-b").step(2, "replace").applied("w")
    return script.deletes("w-a").applied("w").deletes("w-b").let_go().creates("w-c", "w-d", "w-e")


def rolled(script: Script) -> Script:
    """One more before one goes, three times: never fewer than three."""
    three(script).step(2, "new template").applied("w", spec=3, template=2)
    for new, old in (("w-x", "w-c"), ("w-y", "w-b"), ("w-z", "w-a")):
        script.creates(new).deletes(old)
    return script.idle(2)


def rolling() -> Script:
    """It makes one more, takes one, and is not shown that; so it takes another."""
    script = three(trial()).step(2, "new template").hold().applied("w", spec=3, template=2).creates("w-x").deletes("w-c")
    return script.applied("w", touched=1).deletes("w-b").let_go()


def renewing(state: str) -> Script:
    """A pair of this state is replaced by one of the new state, delete first and one after the other, and is not seen to be."""
    script = pair(trial(), state=state).step(2, "touch").hold().applied("w", touched=1)
    for old, new in (("w-a", "w-c"), ("w-b", "w-d")):
        script.deletes(old).creates(new, spec="new").updates("w", status={"updated": new})
    return script.let_go().idle(2)


def given_up(*, looks: bool) -> Script:
    """Twice it gives up a pod whose start it has not been shown in time, and makes another one; `looks`: it had read the second."""
    script = trial().step(1, "apply").hold().applied("w", spec=1).creates("w-a").passes(5.0)
    script.updates("w", status={"retries": 1}).deletes("w-a").creates("w-b").passes(5.0)
    script = script.gets("w-b") if looks else script
    return script.updates("w", status={"retries": 2}).deletes("w-b").creates("w-c").let_go().idle(1)


def never_shown() -> Script:
    """It knows all that it has made by the answers, and not what it has deleted."""
    script = trial().step(1, "apply").hold().applied("w", spec=3).creates("w-a", "w-b", "w-c").idle(1).step(2, "scale")
    return shrunk(script).idle(2).step(3, "touch").applied("w").deletes("w-a").let_go()


HIDDEN = "though it had not been shown its own deletes of w-c, w-b"
EXCESS = f"the controller deleted pod/ns/w-a: 0 live pods of widget/w left, fault-free runs kept 1, {HIDDEN}"
CASES: Cases = {
    "evicts another": (
        beside(evicts_on(), evicted),
        "FAIL: the controller deleted pod/ns/w-b: 1 live pod of widget/w left, fault-free runs kept 2, "
        "though it had not been shown its own deletes of w-a",
    ),
    "evicts one": (beside(evicted(trial().hold()), evicted), "PASS"),
    "deletes more because its deletes are hidden": (
        held().deletes("w-a").let_go(),
        f"FAIL: {EXCESS}",
    ),
    "deletes that take their time are deletes": (
        shrunk(holding(), grace=True).applied("w").deletes("w-a", grace=True).let_go(),
        "FAIL",
    ),
    "with stable names it is the name that the references kept": (
        beside(shrunk(holding(generated="")).applied("w").deletes("w-a").let_go(), named),
        f"FAIL: the controller deleted pod/ns/w-a: fault-free runs kept it, {HIDDEN}",
    ),
    "keeps what the references kept": (beside(shrunk(holding(generated="")).applied("w").let_go(), named), "PASS"),
    "in a roll-out it is the fewest that there ever were, however many are deleted in the end": (
        beside(rolling(), rolled),
        "FAIL: the controller deleted pod/ns/w-b: 2 live pods of widget/w left, fault-free runs kept 3, "
        "though it had not been shown its own deletes of w-c",
    ),
    "replaces what it had made from an input that was shown late": (beside(renewing("old"), pair), "PASS"),
    "takes what is as ever": (
        beside(renewing("new"), pair),
        "FAIL: the controller deleted pod/ns/w-b: 1 live pod of widget/w left, fault-free runs kept 2, "
        "though it had not been shown its own deletes of w-a",
    ),
    "gives up what it was never shown": (beside(given_up(looks=False), single), "PASS"),
    "takes what it was never shown, and has made none anew": (never_shown(), f"FAIL: {EXCESS}"),
    "gives up what it was shown": (beside(given_up(looks=True), single), "FAIL"),
    "repeats the same deletes": (held().refused("delete", "w-c", "NotFound").let_go(), "PASS"),
    # --- innocent, though it looks suspicious
    "a burst in one reconciliation, though none of it has been seen": (
        shrunk(holding(), 0, "w-c", "w-b", "w-a").let_go(),
        "NOT_EXERCISED",
    ),
    "deletes after the hold was released": (held().let_go().applied("w").deletes("w-a"), "PASS"),
    "deletes after a list without the first ones": (held().lists("pods").applied("w").deletes("w-a").let_go(), "PASS"),
    "deletes after a hold that ended with a list": (held().relist().applied("w").deletes("w-a"), "PASS"),
    "live reads that find nothing move the frontier": (
        held().gets("w-c").gets("w-b").applied("w").deletes("w-a").let_go(),
        "PASS",
    ),
    "what others had deleted before is not its delete": (held().terminating("w-a").deletes("w-a").let_go(), "PASS"),
    "what others deleted meanwhile is not its delete": (held().removed("w-a").let_go(), "PASS"),
    "what others deleted unseen explains what is missing": (
        beside(taken(trial(), hidden=True).let_go().creates("w-e"), taken),
        "PASS",
    ),
    "and does not explain more than that": (
        beside(taken(trial(), hidden=True).applied("w", touched=1).deletes("w-b").let_go(), taken),
        "FAIL: the controller deleted pod/ns/w-b: 0 live pods of widget/w left, fault-free runs kept 2, "
        "though it had not been shown its own deletes of w-d, w-c",
    ),
    "kept from creating, it has not deleted too many": (beside(kept_from_creating(), grown), "PASS"),
    "a deletecollection names no object": (held().deletes_all().let_go(), "PASS"),
    "scaling up and down is measured against the same workload": (
        beside(held().applied("w", spec=2).creates("w-d").let_go(), waves),
        "PASS",
    ),
    "the references' counts are a range": (beside(held().deletes("w-a").let_go(), scaled, replaced), "NOT_EXERCISED"),
    "children of a second owner incarnation are counted apart": (
        beside(recreated(trial(), hidden=True).let_go(), recreated),
        "NOT_EXERCISED",
    ),
    # --- nothing is proven unless it looked again while its deletes were hidden
    "nothing happened": (trial(), "NOT_EXERCISED"),
    "nothing was hidden": (scaled(trial()), "NOT_EXERCISED"),
    "it was not made to look again": (
        shrunk(holding()).let_go(),
        "NOT_EXERCISED: the controller was never made to look again while an own delete was hidden from it",
    ),
    "where the references left nothing nothing can be too few": (
        beside(shrunk(holding(), 0).applied("w").deletes("w-a").let_go(), emptied),
        "NOT_EXERCISED: what the controller deletes is all gone without faults, too, so that it cannot delete too much of it",
    ),
}


test_verdict = verdicts(NO_EXCESS_DELETE, CASES, two_references(scaled))
