"""conformance.yaml: follows its schema whatever happened, counts what it lists, and says why nobody could rely on it."""

import hashlib
from typing import Any

import jsonschema
import pytest
import yaml
from msgspec.structs import replace

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.report.conformance import PROFILE, SCHEMA, to_yaml
from staleproof.report.model import FaultReport, Implementation, LeftOut, Report, TrialReport, Word

from . import runs
from .runs import verdict

CORE = [requirement.slug for requirement in REQUIREMENTS if requirement.level == "core"]
DIGEST = f"sha256:{'5' * 64}"
NAMED = Implementation(
    organization="acme", project="widgets", url="https://example.com/widgets", version="v1.4.0", contact=("a@b",)
)
IDLE, UNKNOWN = (runs.IDLE, "no delete was hidden"), (runs.UNKNOWN, "the references differ")
GOOD, BAD = (runs.GOOD, ""), (runs.BAD, "")
Said = dict[str, tuple[Word, str]]
EVERYTHING_PASSED: Said = dict.fromkeys(CORE, GOOD)


def trial(said: Said, name: str = "001", **fields: Any) -> TrialReport:  # noqa: ANN401  # those of a report
    return runs.trial(name, *(verdict(slug, each, why=why) for slug, (each, why) in said.items()), **fields)


def report(*trials: TrialReport, staleproof: str = "1.0.0", implementation: Implementation = NAMED) -> Report:
    return runs.report(
        *trials,
        seed="7",
        reproduce="pytest --controller-image=example.com/widgets:v1.4.0",
        environment={"kubernetes": "v1.36.3", "staleproof": staleproof},
        implementation=implementation,
    )


def made(of: Report) -> dict[str, Any]:
    """What is written, once it has been held against its schema."""
    written: dict[str, Any] = yaml.safe_load(to_yaml(of, suite_digest=DIGEST))
    jsonschema.validate(written, SCHEMA, cls=jsonschema.Draft202012Validator)
    return written


def level(of: Report) -> dict[str, Any]:
    found: dict[str, Any] = made(of)["profiles"][0]["core"]
    return found


def first_line(of: Report) -> dict[str, Any]:
    """What is said about the first requirement."""
    found: dict[str, Any] = next(each for each in level(of)["tests"] if each["name"] == CORE[0])
    return found


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("apiVersion",), "v1"),
        (("kind",), "Report"),
        (("submittable",), None),
        (("anything",), 1),
        (("metadata", "runId"), None),
        (("implementation", "contact"), None),
        (("profiles", 0, "core", "result"), "good"),
        (("profiles", 0, "core", "statistics", "passed"), -1),
        (("profiles", 0, "core", "tests", 0, "reproduced"), "often"),
        (("profiles", 0, "core", "tests", 0, "evidence"), "sha256:1"),
    ],
)
def test_the_schema_refuses_what_is_no_report(path: tuple[str | int, ...], value: object) -> None:
    written = made(report(trial(EVERYTHING_PASSED)))
    *way, last = path
    spot: Any = written
    for key in way:
        spot = spot[key]
    spot[last] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(written, SCHEMA, cls=jsonschema.Draft202012Validator)


COUNTS = "{failed} failed, {inconclusive} inconclusive, {notExercised} not exercised, {passed} passed"
SUMMARIES = {
    "success": "Core succeeded.",
    "failure": f"Core failed: {COUNTS}.",
    "partial": f"Core partially succeeded: {COUNTS}.",
}


@pytest.mark.parametrize(
    ("said", "result", "counts"),
    [
        ({}, "success", (0, 0, 0)),
        ({CORE[0]: BAD}, "failure", (1, 0, 0)),
        ({CORE[0]: UNKNOWN}, "partial", (0, 1, 0)),
        ({CORE[0]: IDLE}, "partial", (0, 0, 1)),
        ({CORE[0]: BAD, CORE[1]: UNKNOWN, CORE[2]: IDLE}, "failure", (1, 1, 1)),
    ],
    ids=["passed", "failed", "inconclusive", "not exercised", "some of each"],
)
def test_results_and_their_counts(said: Said, result: str, counts: tuple[int, int, int]) -> None:
    of = report(trial(EVERYTHING_PASSED | said))
    told = dict(zip(("failed", "inconclusive", "notExercised"), counts, strict=True)) | {"passed": len(CORE) - sum(counts)}
    found = level(of)
    assert (found["result"], found["statistics"], len(found["tests"])) == (result, told, len(CORE))
    (profile,) = made(of)["profiles"]
    assert (profile["name"], profile["summary"]) == (PROFILE, SUMMARIES[result].format(**told))


def test_it_says_how_much_of_a_requirement_was_tried() -> None:
    aimed = [trial({CORE[0]: each}, name=str(number), aims=(CORE[0],)) for number, each in enumerate((GOOD, IDLE, UNKNOWN))]
    left_out = (LeftOut(scenario="streams", title="a", aims=(CORE[0],)), LeftOut(scenario="streams", title="b", aims=(CORE[1],)))
    found = first_line(replace(report(*aimed, trial({CORE[0]: GOOD}, name="9")), left_out=left_out))
    assert (found["plans"], found["plansExercised"], found["trials"]) == (4, 2, 3)


def test_a_failure_says_what_it_does_and_what_lies_behind_it() -> None:
    bad = [verdict(CORE[0], runs.BAD, severity=each, cause=f"cause of {each}") for each in ("stuck", "destroyed", "stuck")]
    found, other = level(runs.report(*(runs.trial(str(number), each) for number, each in enumerate(bad))))["tests"][:2]
    assert (found["severity"], found["causes"]) == ("destroyed", ["cause of destroyed", "cause of stuck"])
    assert "severity" not in other


