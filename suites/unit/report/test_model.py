"""report.json: the worst outcome wins, not exercised here is fine if it was elsewhere, and what is written can be read again."""

import json

import msgspec
import pytest

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.checks.verdict import Finding, Outcome, Verdict
from staleproof.report.model import (
    EndedSearch,
    FaultReport,
    FaultWord,
    Implementation,
    LeftOut,
    Report,
    TrialReport,
    Word,
    doubts,
    encode,
    overall,
    refused,
    scored,
    verdicts_on,
)

from .runs import BAD, GOOD, IDLE, UNKNOWN, report, trial, verdict

SLUG, OTHER = REQUIREMENTS[0].slug, REQUIREMENTS[1].slug
FAULT_WORDS: tuple[FaultWord, ...] = ("fired", "refused", "not fired")


def of(name: str, **said: Word) -> TrialReport:
    """A trial with verdicts on the first two requirements, `first` and `second`."""
    slugs = {"first": SLUG, "second": OTHER}
    return trial(name, *(verdict(slugs.get(key, key), each) for key, each in said.items()))


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
def test_the_worst_of_all_trials_wins(said: list[Word], expected: Outcome) -> None:
    joined = overall(report(*(of(str(number), first=each) for number, each in enumerate(said))))
    assert joined[SLUG] is expected
    assert expected.word in (said or [IDLE])
    assert {joined[slug] for slug in joined if slug != SLUG} == {Outcome.NOT_EXERCISED}


def test_every_requirement_of_the_catalogue_is_in_it_in_order() -> None:
    assert list(overall(report())) == [requirement.slug for requirement in REQUIREMENTS]


def test_a_requirement_of_another_version_is_left_out() -> None:
    assert "no-longer-known" not in overall(report(trial("1", verdict("no-longer-known", BAD))))


def test_verdicts_on_one_requirement_come_with_their_trial() -> None:
    first, second = of("1", first=GOOD, second=BAD), of("2", second=GOOD)
    assert [(t.name, v.result) for t, v in verdicts_on(OTHER, (first, second))] == [("1", "failed"), ("2", "passed")]
    assert [(t.name, v.result) for t, v in verdicts_on(SLUG, (first, second))] == [("1", "passed")]


def test_trials_under_hostile_faults_are_not_scored() -> None:
    legal, hostile = of("1", first=GOOD), trial("2", verdict(SLUG, UNKNOWN), hostile="hostile faults (Reorder)")
    run = report(legal, hostile)
    assert scored(run).trials == (legal,)
    assert overall(run)[SLUG] is Outcome.INCONCLUSIVE
    assert overall(scored(run))[SLUG] is Outcome.PASS


def test_refused_faults_are_counted() -> None:
    faults = tuple(FaultReport(fault="Hold", resource="pods", outcome=word) for word in FAULT_WORDS)
    trials = (trial("1", faults=faults), trial("2", faults=faults))
    assert (refused(trials), refused(trials[:1]), refused([trial("3")])) == (2, 1, 0)


def test_a_report_from_before_faults_were_listed_can_be_read() -> None:
    document = json.loads(encode(report(of("1", first=GOOD))))
    for name in ("hostile", "faults"):
        del document["trials"][0][name]
    assert msgspec.convert(document, Report).trials[0].faults == ()


def test_what_is_written_can_be_read_again() -> None:
    fault = FaultReport(fault="Hold", resource="pods", outcome="refused", at=1.5, on="list pods", row="25", why="no")
    written = report(
        of("1", first=GOOD, second=BAD),
        trial("2", hostile="hostile faults (DropFrame)", faults=(fault,)),
        partial=True,
        seed="7",
        reproduce="pytest --controller-cmd='./bin/manager -v'",
        implementation=Implementation(project="widgets", contact=("a@example.com", "b@example.com"), image_digest="sha256:1"),
        left_out=(LeftOut(scenario="streams", title="all watches end (clean)", aims=("survives-stream-loss",), faults=("Sever",)),),
        ended_searches=(
            EndedSearch(scenario="restart", primary="widgets/w", plans=3, requirement="settles", found="it writes", trial="1"),
        ),
    )
    data = encode(written)
    assert msgspec.json.decode(data, type=Report) == written
    assert data.endswith(b"}\n")


def test_keys_are_camel_case_and_constants_are_written() -> None:
    document = json.loads(encode(report(of("1", first=GOOD))))
    assert (document["apiVersion"], document["kind"], document["runId"]) == ("staleproof.dev/v1alpha1", "Report", "run")
    assert {"faultsPlanned", "faultsFired"} <= document["trials"][0].keys()


def test_what_a_history_fails_and_its_run_does_not_is_doubted() -> None:
    failed, one, other, passed = (requirement.slug for requirement in REQUIREMENTS[:4])
    ended = "unconfirmed, because the run ended first"
    doubted = [verdict(slug, UNKNOWN, why=f"{ended}: {slug} is violated") for slug in (one, other)]
    of = trial("1", verdict(failed, BAD), *doubted, verdict(passed, IDLE))
    shown = [Verdict(slug, Outcome.FAIL, (Finding(f"{slug} is violated", ()),)) for slug in (failed, one, other)]
    assert doubts(of, [*shown, Verdict(passed, Outcome.PASS)]) == [
        f"the report of its run has {one}, {other} as inconclusive, {ended}"
    ]
    assert doubts(None, shown) == []
