"""What others are said to be able to change: only what the controller itself wrote last, and what does not move by itself."""

from dataclasses import replace

import pytest

from staleproof.assess.learn import interference
from staleproof.assess.learn.interference import _asides, _edits, _resets, may_be_done, with_interference
from staleproof.assess.trial.session import Session
from staleproof.checks.trial import Trial
from staleproof.core.operator.observed import ChildKind, Observed
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Edit, PatchStatus, Step
from staleproof.drive.trial.workload import Refused

from ...checks.script import WIDGETS, Script, trial

MAPS = ChildKind("configmaps", 1, 0, stable_names=True, stays=1)
SAMPLE = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
BARE = Observed(SAMPLE, WIDGETS, (), (MAPS,))


def kept(script: Script | None = None, **data: str) -> Script:
    """The controller makes a ConfigMap."""
    script = script or trial().applied("w")
    return script.creates("w-a", resource="configmaps", generated="", data=data)


def edits_of(script: Script, bare: Observed = BARE) -> list[Edit]:
    return list(_edits(bare, Trial(script.ends())))


def resets_of(script: Script, bare: Observed = BARE) -> list[str]:
    found = _resets(bare, Trial(script.ends()))
    assert all(isinstance(each, PatchStatus) and each.target == BARE.target for each in found)
    return [field for each in found for field in each.patch["status"]]


def test_what_the_controller_put_into_a_child_is_edited() -> None:
    assert edits_of(kept(b="x", c="y")) == [Edit(resource="configmaps", patch={"data": {"b": "x-edited"}})]


def test_what_another_user_put_there_is_not() -> None:
    added = kept(b="x").applied("w-a", "configmaps", data={"a": "theirs", "b": "x"})
    assert [edit.patch for edit in edits_of(added)] == [{"data": {"b": "x-edited"}}]


def test_what_another_user_put_in_the_place_of_its_own_is_edited_once_it_has_written_it_again() -> None:
    def changed() -> Script:
        return kept(b="x").applied("w-a", "configmaps", data={"b": "theirs"})

    assert edits_of(changed()) == []
    written = edits_of(changed().updates("w-a", "configmaps", subresource="", data={"b": "z"}))
    assert [edit.patch for edit in written] == [{"data": {"b": "z-edited"}}]


def test_nor_is_a_child_that_another_user_made_or_that_does_not_stay() -> None:
    assert edits_of(trial().applied("w").made("w-a", "configmaps", data={"b": "x"})) == []
    assert edits_of(kept(b="x"), replace(BARE, children=(replace(MAPS, stays=0),))) == []
    assert edits_of(kept(b="x").removed("w-a", "configmaps")) == []


def test_a_child_of_its_own_is_set_aside() -> None:
    aside = [Edit(resource="configmaps", nth=-1, patch={"metadata": {"ownerReferences": None}})]
    assert list(_asides(BARE, Trial(kept().ends()))) == aside
    assert not list(_asides(BARE, Trial(trial().applied("w").made("w-a", "configmaps").ends())))


def test_of_its_status_goes_what_the_controller_wrote_and_what_does_not_move_by_itself() -> None:
    wrote = trial().applied("w", status={"theirs": "x"}).updates("w", status={"theirs": "x", "size": 3, "beats": 1})
    assert resets_of(wrote) == ["size", "beats"]
    assert resets_of(wrote, replace(BARE, moves=(f"{WIDGETS} status.beats",))) == ["size"]
    assert resets_of(trial().applied("w")) == []
    assert resets_of(trial()) == []


FIELDS = [f"field{number}" for number in range(9)]


def wrote_fields() -> Trial:
    made = kept(b="x").updates("w", status=dict.fromkeys(FIELDS, "x"))
    return Trial(made.ends())


def test_many_fields_of_a_status_leave_room_for_what_is_done_to_children() -> None:
    found = may_be_done(BARE, wrote_fields())
    assert [edit.sets_aside for edit in found.edits] == [False, True]
    assert 0 < len(found.resets) < len(FIELDS)


def test_fields_without_which_a_status_is_refused_are_not_taken_away() -> None:
    found = may_be_done(BARE, wrote_fields(), FIELDS[1:])
    assert [reset.patch for reset in found.resets] == [{"status": {FIELDS[0]: None}}]


class Refusing(Session):
    """The API server refuses these steps, and the controller stands all others."""

    def __init__(self, refused: type[Step]) -> None:
        self.refused = refused
        self.runs = 0
        self.notes: dict[str, str] = {}

    def note(self, name: str, text: str) -> None:
        self.notes[name] = text

    def watch(self, plan: Plan) -> None:  # type: ignore[override]
        self.runs += 1
        for number, step in enumerate(plan.steps, 1):
            if isinstance(step, self.refused):
                raise Refused("status: Required value", number)


@pytest.fixture
def _stands_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interference, "indexed", lambda history: history)
    monkeypatch.setattr(interference, "undone", lambda _: 0)
    monkeypatch.setattr(interference, "went_wrong", lambda _: (0, ""))
    monkeypatch.setattr(interference, "_is_done", lambda *_: True)


@pytest.mark.usefixtures("_stands_all")
def test_what_was_done_before_what_is_refused_in_each_run_may_be_done() -> None:
    edit = Edit(resource="configmaps", patch={"data": {"b": "x-edited"}})
    aside = Edit(resource="configmaps", nth=-1, patch={"metadata": {"ownerReferences": None}})
    taken = tuple(PatchStatus(target=BARE.target, patch={"status": {each: None}}) for each in FIELDS)

    session = Refusing(PatchStatus)
    found = with_interference(session, replace(BARE, edits=(edit, aside), resets=taken), planned)
    assert (found.edits, found.resets) == ((edit,), ())
    assert session.runs < len(taken)

    session = Refusing(PatchStatus)
    found = with_interference(session, replace(BARE, edits=(edit, aside), resets=taken[:2]), planned)
    assert (found.edits, found.resets) == ((edit, aside), ())
    assert len(session.notes["others cannot"].split("; ")) == 2


def planned(steps: tuple[Step, ...]) -> Plan:
    return Plan(scenario="observe", steps=steps)
