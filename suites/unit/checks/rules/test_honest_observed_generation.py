"""honest-observed-generation: whom it accuses, whom it does not, and when it knows nothing."""

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import honest_observed_generation
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.history import History

from ..report_script import ReportScript, pair, trial
from ..script import WIDGETS


def began(script: ReportScript) -> ReportScript:
    return script.step(1, "apply").wants(2).creates("w-a", "w-b").says(1).idle(1)


def scaled(script: ReportScript) -> History:
    """The workload: two pods, then three. The controller acts, then reports."""
    return began(script).step(2, "scale").wants(3).creates("w-c").says(2).idle(2).ends()


def judge(history: History, *references: History) -> Verdict:
    return verdict_of(honest_observed_generation.REQUIREMENT, Trial(history, references or pair(scaled)))


def held(script: ReportScript) -> ReportScript:
    """The second generation is hidden."""
    return began(script).step(2, "scale").hold(WIDGETS).wants(3).idle(2)


def late(script: ReportScript) -> ReportScript:
    """It is shown in the end, and acted on."""
    return script.let_go(WIDGETS).creates("w-c").says(2)


def because(verdict: Verdict) -> list[str]:
    assert verdict.outcome is Outcome.FAIL
    return [finding.because for finding in verdict.findings]


def test_one_that_reports_what_it_acted_on_passes() -> None:
    assert judge(late(held(trial())).ends()).outcome is Outcome.PASS
    assert judge(late(held(trial()).says(1, replicas=2)).ends()).outcome is Outcome.PASS


def test_a_generation_never_shown_is_a_finding() -> None:
    verdict = judge(late(held(trial()).says(2)).ends())

    assert because(verdict) == [
        "observedGeneration of widget/ns/w says 2; the newest generation that the controller had been shown was 1"
    ]
    assert verdict.findings[0].though == "though it had been shown no generation after 1"


def test_so_is_one_that_there_never_was() -> None:
    assert "says 7" in because(judge(held(trial()).says(7).let_go(WIDGETS).creates("w-c").says(2).ends()))[0]


def test_so_is_one_of_a_condition() -> None:
    verdict = judge(late(held(trial()).says(1, ready=2)).ends())

    assert because(verdict)[0].startswith("conditions[Ready].observedGeneration of widget/ns/w says 2; the newest")


def test_going_back_on_an_older_view_is_a_finding() -> None:
    def seen(script: ReportScript) -> ReportScript:
        return began(script).step(2, "scale").hold(WIDGETS).wants(3).gets("w", WIDGETS).creates("w-c").says(2).says(1)

    verdict = judge(seen(trial()).let_go(WIDGETS).says(2).ends())

    assert because(verdict) == ["observedGeneration of widget/ns/w went back from generation 2 to 1"]
    assert verdict.findings[0].though == "though 2 had been reported, which its caches had not been shown"


def test_also_in_a_life_that_began_with_a_list_of_the_past() -> None:
    script = began(trial()).step(2, "scale").wants(3).creates("w-c").says(2)
    item = script._item(script._objects[WIDGETS, "w"])
    old = type(item)(item.namespace, item.name, item.uid, 101)
    script.hold().restarted().page(WIDGETS, (old,), revision=104).says(1)

    assert because(judge(script.ends())) == ["observedGeneration of widget/ns/w went back from generation 2 to 1"]


def test_reporting_a_live_generation_before_acting_on_it_is_a_finding() -> None:
    verdict = judge(held(trial()).gets("w", WIDGETS).says(2).let_go(WIDGETS).creates("w-c").says(2, replicas=3).ends())

    assert because(verdict) == [
        "observedGeneration of widget/ns/w says 2 before anything was done for it; fault-free runs always acted first"
    ]
    assert (
        verdict.findings[0].though
        == "though it knew generation 2 from a live answer only, and acted on it when its cache showed it"
    )


def test_the_answer_to_an_own_write_is_a_live_answer_as_well() -> None:
    script = held(trial()).says(1, replicas=2).says(2).let_go(WIDGETS).creates("w-c").says(2, replicas=3)

    assert "before anything was done for it" in because(judge(script.ends()))[0]


def test_a_status_that_stays_behind_what_was_shown_is_a_finding() -> None:
    verdict = judge(held(trial()).let_go(WIDGETS).creates("w-c").says(1, replicas=3).released().passes(60).ends())

    assert because(verdict) == ["widget/ns/w ended with observed generation 1 of 2; fault-free runs ended with the newest"]
    assert verdict.findings[0].though == "though it had been shown generation 2"


def test_one_that_may_still_come_to_it_is_not_accused() -> None:
    assert judge(held(trial()).let_go(WIDGETS).creates("w-c").says(1, replicas=3).ends()).outcome is not Outcome.FAIL


