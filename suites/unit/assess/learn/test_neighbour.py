"""Whether the controller says that a second primary has no room."""

import pytest

from staleproof.assess.learn.neighbour import kept_apart, trouble_in, with_neighbour
from staleproof.assess.trial.session import Session
from staleproof.checks.trial import Trial
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.plan import Plan
from staleproof.draw.canonical import another
from staleproof.drive.trial.workload import Refused

from ...checks.script import WIDGETS, Script, trial

SAMPLE = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"host": "w.example.com"}}
BARE, SECOND = Observed(SAMPLE, WIDGETS, (), ()), another(SAMPLE)


def says(name: str, message: str, script: Script | None = None, reason: str = "Waiting") -> Script:
    conditions = [{"type": "Ready", "status": "False", "reason": reason, "message": message}]
    return (script or trial().applied("w").applied("w-other")).updates(name, status={"conditions": conditions})


def trouble(script: Script, *usual: str) -> str:
    return trouble_in(Trial(script.ends()), BARE, SECOND, usual)


@pytest.mark.parametrize("name", ["w", "w-other"])
def test_a_complaint_of_either_is_reported(name: str) -> None:
    complaint = "Ready is False, Waiting: host w.example.com is that of w"
    assert trouble(says(name, "host w.example.com is that of w")) == complaint
    assert trouble(says(name, "sorry", reason="Conflict")) == "Ready is False, Conflict: sorry"


def test_what_the_first_complains_of_by_itself_is_not() -> None:
    usual = "Ready is False, Waiting: w has no certificate for w.example.com"
    assert trouble(says("w-other", "w-other has no certificate for w.example.com"), usual) == ""


def test_what_is_about_something_else_is_not() -> None:
    assert trouble(says("w-other", "the moon is full")) == ""
    assert trouble(trial().applied("w").applied("w-other")) == ""


def test_a_trial_makes_the_names_of_both_its_own() -> None:
    assert kept_apart(["w.example.com"]) == ("w.example.com", "w-other.example.com")
    assert kept_apart([]) == ()


class Asked(Session):
    """A second primary is turned away."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def watch(self, plan: Plan) -> None:  # type: ignore[override]
        raise Refused("spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated", len(plan.steps))

    def note(self, name: str, text: str) -> None:
        self.notes.append(f"{name}: {text}")


@pytest.mark.parametrize(("ports", "alone"), [({"nodePort": 30080}, ("30080",)), ({"port": 30080}, ())])
def test_a_port_of_all_nodes_keeps_primaries_apart(ports: dict[str, int], alone: tuple[str, ...]) -> None:
    bare, session = Observed({**SAMPLE, "spec": ports}, WIDGETS, (), ()), Asked()
    found = with_neighbour(session, bare, Trial(trial().applied("w").ends()), lambda steps: Plan(scenario="observe", steps=steps))
    assert (found.alone, [note.startswith("one at a time: 30080 ") for note in session.notes]) == (alone, [True] * len(alone))
