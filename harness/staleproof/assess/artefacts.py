"""What a run tells: report.json, conformance.yaml, and a crash file for each finding; and the plans that a person finds in them."""

import datetime
import hashlib
import json
from pathlib import Path
from typing import Any

import msgspec

from staleproof.assess.result import Result
from staleproof.assess.run_folder import HISTORY, PLAN, RunFolder, decoded, whole, write_whole
from staleproof.checks.facts.fault_outcomes import FaultOutcome
from staleproof.checks.facts.rest import cost
from staleproof.checks.story.narrative import explain
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.fingerprint import fingerprint
from staleproof.core.history import History, is_history
from staleproof.core.plan import Plan, PlanError
from staleproof.core.plan import decode as decode_plan
from staleproof.core.plan import encode as encode_plan
from staleproof.core.time_breakdown import spent
from staleproof.errors import UsageError
from staleproof.report import conformance
from staleproof.report.model import CostReport, FaultReport, LeftOut, Report, RequirementVerdict, TrialReport, encode, findings
from staleproof.shipped import shipped


def trial_report(result: Result, run_folder: Path, crash: str = "") -> TrialReport:
    """A result as the report tells it."""
    return TrialReport(
        name=result.name,
        plan=fingerprint(result.plan),
        scenario=result.plan.scenario,
        title=result.plan.title,
        folder=str(result.folder.relative_to(run_folder)),
        evidence=result.history.digest,
        kept=(result.folder / HISTORY).exists(),
        seconds=round(result.seconds, 3),
        references_seconds=round(result.references_seconds, 3),
        spent=spent(result.history),
        faults_planned=len(result.plan.faults),
        faults_fired=result.fired,
        reproduced=result.reproduced,
        crash=crash,
        hostile=result.hostile,
        faults=tuple(_fault_report(fault) for fault in result.faults),
        cost=_cost_report(result),
        verdicts=tuple(_requirement_verdict(verdict, result.history) for verdict in result.verdicts),
    )


def _requirement_verdict(verdict: Verdict, history: History) -> RequirementVerdict:
    story = explain(verdict.worst, history) if verdict.findings else None
    return RequirementVerdict(
        requirement=verdict.requirement,
        result=verdict.outcome.word,  # type: ignore[arg-type]  # one of the three words
        exercised=verdict.outcome is not Outcome.NOT_EXERCISED,
        why=verdict.why,
        story=story.text() if story is not None else "",
        severity=verdict.worst.severity if verdict.findings else "",
        cause=story.cause if story is not None else "",
    )


def left_out(plan: Plan) -> LeftOut:
    """A plan for which there was no time, as the report tells it."""
    faults = tuple(dict.fromkeys(fault.tag for fault in plan.faults))
    return LeftOut(scenario=plan.scenario, title=plan.title, aims=plan.aims, faults=faults)


def _cost_report(result: Result) -> CostReport | None:
    found = cost(Trial(result.history))
    return None if found is None else CostReport(primaries=found.primaries, writes=found.writes, void=found.void)


def _fault_report(fault: FaultOutcome) -> FaultReport:
    return FaultReport(
        fault=fault.name, resource=fault.resource, outcome=fault.outcome, at=fault.at, on=fault.on, row=fault.row, why=fault.why
    )


def write(run_folder: Path, report: Report) -> None:
    """Write report.json, with what was found in all, and conformance.yaml of a run."""
    write_whole(run_folder / "report.json", encode(msgspec.structs.replace(report, findings=tuple(findings(report.trials)))))
    write_whole(run_folder / "conformance.yaml", conformance.to_yaml(report, suite_digest=suite_digest()).encode())


def now() -> str:
    """The date of a report, in ISO format."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def suite_digest() -> str:
    """Ties a report to the exact conformance suite: its files, all that judges, and all that invents plans."""
    digest = hashlib.sha256()
    for folder in (shipped("suites.conformance"), shipped("checks"), shipped("draw")):
        for file in sorted(folder.rglob("*.py")):
            digest.update(file.relative_to(folder.parent).as_posix().encode() + b"\0" + file.read_bytes())
    return f"sha256:{digest.hexdigest()}"


def keep_crash(root: Path, result: Result, *, replayed: bool = False) -> str:
    """Keep a finding's plan under `crashes` and return the id that `replay` takes; remove it once it is fixed.

    Fixed means that every requirement that had failed passes, for the same controller; or for any when the plan was `replayed`,
    because that is how a fixed build is tried.
    """
    name = fingerprint(result.plan)
    path = root / "crashes" / f"{name}.json"
    if not result.failures:
        if _is_fixed(path, result, replayed=replayed):
            path.unlink(missing_ok=True)
        return ""
    crash = {
        "requirements": [verdict.requirement for verdict in result.failures],
        "findings": [story.text() for story in result.stories],
        "environment": result.history.header.environment,
        "plan": json.loads(encode_plan(result.plan)),
    }
    write_whole(path, json.dumps(crash, indent=2).encode() + b"\n")
    return name


def _is_fixed(path: Path, result: Result, *, replayed: bool) -> bool:
    try:
        crash: dict[str, Any] = json.loads(path.read_bytes())
        requirements, kept_for = list(crash["requirements"]), crash["plan"].get("controller")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False  # there is no such file, or it is not ours to remove
    passed = {verdict.requirement for verdict in result.verdicts if verdict.outcome is Outcome.PASS}
    same = kept_for == json.loads(encode_plan(result.plan)).get("controller")
    return passed.issuperset(requirements) and (replayed or same)


def find_plan(text: str, root: Path) -> Plan:
    """The plan that `replay` was given: a plan.json, a trial's folder or its name in the latest run, a history, a crash file, or
    the id of one. UsageError when there is no such file, or it holds no plan."""
    path = _with_plan(text, root)
    try:
        data = path.read_bytes()
    except OSError as err:
        raise UsageError(f"cannot read the plan {text[:100]!r}: {err.strerror or err}") from err
    if path.parent.name == "crashes":
        return _decoded(path, _plan_of_crash(path, data))
    return whole(decoded(path, data).header.plan if is_history(data) else _decoded(path, data), path)


def _with_plan(text: str, root: Path) -> Path:
    """The first file that it may mean."""
    named, crash = Path(text), root / "crashes" / f"{text}.json"
    try:
        trial = RunFolder(root / "latest").trial(text)
        candidates = [named / PLAN, named, crash, *([trial / PLAN] if trial else [])]
        path = next((path for path in candidates if path.is_file()), None)
    except OSError as err:
        raise UsageError(f"cannot read the plan {text[:100]!r}: {err.strerror or err}") from err
    if path is None:
        raise UsageError(
            f"no plan {text!r}: expected a plan.json, a trial's folder, its name in {root / 'latest'}, an exported trial, or the "
            f"id of a file in {crash.parent}"
        )
    return path


def _plan_of_crash(path: Path, data: bytes) -> bytes:
    try:
        return json.dumps(json.loads(data)["plan"]).encode()
    except (ValueError, KeyError, TypeError) as err:
        raise UsageError(f"{path} is not a crash file of staleproof: {err}") from err


def _decoded(path: Path, data: bytes) -> Plan:
    try:
        return decode_plan(data)
    except PlanError as err:
        raise UsageError(f"{path}: {err}") from err