@pytest.mark.parametrize(
    ("history", "why"),
    [
        (trial().ends(), "the controller reported no observedGeneration"),
        (trial().wants(2).creates("w-a").ends(), "the controller reported no observedGeneration"),
        (
            scaled(trial()),
            "the controller never reported while a newer generation was hidden from it, nor after that",
        ),
        (
            held(trial()).let_go(WIDGETS).ends(),
            "the controller never reported while a newer generation was hidden from it, nor after that",
        ),
    ],
    ids=["nothing happened", "it reports none", "nothing was hidden", "it did not report any more"],
)
def test_nothing_is_proven_unless_it_reported_on_what_had_been_hidden(history: History, why: str) -> None:
    verdict = judge(history)

    assert (verdict.outcome, verdict.why) == (Outcome.NOT_EXERCISED, why)


# --- innocent, though it looks suspicious ----------------------------------------------------------------------------------------


def test_a_live_read_that_is_acted_on_is_honest() -> None:
    script = held(trial()).gets("w", WIDGETS).creates("w-c").says(2).let_go(WIDGETS)

    assert judge(script.ends()).outcome is Outcome.PASS


def test_an_attempt_that_was_refused_is_an_act() -> None:
    script = held(trial()).gets("w", WIDGETS).refused("create", "w-c", "AlreadyExists").says(2).let_go(WIDGETS).creates("w-c")

    assert judge(script.ends()).outcome is Outcome.PASS


def test_a_live_list_fills_its_view_as_events_do() -> None:
    assert judge(held(trial()).lists(WIDGETS).says(2).let_go(WIDGETS).creates("w-c").ends()).outcome is Outcome.PASS


def test_where_the_references_report_first_and_act_then_that_is_its_way() -> None:
    def eager(script: ReportScript) -> History:
        return began(script).step(2, "scale").wants(3).says(2).creates("w-c").ends()

    script = held(trial()).gets("w", WIDGETS).says(2).let_go(WIDGETS).creates("w-c")

    assert judge(script.ends(), *pair(eager)).outcome is Outcome.PASS


def test_one_that_waits_for_its_late_children_is_not_blamed_for_not_acting() -> None:
    script = held(trial()).hold("pods").made("x").gets("w", WIDGETS).says(2).let_go(WIDGETS).let_go("pods").creates("w-c")

    assert judge(script.ends()).outcome is Outcome.PASS


def test_an_earlier_life_may_have_acted() -> None:
    script = held(trial()).restarted().gets("w", WIDGETS).says(2).lists(WIDGETS).creates("w-c")

    assert judge(script.ends()).outcome is not Outcome.FAIL


def test_what_another_wrote_into_the_status_is_not_the_controllers_claim() -> None:
    script = held(trial()).applied("w", status={"observedGeneration": 2})

    assert judge(late(script.updates("w")).ends()).outcome is not Outcome.FAIL


def test_an_object_never_shown_in_this_life_is_not_judged() -> None:
    script = began(trial()).hold(WIDGETS).restarted().says(2)

    assert judge(script.ends()).outcome is not Outcome.FAIL


def test_what_it_always_does_is_not_staleness() -> None:
    def odd(script: ReportScript) -> History:
        return began(script).says(9).step(2, "scale").wants(3).creates("w-c").says(2).ends()

    assert judge(held(trial()).says(9).let_go(WIDGETS).creates("w-c").says(2).ends(), *pair(odd)).outcome is not Outcome.FAIL


def test_a_status_that_the_references_leave_behind_may_stay_behind() -> None:
    def lazy(script: ReportScript) -> History:
        return began(script).step(2, "scale").wants(3).creates("w-c").says(1, replicas=3).ends()

    script = held(trial()).let_go(WIDGETS).creates("w-c").says(1, replicas=3)

    assert judge(script.ends(), *pair(lazy)).outcome is not Outcome.FAIL


def test_a_status_never_written_after_the_catch_up_is_for_another_requirement() -> None:
    assert judge(held(trial()).says(1, replicas=2).let_go(WIDGETS).ends()).outcome is not Outcome.FAIL


def test_a_widget_that_is_going_may_end_behind() -> None:
    script = held(trial()).let_go(WIDGETS).terminating("w", WIDGETS).says(1, replicas=0)

    assert judge(script.ends()).outcome is not Outcome.FAIL


def test_one_that_finds_nothing_to_do_for_a_generation_may_report_it() -> None:
    assert judge(held(trial()).gets("w", WIDGETS).says(2).let_go(WIDGETS).ends()).outcome is not Outcome.FAIL


def test_what_its_cache_has_shown_it_may_report_first() -> None:
    script = held(trial()).let_go(WIDGETS).says(2).restarted().lists(WIDGETS).creates("w-c")

    assert judge(script.ends()).outcome is not Outcome.FAIL


def test_going_back_with_all_shown_is_not_staleness() -> None:
    script = held(trial()).let_go(WIDGETS).creates("w-c").says(2).says(1).says(2)

    assert judge(script.ends()).outcome is not Outcome.FAIL
