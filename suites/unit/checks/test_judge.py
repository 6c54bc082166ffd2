"""Every checker judges every history; what cannot be known is inconclusive."""

from dataclasses import replace

import msgspec
import pytest

from staleproof.checks.catalog import REQUIREMENTS, Requirement
from staleproof.checks.judge import judge
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict, passed
from staleproof.core.entry import Broke, Exited
from staleproof.core.history import History, decode, encode
from staleproof.core.plan import Rest

from .script import HOLD, Script, against, reference, trial

AIM = "no-duplicate-create"


def work(script: Script) -> Script:
    return script.step(1, "apply").applied("w").creates("w-a")


def references() -> tuple[History, History]:
    return work(reference(1)).ends(), work(reference(2)).ends()


def held(*, aims: tuple[str, ...] = ()) -> Script:
    return trial(aims=aims).step(1, "apply").hold().applied("w").creates("w-a").applied("w")


def outcomes(history: History, *given: History) -> dict[str, tuple[Outcome, str]]:
    return {verdict.requirement: (verdict.outcome, verdict.why) for verdict in judge(history, given)}


def test_there_is_one_verdict_for_each_requirement() -> None:
    found = outcomes(held().let_go().ends(), *references())

    assert list(found) == [requirement.slug for requirement in REQUIREMENTS]
    assert found[AIM] == (Outcome.PASS, "")


def test_a_verdict_survives_the_file() -> None:
    guilty = against(held().creates("w-b").let_go().ends(), *references())

    assert judge(guilty)[0].outcome is Outcome.FAIL
    assert judge(decode(encode(guilty))) == judge(guilty)


@pytest.mark.parametrize(
    ("history", "why"),
    [
        (held().adds(Broke, where="proxy", why="a hook raised").ends(), "the harness broke (proxy): a hook raised"),
        (held().adds(Exited, life=1, code=137).ends(), "the controller exited with code 137 during the trial"),
        (held().let_go().unfinished(), "the trial was not recorded to its end"),
        (trial().unfinished(), "the trial was not recorded to its end"),
    ],
    ids=["broken harness", "controller exited", "incomplete", "empty"],
)
def test_a_disturbed_trial_proves_nothing_about_anything(history: History, why: str) -> None:
    assert set(outcomes(history, *references()).values()) == {(Outcome.INCONCLUSIVE, why)}


def unsettled() -> History:
    return work(reference(2)).released().settled(ok=False, why="after 10 s: 2 pods of widget/w").ends()


def other_workload() -> History:
    script = work(reference(2))
    script.plan = msgspec.structs.replace(script.plan, steps=(Rest(seconds=1.0),))
    return script.ends()


def faulty() -> History:
    script = work(reference(2))
    script.plan = msgspec.structs.replace(script.plan, faults=(HOLD,))
    return script.ends()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ((), "it needs at least 2 fault-free references of the same workload, found 0"),
        ((work(reference(1)).ends(),), "it needs at least 2 fault-free references of the same workload, found 1"),
        (
            (work(reference(1)).ends(), unsettled()),
            "reference 2 did not settle although there was no fault (after 10 s: 2 pods of widget/w)",
        ),
        ((work(reference(1)).ends(), work(reference(2)).unfinished()), "reference 2 was not recorded to its end"),
        (
            (work(reference(1)).adds(Exited, life=1, code=1).ends(), work(reference(2)).ends()),
            "reference 1 proves nothing: the controller exited with code 1 during the trial",
        ),
        ((work(reference(1)).ends(), other_workload()), "reference 2 is not a fault-free run of the same workload"),
        ((work(reference(1)).ends(), faulty()), "reference 2 is not a fault-free run of the same workload"),
    ],
    ids=["none", "one", "did not settle", "incomplete", "exited", "another workload", "with faults"],
)
def test_without_good_references_only_what_needs_none_is_judged(given: tuple[History, ...], why: str) -> None:
    found = outcomes(held().let_go().ends(), *given)

    for requirement in REQUIREMENTS:
        if requirement.needs_references:
            assert found[requirement.slug] == (Outcome.INCONCLUSIVE, why)
        else:
            assert found[requirement.slug][1] != why


def test_a_fault_that_never_fired_proves_nothing_about_what_the_trial_aims_at() -> None:
    found = outcomes(work(trial(aims=(AIM,))).ends(), *references())

    assert found[AIM] == (Outcome.INCONCLUSIVE, "planned faults never fired: Hold of pods")
    assert found["no-excess-delete"][0] is Outcome.NOT_EXERCISED


def test_but_a_finding_is_a_finding() -> None:
    script = (
        Script(HOLD, HOLD, aims=(AIM,)).step(1, "apply").hold().applied("w").creates("w-a").applied("w").creates("w-b").let_go()
    )

    assert outcomes(script.ends(), *references())[AIM][0] is Outcome.FAIL


def hostile(history: History) -> History:
    """The same under a plan that says that no API server does this."""
    plan = msgspec.structs.replace(history.header.plan, contract="hostile")
    return replace(history, header=msgspec.structs.replace(history.header, plan=plan))


def test_what_is_found_under_hostile_faults_is_told_apart_and_never_a_failure() -> None:
    guilty = held(aims=(AIM,)).creates("w-b").let_go().ends()
    legal, told = judge(guilty, references())[0], judge(hostile(guilty), references())[0]

    assert legal.outcome is Outcome.FAIL
    assert told.outcome is Outcome.NOT_EXERCISED
    assert told.findings == legal.findings
    assert told.why == ("found under a hostile plan: no API server does this, so it tells about robustness, not conformance")


def test_nothing_found_under_hostile_faults_is_no_pass_either() -> None:
    found = outcomes(hostile(held(aims=(AIM,)).let_go().ends()), *references())

    assert found[AIM] == (
        Outcome.NOT_EXERCISED,
        "nothing was found under a hostile plan: no API server does this, so it tells about robustness, not conformance",
    )
    assert {outcome for outcome, _ in found.values()} == {Outcome.NOT_EXERCISED}


def test_a_disturbed_hostile_trial_is_inconclusive_as_any_other() -> None:
    found = outcomes(hostile(work(trial(aims=(AIM,))).ends()), *references())
    assert found[AIM] == (Outcome.INCONCLUSIVE, "planned faults never fired: Hold of pods")

    broken = outcomes(hostile(held().adds(Broke, where="proxy", why="a hook raised").ends()), *references())
    assert {outcome for outcome, _ in broken.values()} == {Outcome.INCONCLUSIVE}


def test_a_checker_that_crashes_knows_nothing() -> None:
    def crash(evidence: Trial) -> Verdict:
        raise KeyError("pods")

    broken = Requirement(slug="broken", must="", level="core", source="", faults=(), remedy="", check=crash, needs_references=False)
    sound = Requirement(slug="sound", must="", level="core", source="", faults=(), remedy="", check=lambda e: passed("sound"))

    first, second = judge(held().ends(), references(), requirements=(broken, sound))

    assert (first.outcome, first.why) == (
        Outcome.INCONCLUSIVE,
        "the checker crashed, which is a bug of staleproof: KeyError: 'pods'",
    )
    assert second.outcome is Outcome.PASS


def test_references_come_with_the_history_unless_given() -> None:
    history = against(held().let_go().ends(), *references())

    assert judge(history)[0].outcome is Outcome.PASS
    assert judge(history, ())[0].outcome is Outcome.INCONCLUSIVE
