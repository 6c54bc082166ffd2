"""What is written in a format of others is what they say it is; what is written in one of ours follows the schema that we print."""

import functools
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
import xmlschema

from staleproof.cli.schema import SCHEMAS
from staleproof.report.baseline import Baseline, Known
from staleproof.report.formats import FORMATS
from staleproof.report.formats.reported_run import ReportedRun
from staleproof.report.formats.trace import of_trials
from staleproof.report.model import LeftOut, Report

from .. import runs
from . import hostile

PUBLISHED = Path(__file__).parents[3] / "schemas"
LEFT_OUT = (LeftOut(scenario="streams", title="cut it"), LeftOut(scenario="streams", title="cut it again", why="it cannot be done"))


def found(**more: Any) -> Report:  # noqa: ANN401  # fields of a report
    bad = runs.verdict(hostile.SLUG, runs.BAD, story=f"{hostile.SLUG} two pods", severity="duplicated", cause="a stale list")
    trials = (
        runs.trial("001", bad, runs.verdict("settles", runs.GOOD), reproduced=(3, 3), crash="0123456789", plan="abcdef0123"),
        runs.trial("002", runs.verdict("settles", runs.UNKNOWN, why="the references differ"), runs.verdict("cleans-up", runs.IDLE)),
        runs.trial("003", runs.verdict("no-blind-retry", runs.BAD, story="no-blind-retry again and again")),
        runs.trial("004", bad, hostile="hostile faults (DropFrame)"),
    )
    return runs.report(*trials, seed="7", left_out=LEFT_OUT, **more)


RUNS = {
    "findings": ReportedRun(report=found()),
    "known": ReportedRun(
        report=found(), baseline=Baseline(findings=(Known(cause="a stale list", requirements=(hostile.SLUG,), note="#7"),))
    ),
    "a place": ReportedRun(report=found(), source="internal/controller/my widget.go:12"),
    "nothing": ReportedRun(report=runs.report()),
    "interrupted": ReportedRun(report=found(partial=True)),
    **{name: hostile.run(text) for name, text in hostile.TEXTS.items()},
}


@pytest.fixture(params=list(RUNS.values()), ids=list(RUNS))
def run(request: pytest.FixtureRequest) -> ReportedRun:
    of: ReportedRun = request.param
    return of


@pytest.fixture(scope="module")
def jenkins() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(PUBLISHED / "junit-10.xsd")


@pytest.fixture(scope="module")
def oasis() -> jsonschema.Draft4Validator:
    return jsonschema.Draft4Validator(json.loads((PUBLISHED / "sarif-2.1.0-rtm.5.json").read_text()))


def test_junit_is_what_jenkins_takes(run: ReportedRun, jenkins: xmlschema.XMLSchema) -> None:
    jenkins.validate(ElementTree.fromstring(FORMATS["junit"].make(run)))


def test_the_schema_of_jenkins_refuses_what_is_none(jenkins: xmlschema.XMLSchema) -> None:
    root = ElementTree.fromstring(FORMATS["junit"].make(RUNS["findings"]))
    root[0][1].set("anything", "1")
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        jenkins.validate(root)


def test_sarif_is_what_the_standard_says(run: ReportedRun, oasis: jsonschema.Draft4Validator) -> None:
    oasis.validate(json.loads(FORMATS["sarif"].make(run)))


def test_the_schema_of_the_standard_refuses_what_is_none(oasis: jsonschema.Draft4Validator) -> None:
    document = json.loads(FORMATS["sarif"].make(RUNS["findings"]))
    document["runs"][0]["results"][0]["anything"] = 1
    with pytest.raises(jsonschema.ValidationError):
        oasis.validate(document)


@functools.cache
def validator(which: str) -> jsonschema.Draft202012Validator:
    schema = SCHEMAS[which]()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def validated(document: object, which: str) -> None:
    validator(which).validate(document)


def test_each_line_of_results_follows_its_schema(run: ReportedRun) -> None:
    for line in FORMATS["results"].make(run).split(b"\n")[:-1]:
        validated(json.loads(line), "results")


def test_the_badge_follows_its_schema(run: ReportedRun) -> None:
    validated(json.loads(FORMATS["badge-json"].make(run)), "badge")


def test_a_trace_follows_its_schema() -> None:
    result = hostile.recorded()
    validated(json.loads(of_trials([("001", result.history)], {"run": "7"})), "trace")
    validated(json.loads(FORMATS["trace"].make(RUNS["findings"])), "trace")


@pytest.mark.parametrize(
    ("which", "change"), [("badge", {"color": "pink"}), ("trace", {"traceEvents": [{}]}), ("results", {"line": "x"})]
)
def test_the_schemas_of_ours_refuse_what_is_none(which: str, change: dict[str, object]) -> None:
    name = {"badge": "badge-json"}.get(which, which)
    document = json.loads(FORMATS[name].make(RUNS["findings"]).split(b"\n")[0])
    with pytest.raises(jsonschema.ValidationError):
        validated({**document, **change}, which)
