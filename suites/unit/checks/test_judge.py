"""Every rule judges every history, what it says becomes a verdict; what could not be seen is not exercised, and what cannot be
explained is inconclusive."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.checks.judge import broken, judge, verdict_of
from staleproof.checks.requirement import Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, Inconclusive, NotExercised, Outcome, Said, Suspicion
from staleproof.core.fault import AnyFault
from staleproof.core.history.entry import Broke, Ended
from staleproof.core.history.history import History, decode, encode

from .rule_cases import ONE_POD, UNSURE, witnesses, wording
from .script import HOLD, SEVER, WIDGETS, Script, Workload, beside, pair_renewed, trial, two_references

AIM = "no-duplicate-create"
NO_API_SERVER = "no API server does this, so it tells about robustness, not conformance"


def work(script: Script) -> Script:
    return script.step(1, "apply").applied("w").creates("w-a")


REFERENCES = two_references(work)


def held(*, aims: tuple[str, ...] = ()) -> Script:
    return Script(HOLD, aims=aims).step(1, "apply").hold().applied("w").creates("w-a").applied("w")


def guilty(*, aims: tuple[str, ...] = ()) -> History:
    return held(aims=aims).creates("w-b").let_go().ends()


def innocent(*, aims: tuple[str, ...] = ()) -> History:
    return held(aims=aims).let_go().ends()


def hostile(history: History) -> History:
    """The same under a plan that says that no API server does this."""
    plan = msgspec.structs.replace(history.header.plan, contract="hostile")
    return replace(history, header=msgspec.structs.replace(history.header, plan=plan))


def verdicts(history: History, *given: History) -> dict[str, str]:
    return {verdict.requirement: wording(verdict, ":") for verdict in judge(history, given)}


# --- a history


def test_there_is_one_verdict_for_each_requirement() -> None:
    found = judge(innocent(), REFERENCES)

    assert [verdict.requirement for verdict in found] == [requirement.slug for requirement in REQUIREMENTS]
    assert wording(found[0], "PASS") == "PASS"


def test_a_verdict_survives_the_file() -> None:
    history = replace(guilty(), references=REFERENCES)

    assert judge(history)[0].outcome is Outcome.FAIL
    assert judge(decode(encode(history))) == judge(history)


def test_references_come_with_the_history_unless_given() -> None:
    history = replace(innocent(), references=REFERENCES)

    assert judge(history)[0].outcome is Outcome.PASS
    assert judge(history, ())[0].outcome is Outcome.NOT_EXERCISED


@pytest.mark.parametrize(
    ("history", "why"),
    [
        (
            held().adds(Broke, where="proxy", why="a hook raised").ends(),
            "NOT_EXERCISED: the harness broke (proxy): a hook raised",
        ),
        (
            held().adds(Broke, where="workload", why="step 2 (remove pods number 1): there are 0 such children").ends(),
            "NOT_EXERCISED: a step of the workload could not be done: step 2 (remove pods number 1): there are 0 such children",
        ),
        (trial().unfinished(), "NOT_EXERCISED: the trial was not recorded to its end"),
        (
            held().adds(Broke, where="self-check", why="revisions went back").ends(),
            "INCONCLUSIVE: the harness broke (self-check): revisions went back",
        ),
    ],
    ids=["broken harness", "a step without its object", "empty", "self-check"],
)
@pytest.mark.parametrize("change", [lambda history: history, hostile], ids=["legal", "hostile"])
def test_a_trial_that_was_not_carried_out_says_nothing_about_anything(history: History, why: str, change: Any) -> None:  # noqa: ANN401
    assert set(verdicts(change(history), *REFERENCES).values()) == {why}


def test_without_good_references_only_what_needs_none_is_judged() -> None:
    found = verdicts(innocent(), *REFERENCES[:1])
    why = "NOT_EXERCISED: it needs at least 2 fault-free references of the same workload, found 1"

    assert {slug for slug, verdict in found.items() if verdict == why} == {
        requirement.slug for requirement in REQUIREMENTS if requirement.needs_references
    }


AIMED: dict[str, tuple[History, str]] = {
    "a fault that never fired proves nothing": (
        work(Script(HOLD, aims=(AIM,))).ends(),
        "NOT_EXERCISED: planned faults never fired: Hold of pods",
    ),
    "unless there is a finding": (
        Script(HOLD, HOLD, aims=(AIM,))
        .step(1, "apply")
        .hold()
        .applied("w")
        .creates("w-a")
        .applied("w")
        .creates("w-b")
        .let_go()
        .ends(),
        "FAIL",
    ),
    "nor is it aimed at": (work(Script(HOLD, aims=("settles",))).ends(), "NOT_EXERCISED"),
    "found under hostile faults": (hostile(guilty(aims=(AIM,))), "NOT_EXERCISED"),
    "not found under hostile faults": (
        hostile(innocent(aims=(AIM,))),
        f"NOT_EXERCISED: nothing was found under a hostile plan: {NO_API_SERVER}",
    ),
    "hostile faults never fired": (
        hostile(work(Script(HOLD, aims=(AIM,))).ends()),
        "NOT_EXERCISED: planned faults never fired: Hold of pods",
    ),
}


@pytest.mark.parametrize(("history", "verdict"), AIMED.values(), ids=AIMED)
def test_what_a_trial_aims_at(history: History, verdict: str) -> None:
    assert wording(judge(history, REFERENCES)[0], verdict) == verdict


def test_what_is_found_under_hostile_faults_is_told_apart() -> None:
    legal, apart = judge(guilty(), REFERENCES)[0], judge(hostile(guilty()), REFERENCES)[0]

    assert apart.findings == legal.findings
    assert apart.why == f"found under a hostile plan: {NO_API_SERVER}"
    assert {verdict.partition(":")[0] for verdict in verdicts(hostile(innocent()), *REFERENCES).values()} == {"NOT_EXERCISED"}


# --- a rule


def rule(*said: Said | Exception, **fields: Any) -> Requirement:  # noqa: ANN401
    """It says this of any trial, or crashes."""

    def check(trial: Trial) -> Iterator[Said]:
        for each in said:
            if isinstance(each, Exception):
                raise each
            yield each

    about = {"kind": "end", "wrong": "", "effects": frozenset({"cuts"})} | fields
    return Requirement(slug="a-slug", must="", level="core", source="", faults=(), remedy="", check=check, **about)


def test_a_rule_that_crashes_knows_nothing() -> None:
    crashing, sound = rule(KeyError("pods")), rule()
    first, second = judge(innocent(), REFERENCES, requirements=(crashing, sound))

    assert wording(first, ":") == "INCONCLUSIVE: the checker crashed, which is a bug of staleproof: KeyError: 'pods'"
    assert wording(second, "PASS") == "PASS"


SAID: dict[str, tuple[tuple[Said, ...], str]] = {
    "nothing": ((), "PASS"),
    "why there was nothing to see": ((NotExercised("a"),), "NOT_EXERCISED: a"),
    "the first doubt counts": ((Inconclusive("a"), NotExercised("b")), "INCONCLUSIVE: a"),
    "unless there are findings": ((NotExercised("a"), Finding("b", (1,), "though c"), Finding("d", (2,))), "FAIL: b, though c\nd"),
}


@pytest.mark.parametrize(("said", "verdict"), SAID.values(), ids=SAID)
def test_what_a_rule_says_becomes_a_verdict(said: tuple[Said, ...], verdict: str) -> None:
    assert wording(verdict_of(rule(*said), Trial(trial().ends())), verdict) == verdict


def test_findings_bear_the_slug_and_ten_are_enough() -> None:
    verdict = verdict_of(rule(*[Finding("again", (1,))] * 12), Trial(trial().ends()))

    assert [finding.requirement for finding in verdict.findings] == ["a-slug"] * 10


def test_a_rule_that_needs_the_end_is_not_asked_about_a_trial_without() -> None:
    unsettled, settled = Trial(trial().released().unfinished()), Trial(trial().ends())

    assert wording(verdict_of(rule(KeyError(), needs_end=True), unsettled), ":") == "INCONCLUSIVE: the trial has no settling phase"
    assert wording(verdict_of(rule(needs_end=True), settled), "PASS") == "PASS"


# --- a suspicion

SUSPICION = Suspicion(acts=(4,), charge="after that")
GUILTY = f"FAIL: after that: {ONE_POD}"
SEEN = f"FAIL: it was seen: {ONE_POD}"
HELD_TOO = f"{UNSURE} Hold fired, too, and may explain that"


def cut(*faults: AnyFault, times: int = 1) -> Script:
    return Script(SEVER, *faults).opens().flaps(times)


def wrong() -> Script:
    return cut().pair(1).stuck()


def wrong_and_held() -> Script:
    return cut(HOLD).fires(1).pair(1).stuck()


def too_soon() -> Script:
    return cut(times=2).pair(1).stuck(1.0)


def right_later() -> Script:
    script = cut().step(1, "apply").applied("w", spec=2).creates("w-0").updates("w", status={"ready": 2})
    return script.released().settled().creates("w-1")


def unwritten() -> Script:
    """Another made one of the pods, and the controller nothing."""
    return cut().applied("w", spec=2).made("w-0", metadata={"generateName": "w-"})


def right_without_it() -> Script:
    script = cut().applied("w", spec=2).made("w-0", metadata={"generateName": "w-"}).made("w-1", metadata={"generateName": "w-"})
    return script.applied("w", status={"ready": 2})


def duplicated(*, mended: bool = False) -> Script:
    """Another rule was broken."""
    script = Script(SEVER).opens().ended().hold().pair().step(2, "touch").applied("w", touched=1).creates("w-2").let_go()
    return script.watches().deletes("w-2") if mended else script.watches().stuck()


def slow(script: Script) -> Script:
    return script.pair(pause=5.0)


def third(script: Script) -> Script:
    return script.pair(3)


TOO_SOON = f"{UNSURE} it had 0.6 s to catch up, and may need 1.6 s after what was done to it"
SUSPICIONS: dict[str, tuple[Script, dict[str, object], str]] = {
    "a wrong end": (wrong(), {}, GUILTY),
    "the right end": (cut().pair(), {}, "PASS"),
    "the right end, later": (right_later(), {}, "PASS"),
    "another fault may explain it": (wrong_and_held(), {}, HELD_TOO),
    "the other fault does the same": (wrong_and_held(), {"effects": frozenset({"cuts", "lags"})}, GUILTY),
    "or may not": (wrong_and_held(), {"proof": "it was seen"}, SEEN),
    "a fault that concerns another resource": (wrong(), {"resource": WIDGETS}, f"{UNSURE} Sever fired, too, and may explain that"),
    "a fault that concerns the resource": (wrong(), {"resource": "pods"}, GUILTY),
    "a doubt": (wrong(), {"doubt": "it may have been the moon"}, f"{UNSURE} it may have been the moon"),
    "a doubt, against a proof": (wrong(), {"doubt": "the moon", "proof": "it was seen"}, SEEN),
    "another rule was broken": (
        duplicated(),
        {},
        "INCONCLUSIVE: it did not converge (3 pods of widget/w, fault-free runs ended with 2), "
        "but no-duplicate-create may explain that",
    ),
    "and tells of the same": (
        duplicated(mended=True),
        {"unless_broken": True},
        "NOT_EXERCISED: it wrote on an old view meanwhile, which no-duplicate-create tells",
    ),
    "no rule was broken": (wrong(), {"unless_broken": True}, GUILTY),
    "too soon": (too_soon(), {}, f"{UNSURE} it had 1.1 s to catch up, and may need 3.2 s after what was done to it"),
    "too soon, whatever the proof": (
        too_soon(),
        {"proof": "it was seen"},
        f"{UNSURE} it had 1.1 s to catch up, and may need 3.2 s after what was done to it",
    ),
    "a good end that shows nothing": (cut().pair(), {"untested": "it was lucky"}, "NOT_EXERCISED: it was lucky"),
    "also when it never wrote": (right_without_it(), {"untested": "it was lucky"}, "NOT_EXERCISED: it was lucky"),
    "a wrong end shows something": (wrong(), {"untested": "it was lucky"}, GUILTY),
    "it never wrote": (unwritten().stuck(), {}, GUILTY),
    "it never wrote, and had no time": (unwritten().stuck(0.5), {}, TOO_SOON),
    "it never wrote, and it was right": (right_without_it(), {}, "NOT_EXERCISED: the controller never wrote anything"),
    "it never settled": (Script(SEVER).ended().adds(Ended), {}, "INCONCLUSIVE: the trial has no settling phase"),
    "proven in spite of another explanation": (wrong(), {"otherwise": "it cannot be known"}, GUILTY),
    "not proven": (wrong_and_held(), {"otherwise": "it cannot be known"}, "INCONCLUSIVE: it cannot be known"),
    "not proven by a good end": (cut().pair(), {"otherwise": "it cannot be known"}, "INCONCLUSIVE: it cannot be known"),
}


@pytest.mark.parametrize(("script", "fields", "verdict"), SUSPICIONS.values(), ids=SUSPICIONS)
def test_what_the_end_makes_of_a_suspicion(script: Script, fields: dict[str, Any], verdict: str) -> None:
    about = {"effects": fields["effects"]} if "effects" in fields else {}
    said = replace(SUSPICION, **{name: value for name, value in fields.items() if name not in about})
    assert wording(verdict_of(rule(said, **about), beside(script)), verdict) == verdict


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        (
            (Script.pair, third),
            "INCONCLUSIVE: the references do not agree: 1 pod of widget/w, fault-free runs ended with 2 to 3",
        ),
        ((slow,), f"{UNSURE} it had 10.1 s to catch up, and may need 15.6 s after what was done to it"),
        (
            (pair_renewed,),
            "INCONCLUSIVE: it did not converge (1 pod of widget/w, fault-free runs ended with 0), "
            f"but the workload created {WIDGETS}/w 1 times and 2 times in fault-free runs",
        ),
    ],
    ids=["do not agree", "pause by themselves", "came to something else"],
)
def test_what_references_make_of_a_proof(given: tuple[Workload, ...], verdict: str) -> None:
    found = verdict_of(rule(replace(SUSPICION, proof="it was seen")), beside(wrong(), *given))

    assert wording(found, verdict) == verdict


def test_what_was_done_and_the_end_are_witnesses() -> None:
    assert witnesses(rule(SUSPICION), beside(wrong())) == ["FaultOpened", "Released", "Settled"]


def test_broken_are_rules_about_old_views_with_findings() -> None:
    assert broken(beside(duplicated())) == ["no-duplicate-create"]
    assert broken(beside(wrong())) == []
