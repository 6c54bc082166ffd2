"""Every incarnation's commits, and which of them are the controller's."""

import msgspec

from staleproof.checks.facts.object_history import LEADER
from staleproof.checks.facts.provenance import BEYOND, incarnations
from staleproof.core.entry import Answered

from ..report_script import ReportScript, trial
from ..script import WIDGETS


def own(script: ReportScript, name: str = "w") -> list[bool]:
    found = [of for of in incarnations(script.ends()).values() if of.first.commit.name == name]
    return [change.by is not None for change in found[-1].changes]


def test_a_commit_is_the_controllers_when_an_answer_says_so() -> None:
    assert own(trial().wants(1).says(1).wants(2).says(2)) == [False, True, False, True]
    assert own(trial().wants(1).creates("w-a"), "w-a") == [True]


def test_a_write_that_changes_nothing_does_not_make_somebody_elses_change_its_own() -> None:
    assert own(trial().wants(1).updates("w")) == [False]
    assert own(trial().wants(1).says(1).updates("w")) == [False, True]


def test_a_write_whose_answer_was_lost_is_nobodys() -> None:
    script = trial().wants(1).says(1)
    script.entries[-1] = msgspec.structs.replace(script.entries[-1], outcome="unknown", executed=True)

    assert isinstance(script.entries[-1], Answered)
    assert own(script) == [False, False]


def test_before_is_the_object_until_then_in_the_order_of_revisions() -> None:
    script = trial().wants(1).says(1)
    late = next(i for i, entry in enumerate(script.entries) if type(entry).__name__ == "Committed")
    script.entries.append(script.entries.pop(late))  # truth's watch was late with the first
    of = next(iter(incarnations(script.ends()).values()))

    assert [change.generation for change in of.changes] == [1, 1]
    assert of.first.before is None
    assert of.last.before == of.first.commit.object
    assert of.resource == WIDGETS


def test_incarnations_of_a_name_are_told_apart_and_called_as_roles_call_them() -> None:
    script = trial().wants(1).creates("w-a").removed("w", WIDGETS).applied("w", spec=1).creates("w-b")

    assert [of.label for of in incarnations(script.ends()).values() if of.resource == WIDGETS] == ["Widget/w", "Widget/w#2"]


def test_bookkeeping_is_no_change() -> None:
    script = (
        trial().applied("lock", "configmaps", metadata={"annotations": {LEADER: "me"}}).applied("x", "leases.coordination.k8s.io")
    )

    assert incarnations(script.ends()) == {}


def test_generations_by_revision() -> None:
    of = next(iter(incarnations(trial().wants(1).says(1).wants(2).ends()).values()))
    first, last = of.first.commit.revision, of.last.commit.revision

    assert [of.generation_at(revision) for revision in (first - 1, first, first + 1, last, last + 1)] == [1, 1, 1, 2, BEYOND]
    assert (of.reaching(1), of.reaching(2), of.reaching(3)) == (of.first, of.last, None)
