"""When an end that is not right proves something, and when it does not."""

from staleproof.checks.facts.liveness import Suspicion, broken_rules, converged, ending_of, other_workload, verdict_on
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.entry import Ended
from staleproof.core.fault import HoldStream, SeverStream

from ..script import WIDGETS
from ..stream_script import StreamScript, pair, two_references

SEVER, HOLD = SeverStream(resource="pods"), HoldStream(resource="pods")


def evidence(script: StreamScript) -> Trial:
    return Trial(script.ends(), two_references())


def suspect(script: StreamScript, *, proof: str = "", doubt: str = "") -> Verdict:
    suspicion = Suspicion((4,), lambda fault: isinstance(fault, SeverStream), "after that", proof, doubt)
    return verdict_on("a-slug", evidence(script), suspicion)


def wrong(script: StreamScript, *, waits: float = 10.0) -> StreamScript:
    return pair(script, replicas=1).released().passes(waits).settled(ok=False, why="still wrong")


def test_a_wrong_end_is_a_finding_when_there_is_no_other_explanation() -> None:
    verdict = suspect(wrong(StreamScript(SEVER).opens().ended().watches()))

    assert verdict.outcome is Outcome.FAIL
    assert verdict.findings[0].because == "after that: 1 pod of widget/w, fault-free runs ended with 2"
    assert len(verdict.findings[0].witnesses) == 3


def test_the_right_end_passes_at_the_settling_or_later() -> None:
    late = StreamScript(SEVER).opens().ended().watches()
    late.step(1, "apply").applied("w", spec=2).creates("w-0").updates("w", status={"ready": 2}).released().settled().creates("w-1")

    assert suspect(pair(StreamScript(SEVER).opens().ended().watches())).outcome is Outcome.PASS
    assert suspect(late).outcome is Outcome.PASS
    assert converged(evidence(late))
    assert not converged(evidence(wrong(StreamScript(SEVER))))


def test_it_is_inconclusive_when_something_else_may_explain_it() -> None:
    other = wrong(StreamScript(SEVER, HOLD).opens(0).ended().watches().fires(1))
    told = wrong(StreamScript(SEVER).opens().ended().watches())

    assert suspect(other).why.endswith("but Hold fired, too, and may explain that")
    assert suspect(told, doubt="it may have been the moon").why.endswith("but it may have been the moon")
    assert suspect(other, proof="it was seen").outcome is Outcome.FAIL
    assert suspect(told, doubt="the moon", proof="it was seen").findings[0].because.startswith("it was seen: 1 pod")


def test_so_it_is_when_another_rule_was_broken() -> None:
    script = StreamScript(SEVER).opens().ended().hold()
    pair(script).step(2, "touch").applied("w", touched=1).creates("w-2").let_go().watches()
    script.released().passes(10.0).settled(ok=False)

    assert [verdict.requirement for verdict in broken_rules(evidence(script))] == ["no-duplicate-create"]
    assert "no-duplicate-create may explain that" in suspect(script).why


def test_so_it_is_when_it_was_too_soon_whatever_the_proof() -> None:
    script = wrong(StreamScript(SEVER).opens().ended().watches().ended().watches(), waits=1.0)

    for verdict in (suspect(script), suspect(script, proof="it was seen")):
        assert verdict.outcome is Outcome.INCONCLUSIVE
        assert "it had 1.1 s to catch up, and may need 3.2 s" in verdict.why


def test_so_it_is_when_the_references_do_not_agree() -> None:
    first, _ = two_references()
    third = pair(StreamScript(namespace="ref-3"), replicas=3).ends()
    script = wrong(StreamScript(SEVER).opens().ended().watches())
    suspicion = Suspicion((4,), lambda fault: True, "after that")

    verdict = verdict_on("a-slug", Trial(script.ends(), (first, third)), suspicion)

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.why.startswith("the references do not agree")


def test_without_an_end_or_a_write_nothing_is_known() -> None:
    unfinished = StreamScript(SEVER).ended().adds(Ended).unfinished()
    verdict = verdict_on("a-slug", Trial(unfinished, two_references()), Suspicion((4,), lambda fault: True, "after that"))

    assert ending_of(Trial(unfinished, ())) is None
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert suspect(StreamScript(SEVER).ended()).outcome is Outcome.NOT_EXERCISED


def test_a_controller_that_pauses_by_itself_is_given_its_time() -> None:
    slow = [
        StreamScript(namespace=f"ref-{number}").step(1, "apply").applied("w", spec=2).creates("w-0").passes(5.0).creates("w-1")
        for number in (1, 2)
    ]
    references = tuple(script.updates("w", status={"ready": 2}).ends() for script in slow)
    history = wrong(StreamScript(SEVER).opens().ended().watches()).ends()

    verdict = verdict_on("a-slug", Trial(history, references), Suspicion((4,), lambda fault: True, "after that"))

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "may need 15." in verdict.why


def test_so_it_is_when_the_steps_came_to_something_else() -> None:
    def recreated(script: StreamScript) -> StreamScript:
        return pair(script).step(2, "recreate").removed("w", WIDGETS).deletes("w-0", "w-1").applied("w", spec=2)

    references = tuple(recreated(StreamScript(namespace=f"ref-{number}")).ends() for number in (1, 2))
    history = wrong(StreamScript(SEVER).opens().ended().watches()).ends()
    suspicion = Suspicion((4,), lambda fault: True, "after that", "it was seen")

    verdict = verdict_on("a-slug", Trial(history, references), suspicion)

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.why.endswith(f"the workload created {WIDGETS}/w 1 times and 2 times in fault-free runs")
    assert other_workload(Trial(history, two_references())) == ""
