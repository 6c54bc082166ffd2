"""report.json: the worst outcome wins, not exercised here is fine if it was elsewhere, and what is written can be read again."""

import json

import msgspec
import pytest

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.checks.verdict import Outcome
from staleproof.report.model import (
    FaultReport,
    FaultWord,
    Implementation,
    Report,
    RequirementVerdict,
    TrialReport,
    Word,
    encode,
    outcome,
    overall,
    refused,
    scored,
    verdicts_on,
)

SLUG, OTHER = REQUIREMENTS[0].slug, REQUIREMENTS[1].slug
IDLE: tuple[Word, bool] = ("inconclusive", False)
UNKNOWN: tuple[Word, bool] = ("inconclusive", True)
GOOD: tuple[Word, bool] = ("passed", True)
FAULT_WORDS: tuple[FaultWord, ...] = ("fired", "refused", "not fired")
BAD: tuple[Word, bool] = ("failed", True)


def trial(name: str, *verdicts: tuple[str, tuple[Word, bool]]) -> TrialReport:
    return TrialReport(
        name=name,
        scenario="own-writes",
        title="",
        folder=f"trials/{name}",
        evidence="0" * 64,
        seconds=1.0,
        faults_planned=1,
        faults_fired=1,
        reproduced=(0, 0),
        verdicts=tuple(
            RequirementVerdict(requirement=slug, result=word, exercised=exercised) for slug, (word, exercised) in verdicts
        ),
    )


def report(*trials: TrialReport) -> Report:
    return Report(run_id="run", date="2026-01-01T00:00:00+00:00", reproduce="pytest", trials=trials)


@pytest.mark.parametrize(
    ("said", "expected"),
    [(IDLE, Outcome.NOT_EXERCISED), (UNKNOWN, Outcome.INCONCLUSIVE), (GOOD, Outcome.PASS), (BAD, Outcome.FAIL)],
)
def test_the_value_behind_the_words(said: tuple[Word, bool], expected: Outcome) -> None:
    word, exercised = said
    found = outcome(RequirementVerdict(requirement=SLUG, result=word, exercised=exercised))
    assert found is expected
    assert found.word == word


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([], Outcome.NOT_EXERCISED),
        ([IDLE], Outcome.NOT_EXERCISED),
        ([IDLE, IDLE], Outcome.NOT_EXERCISED),
        ([GOOD], Outcome.PASS),
        ([IDLE, GOOD, IDLE], Outcome.PASS),
        ([UNKNOWN], Outcome.INCONCLUSIVE),
        ([GOOD, UNKNOWN], Outcome.INCONCLUSIVE),
        ([UNKNOWN, GOOD, IDLE], Outcome.INCONCLUSIVE),
        ([BAD], Outcome.FAIL),
        ([GOOD, BAD, UNKNOWN, IDLE], Outcome.FAIL),
    ],
)
def test_the_worst_of_all_trials_wins(said: list[tuple[Word, bool]], expected: Outcome) -> None:
    joined = overall(report(*(trial(str(number), (SLUG, each)) for number, each in enumerate(said))))
    assert joined[SLUG] is expected
    assert {joined[slug] for slug in joined if slug != SLUG} == {Outcome.NOT_EXERCISED}


def test_every_requirement_of_the_catalogue_is_in_it_in_order() -> None:
    assert list(overall(report())) == [requirement.slug for requirement in REQUIREMENTS]


def test_a_requirement_of_another_version_is_left_out() -> None:
    assert "no-longer-known" not in overall(report(trial("1", ("no-longer-known", BAD))))


def test_verdicts_on_one_requirement_come_with_their_trial() -> None:
    first, second = trial("1", (SLUG, GOOD), (OTHER, BAD)), trial("2", (OTHER, GOOD))
    assert [(t.name, v.result) for t, v in verdicts_on(OTHER, (first, second))] == [("1", "failed"), ("2", "passed")]
    assert [(t.name, v.result) for t, v in verdicts_on(SLUG, (first, second))] == [("1", "passed")]


def test_trials_under_hostile_faults_are_not_scored() -> None:
    legal, hostile = (
        trial("1", (SLUG, GOOD)),
        msgspec.structs.replace(trial("2", (SLUG, UNKNOWN)), hostile="hostile faults (Reorder)"),
    )
    of = report(legal, hostile)
    assert scored(of).trials == (legal,)
    assert overall(of)[SLUG] is Outcome.INCONCLUSIVE
    assert overall(scored(of))[SLUG] is Outcome.PASS


def test_refused_faults_are_counted() -> None:
    faults = tuple(FaultReport(fault="Hold", resource="pods", outcome=word) for word in FAULT_WORDS)
    of = (msgspec.structs.replace(trial("1"), faults=faults), msgspec.structs.replace(trial("2"), faults=faults))
    assert (refused(of), refused(of[:1]), refused([trial("3")])) == (2, 1, 0)


def test_a_report_from_before_faults_were_told_can_be_read() -> None:
    document = json.loads(encode(report(trial("1", (SLUG, GOOD)))))
    for name in ("hostile", "faults"):
        del document["trials"][0][name]
    assert msgspec.convert(document, Report).trials[0].faults == ()


def test_what_is_written_can_be_read_again() -> None:
    written = Report(
        run_id="run",
        date="2026-01-01T00:00:00+00:00",
        partial=True,
        seed="7",
        reproduce="pytest --controller-cmd='./bin/manager -v'",
        environment={"kubernetes": "v1.36.3"},
        implementation=Implementation(project="widgets", contact=("a@example.com", "b@example.com"), image_digest="sha256:1"),
        trials=(
            trial("1", (SLUG, GOOD), (OTHER, BAD)),
            msgspec.structs.replace(
                trial("2"),
                hostile="hostile faults (DropFrame)",
                faults=(FaultReport(fault="Hold", resource="pods", outcome="refused", at=1.5, on="list pods", row="25", why="no"),),
            ),
        ),
    )
    data = encode(written)
    assert msgspec.json.decode(data, type=Report) == written
    assert data.endswith(b"}\n")


def test_keys_are_camel_case_and_constants_are_written() -> None:
    document = json.loads(encode(report(trial("1", (SLUG, GOOD)))))
    assert (document["apiVersion"], document["kind"], document["runId"]) == ("staleproof.dev/v1alpha1", "Report", "run")
    assert {"faultsPlanned", "faultsFired"} <= document["trials"][0].keys()
