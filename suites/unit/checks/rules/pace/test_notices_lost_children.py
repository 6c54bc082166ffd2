"""notices-lost-children: which controllers it accuses, which not, and when it knows nothing."""

from staleproof.checks.rules.pace import NOTICES_LOST_CHILDREN
from staleproof.checks.trial import Trial
from staleproof.core.fault import AnyFault, HoldStream
from staleproof.core.plan.step import Remove, Rest, Resync, Step

from ...draft import STEPS
from ...rule_cases import Cases, verdicts, witnesses
from ...script import RESTART, WIDGETS, Script, trial

NONE = "NOT_EXERCISED: no other user deleted what the controller had made for a primary"
SOON = "NOT_EXERCISED: something else of widget/ns/w came before the controller had to have noticed"


def lost(*faults: AnyFault, steps: tuple[Step, ...] = (Remove(resource="pods"), Rest(seconds=7.0), *STEPS[1:])) -> Script:
    """A child is deleted by a step."""
    script = Script(*faults, steps=(STEPS[0], *steps)).step(1, "apply").wants(1).creates("w-a").idle(1)
    return script.step(2, "remove").removed("w-a")


LOST: tuple[Step, ...] = (STEPS[0], Remove(resource="pods"), Rest(seconds=7.0), *STEPS[1:])


def looking(script: Script, *, by_itself: bool) -> Script:
    """It makes another, and its widget is touched, in one order or the other."""
    script.step(1, "apply").wants(1).creates("w-a", generated="").idle(1).step(2, "remove").removed("w-a").passes(7.0)
    if by_itself:
        return script.creates("w-b", generated="").applied("w")
    return script.applied("w").creates("w-b", generated="")


FAULT_FREE = tuple(looking(Script(steps=LOST, namespace=f"ref-{number}"), by_itself=True).ends() for number in (1, 2))


CASES: Cases = {
    "makes another when it is touched": (
        lost().passes(7.0).applied("w").creates("w-b"),
        "FAIL: pod/ns/w-a, which another user had deleted, was made again only once something else of widget/ns/w had come from "
        "the API server; until then nothing was done for 7.2 s",
    ),
    "when another child changes": (
        Script(steps=(STEPS[0], Remove(resource="pods"), *STEPS[1:]))
        .step(1, "apply")
        .wants(1)
        .creates("w-a")
        .creates("m", resource="configmaps")
        .idle(1)
        .step(2, "remove")
        .removed("w-a")
        .passes(7.0)
        .applied("m", "configmaps")
        .creates("w-b"),
        "FAIL",
    ),
    "when it starts again": (lost(RESTART).passes(7.0).restarted().creates("w-b"), "FAIL"),
    "when it is made to list again": (
        lost(steps=(Remove(resource="pods"), Resync(resource=WIDGETS))).passes(7.0).step(3, "resync").creates("w-b"),
        "FAIL",
    ),
    "makes another by itself": (lost().passes(0.2).creates("w-b").passes(7.0).applied("w"), "PASS"),
    "late, but by itself": (lost().passes(20.0).creates("w-b"), "PASS"),
    "says that it is missing, and makes another after a time of its own": (
        lost().updates("w", status={"phase": "Degraded"}).passes(7.0).applied("w").passes(2.7).creates("w-b"),
        "NOT_EXERCISED: it wrote something of widget/ns/w before anything else came, so it may have noticed",
    ),
    "makes another after a time of its own, soon after the touch": (
        lost().passes(7.0).applied("w").passes(2.7).creates("w-b"),
        "PASS",
    ),
    "looks now and then, in a fault-free run before the touch": (
        Trial(looking(Script(steps=LOST), by_itself=False).ends(), FAULT_FREE),
        "NOT_EXERCISED: in a fault-free run it made a child of widget/ns/w again before anything else came",
    ),
    "a touch came at once": (lost().passes(1.0).applied("w").creates("w-b"), SOON),
    "long after the touch, so by itself": (lost().passes(7.0).applied("w").passes(20.0).creates("w-b"), "PASS"),
    "makes none": (
        lost().passes(7.0).applied("w").passes(7.0),
        "NOT_EXERCISED: pod/ns/w-a was not made again, so it is not known whether the controller wants it",
    ),
    "the user wants something else": (
        lost().passes(7.0).wants(2).creates("w-b"),
        "NOT_EXERCISED: pod/ns/w-a was not made again, so it is not known whether the controller wants it",
    ),
    "nothing was shown meanwhile": (
        lost(HoldStream(resource="pods")).hold().passes(7.0).released().applied("w").creates("w-b"),
        SOON,
    ),
    "it deleted that itself": (
        Script(steps=STEPS).step(1, "apply").wants(1).creates("w-a").idle(1).deletes("w-a").passes(7.0).applied("w").creates("w-b"),
        NONE,
    ),
    "it had not made that": (
        Script(steps=(STEPS[0], Remove(resource="pods")))
        .step(1, "apply")
        .wants(1)
        .made("w-a")
        .idle(1)
        .step(2, "remove")
        .removed("w-a")
        .passes(7.0)
        .applied("w")
        .creates("w-b"),
        NONE,
    ),
    "nothing was deleted": (trial().step(1, "apply").wants(1).creates("w-a").idle(1), NONE),
}

test_verdict = verdicts(NOTICES_LOST_CHILDREN, CASES)


def test_a_finding_shows_the_deletion_what_woke_it_and_the_new_one() -> None:
    found = witnesses(NOTICES_LOST_CHILDREN, Trial(lost().passes(7.0).applied("w").creates("w-b").ends()))
    assert found == ["Committed", "Committed", "Committed"]
