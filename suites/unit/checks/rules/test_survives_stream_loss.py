"""survives-stream-loss: whom it accuses, whom it does not, and when it knows nothing."""

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import survives_stream_loss
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.entry import Ended
from staleproof.core.fault import HideOwnWrite, HoldStream, SeverStream, SlowStart

from ..script import WIDGETS
from ..stream_script import StreamScript, pair, two_references

SEVER = SeverStream(resource="pods")


def judge(script: StreamScript) -> Verdict:
    return verdict_of(survives_stream_loss.REQUIREMENT, Trial(script.ends(), two_references()))


def severed(*, of: str = WIDGETS, how: str = "reset") -> StreamScript:
    return StreamScript(SEVER).opens().ended(of, how)


def stuck(script: StreamScript, *, seconds: float = 10.0) -> StreamScript:
    return script.released().passes(seconds).settled(ok=False, why="still wrong")


def test_a_controller_that_never_watches_again_is_guilty() -> None:
    script = pair(StreamScript(SEVER), replicas=1).opens().ended(WIDGETS, "clean").step(2, "scale").applied("w", spec=2)

    verdict = judge(stuck(script))

    assert verdict.outcome is Outcome.FAIL
    assert verdict.findings[0].because == (
        f"it never watched {WIDGETS} again after that watch was lost, and widget/w was changed: "
        "1 pod of widget/w, fault-free runs ended with 2"
    )
    kinds = [type(script.entries[index]).__name__ for index in verdict.findings[0].witnesses]
    assert kinds == ["Closed", "Committed", "Released", "Settled"]


def test_so_is_one_that_watches_from_now_on_and_misses_a_deletion() -> None:
    script = pair(StreamScript(SEVER)).opens().ended().removed("w-1").watches(start="").shows("w-0").made("other", owner="w")
    script.removed("other")

    verdict = judge(stuck(script))

    assert verdict.outcome is Outcome.FAIL
    assert verdict.findings[0].because.startswith("it watched pods again after the loss, and never saw that pod/w-1 was deleted: ")


def test_so_is_one_that_does_not_get_over_it_though_nothing_else_was_done_to_it() -> None:
    script = severed().watches(WIDGETS)

    assert judge(stuck(pair(script, replicas=1))).findings[0].because.startswith(f"after its watch of {WIDGETS} was lost: 1 pod")


@pytest.mark.parametrize("how", ["clean", "truncated", "reset"])
def test_one_that_resumes_passes(how: str) -> None:
    assert judge(pair(severed(how=how).watches(WIDGETS))).outcome is Outcome.PASS


def test_so_does_one_that_lists_and_watches() -> None:
    assert judge(pair(severed().lists(WIDGETS).watches(WIDGETS))).outcome is Outcome.PASS


def test_a_new_life_has_survived_nothing() -> None:
    assert judge(pair(severed().restarted().watches(WIDGETS))).outcome is Outcome.NOT_EXERCISED


def test_a_release_by_resumption_is_a_loss_as_well() -> None:
    script = StreamScript(HoldStream(resource="pods", release="resume")).hold()
    pair(script).closes().ended(how="clean").watches(start="100").shows("w-0").shows("w-1")

    assert judge(script).outcome is Outcome.PASS


def test_it_is_inconclusive_when_a_patient_client_may_yet_come_back() -> None:
    script = pair(severed().watches(WIDGETS).ended(WIDGETS).watches(WIDGETS).ended(WIDGETS), replicas=1)

    verdict = judge(stuck(script.step(2, "scale").applied("w", spec=2), seconds=3.0))

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "and may need 6.4 s after what was done to it" in verdict.why


def test_it_is_inconclusive_when_another_fault_may_explain_the_end() -> None:
    script = StreamScript(SEVER, HideOwnWrite(resource="configmaps")).opens().ended(WIDGETS).watches(WIDGETS).fires(1)

    assert judge(stuck(pair(script, replicas=1))).outcome is Outcome.INCONCLUSIVE


def test_who_needed_nothing_afterwards_proves_nothing() -> None:
    unharmed = pair(StreamScript(SEVER)).opens().ended("configmaps")
    blind = pair(StreamScript(SEVER)).opens().ended().step(2, "touch").applied("w", spec=2).updates("w-0", "pods", subresource="")

    assert judge(unharmed).outcome is Outcome.NOT_EXERCISED
    assert judge(blind).outcome is Outcome.NOT_EXERCISED


@pytest.mark.parametrize(
    "script",
    [
        StreamScript(SEVER),
        pair(StreamScript(SEVER)),
        pair(StreamScript(SEVER).ended(fault=None).watches()),
        pair(StreamScript(SEVER).ended(how="client").watches()),
        pair(StreamScript(SEVER).ended(how="expired").lists().watches()),
        pair(StreamScript(SeverStream(resource="*")).watches("events").ended("events")),
    ],
    ids=["empty", "not fired", "by upstream", "by the client", "expired", "bookkeeping"],
)
def test_without_a_loss_nothing_is_known(script: StreamScript) -> None:
    assert judge(script).outcome is Outcome.NOT_EXERCISED


def test_without_a_settling_phase_it_is_inconclusive() -> None:
    history = pair(severed()).adds(Ended).unfinished()

    assert verdict_of(survives_stream_loss.REQUIREMENT, Trial(history, two_references())).outcome is Outcome.INCONCLUSIVE


def test_an_initial_list_that_is_cut_is_a_loss() -> None:
    script = StreamScript(SlowStart(resource="pods", then="closes")).opens().ended(how="clean").watches()

    assert judge(stuck(pair(script, replicas=1))).outcome is Outcome.FAIL
