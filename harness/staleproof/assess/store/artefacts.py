"""What a run reports: report.json, conformance.yaml, report.html, and observations.jsonl if plans were drawn."""

import datetime
import functools
import hashlib
from pathlib import Path

import msgspec

from staleproof.assess.store.pages import write_page
from staleproof.assess.store.run_folder import HISTORY, write_atomically
from staleproof.assess.trial.result import Result
from staleproof.checks.ends.rest import cost
from staleproof.checks.facts.fault_outcomes import FaultOutcome
from staleproof.checks.story.narrative import explain
from staleproof.checks.trial import indexed
from staleproof.checks.verdict import Verdict
from staleproof.core.history.external_series import external_series
from staleproof.core.history.history import History
from staleproof.core.history.time_breakdown import spent
from staleproof.core.plan.coverage import Occasion, occasions
from staleproof.core.plan.fingerprint import fingerprint
from staleproof.core.plan.plan import Plan
from staleproof.draw.scenarios import DRAWN
from staleproof.report import conformance
from staleproof.report.inert import all_inert
from staleproof.report.model import (
    CostReport,
    FaultReport,
    HealedReport,
    LeftOut,
    Report,
    RequirementVerdict,
    TrialReport,
    encode,
    findings,
)
from staleproof.report.observations import observations
from staleproof.shipped import shipped


def trial_report(result: Result, run_folder: Path, crash: str = "") -> TrialReport:
    """A result as the report tells it."""
    healed = result.healed
    report = TrialReport(
        name=result.name,
        plan=fingerprint(result.plan),
        scenario=result.plan.scenario,
        title=result.plan.title,
        aims=result.plan.aims,
        folder=str(result.folder.relative_to(run_folder)),
        evidence=result.history.digest,
        kept=(result.folder / HISTORY).exists(),
        seconds=round(result.seconds, 3),
        references_seconds=round(result.references_seconds, 3),
        confirming_seconds=round(result.confirming_seconds, 3),
        spent=spent(result.history),
        faults_planned=len(result.plan.faults),
        faults_fired=result.fired,
        reproduced=result.reproduced,
        crash=crash,
        shrunk=result.shrunk,
        again=result.again,
        unconfirmed=result.is_unconfirmed,
        healed_by=result.healed_by,
        hostile=result.hostile,
        faults=_fault_reports(result),
        swept=_fault_reports(result.swept) if result.swept is not None else (),
        cost=_cost_report(result),
        healed=HealedReport(seconds=round(healed.seconds, 1), lacked=healed.lacked) if healed is not None else None,
        external=external_series(result.history),
        verdicts=tuple(_requirement_verdict(verdict, result.history) for verdict in result.verdicts),
    )
    return all_inert(report)


def _requirement_verdict(verdict: Verdict, history: History) -> RequirementVerdict:
    story = explain(verdict.worst, history) if verdict.findings else None
    return RequirementVerdict(
        requirement=verdict.requirement,
        result=verdict.outcome.word,  # type: ignore[arg-type]  # one of the four words
        why=verdict.why,
        story=story.text() if story is not None else "",
        severity=verdict.worst.severity if verdict.findings else "",
        cause=story.cause if story is not None else "",
    )


def left_out(plan: Plan, why: str = "") -> LeftOut:
    """A plan that was not run, as the report tells it. `why`: empty for want of time."""
    faults = tuple(dict.fromkeys(fault.tag for fault in plan.faults))
    return LeftOut(scenario=plan.scenario, title=plan.title, plan=fingerprint(plan), why=why, aims=plan.aims, faults=faults)


def _cost_report(result: Result) -> CostReport | None:
    found = cost(indexed(result.history))
    return None if found is None else CostReport(primaries=found.primaries, writes=found.writes, void=found.void)


def _fault_reports(result: Result) -> tuple[FaultReport, ...]:
    return tuple(map(_fault_report, result.faults, occasions(result.history.header.plan)))


def _fault_report(fault: FaultOutcome, meant: Occasion) -> FaultReport:
    return FaultReport(
        fault=fault.name,
        resource=fault.resource,
        outcome=fault.outcome,
        at=fault.at,
        on=fault.on,
        row=fault.row,
        why=fault.why,
        name=meant.fault,
        phase=meant.phase,
        move=meant.move,
    )


def write(run_folder: Path, report: Report) -> None:
    """Write report.json, conformance.yaml, what became of drawn plans, and report.html."""
    write_json(run_folder, report)
    write_atomically(run_folder / "conformance.yaml", conformance.to_yaml(report).encode())
    drawn = observations(report, {family.scenario for family in DRAWN})
    if drawn:
        write_atomically(run_folder / "observations.jsonl", drawn)
    write_page(run_folder, report)


def write_json(run_folder: Path, report: Report) -> None:
    """Write report.json alone, with what was found in all. That takes milliseconds; conformance.yaml takes half a second."""
    write_atomically(run_folder / "report.json", encode(msgspec.structs.replace(report, findings=tuple(findings(report.trials)))))


def now() -> str:
    """The date of a report, in ISO format."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


@functools.cache
def suite_digest() -> str:
    """Ties a report to the exact conformance suite: its files, all that judges, and all that invents plans."""
    digest = hashlib.sha256()
    for folder in (shipped("suites.conformance"), shipped("checks"), shipped("draw")):
        for file in sorted(folder.rglob("*.py")):
            digest.update(file.relative_to(folder.parent).as_posix().encode() + b"\0" + file.read_bytes())
    return f"sha256:{digest.hexdigest()}"
