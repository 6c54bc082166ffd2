"""What each format says of a run: the same findings, the same words, and how to see them again."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from staleproof.assess.store.reports import add_step_summary, find_run, read_report, reported_run, write_formats
from staleproof.checks.catalog import REQUIREMENTS
from staleproof.core.history.entry import Asked, Committed, Delivered, Withheld
from staleproof.errors import UsageError
from staleproof.report.baseline import Baseline, Known
from staleproof.report.formats import FORMATS, named
from staleproof.report.formats.reported_run import ReportedRun
from staleproof.report.formats.summary import MOST_BYTES
from staleproof.report.formats.trace import MOST, of_trials
from staleproof.report.model import Implementation, LeftOut, Report, encode

from ...judged import result
from .. import runs
from . import hostile

SLUG = hostile.SLUG
CORE = [requirement.slug for requirement in REQUIREMENTS if requirement.level == "core"]
KNOWN = Baseline(findings=(Known(cause="a stale list", requirements=(SLUG,), note="#7"),))


def report(**more: Any) -> Report:  # noqa: ANN401  # fields of a report
    bad = runs.verdict(SLUG, runs.BAD, story=f"{SLUG} two pods\n  0.1 s  twice", severity="duplicated", cause="a stale list")
    trials = (
        runs.trial("001", bad, runs.verdict("settles", runs.GOOD), reproduced=(3, 3), crash="0123456789", plan="abcdef0123"),
        runs.trial("002", runs.verdict("settles", runs.UNKNOWN, why="the references differ"), runs.verdict("cleans-up", runs.IDLE)),
        runs.trial("003", runs.verdict("no-blind-retry", runs.BAD, story="no-blind-retry again and again")),
        runs.trial("004", bad, hostile="hostile faults (DropFrame)"),
    )
    left_out = (LeftOut(scenario="streams", title="cut it"),)
    return runs.report(*trials, **{"seed": "7", "left_out": left_out} | more)


def text(name: str, of: ReportedRun) -> str:
    return FORMATS[name].make(of).decode()


# --- JUnit ---------------------------------------------------------------------------------------------------------------------


def junit(of: ReportedRun) -> ElementTree.Element:
    return ElementTree.fromstring(FORMATS["junit"].make(of))


def test_junit_counts_what_it_lists() -> None:
    root = junit(ReportedRun(report=report()))
    suites = root.findall("testsuite")
    assert [(suite.get("tests"), suite.get("failures"), suite.get("skipped")) for suite in suites] == [
        ("2", "1", "0"), ("1", "0", "1"), ("1", "0", "1"), ("1", "0", "1"), ("1", "0", "1")
    ]  # fmt: skip
    assert (root.get("tests"), root.get("failures")) == ("6", "1")
    for suite in suites:
        assert len(suite.findall("testcase")) == int(suite.get("tests", ""))
        assert len(suite.findall("testcase/failure")) == int(suite.get("failures", ""))
        assert len(suite.findall("testcase/skipped")) == int(suite.get("skipped", ""))


def test_junit_says_what_it_is_about_in_properties() -> None:
    suite = junit(ReportedRun(report=report()))[0]
    said = {each.get("name"): each.get("value") for each in suite.findall("properties/property")}
    assert (
        said.items()
        >= {
            "slug": SLUG,
            "severity": "duplicated",
            "cause": "a stale list",
            "plan": "abcdef0123",
            "plan.file": "trials/001/plan.json",
            "seed": "7",
            "reproduced": "3/3",
            "reproduction": "staleproof replay 0123456789",
        }.items()
    )
    (failure,) = suite.findall("testcase/failure")
    assert (failure.get("type"), failure.get("message")) == (SLUG, "two pods")
    assert "0.1 s  twice" in (failure.text or "")


def test_what_is_known_fails_no_suite() -> None:
    root = junit(ReportedRun(report=report(), baseline=KNOWN))
    assert root.get("failures") == "0"
    assert "known, and in the baseline: two pods" in [each.get("message") for each in root.iter("skipped")]


# --- Markdown ------------------------------------------------------------------------------------------------------------------


def test_the_summary_has_findings_requirements_and_what_was_not_tried() -> None:
    said = text("summary", ReportedRun(report=report()))
    assert said.startswith("### staleproof\n\n**`failed: no-duplicate-create violated;")
    assert "| **new** | duplicated | `no-duplicate-create` | in 1 plan: `a stale list` | `staleproof replay 0123456789` |" in said
    untried = len(REQUIREMENTS) - 3
    assert f"1 failed, 1 inconclusive, {untried} not exercised, 1 failed and not scored" in said
    assert "| ❔ | `settles` | core | 0 of 0 | because `the references differ` |" in said
    assert "1 plan not run for lack of time, of `streams`" in said
    assert "- `no-blind-retry` in `003`: `again and again`" in said
    assert "```text\npytest\n```" in said
    assert "```text\nno-duplicate-create two pods\n  0.1 s  twice\n```" in said
    assert "| known |" in text("summary", ReportedRun(report=report(), baseline=KNOWN))


def test_a_summary_is_never_too_long_to_be_shown() -> None:
    story = f"{SLUG} {'x' * 15_000}"
    every = [runs.verdict(SLUG, runs.BAD, story=story, severity="stuck", cause=f"cause {number}") for number in range(100)]
    said = text("summary", ReportedRun(report=runs.report(*(runs.trial(str(n), each) for n, each in enumerate(every)))))
    assert MOST_BYTES - 20_000 < len(said) < MOST_BYTES + 200
    assert said.count("<details>") == said.count("</details>")
    assert said.rstrip().endswith("findings are left out here, for their length; report.json has them._")


def test_the_summary_is_added_to_that_of_a_job(tmp_path: Path) -> None:
    path, of = tmp_path / "summary", ReportedRun(report=report())
    path.write_text("before\n")
    assert add_step_summary(of, {"GITHUB_STEP_SUMMARY": str(path)}) == []
    assert path.read_text() == f"before\n{text('summary', of)}"
    assert add_step_summary(of, {}) == []
    (why,) = add_step_summary(of, {"GITHUB_STEP_SUMMARY": str(tmp_path)})
    assert why.startswith(f"cannot add the summary to GITHUB_STEP_SUMMARY={tmp_path}: Is a directory")


# --- SARIF ---------------------------------------------------------------------------------------------------------------------


def sarif(of: ReportedRun) -> Any:  # noqa: ANN401  # a document
    (run,) = json.loads(FORMATS["sarif"].make(of))["runs"]
    return run


def test_sarif_has_a_result_for_each_finding_at_its_plan() -> None:
    run = sarif(ReportedRun(report=report()))
    first, *notes = run["results"]
    assert (first["ruleId"], first["level"], first["message"]["text"].splitlines()[0]) == (SLUG, "error", "two pods")
    assert run["tool"]["driver"]["rules"][first["ruleIndex"]]["id"] == SLUG
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "trials/001/plan.json", "uriBaseId": "RUN"}
    assert first["properties"]["plan"] == "abcdef0123"
    assert first["properties"]["reproduction"] == "staleproof replay 0123456789"
    assert [(each["ruleId"], each["level"]) for each in notes] == [("no-blind-retry", "note"), (SLUG, "note")]
    assert "suppressions" not in first


def test_sarif_has_a_place_in_the_controllers_repository_if_it_is_named() -> None:
    (first, *_) = sarif(ReportedRun(report=report(), source="internal/my widget.go:12"))["results"]
    place = first["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "internal/my%20widget.go", "uriBaseId": "SRCROOT"}, "region": {"startLine": 12}}


def test_a_finding_has_the_same_fingerprint_in_each_run() -> None:
    other = ReportedRun(report=report(seed="8"), source="a.go")
    first, again = (sarif(of)["results"][0]["partialFingerprints"] for of in (ReportedRun(report=report()), other))
    assert first == again


def test_what_is_known_is_suppressed_with_its_note() -> None:
    (first, *_) = sarif(ReportedRun(report=report(), baseline=KNOWN))["results"]
    assert first["suppressions"] == [{"kind": "external", "justification": "#7"}]


# --- badges --------------------------------------------------------------------------------------------------------------------


ALL = [runs.verdict(slug, runs.GOOD) for slug in CORE]


@pytest.mark.parametrize(
    ("of", "message", "colour"),
    [
        (report(), "1 violated", "red"),
        (runs.report(runs.trial("1", *ALL)), f"{len(CORE)}/{len(CORE)} core", "brightgreen"),
        (runs.report(runs.trial("1", *ALL[:3])), f"3/{len(CORE)} core", "yellow"),
        (
            runs.report(runs.trial("1", *ALL[1:], runs.verdict(CORE[0], runs.UNKNOWN))),
            f"{len(CORE) - 1}/{len(CORE)} core, 1 inconclusive",
            "yellow",
        ),
        (runs.report(runs.trial("1", *ALL), partial=True), "interrupted", "lightgrey"),
        (runs.report(), "nothing tried", "lightgrey"),
        (runs.report(runs.trial("1", runs.verdict(SLUG, runs.BAD), hostile="hostile")), "nothing tried", "lightgrey"),
    ],
)
def test_a_badge_says_what_came_of_it(of: Report, message: str, colour: str) -> None:
    endpoint = json.loads(FORMATS["badge-json"].make(ReportedRun(report=of, baseline=KNOWN)))
    assert (endpoint["message"], endpoint["color"], endpoint["schemaVersion"]) == (message, colour, 1)
    picture = ElementTree.fromstring(FORMATS["badge"].make(ReportedRun(report=of)))
    assert picture.get("aria-label") == f"staleproof: {message}"
    assert [each.text for each in picture.iter("{http://www.w3.org/2000/svg}text")] == ["staleproof", message]


# --- traces --------------------------------------------------------------------------------------------------------------------


def test_a_trace_has_what_the_history_has() -> None:
    history = hostile.recorded().history
    events = json.loads(of_trials([("001", history)], {}))["traceEvents"]
    count = {name: sum(event["ph"] == "b" and event["id"].startswith(name) for event in events) for name in ("request ", "frame ")}
    assert count["request "] == sum(isinstance(entry, Asked) for entry in history.entries)
    assert count["frame "] == sum(isinstance(entry, Withheld) for entry in history.entries) > 0
    shown = [event for event in events if event["ph"] == "i"]
    assert len(shown) >= sum(isinstance(entry, Committed | Delivered) for entry in history.entries)
    tracks = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert tracks >= {"steps", "faults", "requests", "pods: what was true", "pods: what was shown"}


def test_what_begins_in_a_trace_ends_there() -> None:
    events = json.loads(of_trials([("001", hostile.recorded().history)], {}))["traceEvents"]
    begun = [(event["pid"], event["tid"], event["id"]) for event in events if event["ph"] == "b"]
    ended = [(event["pid"], event["tid"], event["id"]) for event in events if event["ph"] == "e"]
    assert sorted(begun) == sorted(ended)
    assert all(event["ts"] >= 0 and event.get("dur", 0) >= 0 for event in events if event["ph"] != "M")


def test_a_trace_says_which_findings_it_lacks() -> None:
    assert json.loads(FORMATS["trace"].make(ReportedRun(report=report())))["otherData"]["findings without a trace"] == "1"
    with_history = ReportedRun(report=report(), history=lambda trial: hostile.recorded().history)
    document = json.loads(FORMATS["trace"].make(with_history))
    assert "findings without a trace" not in document["otherData"]
    assert {event["pid"] for event in document["traceEvents"]} == {1}


# --- lines ---------------------------------------------------------------------------------------------------------------------


def test_results_are_lines_of_six_kinds() -> None:
    lines = [json.loads(line) for line in text("results", ReportedRun(report=report(), baseline=KNOWN)).splitlines()]
    kinds = [line["line"] for line in lines]
    assert kinds[0] == "run"
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "run": 1, "requirement": len(REQUIREMENTS), "trial": 4, "result": 5, "finding": 1, "leftOut": 1
    }  # fmt: skip
    said = {(line["trial"], line["requirement"]): line["result"] for line in lines if line["line"] == "result"}
    assert said[("001", SLUG)] == "known"
    assert said[("003", "no-blind-retry")] == said[("004", SLUG)] == "not scored"


# --- a run folder --------------------------------------------------------------------------------------------------------------


def test_formats_are_written_beside_the_report_and_read_from_it(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_bytes(encode(report()))
    found = read_report(find_run(str(tmp_path / "report.json")))
    assert found == report()
    written = list(write_formats(tmp_path, ("junit", "badge"), reported_run(tmp_path, found)))
    assert [path.name for path in written] == ["junit.xml", "badge.svg"]
    assert all(path.read_bytes() for path in written)


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no report\.json in .*name the folder of a run"):
        find_run(str(tmp_path))
    (tmp_path / "report.json").write_text('{"kind": "Report"')
    with pytest.raises(UsageError, match="it is not what a run of this version writes"):
        read_report(tmp_path)


@pytest.mark.parametrize(
    ("given", "meant"), [("", ()), ("junit", ("junit",)), (" sarif, junit,sarif ", ("sarif", "junit")), ("html,junit", ("junit",))]
)
def test_formats_are_named_with_commas(given: str, meant: tuple[str, ...]) -> None:
    assert named(given) == meant


def test_a_format_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match=r"of these: junit, summary, .* \(there is no 'pdf'\)"):
        named("junit,pdf")


# --- runs that are unusual -----------------------------------------------------------------------------------------------------


def test_junit_of_a_run_that_was_interrupted_has_an_error() -> None:
    good = runs.trial("001", runs.verdict("settles", runs.GOOD))
    root = junit(ReportedRun(report=runs.report(good, partial=True)))
    assert (root.get("tests"), root.get("errors")) == ("2", "1")
    assert [each.get("message") for each in root.iter("error")] == ["interrupted: only what was finished is here"]
    assert not list(junit(ReportedRun(report=runs.report(good))).iter("error"))


def test_junit_of_a_run_that_learnt_nothing_is_not_green() -> None:
    (suite,) = junit(ReportedRun(report=runs.report(unlearnt=True, minutes=1.0)))
    (skipped,) = suite.iter("skipped")
    assert suite.get("skipped") == "1"
    assert (skipped.get("message") or "").startswith("too little was tried: the time was over while it was watched without faults")


def test_a_summary_is_never_too_long() -> None:
    late = tuple(LeftOut(scenario="own-writes", title=f"{n} " + "t" * 290, why=f"{n} " + "w" * 290) for n in range(1600))
    found = [runs.trial(f"{n:05}", runs.verdict(SLUG, runs.BAD, cause=f"{n} " + "ä" * 300)) for n in range(2000)]
    for of in (runs.report(left_out=late), runs.report(*found), runs.report(*found, left_out=late, reproduce="x" * 1_000_000)):
        made = FORMATS["summary"].make(ReportedRun(report=of))
        assert len(made) <= MOST_BYTES
        assert b" more; report.json has them.\n" in made


def test_what_is_not_the_address_of_a_repository_is_in_no_sarif() -> None:
    for url, is_there in (("https://[example", False), ("ftp://example.com", False), ("https://example.com", True)):
        of = runs.report(implementation=Implementation(url=url))
        (made,) = json.loads(text("sarif", ReportedRun(report=of)))["runs"]
        assert ("versionControlProvenance" in made) == is_there


def test_the_worst_findings_have_a_trace() -> None:
    trials = [
        runs.trial(f"{n:03}", runs.verdict("settles", runs.BAD, cause=f"c{n}", severity="transient")) for n in range(1, MOST + 1)
    ]
    trials.append(runs.trial("999", runs.verdict("no-delete-of-unseen", runs.BAD, cause="worst", severity="destroyed")))
    history = result("naive-hidden-creates").history
    made = json.loads(text("trace", ReportedRun(report=runs.report(*trials), history=lambda trial: history)))
    names = [each["args"]["name"] for each in made["traceEvents"] if each["name"] == "process_name"]
    assert len(names) == MOST
    assert names[0].startswith("999 ")


@pytest.mark.parametrize("name", ["junit", "summary", "sarif", "results"])
def test_what_runs_a_finding_again_names_its_folder(name: str) -> None:
    again = "staleproof replay 0123456789"
    assert f"{again} --dir=build/staleproof" in text(name, ReportedRun(report=report(artefacts="build/staleproof")))
    assert again in text(name, ReportedRun(report=report()))
    assert "--dir" not in text(name, ReportedRun(report=report()))
