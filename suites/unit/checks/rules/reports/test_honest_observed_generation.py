"""honest-observed-generation: which controllers it accuses, which it does not, and when it knows nothing."""

from staleproof.checks.rules.reports import HONEST_OBSERVED_GENERATION
from staleproof.checks.trial import Trial
from staleproof.core.history.resource_version import Revision
from staleproof.core.plan.step import Remove, Step, Touch

from ...draft import STEPS
from ...rule_cases import Cases, verdicts
from ...script import HOLD_WIDGETS, WIDGETS, Script, beside, trial, two_references

NEVER = "NOT_EXERCISED: the controller reported no observedGeneration"
NOT_BEHIND = "NOT_EXERCISED: the controller never reported while a newer generation was hidden from it, nor after that"
BACK = "FAIL: observedGeneration of widget/ns/w went back from generation 2 to 1, though 2 had been reported, which its caches"
HASTY = (
    "INCONCLUSIVE: widget/ns/w ended with observed generation 1 of 2; fault-free runs ended with the newest, "
    "but it had 0.1 s to catch up, and may need 1.8 s after what was done to it"
)
UNACTED = (
    "FAIL: observedGeneration of widget/ns/w says 2 before anything was done for it; fault-free runs always acted first, "
    "though it knew generation 2 from a live answer only, and acted on it when its cache showed it"
)
INHERITED = (
    "FAIL: observedGeneration of widget/ns/w says 2, which its predecessor had; this one has generation 1, "
    "though it had not been shown that widget/ns/w is another one now (uid ns-uid-5)"
)
LEFT_BEHIND = (
    "FAIL: widget/ns/w ended with observed generation 1 of 2; fault-free runs ended with the newest, "
    "though it had been shown generation 2"
)


def unshown(generation: int, field: str = "observedGeneration") -> str:
    return (
        f"FAIL: {field} of widget/ns/w says {generation}; the newest generation that the controller had been shown was 1, "
        "though it had been shown no generation after 1"
    )


def began(script: Script) -> Script:
    return script.step(1, "apply").wants(2).creates("w-a", "w-b").says(1).idle(1)


def scaled(script: Script) -> Script:
    """The workload: two pods, then three. The controller acts, then reports."""
    return began(script).step(2, "scale").wants(3).creates("w-c").says(2).idle(2)


def eager(script: Script) -> Script:
    return began(script).step(2, "scale").wants(3).says(2).creates("w-c")


def odd(script: Script) -> Script:
    return began(script).says(9).step(2, "scale").wants(3).creates("w-c").says(2)


def lazy(script: Script) -> Script:
    return began(script).step(2, "scale").wants(3).creates("w-c").says(1, replicas=3)


def held() -> Script:
    """The second generation is hidden."""
    return began(trial()).step(2, "scale").hold(WIDGETS).wants(3).idle(2)


def read() -> Script:
    """It is hidden, and read live."""
    return held().gets("w", WIDGETS)


def acts(script: Script) -> Script:
    """It is shown in the end, and acted on."""
    return script.let_go(WIDGETS).creates("w-c")


def late(script: Script) -> Script:
    """And reported then."""
    return acts(script).says(2)


def restarted_with_a_list_of_the_past() -> Script:
    script = began(trial()).step(2, "scale").wants(3).creates("w-c").says(2)
    item = script._item(script._objects[WIDGETS, "w"])
    old = type(item)(item.namespace, item.name, item.uid, Revision(101))
    return script.hold().restarted().page(WIDGETS, (old,), revision=104).says(1)


def going_back() -> Script:
    seen = began(trial()).step(2, "scale").hold(WIDGETS).wants(3).gets("w", WIDGETS).creates("w-c").says(2).says(1)
    return seen.let_go(WIDGETS).says(2)


def replaced() -> Script:
    """The widget has had two generations, and is made anew unseen."""
    script = scaled(trial()).step(3, "recreate").hold(WIDGETS).removed("w", WIDGETS)
    return script.wants(3)


def shown_again() -> Script:
    """And it is shown that: whatever it claims now is its own mistake."""
    return replaced().let_go(WIDGETS)


def one_that_waits_for_late_children() -> Script:
    script = held().hold("pods").made("x").gets("w", WIDGETS).says(2)
    return script.let_go(WIDGETS).let_go("pods").creates("w-c")


WAVES: tuple[Step, ...] = (STEPS[0], *[Touch(target=STEPS[1].target)] * 2, Remove(resource="pods"), STEPS[1])


def waves(script: Script) -> Script:
    """More are wanted for a step; later another user deletes a pod. It reads the widget live."""
    script.step(1, "apply").wants(1).gets("w", WIDGETS).creates("w-a").says(1).idle(1)
    script.step(2, "scale").wants(2).gets("w", WIDGETS).creates("w-b").says(2).idle(2)
    script.step(3, "scale").wants(1).gets("w", WIDGETS).deletes("w-b").says(3).idle(3)
    return loses_one(script, script._generated["pods", "w-a"])


def loses_one(script: Script, name: str) -> Script:
    script.step(4, "remove").removed(name).gets("w", WIDGETS).creates("w-c").says(3, beat=1).idle(4)
    return script.step(5, "touch").applied("w").idle(5)


