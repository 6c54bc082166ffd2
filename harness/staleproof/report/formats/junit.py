"""JUnit XML as Jenkins' schema has it: a suite for each trial, with properties; a case for each requirement that it tested.

A finding that is not scored, or is known, is skipped, as what is inconclusive is: they fail no run. A run that was interrupted, or
tried too little, has a suite of its own, so that what was finished does not pass for all of it.
"""

from collections import Counter
from collections.abc import Iterator
from xml.etree import ElementTree

from staleproof.checks.verdict import rank
from staleproof.report.formats.reported_run import ReportedRun
from staleproof.report.inert import in_one_line, inert
from staleproof.report.model import LeftOut, Report, RequirementVerdict, TrialReport, replay
from staleproof.report.terminal import lacking

_PACKAGE = "staleproof"
_SKIPPED = {"known": "known, and in the baseline", "not scored": "not scored", "inconclusive": "inconclusive"}


def junit(run: ReportedRun) -> bytes:
    """The file."""
    report = run.report
    suites = [*_whole(report), *(_suite(trial, run) for trial in report.trials), *map(_left_out, report.left_out)]
    totals = {name: str(sum(int(suite.attrib[name]) for suite in suites)) for name in ("tests", "failures", "errors")}
    about = {"name": _PACKAGE, "time": _seconds(sum(trial.seconds for trial in report.trials))}
    root = ElementTree.Element("testsuites", about | totals)
    root.extend(suites)
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _whole(report: Report) -> Iterator[ElementTree.Element]:
    """What the run as a whole lacks, if anything."""
    kind, lacks = ("error", "interrupted: only what was finished is here") if report.partial else ("skipped", lacking(report))
    if lacks:
        errors, skipped = ("1", "0") if report.partial else ("0", "1")
        suite = ElementTree.Element(
            "testsuite", name="the run", tests="1", failures="0", errors=errors, skipped=skipped, time="0.000"
        )
        case = ElementTree.SubElement(suite, "testcase", name="the run", classname=f"{_PACKAGE}.run")
        ElementTree.SubElement(case, kind, message=in_one_line(lacks if report.partial else f"too little was tried: {lacks}"))
        yield suite


def _suite(trial: TrialReport, run: ReportedRun) -> ElementTree.Element:
    verdicts = [verdict for verdict in trial.verdicts if verdict.exercised]
    count = Counter(run.standing(trial, verdict) for verdict in verdicts)
    suite = ElementTree.Element(
        "testsuite",
        name=in_one_line(f"{trial.name} {trial.title or trial.scenario}"),
        tests=str(len(verdicts)),
        failures=str(count["failed"]),
        errors="0",
        skipped=str(sum(standing in _SKIPPED for standing in count.elements())),
        time=_seconds(trial.seconds),
        timestamp=run.report.date,
        package=f"{_PACKAGE}.{trial.scenario}",
    )
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _properties(trial, run):
        ElementTree.SubElement(properties, "property", name=name, value=in_one_line(value))
    suite.extend(_case(trial, verdict, run) for verdict in verdicts)
    return suite


def _properties(trial: TrialReport, run: ReportedRun) -> Iterator[tuple[str, str]]:
    """Those that have a value: the requirements that are violated, and how badly, are of what counts."""
    failed = sorted((each for each in trial.verdicts if each.result == "failed"), key=lambda each: rank(each.severity))
    again, runs = trial.reproduced
    yield from (
        (name, value)
        for name, value in {
            "slug": ", ".join(each.requirement for each in failed),
            "severity": failed[0].severity if failed else "",
            "cause": failed[0].cause if failed else "",
            "scenario": trial.scenario,
            "plan": trial.plan,
            "plan.file": f"{trial.folder}/plan.json",
            "seed": run.report.seed,
            "reproduced": f"{again}/{runs}" if runs else "",
            "reproduction": replay(trial.crash or trial.name, run.report.artefacts),
            "hostile": trial.hostile,
            "evidence": f"sha256:{trial.evidence}",
        }.items()
        if value
    )


def _case(trial: TrialReport, verdict: RequirementVerdict, run: ReportedRun) -> ElementTree.Element:
    case = ElementTree.Element("testcase", name=verdict.requirement, classname=f"{_PACKAGE}.{trial.scenario}.{trial.name}")
    standing, headline = run.standing(trial, verdict), in_one_line(verdict.headline)
    if standing == "failed":
        failure = ElementTree.SubElement(case, "failure", type=verdict.requirement, message=headline)
        failure.text = inert(f"{verdict.story}\n\nagain: {replay(trial.crash or trial.name, run.report.artefacts)}")
    elif standing in _SKIPPED:
        ElementTree.SubElement(case, "skipped", message=f"{_SKIPPED[standing]}: {headline}")
    return case


def _left_out(plan: LeftOut) -> ElementTree.Element:
    """A plan that was not run."""
    name = in_one_line(plan.title or plan.scenario)
    suite = ElementTree.Element("testsuite", name=name, tests="1", failures="0", errors="0", skipped="1", time="0.000")
    case = ElementTree.SubElement(suite, "testcase", name=name, classname=f"{_PACKAGE}.{plan.scenario}")
    ElementTree.SubElement(case, "skipped", message=in_one_line(f"left out: {plan.why or 'there was no time for it'}"))
    return suite


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"
