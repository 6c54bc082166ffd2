"""What CONTRIBUTING shows to a developer who wants to add a fault or a checker is built and used here, word for word."""

import re
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import msgspec
import pytest

from staleproof.checks import doubt
from staleproof.checks.judge import verdict_of
from staleproof.checks.requirement import Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Basis, Outcome
from staleproof.core.engine.gate import Gate, Waiting
from staleproof.core.engine.schedule import Schedule
from staleproof.core.fault import AnyFault, Fault, Place, Seat
from staleproof.core.fault.decision import PASS, Delay, FrameDecision
from staleproof.core.fault.legality import ROWS
from staleproof.core.fault.model import Seconds
from staleproof.core.fault.suggest import FAULTS, mistakes
from staleproof.core.history.frame import Frame
from staleproof.core.history.request import parse
from staleproof.core.history.resource_version import Revision

from .checks.script import trial

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
FAULT, HISTORIES, RULE = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
LONGEST_FAULT, LONGEST_RULE = 15, 60


@pytest.fixture
def example() -> type[Fault]:
    """The fault, executed with the imports that its file would have."""
    assert len(FAULT.splitlines()) <= LONGEST_FAULT
    names = {
        "Delay": Delay, "Fault": Fault, "Frame": Frame, "FrameDecision": FrameDecision, "PASS": PASS, "Place": Place,
        "Seconds": Seconds,
    }  # fmt: skip
    scope: dict[str, object] = {"__name__": __name__, **names}
    exec(FAULT, scope)
    made = scope["LateDeletes"]
    assert isinstance(made, type)
    assert issubclass(made, Fault)
    return made


def frame(kind: str, revision: int) -> Frame:
    return Frame(kind, "trial", "a", "uid", Revision(revision), initial_end=False, raw=b"{}\n")


def decoded(example: type[Fault], text: str) -> AnyFault:
    is_known = example.__struct_config__.tag in FAULTS  # a developer may have taken it at its word
    kinds: Any = AnyFault if is_known else example | AnyFault
    fault: AnyFault = msgspec.json.decode(text.encode(), type=kinds)
    return fault


def test_the_example_is_a_fault_that_a_plan_can_hold(example: type[Fault]) -> None:
    (text,) = re.findall(r'`(\{"fault": "LateDeletes".*?\})`', TEXT)
    fault = decoded(example, text)
    assert fault.tag == "LateDeletes"
    assert fault.resource == "pods"
    assert ROWS[fault.row].contract == fault.contract == "legal"
    assert list(fault.misfits()) == []
    assert (fault.effects, fault.phrase) == (frozenset({"lags"}), "deletions of pods came late")


def test_the_example_refuses_what_makes_no_sense(example: type[Fault]) -> None:
    text = '{"fault": "LateDeletes", "resource": "pods", "bySeconds": -1}'
    assert mistakes(msgspec.json.decode(text), example) == ["bySeconds is -1, expected a positive number"]
    with pytest.raises(msgspec.ValidationError):
        decoded(example, text)


def test_the_example_acts_within_its_window_and_in_order(example: type[Fault]) -> None:
    fault = decoded(example, '{"fault": "LateDeletes", "resource": "pods", "bySeconds": 2, "window": {"fromStep": 2}}')
    request = parse("GET", "/api/v1/pods?watch=1&resourceVersion=1")
    assert request is not None
    schedule = Schedule([fault])
    gate = Gate(schedule.decide_for(Seat(request)))

    def leaves(now: float) -> list[int | None]:
        return [item.frame.revision for item in gate.release(now) if isinstance(item, Waiting)]

    gate.receive(frame("DELETED", 2), 0.0)
    assert leaves(0.0) == [2]  # the window is not open yet
    schedule.begin_step(2, 1.0)
    gate.receive(frame("ADDED", 3), 1.0)
    gate.receive(frame("DELETED", 4), 1.0)
    gate.receive(frame("ADDED", 5), 1.0)
    assert leaves(1.0) == [3]
    assert gate.deadline() == 3.0
    assert leaves(3.0) == [4, 5]


@pytest.fixture
def rule() -> ModuleType:
    """The file of its family."""
    assert len(RULE.splitlines()) <= LONGEST_RULE
    made = ModuleType("identity")
    exec(RULE, made.__dict__)
    return made


def test_the_example_is_a_rule_that_passes_its_own_histories(rule: ModuleType) -> None:
    scope = {"identity": rule, "verdict_of": verdict_of, "Trial": Trial, "trial": trial, "Outcome": Outcome}
    exec(HISTORIES, scope)
    test = scope["test_what_it_accuses"]
    assert callable(test)
    test()


def test_the_example_is_named_in_the_way_that_requirements_are(rule: ModuleType) -> None:
    assert isinstance(rule.GUARDS_DELETES, Requirement)
    assert rule.GUARDS_DELETES.slug == "guards-deletes"
    assert rule.GUARDS_DELETES.check is rule.guards_deletes


def test_what_an_excuse_may_be_about_is_all_there_and_the_example_is_one() -> None:
    (bases, more) = re.findall(r"the basis of a finding \((.*?)\), or (.*?), if it", TEXT, re.DOTALL)[0]
    of_finding, of_more = get_args(doubt.Subject)
    assert of_finding is Basis
    assert tuple(re.findall(r"`(\w+)`", bases)) == get_args(of_finding)
    assert tuple(re.findall(r"`(\w+)`", more)) == get_args(of_more)
    (row,) = re.findall(r"^    (Doubt\(.*\))$", TEXT, re.MULTILINE)
    assert eval(row, vars(doubt)) in doubt.DOUBTS


def test_the_files_to_touch_are_where_they_are_said_to_be() -> None:
    named = [
        part
        for line in TEXT.splitlines()
        if line.startswith("| `")
        for part in re.findall(r"`([\w/.]+/[\w.]+)`", line.split("|")[1])
    ]
    assert named
    missing = [path for path in named if "guards_deletes" not in path and not (ROOT / path).exists()]
    assert missing == []
