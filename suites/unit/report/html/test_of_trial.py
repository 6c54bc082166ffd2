"""The page of a trial."""

from dataclasses import replace

import msgspec

from staleproof.checks.story.narrative import stories
from staleproof.core.fault import DropFrame
from staleproof.report.html.document import Page
from staleproof.report.html.of_trial import page_of_trial

from ...judged import result


def page(name: str) -> Page:
    done = result(name)
    return page_of_trial("001", done.history, done.verdicts, stories(done.verdicts, done.history))


def test_each_finding_has_its_own_story_on_its_timeline() -> None:
    made = page("naive-hidden-creates")
    (finding,) = made.findings

    assert made.verdict == "failed"
    assert finding.drawn is not None
    assert made.timelines[finding.drawn.timeline].tales[0].headline == finding.headline
    assert finding.steps[0] == "apply Widget/sample"
    assert finding.faults[0].startswith("its pods stream was held (HideOwnWrite, from step 1")


def test_a_trial_without_a_finding_has_a_timeline_too() -> None:
    made = page("expectations-hidden-creates")

    assert made.findings == ()
    assert made.timelines["001"].tales == ()
    assert {row.result for row in made.rows} <= {"passed", "not exercised"}


def test_a_trial_under_what_no_api_server_does_says_so() -> None:
    done = result("naive-hidden-creates")
    plan = msgspec.structs.replace(done.plan, contract="hostile", faults=(DropFrame(resource="pods"), *done.plan.faults))
    history = replace(done.history, header=msgspec.structs.replace(done.history.header, plan=plan))

    assert "not about conformance: it was found under hostile faults (DropFrame)" in page_of_trial("001", history, (), ()).sentence


def test_what_a_trial_leaves_inconclusive_is_reported_by_its_reason() -> None:
    made = page("mutants/counts_for_ever")
    (question,) = made.questions

    assert question.why == "it did not try the create of pods again, and may yet do so"
    assert question.drawn == made.findings[0].drawn
    assert question.requirements == ("backs-off",)
