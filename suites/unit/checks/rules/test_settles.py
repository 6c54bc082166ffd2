"""settles: whom it accuses, whom it does not, and when it knows nothing."""

import pytest

from staleproof.checks.facts.object_history import LEADER
from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import settles
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.entry import Ended, Opened
from staleproof.core.fault import Reject
from staleproof.core.history import History

from ..life_script import AnyScript, LifeScript, losing
from ..script import WIDGETS, Script, trial
from ..stream_script import StreamScript

_NOT_AGAIN = "the controller did not list its primaries again after it had settled, because the plan does not tell it to"


def judge(history: History) -> Verdict:
    return verdict_of(settles.REQUIREMENT, Trial(history, ()))


def done(script: AnyScript) -> AnyScript:
    return script.step(1, "apply").applied("w", spec=1).creates("w-a").updates("w", status=1).released()


def test_a_controller_that_writes_the_same_status_again_is_guilty() -> None:
    verdict = judge(done(trial()).settled().resynced().updates("w").ends())

    assert verdict.outcome is Outcome.FAIL
    assert [finding.because for finding in verdict.findings] == [
        f"1 write after it had settled and nothing had changed, the first: update {WIDGETS}/w"
    ]


def test_so_is_one_that_changes_something() -> None:
    verdict = judge(done(trial()).settled().resynced().updates("w", status=2).creates("w-b").deletes("w-b").ends())

    assert verdict.findings[0].because.startswith("3 writes after it had settled")


def test_one_that_compares_before_it_writes_passes() -> None:
    assert judge(done(trial()).ends()).outcome is Outcome.PASS


def test_a_watchlist_of_the_primaries_is_a_list_as_well() -> None:
    script = done(trial()).settled().adds(Opened, stream=9, client="controller", resource=WIDGETS, watch_list=True)

    assert judge(script.initial_end(9).ends()).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("history", "why"),
    [
        (trial().ends(), "the controller never wrote anything"),
        (done(trial()).settled(ok=False, why="still busy").ends(), "it never settled (still busy)"),
        (done(trial()).settled().ends(), _NOT_AGAIN),
        (done(trial()).settled().lists("pods").ends(), _NOT_AGAIN),
    ],
    ids=["empty", "never settled", "not reconciled again", "another resource was listed"],
)
def test_nothing_is_proven_unless_everything_was_reconciled_again(history: History, why: str) -> None:
    verdict = judge(history)

    assert (verdict.outcome, verdict.why) == (Outcome.NOT_EXERCISED, why)


def test_a_trial_without_a_settling_phase_is_inconclusive() -> None:
    assert judge(done(trial()).adds(Ended).unfinished()).outcome is Outcome.INCONCLUSIVE


# --- innocent, though it looks suspicious ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "script",
    [
        done(trial()).settled().asks("update", "leases.coordination.k8s.io", "leader"),
        done(trial()).settled().asks("create", "events"),
        done(trial()).settled().asks("create", "tokenreviews.authentication.k8s.io", namespace=""),
        done(trial()).settled().asks("create", "localsubjectaccessreviews.authorization.k8s.io"),
        done(trial()).settled().asks("create", "serviceaccounts", "default", subresource="token"),
        done(trial()).settled().asks("update", "configmaps", "leader", namespace="kube-system"),
        done(trial()).settled().asks("update", "nodes", "node-1", namespace=""),
        done(trial()).settled().refused("update", "w", "Conflict", resource=WIDGETS),
    ],
    ids=["lease", "event", "tokenreview", "accessreview", "token", "elsewhere", "cluster-scoped", "refused"],
)
def test_writes_that_are_no_work_do_not_count(script: Script) -> None:
    assert judge(script.resynced().ends()).outcome is Outcome.PASS


def test_leader_election_by_annotation_is_no_work() -> None:
    lock = {"annotations": {LEADER: "{}"}}
    script = (
        done(trial().applied("lock", "configmaps", metadata=lock)).settled().resynced().updates("lock", "configmaps", renewed=1)
    )

    assert judge(script.ends()).outcome is Outcome.PASS


def test_what_somebody_else_changed_excuses_what_comes_after() -> None:
    verdict = judge(done(trial()).settled().resynced().applied("w", spec=2).creates("w-b").ends())

    assert verdict.outcome is Outcome.NOT_EXERCISED
    assert verdict.why == f"somebody else changed {WIDGETS}/w after the controller had settled"
    assert judge(done(trial()).settled().applied("w", spec=2).updates("w").resynced().ends()).outcome is Outcome.NOT_EXERCISED


def test_but_not_what_came_before() -> None:
    assert judge(done(trial()).settled().resynced().creates("w-b").applied("w", spec=2).ends()).outcome is Outcome.FAIL


def test_trying_again_what_was_never_answered_is_not_writing_for_nothing() -> None:
    script = done(LifeScript(losing("patch"))).asks("patch", WIDGETS, "w", subresource="status").loses_the_answer().settled()
    once = script.resynced().asks("patch", WIDGETS, "w", subresource="status")

    assert judge(once.ends()).outcome is Outcome.PASS
    assert judge(once.asks("patch", WIDGETS, "w", subresource="status").ends()).outcome is Outcome.FAIL


def test_so_is_trying_again_what_was_rejected() -> None:
    script = done(StreamScript(Reject(resource="pods"))).rejected("patch", name="w-a").settled().resynced()

    assert judge(script.asks("patch", "pods", "w-a").ends()).outcome is Outcome.PASS


def test_what_is_shown_only_after_it_had_settled_is_a_change_for_the_controller() -> None:
    script = done(trial()).hold().made("w-x").released().settled().let_go().updates("w").resynced()

    verdict = judge(script.ends())

    assert (verdict.outcome, verdict.why) == (Outcome.NOT_EXERCISED, "when it settled it had not been shown everything yet")
