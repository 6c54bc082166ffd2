"""A ConformanceReport that was changed by hand does not add up, and says where; two reports agree or not."""

from typing import Any

import msgspec
import pytest
import yaml
from msgspec.structs import replace

from staleproof.report.conformance import conformance, to_yaml
from staleproof.report.crosscheck import ConformanceError, decode, disagreements, problems
from staleproof.report.model import Report

from .test_conformance import BAD, CORE, EVERYTHING_PASSED, GOOD, IDLE, LEFT_OUT, PROVISIONAL, UNKNOWN, report, trial

WHOLE = replace(
    report(
        trial(EVERYTHING_PASSED, name="1", aims=(CORE[0], CORE[1])),
        trial({CORE[0]: BAD, PROVISIONAL[0]: BAD, CORE[2]: UNKNOWN}, name="2", aims=(CORE[0],), reproduced=(3, 3)),
        trial({CORE[1]: GOOD}, name="3", hostile="hostile"),
    ),
    left_out=LEFT_OUT,
)
Change = tuple[tuple[str | int, ...], object]


def changed(of: Report, *path: str | int, to: object) -> bytes:
    raw: Any = yaml.safe_load(to_yaml(of))
    spot = raw
    for key in path[:-1]:
        spot = spot[key]
    spot[path[-1]] = to
    return yaml.safe_dump(raw).encode()


def test_what_a_run_writes_adds_up() -> None:
    assert list(problems(decode(to_yaml(WHOLE).encode()))) == []


CORE_TESTS = ("profiles", 0, "core", "tests", 0)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ((*CORE_TESTS, "result"), "passed", f"{CORE[0]}.result: it says 'passed', and 'failed' follows from its trials"),
        ((*CORE_TESTS, "trials"), 7, f"{CORE[0]}.trials: it says 7, and 2 follows"),
        ((*CORE_TESTS, "plans"), 1, f"{CORE[0]}.plans: it says 1, and 2 follows"),
        ((*CORE_TESTS, "plansExercised"), 1, f"{CORE[0]}.plansExercised: it says 1, and 2 follows"),
        ((*CORE_TESTS, "faultsFired"), 100, f"{CORE[0]}.faultsFired: it says 100, and 2 follows"),
        ((*CORE_TESTS, "faultsPlanned"), 100, f"{CORE[0]}.faultsPlanned: it says 100, and 4 follows"),
        ((*CORE_TESTS, "faultsRefused"), 1, f"{CORE[0]}.faultsRefused: it says 1, and 0 follows"),
        ((*CORE_TESTS, "reproduced"), "2/3", f"{CORE[0]}.reproduced: it says '2/3', and '3/3' follows"),
        ((*CORE_TESTS, "evidence"), f"sha256:{'0' * 64}", f"{CORE[0]}.evidence: it says 'sha256:0"),
        ((*CORE_TESTS[:-1], 1, "causes"), ["x"], f"{CORE[1]}: it has the severity or the causes of a failure, and did not fail"),
        (("profiles", 0, "core", "statistics", "failed"), 0, "core.statistics: it says"),
        (("profiles", 0, "provisional", "statistics", "passed"), 1, "provisional.statistics: it says"),
        (("profiles", 0, "core", "result"), "success", "core.result: it says 'success', and 'failure' follows"),
        (("profiles", 0, "summary"), "Core succeeded.", "summary: it says 'Core succeeded.'"),
        (("profiles", 0, "core", "tests"), [], "core: the tests are not the requirements of this version: "),
        (("plansLeftOut",), 0, "plansLeftOut: it says 0, and 2 follows"),
        (("submittable",), True, "submittable: it says True, and False follows"),
        (("notSubmittableBecause",), ["no reason"], "notSubmittableBecause: it says ('no reason',)"),
        (("trials", 0, "results", CORE[3]), "failed", f"{CORE[3]}.result: it says 'passed', and 'failed' follows"),
        (("trials", 0, "history"), f"sha256:{'0' * 64}", f"{CORE[0]}.evidence: it says"),
        (("trials", 1, "name"), "1", "trial 1 is listed 2 times"),
        (("trials", 1, "faultsFired"), 0, f"{CORE[0]}.faultsFired: it says 2, and 1 follows"),
        (("metadata", "tool", "version"), "9.9.dev1", "notSubmittableBecause: it says"),
    ],
)
def test_what_was_changed_by_hand_does_not_add_up(path: tuple[str | int, ...], value: object, message: str) -> None:
    found = list(problems(decode(changed(WHOLE, *path, to=value))))
    assert any(each.startswith(message) for each in found), found


def test_a_history_counts_once() -> None:
    again = msgspec.to_builtins(conformance(WHOLE))["trials"][0]["history"]
    assert "two trials have the same history" in list(problems(decode(changed(WHOLE, "trials", 1, "history", to=again))))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a: [", "not YAML"),
        (b"\xff\xfe\x00", "not YAML"),
        (b"- 1", "found list"),
        (b"kind: Report\napiVersion: staleproof.dev/v1alpha1", "found kind 'Report' of 'staleproof.dev/v1alpha1'"),
        (changed(WHOLE, "apiVersion", to="staleproof.dev/v9"), "found kind 'ConformanceReport' of 'staleproof.dev/v9'"),
        (changed(WHOLE, "submitable", to=1), "submitable"),
        (changed(WHOLE, "trials", 0, "history", to="md5:1"), "history"),
        (b"!!python/object/apply:os.system [id]", "not YAML"),
    ],
)
def test_what_is_no_conformance_report_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ConformanceError, match="expected a ConformanceReport") as refused:
        decode(data)
    assert message in str(refused.value)


def test_a_run_agrees_with_another_whose_counts_differ() -> None:
    other = replace(WHOLE, trials=(*WHOLE.trials, trial(EVERYTHING_PASSED, name="4")), date="2027-01-01T00:00:00+00:00")
    assert list(disagreements(conformance(WHOLE), conformance(other))) == []


def test_a_run_does_not_agree_where_a_result_differs() -> None:
    other = replace(WHOLE, trials=WHOLE.trials[:1])
    assert list(disagreements(conformance(WHOLE), conformance(other))) == [
        f"{CORE[0]}: failed in the report, passed now",
        f"{CORE[2]}: inconclusive in the report, passed now",
        f"{PROVISIONAL[0]}: failed in the report, not exercised now",
    ]
    worse = report(trial({CORE[1]: IDLE}, name="1"))
    assert f"{CORE[1]}: passed in the report, not exercised now (no delete was hidden)" in list(
        disagreements(conformance(WHOLE), conformance(worse))
    )


def test_each_cause_has_to_be_found_again() -> None:
    def because(*causes: str) -> Report:
        trials = [trial({CORE[0]: BAD}, name=str(number)) for number in range(len(causes))]
        named = [
            replace(each, verdicts=(replace(each.verdicts[0], cause=cause),)) for each, cause in zip(trials, causes, strict=True)
        ]
        return report(*named)

    before = conformance(because("a stale list", "a lost answer"))
    assert list(disagreements(before, conformance(because("a lost answer", "a stale list", "a third")))) == []
    assert list(disagreements(before, conformance(because("a stale list", "a third")))) == [
        f"{CORE[0]}: the cause in the report was not found again: a lost answer; now it is a stale list and a third"
    ]
