"""Whether a primary that is made anew came to what its predecessor was."""

import pytest

from staleproof.checks.facts.successors import unsucceeded
from staleproof.checks.facts.usability import reference_trouble
from staleproof.checks.trial import Trial
from staleproof.core.plan.manifest import Target
from staleproof.core.plan.step import Apply, Delete, Step

from ..script import WIDGETS, Script

W = Apply(object={"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}})
GOES = Delete(target=Target("example.com/v1", "Widget", "w"))
STEPS: tuple[Step, ...] = (W, GOES, W)
ABSENT = f"ended without {WIDGETS}/w, which step 3 had made anew"
BARE = f"ended without a child of the {WIDGETS}/w that step 3 had made anew, and the one before it had some"


def lived(number: int = 0, steps: tuple[Step, ...] = STEPS) -> Script:
    """A Widget with a pod, which is about to be deleted."""
    begun = Script(namespace=f"ref-{number}", role="reference", steps=steps) if number else Script(steps=steps)
    return begun.step(1, "apply").applied("w").creates("w-a").idle(1).step(2, "delete")


def renewed(number: int = 0, steps: tuple[Step, ...] = STEPS) -> Script:
    return lived(number, steps).removed("w", WIDGETS).idle(2).step(3, "apply").applied("w")


def overwritten(number: int = 0) -> Script:
    """The predecessor was on its way out when it was applied."""
    return lived(number).terminating("w", WIDGETS).idle(2).step(3, "apply").applied("w", spec=2).removed("w", WIDGETS)


CASES = {
    "made anew": (renewed().creates("w-b"), ""),
    "applied to the one on its way out": (overwritten(), ABSENT),
    "removed by another": (renewed().creates("w-b").removed("w", WIDGETS), ABSENT),
    "removed by the controller": (renewed().creates("w-b").deletes("w", resource=WIDGETS), ""),
    "without children": (renewed(), BARE),
    "never any children": (Script(steps=STEPS).step(1, "apply").applied("w").step(2, "delete").removed("w", WIDGETS)
                           .step(3, "apply").applied("w"), ""),
    "goes by itself each time": (Script(steps=STEPS).step(1, "apply").applied("w").creates("w-a").removed("w", WIDGETS)
                                 .step(2, "delete").step(3, "apply").applied("w").removed("w", WIDGETS), ""),
    "deleted for good": (lived(steps=(W, GOES)).removed("w", WIDGETS), ""),
    "deleted again": (renewed(steps=(*STEPS, GOES)).creates("w-b").step(4, "delete").removed("w", WIDGETS), ""),
    "interrupted": (lived().removed("w", WIDGETS), ""),
}  # fmt: skip


@pytest.mark.parametrize(("script", "lack"), CASES.values(), ids=CASES)
def test_what_a_recreated_primary_lacks(script: Script, lack: str) -> None:
    assert unsucceeded(Trial(script.ends())) == lack


def test_a_run_without_its_primary_is_no_reference() -> None:
    good = renewed(1).creates("w-b").ends()
    assert reference_trouble(Trial(renewed().ends(), (good, renewed(2).creates("w-b").ends()))) == ""
    assert reference_trouble(Trial(renewed().ends(), (good, overwritten(2).ends()))) == f"reference 2 {ABSENT}"
