"""What a run covered, and what it did not reach."""

from typing import get_args

import msgspec

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.core.fault import AnyFault
from staleproof.core.plan.coverage import PHASES, Occasion
from staleproof.report.coverage import covered, faults_and_fields, missed, reach
from staleproof.report.model import FaultReport, LeftOut, Report, TrialReport

from . import runs
from .runs import GOOD, IDLE, verdict

LOSS = "survives-stream-loss"


def fault(outcome: str = "fired", *, phase: str = "changes", move: str = "spec.size", resource: str = "pods") -> FaultReport:
    return FaultReport(fault="Sever", resource=resource, outcome=outcome, name="Sever", phase=phase, move=move)  # type: ignore[arg-type]  # a word


def trial(name: str, *faults: FaultReport, **fields: str) -> TrialReport:
    return runs.trial(name, verdict(LOSS, GOOD), verdict("settles", IDLE), faults=faults, **fields)


def reached(of: Report) -> list[str]:
    return list(reach(of))


def test_what_fired_covers_what_it_put_to_the_test() -> None:
    found = covered([trial("1", fault(), fault("not fired", phase="rests"))])
    assert found == {(LOSS, Occasion("Sever", "pods", "changes", "spec.size"))}


def test_it_is_reported_in_a_line() -> None:
    first, *_ = reached(runs.report(trial("1", fault()), trial("2", fault(phase="rests", move="", resource="*"))))
    where = f"on 1 resource, in 2 of {len(PHASES)} phases, over changes of 1 field (1 pair of a fault and a field)"
    assert first == f"covered: 1 requirement by 1 kind of faults {where}: 2 combinations"


def test_a_sweep_counts_for_the_field_of_each_of_its_primaries() -> None:
    swept = trial("1", fault(move="spec.size, spec.log"), fault("not fired", move="spec.other"))
    assert faults_and_fields(runs.report(swept, trial("2", fault()))) == {
        ("Sever", "pods", "spec.size"),
        ("Sever", "pods", "spec.log"),
    }


def test_a_sweep_counts_where_a_suspect_of_it_took_its_place() -> None:
    alone = msgspec.structs.replace(trial("1", fault()), swept=(fault(move="spec.size, spec.log"),))
    assert {field for _, _, field in faults_and_fields(runs.report(alone))} == {"spec.size", "spec.log"}


def test_where_nothing_fired_or_all_was_hostile_nothing_is_reported() -> None:
    assert reached(runs.report(trial("1", fault("not fired")))) == []
    assert reached(runs.report(trial("1", fault(), hostile="hostile faults (DropFrame)"))) == []
    assert reached(runs.report()) == []


def test_what_was_not_reached_is_reported_with_the_option_that_may() -> None:
    environment = {"kubernetes": "v1", "passed on": "spec.size, spec.boxes[0].name, spec.log"}
    trials = [trial("1", fault()), *(trial(str(number), fault(move="spec.boxes")) for number in range(2, 11))]
    lines = reached(runs.report(*trials, environment=environment))
    assert len(reached(runs.report(*trials[:2], environment=environment))) == 1, "more is not expected of two trials"
    assert "  not reached: changes of spec.log; --staleproof-max-examples N may" in lines
    (phases,) = [line for line in lines if "phases" in line and "not reached" in line]
    assert "appears, changes back" in phases
    assert "changes, " not in phases.removeprefix("  not reached: faults in these phases: ")
    assert not any(f"{LOSS} under Sever" in line for line in lines)
    assert any("--staleproof-profile slow may" in line for line in lines)


def test_why_it_was_not_reached_is_what_a_plan_says_that_aims_at_it() -> None:
    other = runs.trial("1", verdict(LOSS, IDLE, why="the controller exited"))
    own = runs.trial("2", verdict(LOSS, IDLE, why="no watch was lost"), aims=(LOSS,))
    late = LeftOut(scenario="streams", title="", aims=(LOSS,))
    assert [each.why for each in missed(runs.report(other, own, wanted=(LOSS,)))] == ["no watch was lost"]
    assert [each.why for each in missed(runs.report(other, wanted=(LOSS,), left_out=(late,)))] == [
        "there was no time for its plans"
    ]


def test_what_puts_a_requirement_to_the_test_is_called_as_in_plans() -> None:
    named = {name for requirement in REQUIREMENTS for name in requirement.faults}
    assert named <= {each.__struct_config__.tag for each in get_args(AnyFault)}