def test_without_trials_nothing_is_known() -> None:
    found = level(report())
    assert found["statistics"] == {"passed": 0, "failed": 0, "inconclusive": 0, "notExercised": len(CORE)}
    assert found["result"] == "partial"
    assert {(each["trials"], each["evidence"]) for each in found["tests"]} == {(0, "")}


def test_only_trials_that_exercised_it_count() -> None:
    of = report(
        trial({CORE[0]: GOOD}, name="1", faults_planned=2, faults_fired=1),
        trial({CORE[0]: IDLE}, name="2", faults_planned=5, faults_fired=5),
        trial({CORE[0]: GOOD}, name="3", faults_planned=1, faults_fired=1),
    )
    found = first_line(of)
    assert (found["result"], found["trials"], found["faultsPlanned"], found["faultsFired"]) == ("passed", 2, 3, 2)
    joined = "".join(sorted(hashlib.sha256(name.encode()).hexdigest() for name in ("1", "3")))
    assert found["evidence"] == f"sha256:{hashlib.sha256(joined.encode()).hexdigest()}"
    assert "reason" not in found


def test_faults_that_were_refused_are_counted() -> None:
    faults = tuple(FaultReport(fault="PastSnapshot", resource="*", outcome="refused", row="25", why="no") for _ in range(2))
    of = report(trial({CORE[0]: GOOD}, name="1", faults=faults), trial({CORE[0]: GOOD}, name="2"))
    assert first_line(of)["faultsRefused"] == 2
    assert first_line(report())["faultsRefused"] == 0


@pytest.mark.parametrize("said", [BAD, UNKNOWN, GOOD])
def test_what_happened_under_hostile_faults_does_not_count(said: tuple[Word, str]) -> None:
    hostile = trial({CORE[0]: said}, name="2", hostile="hostile faults (DropFrame)")
    assert first_line(report(trial({CORE[0]: GOOD}), hostile)) == first_line(report(trial({CORE[0]: GOOD})))
    assert first_line(report(hostile)) == first_line(report())


def test_the_evidence_does_not_depend_on_the_order_of_the_trials() -> None:
    first, second = trial({CORE[0]: GOOD}, name="1"), trial({CORE[0]: GOOD}, name="2")
    assert first_line(report(first, second))["evidence"] == first_line(report(second, first))["evidence"]


def test_the_reason_is_the_one_of_the_result() -> None:
    of = report(trial({CORE[0]: IDLE}, name="1"), trial({CORE[0]: UNKNOWN}, name="2"))
    assert (first_line(of)["result"], first_line(of)["reason"]) == ("inconclusive", "the references differ")
    assert first_line(report(trial({CORE[0]: IDLE})))["reason"] == "no delete was hidden"


def test_a_failure_says_how_often_it_came_back() -> None:
    of = report(trial({CORE[0]: GOOD}, name="1"), trial({CORE[0]: BAD}, name="2", reproduced=(3, 3)))
    assert first_line(of)["reproduced"] == "3/3"
    assert "reproduced" not in first_line(report(trial({CORE[0]: GOOD})))


NO_RELEASE = "this staleproof is not a stable release"
LEFT_OUT = tuple(LeftOut(scenario="streams", title=title) for title in "ab")


@pytest.mark.parametrize(
    ("of", "because"),
    [
        (report(), []),
        (
            report(implementation=Implementation()),
            [
                "the implementation is not named: --implementation-organization, --implementation-project, "
                "--implementation-url, --implementation-version"
            ],
        ),
        (report(implementation=replace(NAMED, url="")), ["the implementation is not named: --implementation-url"]),
        (report(implementation=replace(NAMED, version="Main")), ["the version 'Main' is a branch or a moving tag, not a release"]),
        (replace(report(), partial=True), ["the run was interrupted"]),
        (replace(report(), left_out=LEFT_OUT), ["2 plans were left out"]),
        (report(staleproof="0.1.0"), [NO_RELEASE]),
        (
            replace(report(staleproof="0.1.0", implementation=replace(NAMED, version="latest")), partial=True),
            ["the version 'latest' is a branch or a moving tag, not a release", "the run was interrupted", NO_RELEASE],
        ),
    ],
)
def test_submittable_or_why_not(of: Report, because: list[str]) -> None:
    written = made(replace(of, trials=(trial(EVERYTHING_PASSED),)))
    assert written["submittable"] is (not because)
    assert written.get("notSubmittableBecause", []) == because


def test_a_run_that_had_no_time_for_everything_says_so() -> None:
    assert made(report())["plansLeftOut"] == 0
    assert made(replace(report(), left_out=LEFT_OUT))["plansLeftOut"] == 2


def test_an_interrupted_run_says_so() -> None:
    assert made(report())["partial"] is False
    assert made(replace(report(), partial=True))["partial"] is True


def test_what_it_says_of_the_run_is_the_runs() -> None:
    written = made(report())
    assert written["metadata"]["tool"] == {"name": "staleproof", "version": "1.0.0", "suiteDigest": DIGEST}
    assert written["environment"] == {"kubernetes": "v1.36.3"}
    assert (written["seed"], written["reproduce"]) == ("7", "pytest --controller-image=example.com/widgets:v1.4.0")
    assert "imageDigest" not in written["implementation"]
    digest = replace(NAMED, image_digest="sha256:1")
    assert made(report(implementation=digest))["implementation"]["imageDigest"] == "sha256:1"


def test_the_yaml_says_what_it_is_first() -> None:
    text = to_yaml(report(trial(EVERYTHING_PASSED | {CORE[0]: UNKNOWN})), suite_digest=DIGEST)
    assert text.startswith("apiVersion: staleproof.dev/v1alpha1\nkind: ConformanceReport\n")
