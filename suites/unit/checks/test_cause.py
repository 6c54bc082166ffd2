"""What a finding does, and what lies behind it."""

from dataclasses import replace
from typing import get_args

import pytest

from staleproof.checks.cause import SITUATIONS, with_causes
from staleproof.checks.requirement import Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, Outcome, Severity, Verdict
from staleproof.core.fault import AddBookmarks, Compete, HoldStream, KillAtCall, Reject, RejectCall
from staleproof.core.fault import effects as vocabulary
from staleproof.core.history.entry import Asked, Committed, Drifted, ExternalState, FaultIndex, FaultOpened, Listed
from staleproof.core.plan.manifest import Target
from staleproof.core.plan.step import Apply, Patch, Step, Touch

from .outside import Outside
from .script import HOLD, PAST, RESTART, SEVER, WIDGETS, Script, beside, trial

TARGET = Target("example.com/v1", "Widget", "w")
APPEAR, TOUCH = Apply(object={"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}), Touch(target=TARGET)
RULE = Requirement(
    slug="x", must="", level="core", source="", faults=(), remedy="", kind="deed", wrong="", check=lambda _: iter(())
)


def judged(case: Script | Trial, *found: Finding, severity: Severity | None = None) -> list[tuple[str, str]]:
    """Severity and cause of these findings; without any, of one about all that was asked, committed, opened and listed."""
    made = case if isinstance(case, Trial) else Trial(case.ends())
    every = tuple(i for i, entry in enumerate(made.entries) if isinstance(entry, Asked | Committed | FaultOpened | Listed))
    rule = replace(RULE, severity=severity or "")
    (verdict,) = with_causes(made, [(rule, Verdict("x", Outcome.FAIL, found or (Finding("", every),)))])
    return [(each.severity, each.cause.text) for each in verdict.findings if each.cause is not None]


def held(fault: object = HOLD) -> Script:
    return Script(fault).opens().fires().applied("w", spec=1)  # type: ignore[arg-type]


CASES: dict[str, tuple[Script, Severity, str]] = {
    "a create": (held().creates("w-a"), "duplicated", "it creates pods on an old view of pods"),
    "a delete": (held().creates("w-a").deletes("w-a"), "destroyed", "it deletes pods on an old view of pods"),
    "an eviction": (held().creates("w-a").evicts("w-a"), "destroyed", "it evicts pods on an old view of pods"),
    "a collection": (held().creates("w-a").deletes_all(), "destroyed", "it deletes a collection of pods on an old view of pods"),
    "an update": (held().updates("w", subresource="", spec=0), "undone", f"it updates {WIDGETS} on an old view of pods"),
    "a status": (held().updates("w", status=1), "undone", f"it updates the status of {WIDGETS} on an old view of pods"),
    "no write": (held(), "stuck", "it goes wrong on an old view of pods"),
    "no fault": (trial().applied("w").creates("w-a"), "duplicated", "it creates pods without any fault"),
    "of everything": (held(HoldStream(resource="*")).creates("w-a"), "duplicated", "it creates pods on an old view of pods"),
    "an update of everything": (
        held(HoldStream(resource="*")).updates("w", subresource="", spec=0),
        "undone",
        f"it updates {WIDGETS} on an old view of everything",
    ),
    "after a rejection": (
        held(Reject(resource="pods", verb="create")).creates("w-a"),
        "duplicated",
        "it creates pods after a request about pods was rejected",
    ),
    "after a restart": (held(RESTART).creates("w-a"), "duplicated", "it creates pods after a restart"),
    "after a rejected call": (
        held(RejectCall()).creates("w-a"),
        "duplicated",
        "it creates pods after a call to an external system was rejected",
    ),
    "killed at a call": (
        held(KillAtCall()).creates("w-a"),
        "duplicated",
        "it creates pods after the answer to a call to an external system was lost",
    ),
    "of the past": (
        Script(RESTART, PAST).opens().fires().fires(1).applied("w").dies().page(WIDGETS, (), revision=1, fault=1).creates("w-a"),
        "duplicated",
        f"your client lists {WIDGETS} with resourceVersion 0",
    ),
    "of the past, by a watch": (
        Script(RESTART, PAST).opens().opens(1).fires().fires(1).applied("w").dies().creates("w-a"),
        "duplicated",
        f"your client watches {WIDGETS} from any resourceVersion (0, or none)",
    ),
    "what explains more comes first": (
        Script(SEVER, HOLD).opens().opens(1).fires().fires(1).applied("w").creates("w-a"),
        "duplicated",
        "it creates pods on an old view of pods",
    ),
    "faults that no witness names": (
        Script(Compete(resource="pods")).fires().applied("w").creates("w-a"),
        "duplicated",
        "it creates pods after another user wrote to pods",
    ),
}


@pytest.mark.parametrize(("script", "severity", "cause"), CASES.values(), ids=CASES)
def test_severity_and_cause(script: Script, severity: Severity, cause: str) -> None:
    assert judged(script) == [(severity, cause)]


def test_the_cause_is_the_first_decision_of_all_findings_in_the_same_situation() -> None:
    script = held().creates("w-a").deletes("w-a")
    requests = [index for index, entry in enumerate(script.entries) if isinstance(entry, Asked)]
    found = judged(script, Finding("later", (0, requests[1])), Finding("first", (0, requests[0])), Finding("at the end", ()))

    assert {cause for _, cause in found} == {"it creates pods on an old view of pods"}
    assert [severity for severity, _ in found] == ["destroyed", "duplicated", "stuck"]


def test_an_end_comes_from_the_first_write_on_an_old_view_whatever_else_was_done() -> None:
    script = Script(HOLD, Reject(resource="pods", verb="create")).opens().fires().opens(1).fires(1).applied("w").creates("w-a")
    names = {entry.fault: index for index, entry in enumerate(script.entries) if isinstance(entry, FaultOpened)}
    (request,) = (index for index, entry in enumerate(script.entries) if isinstance(entry, Asked))
    found = judged(script, Finding("the end", (names[FaultIndex(1)],)), Finding("a write", (names[FaultIndex(0)], request)))

    assert found == [
        ("stuck", "it creates pods on an old view of pods"),
        ("duplicated", "it creates pods on an old view of pods"),
    ]


def test_all_that_is_said_of_an_end_has_the_cause_that_explains_most() -> None:
    script = Script(HOLD, Reject(resource="pods", verb="create")).opens().fires().opens(1).fires(1).applied("w")
    names = {entry.fault: index for index, entry in enumerate(script.entries) if isinstance(entry, FaultOpened)}
    found = judged(script, Finding("the end", (names[FaultIndex(1)],)), Finding("the same end", (names[FaultIndex(0)],)))
    assert {cause for _, cause in found} == {"it goes wrong on an old view of pods"}


@pytest.mark.parametrize(("seconds", "again", "severity"), [(1.0, 5, "transient"), (9.0, 5, "undone"), (1.0, 6, "undone")])
def test_what_was_soon_as_before_was_undone_for_a_moment(seconds: float, again: int, severity: Severity) -> None:
    script = held().applied("w", spec=5).updates("w", subresource="", spec=0)
    written = tuple(range(len(script.entries)))
    script.passes(seconds).applied("w", spec=again)

    assert [found for found, _ in judged(script, Finding("", written))] == [severity]


def test_what_ends_well_was_stuck_for_a_moment() -> None:
    assert [found for found, _ in judged(beside(trial().opens().fires().pair()), severity="stuck")] == ["transient"]
    assert [found for found, _ in judged(beside(trial().opens().fires().pair(1)), severity="stuck")] == ["stuck"]
    assert [found for found, _ in judged(trial().opens().fires().pair(), severity="stuck")] == ["stuck"]


def test_what_is_not_done_at_the_end_was_not_stuck_for_a_moment() -> None:
    well = beside(trial().opens().fires().pair())
    asked = next(index for index, entry in enumerate(well.entries) if isinstance(entry, Asked))
    assert judged(well, Finding("", (asked,)), severity="stuck")[0][0] == "transient"
    assert judged(well, Finding("", (asked,), basis="unfinished"), severity="stuck")[0][0] == "stuck"


def test_an_end_with_more_than_there_should_be_is_a_duplicate() -> None:
    def severity(script: Script) -> str:
        return judged(beside(script), Finding("", (), basis="end"), severity="stuck")[0][0]

    assert severity(trial().opens().fires().pair().creates("w-c")) == "duplicated"
    assert severity(trial().opens().fires().pair(1)) == "stuck", "there are fewer"
    assert severity(trial().opens().fires().pair().creates("w-c").deletes("w-c")) != "duplicated", "not at the end"


@pytest.mark.parametrize(("step", "severity"), [(Patch(target=TARGET, patch={"spec": {}}), "stuck"), (TOUCH, "duplicated")])
def test_one_more_of_what_is_made_for_each_change_may_be_a_record_of_it(step: Step, severity: Severity) -> None:
    def changed(script: Script) -> Script:
        return script.pair(1).step(2, "change").applied("w", spec=1).creates("w-1")

    made = changed(Script(HOLD, steps=(APPEAR, step)).opens().fires()).creates("w-2")
    assert judged(beside(made, changed), Finding("", (), basis="end"), severity="stuck")[0][0] == severity


def test_the_rule_and_the_finding_know_better() -> None:
    assert judged(held(), Finding("", (), severity="leaked"), severity="stuck")[0][0] == "leaked"
    assert judged(held().creates("w-a"), severity="transient")[0][0] == "transient"


def test_what_is_not_scored_explains_nothing_that_is() -> None:
    made = Trial(held().updates("w", status=1).creates("w-a").ends())
    update, create, *_ = (index for index, entry in enumerate(made.entries) if isinstance(entry, Asked))
    cost = replace(RULE, slug="cost", level="provisional")
    verdicts = [Verdict(slug, Outcome.FAIL, (Finding("", (0, request)),)) for slug, request in (("cost", update), ("x", create))]
    found = with_causes(made, list(zip((cost, RULE), verdicts, strict=True)))

    assert [verdict.requirement for verdict in found] == ["cost", "x"]
    assert [each.cause and each.cause.decision for verdict in found for each in verdict.findings] == [
        f"updates the status of {WIDGETS}",
        "creates pods",
    ]


def test_every_effect_of_a_fault_is_a_situation() -> None:
    every = set(get_args(vocabulary.Effect))

    assert set().union(*(situation.effects for situation in SITUATIONS)) == every
    assert judged(held(AddBookmarks(resource="pods")))[0][1] == "it goes wrong when bookmarks of pods come otherwise"


def test_what_is_outside_has_a_cause_of_its_own() -> None:
    """What was drifted comes before the faults, and the faults before what is only kept there."""
    script = Outside(RESTART).applied("w").makes().drifts().opens().fires()
    made = Trial(script.ends())
    drifted, read = made.first(Drifted), made.first(ExternalState)
    assert drifted is not None
    assert read is not None

    assert judged(made, Finding("", (read, drifted))) == [
        ("stuck", "it goes wrong after something in db was changed by another user")
    ]
    assert judged(made, Finding("", (read,))) == [("stuck", "it goes wrong after a restart")]
    assert judged(Trial(Outside().ends()), Finding("", (read,))) == [("stuck", "it goes wrong with what it keeps in db")]


def test_a_write_on_an_old_view_is_not_why_something_outside_is_wrong() -> None:
    script = Outside(HOLD).opens().fires().applied("w").makes().creates("w-a").drifts()
    made = Trial(script.ends())
    drifted = made.first(Drifted)
    assert drifted is not None
    written = tuple(i for i, entry in enumerate(made.entries) if isinstance(entry, Asked | FaultOpened))

    causes = [cause for _, cause in judged(made, Finding("", written), Finding("", (drifted,)))]
    assert causes == ["it creates pods on an old view of pods", "it goes wrong after something in db was changed by another user"]
