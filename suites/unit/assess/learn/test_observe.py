"""What is observed of a controller, as far as it is decided without one."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from staleproof.assess.learn.observe import _possible
from staleproof.core.history.history import History
from staleproof.core.operator.observed import Input
from staleproof.core.plan.manifest import Target
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Delete, Step, in_parts
from staleproof.drive.trial.workload import Refused

from ...checks.script import two_references
from ...draw.seen import widgets

NAMES = ("certificate", "password", "token")


class Runs:
    """Fault-free runs, of which those cannot be made in which one of these is deleted."""

    def __init__(self, stuck: Sequence[str]) -> None:
        self.stuck, self.notes = stuck, dict[str, str]()

    def repeat(self, plan: Plan) -> tuple[History, ...]:
        if gone := [name for name in self._deleted(plan.steps) if name in self.stuck]:
            raise Refused(f"a webhook does not let {gone[0]} go", 2)
        return two_references()

    def runs_of(self, plan: Plan) -> tuple[()]:
        return ()

    def _deleted(self, steps: tuple[Step, ...]) -> list[str]:
        return [step.target.name for step in in_parts(steps) if isinstance(step, Delete)]


@pytest.mark.parametrize(
    ("stuck", "left"),
    [((), NAMES), (("token",), NAMES[:1]), (("certificate",), ("password",)), (NAMES[:2], ("token",)), (NAMES, ())],
)
def test_one_input_that_cannot_go_keeps_no_other_from_being_taken_away(stuck: tuple[str, ...], left: tuple[str, ...]) -> None:
    runs = Runs(stuck)
    bare = replace(widgets(), inputs=tuple(Input(Target("v1", "Secret", name), "secrets") for name in NAMES))
    session: Any = SimpleNamespace(references=runs, share=lambda _: None, note=runs.notes.__setitem__)
    assert tuple(each.target.name for each in _possible(session, bare)) == left
    assert all(name in runs.notes["inputs"] for name in stuck[:1])