def waves_unseen() -> Script:
    """A pod's event makes it look: nothing has to be done, and it says so, before its cache shows the last generation."""
    script = Script(HOLD_WIDGETS, steps=WAVES).step(1, "apply").wants(1).gets("w", WIDGETS).creates("w-a").says(1).idle(1)
    script.hold(WIDGETS).step(2, "scale").wants(2).idle(2).step(3, "scale").wants(1)
    script.applied("w-a", "pods", spec={"x": 1}).gets("w", WIDGETS).says(3).idle(3).let_go(WIDGETS)
    return loses_one(script, "w-a")


WAVING = tuple(waves(Script(steps=WAVES, namespace=f"ref-{number}")).ends() for number in (1, 2))


CASES: Cases = {
    "had nothing to do for it, and later makes what another user deletes": (Trial(waves_unseen().ends(), WAVING), "PASS"),
    "reports what it acted on": (late(held()), "PASS"),
    "reports it, and hears of that the second time": (acts(held()).says(2).loses_the_answer(1).says(2), "PASS"),
    "reports what it had acted on, and the next one later": (late(held().says(1, replicas=2)), "PASS"),
    # --- findings
    "a generation never shown": (late(held().says(2)), unshown(2)),
    "though it never heard that this was written": (late(held().says(2).loses_the_answer(1)), unshown(2)),
    "one that there never was, and not the write that mends it": (late(held().says(7)), unshown(7)),
    "one that its predecessor had, and not the write that mends it": (replaced().says(2).let_go(WIDGETS).says(1), INHERITED),
    "in a life that has never been shown any": (replaced().restarted().says(2), INHERITED),
    "one of a condition": (late(held().says(1, ready=2)), unshown(2, "conditions[Ready].observedGeneration")),
    "going back on an older view": (going_back(), f"{BACK} had not been shown"),
    "going back in a life that began with a list of the past": (
        restarted_with_a_list_of_the_past(),
        f"{BACK} had not been shown",
    ),
    "reporting a live generation before acting on it": (acts(read().says(2)).says(2, replicas=3), UNACTED),
    "the answer to an own write is a live answer as well": (
        acts(held().says(1, replicas=2).says(2)).says(2, replicas=3),
        UNACTED,
    ),
    "a status that stays behind what was shown": (acts(held()).says(1, replicas=3).released().passes(60), LEFT_BEHIND),
    # --- nothing is proven unless it reported on what had been hidden
    "nothing happened": (trial(), NEVER),
    "it reports none": (trial().wants(2).creates("w-a"), NEVER),
    "nothing was hidden": (began(trial()).step(2, "scale").wants(3).creates("w-c").says(2), NOT_BEHIND),
    "it did not report any more": (held().let_go(WIDGETS), NOT_BEHIND),
    # --- innocent, though it looks suspicious
    "one that may still come to it": (acts(held()).says(1, replicas=3), HASTY),
    "a live read that is acted on": (read().creates("w-c").says(2).let_go(WIDGETS), "PASS"),
    "an attempt that was refused is an act": (
        read().refused("create", "w-c", "AlreadyExists").says(2).let_go(WIDGETS).creates("w-c"),
        "PASS",
    ),
    "a live list fills its view as events do": (acts(held().lists(WIDGETS).says(2)), "PASS"),
    "one that waits for its late children": (one_that_waits_for_late_children(), "PASS"),
    "an earlier life may have acted": (
        held().restarted().gets("w", WIDGETS).says(2).lists(WIDGETS).creates("w-c"),
        "PASS",
    ),
    "what another wrote into the status": (
        late(held().applied("w", status={"observedGeneration": 2}).updates("w")),
        NOT_BEHIND,
    ),
    "a generation that this one has, too": (replaced().says(1).let_go(WIDGETS), "PASS"),
    "one that was shown the successor": (shown_again().says(2), "FAIL"),
    "an object never shown in this life": (began(trial()).hold(WIDGETS).restarted().says(2), NOT_BEHIND),
    "a status never written after the catch-up is for another": (held().says(1, replicas=2).let_go(WIDGETS), NOT_BEHIND),
    "a widget that is going may end behind": (
        held().let_go(WIDGETS).terminating("w", WIDGETS).says(1, replicas=0),
        NOT_BEHIND,
    ),
    "one that finds nothing to do for a generation": (read().says(2).let_go(WIDGETS), "PASS"),
    "what its cache has shown it may report first": (
        held().let_go(WIDGETS).says(2).restarted().lists(WIDGETS).creates("w-c"),
        "PASS",
    ),
    "going back with all shown is not staleness": (late(held()).says(1).says(2), "PASS"),
    # --- what the references do as well is its way
    "where references report first and act then": (beside(acts(read().says(2)), eager), "PASS"),
    "what it always does": (beside(late(held().says(9)), odd), "PASS"),
    "a status that the references leave behind, too": (
        beside(acts(held()).says(1, replicas=3).released().passes(60), lazy),
        NOT_BEHIND,
    ),
}


test_verdict = verdicts(HONEST_OBSERVED_GENERATION, CASES, two_references(scaled))
