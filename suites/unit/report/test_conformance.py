"""conformance.yaml: follows its schema whatever happened, counts what it lists, and says why it could not be relied on."""

import hashlib
from typing import Any

import jsonschema
import pytest
import yaml
from msgspec.structs import replace

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.report.conformance import PROFILE, SCHEMA, to_yaml
from staleproof.report.crosscheck import decode, problems
from staleproof.report.model import FaultReport, Implementation, LeftOut, Report, TrialReport, Word

from . import runs
from .runs import verdict

CORE, EXTENDED, PROVISIONAL = (
    [requirement.slug for requirement in REQUIREMENTS if requirement.level == each] for each in ("core", "extended", "provisional")
)
DIGEST = f"sha256:{'5' * 64}"
NAMED = Implementation(
    organization="acme", project="widgets", url="https://example.com/widgets", version="v1.4.0", contact=("a@b",)
)
RIGHTS = "the controller may do what system:serviceaccount:acme:widgets may do"
SURROUNDINGS = {
    "kubernetes": "v1.36.3",
    "provider": "cache",
    "arch": "x86_64",
    "wireFormat": "json",
    "rbac": RIGHTS,
    "companions": "garbage-collector, namespace",
    "moves": "status.beat",
}
IDLE, UNKNOWN = (runs.IDLE, "no delete was hidden"), (runs.UNKNOWN, "the references differ")
GOOD, BAD = (runs.GOOD, ""), (runs.BAD, "")
Said = dict[str, tuple[Word, str]]
EVERYTHING_PASSED: Said = dict.fromkeys((*CORE, *EXTENDED), GOOD)


def trial(said: Said, name: str = "001", **fields: Any) -> TrialReport:  # noqa: ANN401  # those of a report
    return runs.trial(name, *(verdict(slug, each, why=why) for slug, (each, why) in said.items()), **fields)


def report(*trials: TrialReport, staleproof: str = "1.0.0", implementation: Implementation = NAMED) -> Report:
    return runs.report(
        *trials,
        seed="7",
        reproduce="pytest --controller-image=example.com/widgets:v1.4.0",
        environment=SURROUNDINGS | {"staleproof": staleproof},
        implementation=implementation,
        suite_digest=DIGEST,
        profile="smoke",
        versions={"python": "3.12.1", "mitmproxy": "12.3.1"},
    )


def made(of: Report) -> dict[str, Any]:
    """What is written, once it has been held against its schema, and added up again."""
    text = to_yaml(of)
    written: dict[str, Any] = yaml.safe_load(text)
    jsonschema.validate(written, SCHEMA, cls=jsonschema.Draft202012Validator)
    assert list(problems(decode(text.encode()))) == []
    return written


def level(of: Report, name: str = "core") -> dict[str, Any]:
    found: dict[str, Any] = made(of)["profiles"][0][name]
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
    "success": "Core succeeded. Extended succeeded.",
    "failure": f"Core failed: {COUNTS}. Extended succeeded.",
    "partial": f"Core partially succeeded: {COUNTS}. Extended succeeded.",
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
    statistics = dict(zip(("failed", "inconclusive", "notExercised"), counts, strict=True)) | {"passed": len(CORE) - sum(counts)}
    found = level(of)
    assert (found["result"], found["statistics"], len(found["tests"])) == (result, statistics, len(CORE))
    (profile,) = made(of)["profiles"]
    assert (profile["name"], profile["summary"]) == (PROFILE, SUMMARIES[result].format(**statistics))


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


