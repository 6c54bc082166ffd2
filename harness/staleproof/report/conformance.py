"""conformance.yaml: kind ConformanceReport, in the manner of Gateway API conformance, derived from the report.

Trials under hostile faults are left out: no API server causes them, so they say nothing about conformance.
"""

import hashlib
from collections import Counter
from typing import Annotated, Any, Literal

import msgspec
import yaml
from msgspec import UNSET, UnsetType

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.checks.requirement import Requirement
from staleproof.checks.verdict import Outcome, Severity, rank
from staleproof.core.plan.plan import API_VERSION, ApiVersion
from staleproof.report.model import Report, Word, exercised, overall, reason, refused, scored, tried

PROFILE = "WATCH-CACHE"
_MUTABLE = frozenset({"", "latest", "main", "master", "head", "dev"})
_WORDS = {"success": "Core succeeded", "partial": "Core partially succeeded", "failure": "Core failed"}

TestResult = Literal["success", "partial", "failure"]
Count = Annotated[int, msgspec.Meta(ge=0)]


class _Struct(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Keys are lower camel case; what is not set is not written."""


class Tool(_Struct, frozen=True, kw_only=True):
    """What made the report. `suite_digest` ties it to the exact suite and catalogue."""

    name: str = "staleproof"
    version: str
    suite_digest: str


class Metadata(_Struct, frozen=True, kw_only=True):
    """Of the run. `date` is UTC, in ISO 8601."""

    date: str
    run_id: str
    tool: Tool


class NamedImplementation(_Struct, frozen=True, kw_only=True):
    """Who made the controller, as they say; `contact` has addresses or names of people."""

    organization: str
    project: str
    url: str
    version: str
    contact: tuple[str, ...]
    image_digest: str | UnsetType = UNSET


class RequirementResult(_Struct, frozen=True, kw_only=True):
    """One requirement over the trials that exercised it, `trials` in number. `faults_...` are counted over these trials. Of `plans`
    that were made for it, `plans_exercised` exercised it; the others found no occasion, or were left out.

    `reason` says why it was not passed; `severity` what the worst of its failures does, `causes` what lies behind them, the worst
    first. `reproduced` says in how many of its re-runs a failure came back. `evidence` is a digest of
    the trials' histories.
    """

    name: str
    result: Word
    reason: str | UnsetType = UNSET
    severity: Severity | UnsetType = UNSET
    causes: tuple[str, ...] | UnsetType = UNSET
    trials: Count
    plans: Count = 0
    plans_exercised: Count = 0
    faults_planned: Count
    faults_fired: Count
    faults_refused: Count = 0
    reproduced: Annotated[str, msgspec.Meta(pattern="^[0-9]+/[0-9]+$")] | UnsetType = UNSET
    evidence: Annotated[str, msgspec.Meta(pattern="^(sha256:[0-9a-f]{64})?$")]


class Statistics(_Struct, frozen=True, kw_only=True):
    """How many requirements had each result."""

    passed: Count
    failed: Count
    inconclusive: Count
    not_exercised: Count = 0

    @property
    def result(self) -> TestResult:
        if self.failed:
            return "failure"
        return "partial" if self.inconclusive or self.not_exercised else "success"

    @property
    def summary(self) -> str:
        if self.result == "success":
            return f"{_WORDS[self.result]}."
        counts = f"{self.failed} failed, {self.inconclusive} inconclusive, {self.not_exercised} not exercised, {self.passed} passed"
        return f"{_WORDS[self.result]}: {counts}."


class LevelResult(_Struct, frozen=True, kw_only=True):
    """All requirements of a level."""

    result: TestResult
    statistics: Statistics
    tests: tuple[RequirementResult, ...]


class ProfileResult(_Struct, frozen=True, kw_only=True):
    """A profile is a set of requirements; so far there is one."""

    name: str
    summary: str
    core: LevelResult


class ConformanceReport(_Struct, frozen=True, kw_only=True):
    """The document. `not_submittable_because` says why nobody else could rely on it; `partial`: the run was interrupted;
    `plans_left_out` counts those for which there was no time, or that could not be carried out."""

    api_version: ApiVersion
    kind: Literal["ConformanceReport"]
    metadata: Metadata
    implementation: NamedImplementation
    environment: dict[str, str]
    mode: str = "default"
    seed: str = ""
    profiles: tuple[ProfileResult, ...]
    partial: bool = False
    plans_left_out: Count = 0
    submittable: bool
    not_submittable_because: tuple[str, ...] | UnsetType = UNSET
    reproduce: str


SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    **msgspec.json.schema(ConformanceReport),
}


def conformance(report: Report, *, suite_digest: str) -> ConformanceReport:
    """The ConformanceReport of a run."""
    counted, told = scored(report), report.implementation
    tests = tuple(_result(requirement, counted) for requirement in REQUIREMENTS if requirement.level == "core")
    count = Counter(test.result for test in tests)
    statistics = Statistics(
        passed=count["passed"],
        failed=count["failed"],
        inconclusive=count["inconclusive"],
        not_exercised=count["not exercised"],
    )
    because = tuple(_not_submittable(report))
    return ConformanceReport(
        api_version=API_VERSION,
        kind="ConformanceReport",
        metadata=Metadata(
            date=report.date,
            run_id=report.run_id,
            tool=Tool(version=report.environment.get("staleproof", ""), suite_digest=suite_digest),
        ),
        implementation=NamedImplementation(**msgspec.structs.asdict(told) | {"image_digest": told.image_digest or UNSET}),
        environment={key: value for key, value in report.environment.items() if key != "staleproof"},
        seed=report.seed,
        profiles=(
            ProfileResult(
                name=PROFILE,
                summary=statistics.summary,
                core=LevelResult(result=statistics.result, statistics=statistics, tests=tests),
            ),
        ),
        partial=report.partial,
        plans_left_out=len(report.left_out),
        submittable=not because,
        not_submittable_because=because or UNSET,
        reproduce=report.reproduce,
    )


def to_yaml(report: Report, *, suite_digest: str) -> str:
    """conformance.yaml."""
    document = msgspec.to_builtins(conformance(report, suite_digest=suite_digest))
    return yaml.safe_dump(document, sort_keys=False, width=120, allow_unicode=True)


def _result(requirement: Requirement, report: Report) -> RequirementResult:
    """One requirement over all the trials that exercised it."""
    joined = overall(report)[requirement.slug]
    counted, aimed = exercised(requirement.slug, report.trials), tried(requirement.slug, report)
    why = reason(requirement.slug, report.trials, joined) if joined is not Outcome.PASS else ""
    failed = [trial for trial, verdict in counted if verdict.result == "failed"]
    failures = sorted((verdict for _, verdict in counted if verdict.result == "failed"), key=lambda each: rank(each.severity))
    causes = tuple(dict.fromkeys(verdict.cause for verdict in failures if verdict.cause))
    digest = hashlib.sha256("".join(sorted(trial.evidence for trial, _ in counted)).encode()).hexdigest()
    return RequirementResult(
        name=requirement.slug,
        result=joined.word,  # type: ignore[arg-type]  # one of the four words
        reason=why or UNSET,
        severity=(failures[0].severity or UNSET) if failures else UNSET,
        causes=causes or UNSET,
        trials=len(counted),
        plans=aimed.plans,
        plans_exercised=aimed.exercised,
        faults_planned=sum(trial.faults_planned for trial, _ in counted),
        faults_fired=sum(trial.faults_fired for trial, _ in counted),
        faults_refused=refused([trial for trial, _ in counted]),
        reproduced="{}/{}".format(*failed[0].reproduced) if failed else UNSET,
        evidence=f"sha256:{digest}" if counted else "",
    )


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
    if report.left_out:
        because.append(f"{len(report.left_out)} plans were left out")
    if report.environment.get("staleproof", "").startswith("0."):
        because.append("this staleproof is not a stable release")
    return because
