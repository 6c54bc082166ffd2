"""SARIF 2.1.0 for code scanning: the requirements as rules, and a result for each finding.

A finding has no line: staleproof does not read the controller's source. Its location is what `--controller-source` names in the
controller's repository, or else its plan. What is known is suppressed, with the reason that the baseline gives.
"""

import hashlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec

from staleproof.checks.catalog import BY_SLUG, REQUIREMENTS
from staleproof.checks.requirement import Requirement
from staleproof.report.formats.reported_run import ReportedRun
from staleproof.report.inert import in_one_line, inert
from staleproof.report.model import FindingReport, RequirementVerdict, TrialReport

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_WARNINGS = frozenset({"restless", "transient"})
_SOURCE, _RUN = "SRCROOT", "RUN"
Json = dict[str, Any]


def sarif(run: ReportedRun) -> bytes:
    """The file."""
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [_run(run)]}
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _run(run: ReportedRun) -> Json:
    report = run.report
    driver: Json = {"name": "staleproof", "rules": [_rule(each) for each in REQUIREMENTS]}
    if version := report.environment.get("staleproof"):
        driver["version"] = version
    made: Json = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"staleproof/{report.run_id}"},
        "invocations": [
            {"executionSuccessful": not report.partial, "commandLine": inert(report.reproduce), "endTimeUtc": report.date}
        ],
        "originalUriBaseIds": {
            _SOURCE: {"description": {"text": "the root of the controller's repository"}},
            _RUN: {"description": {"text": "the run folder"}},
        },
        "properties": {"seed": report.seed, "environment": report.environment},
        "results": [*(_result(each, run) for each in run.findings), *_notes(run)],
    }
    if _is_address(report.implementation.url):
        revision = {"revisionId": report.implementation.version} if report.implementation.version else {}
        made["versionControlProvenance"] = [
            {"repositoryUri": quote(report.implementation.url, safe=":/?#[]@!$&'()*+,;=%~"), **revision}
        ]
    return made


def _is_address(url: str) -> bool:
    """Whether it is one of the web's."""
    try:
        address = urlsplit(url)
    except ValueError:  # half of an IPv6 address
        return False
    return address.scheme in ("http", "https") and bool(address.netloc)


def _rule(requirement: Requirement) -> Json:
    return {
        "id": requirement.slug,
        "name": "".join(word.title() for word in requirement.slug.split("-")),
        "shortDescription": {"text": requirement.must},
        "fullDescription": {"text": f"{requirement.must} ({requirement.source})"},
        "help": {"text": f"Remedy: {requirement.remedy}", "markdown": f"**Remedy:** {requirement.remedy}"},
        "defaultConfiguration": {"level": "error" if requirement.scored else "note"},
        "properties": {"tags": ["kubernetes", "staleness", requirement.level]},
    }


def _result(finding: FindingReport, run: ReportedRun) -> Json:
    trial = run.first_trial(finding)
    again_, runs = trial.reproduced
    made = {
        **_about(finding.requirements[0], finding.headline, run.story(finding), trial, run),
        "level": "warning" if finding.severity in _WARNINGS else "error",
        "partialFingerprints": {"staleproofCause/v1": _digest(finding.cause or finding.requirements[0])},
        "properties": {
            "severity": finding.severity,
            "cause": finding.cause,
            "requirements": finding.requirements,
            "trials": finding.trials,
            "plan": trial.plan,
            "seed": run.report.seed,
            "reproduced": f"{again_}/{runs}",
            "reproduction": run.again(finding),
        },
    }
    if run.is_known(finding):
        note = next((each.note for each in run.baseline.findings if each.key == (finding.cause or finding.requirements[0])), "")
        made["suppressions"] = [{"kind": "external", "justification": inert(note) or "it is in the baseline"}]
    return made


def _notes(run: ReportedRun) -> Iterator[Json]:
    """What failed and is not scored."""
    for trial, verdict in run.unscored():
        yield {
            **_note(trial, verdict, run),
            "level": "note",
            "properties": {"scored": False, "hostile": trial.hostile, "plan": trial.plan},
        }


def _note(trial: TrialReport, verdict: RequirementVerdict, run: ReportedRun) -> Json:
    return _about(verdict.requirement, verdict.headline, verdict.story, trial, run)


def _about(slug: str, headline: str, story: str, trial: TrialReport, run: ReportedRun) -> Json:
    """What every result has. Only the rules of this version have a place in the list of rules."""
    place = {"ruleIndex": list(BY_SLUG).index(slug)} if slug in BY_SLUG else {}
    text = "\n\n".join(filter(None, (in_one_line(headline) or "a requirement is violated", inert(story))))
    return {"ruleId": slug, **place, "message": {"text": text}, "locations": [{"physicalLocation": _location(trial, run.source)}]}


def _location(trial: TrialReport, source: str) -> Json:
    path, _, line = source.partition(":")
    artefact = (
        {"uri": quote(path), "uriBaseId": _SOURCE} if path else {"uri": quote(f"{trial.folder}/plan.json"), "uriBaseId": _RUN}
    )
    return {"artifactLocation": artefact, "region": {"startLine": int(line or 1)}}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