NO_RELEASE = "the staleproof that ran is no release: "
DESELECTED = ("test_canonical[streams/cut]", "test_canonical[streams/expire]", "test_drawn[own-writes]", "test_drawn[sweep]")
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
        (replace(report(), left_out=LEFT_OUT), ["2 plans left out"]),
        (replace(report(), left_out=LEFT_OUT[:1]), ["1 plan left out"]),
        *((report(staleproof=each), []) for each in ("0.1.0", "v0.1.0", "1.2", "2.0.0rc1", "1.0.post2")),
        *((report(staleproof=each), [NO_RELEASE + each]) for each in ("0.1.0.dev3", "0.1.0+g1a2b3c4d5", "1.0.0+local", "main")),
        (report(staleproof=""), [f"{NO_RELEASE}no version"]),
        (
            replace(report(), deselected=DESELECTED),
            [
                "4 tests of the suite deselected: test_canonical[streams/cut], test_canonical[streams/expire], "
                "test_drawn[own-writes] and 1 more; `staleproof report merge` joins runs of its parts"
            ],
        ),
        (
            replace(report(staleproof="0.1.0.dev0", implementation=replace(NAMED, version="latest")), partial=True),
            [
                "the version 'latest' is a branch or a moving tag, not a release",
                "the run was interrupted",
                f"{NO_RELEASE}0.1.0.dev0",
            ],
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
    assert written["environment"] == {
        "kubernetes": "v1.36.3",
        "provider": "cache",
        "arch": "x86_64",
        "wireFormat": "json",
        "rbacChecked": True,
        "rbac": RIGHTS,
        "companions": ["garbage-collector", "namespace"],
        "profile": "smoke",
        "versions": {"python": "3.12.1", "mitmproxy": "12.3.1"},
        "notes": {"moves": "status.beat"},
    }
    assert (written["seed"], written["reproduce"]) == ("7", "pytest --controller-image=example.com/widgets:v1.4.0")
    assert "imageDigest" not in written["implementation"]
    digest = replace(NAMED, image_digest="sha256:1")
    assert made(report(implementation=digest))["implementation"]["imageDigest"] == "sha256:1"


def test_the_yaml_says_what_it_is_first() -> None:
    text = to_yaml(report(trial(EVERYTHING_PASSED | {CORE[0]: UNKNOWN})))
    assert text.startswith("apiVersion: staleproof.dev/v1alpha1\nkind: ConformanceReport\n")


def test_each_level_is_reported_and_what_is_provisional_has_no_result() -> None:
    said = EVERYTHING_PASSED | {EXTENDED[0]: BAD, EXTENDED[1]: IDLE, PROVISIONAL[0]: BAD}
    of = report(trial(said))
    (profile,) = made(of)["profiles"]
    assert [[test["name"] for test in profile[name]["tests"]] for name in ("core", "extended", "provisional")] == [
        CORE, EXTENDED, PROVISIONAL
    ]  # fmt: skip
    assert (profile["core"]["result"], profile["extended"]["result"]) == ("success", "failure")
    assert "result" not in profile["provisional"]
    assert profile["provisional"]["statistics"]["failed"] == 1
    assert profile["summary"] == (
        "Core succeeded. Extended failed: 1 failed, 0 inconclusive, 1 not exercised, 0 passed. Not scored: 1 failed."
    )


@pytest.mark.parametrize(
    ("rbac", "checked"),
    [(RIGHTS, True), ("not checked: the controller may do everything, because no Roles are known", False), ("", None)],
)
def test_it_says_whether_the_controller_was_held_to_its_rights(rbac: str, checked: bool | None) -> None:  # noqa: FBT001  # expected
    environment = {name: text for name, text in SURROUNDINGS.items() if name != "rbac"} | ({"rbac": rbac} if rbac else {})
    assert made(replace(report(), environment=environment))["environment"]["rbacChecked"] is bool(checked)


def test_each_trial_is_there_with_the_digest_of_its_history() -> None:
    said = {CORE[0]: BAD, CORE[1]: IDLE}
    of = report(
        trial(said, name="1", aims=(CORE[0],), plan="abcdef0123", reproduced=(3, 3)), trial(said, name="2", hostile="hostile")
    )
    assert made(of)["trials"] == [
        {
            "name": "1",
            "scenario": "own-writes",
            "plan": "abcdef0123",
            "history": f"sha256:{hashlib.sha256(b'1').hexdigest()}",
            "faultsPlanned": 2,
            "faultsFired": 1,
            "faultsRefused": 0,
            "reproduced": "3/3",
            "aims": [CORE[0]],
            "results": {CORE[0]: "failed"},
        }
    ]


def test_a_trial_is_a_line_of_the_file() -> None:
    text = to_yaml(report(trial({CORE[0]: GOOD})))
    assert "\n- {name: '001', scenario: own-writes," in text
    assert "&id" not in text
