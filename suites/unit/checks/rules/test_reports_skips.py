"""reports-skips: whom it accuses, whom it does not, and when it knows nothing."""

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import reports_skips
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.entry import Continued, Opened, Stopped
from staleproof.core.history import History

from ..report_script import ReportScript, trial
from ..script import WIDGETS

_NONE = "the controller counted no skipped sync (*_stale_sync_skips_total) while it was kept behind"


def judge(history: History) -> Verdict:
    return verdict_of(reports_skips.REQUIREMENT, Trial(history, ()))


def held(script: ReportScript) -> ReportScript:
    """Its own creates are hidden, and it is made to look again."""
    return script.wants(2).read().hold().creates("w-a", "w-b").applied("w")


def quiet(script: ReportScript) -> ReportScript:
    """Everything has been shown, and some time ago."""
    return script.wants(2).creates("w-a", "w-b").rests()


def because(verdict: Verdict) -> list[str]:
    assert verdict.outcome is Outcome.FAIL
    return [finding.because for finding in verdict.findings]


def test_one_that_counts_while_it_is_behind_passes() -> None:
    assert judge(held(trial()).read(skips=2).let_go().rests().read(skips=2).rests().read(skips=2).ends()).outcome is Outcome.PASS


def test_one_that_counts_when_nothing_is_behind_is_guilty() -> None:
    assert because(judge(quiet(trial()).read(skips=1).applied("w").rests().read(skips=3).ends())) == [
        "the controller counted 2 syncs as skipped because its cache of pods was behind, when all that had ever happened there "
        "had been shown"
    ]


def test_so_is_one_that_counts_the_wrong_resource() -> None:
    script = quiet(trial()).read().hold(WIDGETS).wants(3).read(skips=1)

    assert "its cache of pods was behind" in because(judge(script.let_go(WIDGETS).ends()))[0]


def test_a_version_that_no_stream_has_shown_is_a_finding() -> None:
    script = held(trial())

    assert because(judge(script.read(version=103).let_go().ends())) == [
        "informer_store_resource_version of pods was 103; the controller had been shown pods up to 100, "
        "and from 102 on everything was kept from it"
    ]


@pytest.mark.parametrize(
    ("history", "why"),
    [
        (trial().ends(), "the controller's metrics were not read"),
        (
            held(trial()).read().let_go().ends(),
            "the controller counted no skipped sync (*_stale_sync_skips_total) while it was kept behind",
        ),
        (
            quiet(trial()).read(skips=1).rests().read(skips=1).ends(),
            "the controller counted no skipped sync (*_stale_sync_skips_total) while it was kept behind",
        ),
        (
            held(trial()).read(version=100).let_go().ends(),
            "the controller counted no skipped sync (*_stale_sync_skips_total) while it was kept behind",
        ),
    ],
    ids=["never read", "it counts nothing", "nothing more was counted", "versions alone"],
)
def test_nothing_is_proven_unless_it_counted_while_it_was_behind(history: History, why: str) -> None:
    verdict = judge(history)

    assert (verdict.outcome, verdict.why) == (Outcome.NOT_EXERCISED, why)


# --- innocent, though it looks suspicious ----------------------------------------------------------------------------------------


def test_an_ordinary_write_is_behind_for_a_moment() -> None:
    assert judge(quiet(trial()).read().creates("w-c").rests().read(skips=1).ends()).outcome is Outcome.NOT_EXERCISED


def test_what_was_shown_just_before_the_reading_takes_a_moment_to_be_taken_in() -> None:
    assert judge(trial().wants(1).made("x").read().rests().read(skips=1).ends()).outcome is Outcome.NOT_EXERCISED


def test_being_behind_others_is_being_behind() -> None:
    assert judge(quiet(trial()).read().hold().made("x").read(skips=1).rests().read(skips=2).let_go().ends()).outcome is Outcome.PASS


def test_streams_that_open_and_processes_that_stand_still_are_no_quiet_time() -> None:
    opened = quiet(trial()).read().adds(Opened, stream=9, client="controller", resource="pods").read(skips=1)
    paused = quiet(trial()).read().adds(Stopped, life=1, paused=True).adds(Continued, life=1).read(skips=1)

    assert judge(opened.ends()).outcome is Outcome.NOT_EXERCISED
    assert judge(paused.ends()).outcome is Outcome.NOT_EXERCISED


def test_a_new_life_counts_from_the_beginning() -> None:
    assert judge(quiet(trial()).read(skips=1).restarted().rests().read(skips=2).ends()).outcome is Outcome.NOT_EXERCISED


def test_a_version_that_a_list_has_shown_is_fine() -> None:
    script = held(trial()).lists("pods")

    assert judge(script.read(version=103, skips=1).let_go().ends()).outcome is Outcome.PASS


def test_so_is_one_that_another_stream_may_have_shown() -> None:
    script = held(trial()).adds(Opened, stream=9, client="controller", resource="pods")

    assert judge(script.read(version=103, skips=1).let_go().ends()).outcome is Outcome.PASS


def test_other_groups_are_other_resources() -> None:
    script = held(trial()).read(version=999, skips=1, resource="pods.metrics.k8s.io")

    assert judge(script.let_go().ends()).outcome is Outcome.NOT_EXERCISED
