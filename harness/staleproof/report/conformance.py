"""conformance.yaml: kind ConformanceReport, in the manner of Gateway API conformance. Derived from the report, never typed in.

Trials under hostile faults are left out: no API server does that, so they say nothing about conformance.
"""

import hashlib
from typing import Any

import yaml

from staleproof.checks.catalog import REQUIREMENTS, Requirement
from staleproof.checks.verdict import Outcome
from staleproof.core.plan import API_VERSION
from staleproof.report.model import Report, outcome, overall, refused, scored, verdicts_on

PROFILE = "WATCH-CACHE"
_MUTABLE = frozenset({"", "latest", "main", "master", "head", "dev"})

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "ConformanceReport",
    "type": "object",
    "required": ["apiVersion", "kind", "metadata", "implementation", "environment", "profiles", "submittable", "reproduce"],
    "properties": {
        "apiVersion": {"const": API_VERSION},
        "kind": {"const": "ConformanceReport"},
        "metadata": {"type": "object", "required": ["date", "runId", "tool"]},
        "implementation": {"type": "object", "required": ["organization", "project", "url", "version", "contact"]},
        "environment": {"type": "object"},
        "mode": {"type": "string"},
        "seed": {"type": "string"},
        "profiles": {"type": "array", "items": {"$ref": "#/$defs/profile"}},
        "submittable": {"type": "boolean"},
        "notSubmittableBecause": {"type": "array", "items": {"type": "string"}},
        "reproduce": {"type": "string"},
        "partial": {"type": "boolean"},
    },
    "additionalProperties": False,
    "$defs": {
        "profile": {
            "type": "object",
            "required": ["name", "summary", "core"],
            "properties": {"name": {"type": "string"}, "summary": {"type": "string"}, "core": {"$ref": "#/$defs/level"}},
            "additionalProperties": False,
        },
        "level": {
            "type": "object",
            "required": ["result", "statistics", "tests"],
            "properties": {
                "result": {"enum": ["success", "partial", "failure"]},
                "statistics": {
                    "type": "object",
                    "required": ["passed", "failed", "inconclusive", "skipped"],
                    "additionalProperties": {"type": "integer", "minimum": 0},
                },
                "tests": {"type": "array", "items": {"$ref": "#/$defs/test"}},
            },
            "additionalProperties": False,
        },
        "test": {
            "type": "object",
            "required": ["name", "result", "trials", "faultsPlanned", "faultsFired", "evidence"],
            "properties": {
                "name": {"type": "string"},
                "result": {"enum": ["passed", "failed", "inconclusive"]},
                "reason": {"type": "string"},
                "trials": {"type": "integer", "minimum": 0},
                "faultsPlanned": {"type": "integer", "minimum": 0},
                "faultsFired": {"type": "integer", "minimum": 0},
                "faultsRefused": {"type": "integer", "minimum": 0},
                "reproduced": {"type": "string", "pattern": "^[0-9]+/[0-9]+$"},
                "evidence": {"type": "string", "pattern": "^(sha256:[0-9a-f]{64})?$"},
            },
            "additionalProperties": False,
        },
    },
}


def document(report: Report, *, suite_digest: str) -> dict[str, Any]:
    """The ConformanceReport of a run, as it is written to YAML."""
    counted = scored(report)
    tests = [_test(requirement, counted) for requirement in REQUIREMENTS if requirement.level == "core"]
    count = {word: sum(test["result"] == word for test in tests) for word in ("passed", "failed", "inconclusive")}
    because = _not_submittable(report)
    environment = {key: value for key, value in report.environment.items() if key != "staleproof"}
    return {
        "apiVersion": API_VERSION,
        "kind": "ConformanceReport",
        "metadata": {
            "date": report.date,
            "runId": report.run_id,
            "tool": {"name": "staleproof", "version": report.environment.get("staleproof", ""), "suiteDigest": suite_digest},
        },
        "implementation": _implementation(report),
        "environment": environment,
        "mode": "default",
        "seed": report.seed,
        "profiles": [
            {
                "name": PROFILE,
                "summary": _summary(count),
                "core": {"result": _result(count), "statistics": {**count, "skipped": 0}, "tests": tests},
            }
        ],
        "partial": report.partial,
        "submittable": not because,
        **({"notSubmittableBecause": because} if because else {}),
        "reproduce": report.reproduce,
    }


def to_yaml(report: Report, *, suite_digest: str) -> str:
    return yaml.safe_dump(document(report, suite_digest=suite_digest), sort_keys=False, width=120, allow_unicode=True)


def _test(requirement: Requirement, report: Report) -> dict[str, Any]:
    """One requirement over all the trials that exercised it."""
    joined = overall(report)[requirement.slug]
    every = verdicts_on(requirement.slug, report.trials)
    counted = [(trial, verdict) for trial, verdict in every if outcome(verdict) is not Outcome.NOT_EXERCISED]
    reasons = [verdict.why for _, verdict in (counted or every) if outcome(verdict) is joined and verdict.why]
    failed = [trial for trial, verdict in counted if verdict.result == "failed"]
    digest = hashlib.sha256("".join(sorted(trial.evidence for trial, _ in counted)).encode()).hexdigest()
    return {
        "name": requirement.slug,
        "result": joined.word,
        **({"reason": reasons[0]} if reasons and joined is not Outcome.PASS else {}),
        "trials": len(counted),
        "faultsPlanned": sum(trial.faults_planned for trial, _ in counted),
        "faultsFired": sum(trial.faults_fired for trial, _ in counted),
        "faultsRefused": refused([trial for trial, _ in counted]),
        **({"reproduced": f"{failed[0].reproduced[0]}/{failed[0].reproduced[1]}"} if failed else {}),
        "evidence": f"sha256:{digest}" if counted else "",
    }


def _result(count: dict[str, int]) -> str:
    if count["failed"]:
        return "failure"
    return "partial" if count["inconclusive"] else "success"


def _summary(count: dict[str, int]) -> str:
    words = {"success": "Core succeeded.", "partial": "Core partially succeeded", "failure": "Core failed"}[_result(count)]
    if _result(count) == "success":
        return words
    return f"{words}: {count['failed']} failed, {count['inconclusive']} inconclusive, {count['passed']} passed."


def _implementation(report: Report) -> dict[str, Any]:
    told = report.implementation
    return {
        "organization": told.organization,
        "project": told.project,
        "url": told.url,
        "version": told.version,
        "contact": list(told.contact),
        **({"imageDigest": told.image_digest} if told.image_digest else {}),
    }


def _not_submittable(report: Report) -> list[str]:
    """Why nobody else could rely on this report; empty when they can."""
    told, because = report.implementation, []
    missing = [f"--implementation-{name}" for name in ("organization", "project", "url", "version") if not getattr(told, name)]
    if missing:
        because.append(f"the implementation is not named: {', '.join(missing)}")
    elif told.version.lower() in _MUTABLE:
        because.append(f"the version {told.version!r} is a branch or a moving tag, not a release")
    if report.partial:
        because.append("the run was interrupted")
    if report.environment.get("staleproof", "").startswith("0."):
        because.append("this staleproof is not a stable release")
    return because
