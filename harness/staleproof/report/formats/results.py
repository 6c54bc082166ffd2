"""Newline-delimited JSON: the run, its trials, what each shows of each requirement, the findings, and what was not run."""

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.report.formats.reported_run import ReportedRun, Standing
from staleproof.report.model import TrialReport, Word, overall

Line = Literal["run", "requirement", "trial", "result", "finding", "leftOut"]


class _Line(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag_field="line", forbid_unknown_fields=True
):
    pass


class RunLine(_Line, frozen=True, kw_only=True, tag="run"):
    """The first line. `date` is UTC in ISO 8601; `trials` counts the lines of trials."""

    run_id: str
    date: str
    seed: str
    partial: bool
    trials: int
    reproduce: str
    environment: dict[str, str]


class RequirementLine(_Line, frozen=True, kw_only=True, tag="requirement"):
    """What the whole run shows of a requirement."""

    requirement: str
    level: str
    result: Word


class TrialLine(_Line, frozen=True, kw_only=True, tag="trial"):
    """A trial. `plan` is its plan's fingerprint; `evidence` the sha256 of its history."""

    trial: str
    scenario: str
    title: str
    plan: str
    folder: str
    evidence: str
    seconds: float
    faults_planned: int
    faults_fired: int
    hostile: str = ""


class ResultLine(_Line, frozen=True, kw_only=True, tag="result"):
    """What a trial shows of a requirement that it put to the test."""

    trial: str
    requirement: str
    result: Standing
    why: str = ""
    severity: str = ""
    cause: str = ""
    story: str = ""


class FindingLine(_Line, frozen=True, kw_only=True, tag="finding"):
    """All findings with one cause. `again` runs it again."""

    cause: str
    severity: str
    headline: str
    requirements: tuple[str, ...]
    trials: tuple[str, ...]
    known: bool
    again: str


class LeftOutLine(_Line, frozen=True, kw_only=True, tag="leftOut"):
    """A plan that was not run; without `why`, for want of time."""

    scenario: str
    title: str
    aims: tuple[str, ...]
    why: str = ""


AnyLine = RunLine | RequirementLine | TrialLine | ResultLine | FindingLine | LeftOutLine


def schema() -> dict[str, Any]:
    """The JSON Schema of a line."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(AnyLine)}


def results(run: ReportedRun) -> bytes:
    """The file."""
    return b"".join(msgspec.json.encode(line) + b"\n" for line in _lines(run))


def _lines(run: ReportedRun) -> Iterator[AnyLine]:
    report, joined = run.report, overall(run.report)
    yield RunLine(
        run_id=report.run_id,
        date=report.date,
        seed=report.seed,
        partial=report.partial,
        trials=len(report.trials),
        reproduce=report.reproduce,
        environment=report.environment,
    )
    for requirement in REQUIREMENTS:
        word: Any = joined[requirement.slug].word  # one of the four words
        yield RequirementLine(requirement=requirement.slug, level=requirement.level, result=word)
    for trial in report.trials:
        yield from _of_trial(trial, run)
    for finding in run.findings:
        yield FindingLine(
            cause=finding.cause,
            severity=finding.severity,
            headline=finding.headline,
            requirements=finding.requirements,
            trials=finding.trials,
            known=run.is_known(finding),
            again=run.again(finding),
        )
    for plan in report.left_out:
        yield LeftOutLine(scenario=plan.scenario, title=plan.title, aims=plan.aims, why=plan.why)


def _of_trial(trial: TrialReport, run: ReportedRun) -> Iterator[AnyLine]:
    yield TrialLine(
        trial=trial.name,
        scenario=trial.scenario,
        title=trial.title,
        plan=trial.plan,
        folder=trial.folder,
        evidence=trial.evidence,
        seconds=trial.seconds,
        faults_planned=trial.faults_planned,
        faults_fired=trial.faults_fired,
        hostile=trial.hostile,
    )
    for verdict in trial.verdicts:
        if verdict.exercised:
            yield ResultLine(
                trial=trial.name,
                requirement=verdict.requirement,
                result=run.standing(trial, verdict),
                why=verdict.why,
                severity=verdict.severity,
                cause=verdict.cause,
                story=verdict.story,
            )
