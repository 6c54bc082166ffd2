"""A baseline: findings that a team knows of and lives with for now. They are reported, and fail no run; new ones do.

A finding is known by its cause, which is the same whatever plan shows it, or by its requirement if it has no cause. Conformance is
not changed by a baseline: what is violated is violated. The file is for people, who may add a `note` to each finding; it is only
written when they ask for it.
"""

import difflib
from collections.abc import Iterable
from typing import Literal

import msgspec
import yaml

from staleproof.checks.catalog import BY_SLUG
from staleproof.core.fault.suggest import mistakes
from staleproof.core.plan.plan import API_VERSION, ApiVersion
from staleproof.core.wording import not_yaml
from staleproof.report.inert import inert
from staleproof.report.model import FindingReport, Report, RequirementVerdict, findings

_HEAD = "# Findings that are known: they are reported, and fail no run. Written by the option update-baseline; notes are kept.\n"
_EXPECTED = "mend it, or have it written again with the option update-baseline"


class _Struct(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    pass


class Known(_Struct, frozen=True, kw_only=True):
    """A finding that is known.

    `scenarios` are those in which it was found; `headline` is what it looked like; `note` is whatever a user wants to say.
    """

    cause: str = ""
    requirements: tuple[str, ...]
    scenarios: tuple[str, ...] = ()
    headline: str = ""
    note: str = ""

    @property
    def key(self) -> str:
        return self.cause or self.requirements[0]


class Baseline(_Struct, frozen=True, kw_only=True):
    """All findings that are known."""

    api_version: ApiVersion = API_VERSION
    kind: Literal["Baseline"] = "Baseline"
    findings: tuple[Known, ...] = ()

    def has(self, cause: str, requirement: str) -> bool:
        """Whether a finding with this cause, or without one about this requirement, is known."""
        return inert(cause or requirement) in {each.key for each in self.findings}  # which were written from a report


class BaselineError(ValueError):
    """A baseline that cannot be read; the message says where, and what to do."""


def decode(data: bytes) -> Baseline:
    """The baseline in a file. BaselineError when it is not one, as it may be after a user edited it."""
    try:
        raw = yaml.safe_load(data)
    except yaml.YAMLError as err:
        raise BaselineError(f"{not_yaml(err)}; {_EXPECTED}") from err
    if not isinstance(raw, dict) or raw.get("kind") != "Baseline":
        raise BaselineError(f"expected an object with kind: Baseline, found {type(raw).__name__}; {_EXPECTED}")
    if raw.get("apiVersion") != API_VERSION:
        raise BaselineError(f"expected apiVersion: {API_VERSION}, found {raw.get('apiVersion')!r}; {_EXPECTED}")
    try:
        found = msgspec.convert(raw, Baseline)
    except msgspec.ValidationError as err:
        raise BaselineError(f"{'; '.join(mistakes(raw, Baseline)) or err}; {_EXPECTED}") from err
    if wrong := [text for number, each in enumerate(found.findings, 1) for text in _unknown(number, each)]:
        raise BaselineError(f"{'; '.join(wrong)}; {_EXPECTED}")
    return found


def _unknown(number: int, known: Known) -> Iterable[str]:
    """What is said there that staleproof does not know."""
    if not known.requirements:
        yield f"finding {number}: requirements is empty"
    for slug in known.requirements:
        if slug not in BY_SLUG:
            meant = difflib.get_close_matches(slug, BY_SLUG, 1)
            yield f"finding {number}: no requirement {slug!r}{f', did you mean {meant[0]!r}?' if meant else ''}"


def encode(baseline: Baseline) -> bytes:
    """The file, for people."""
    findings = [{name: value for name, value in msgspec.to_builtins(each).items() if value} for each in baseline.findings]
    raw = {"apiVersion": baseline.api_version, "kind": baseline.kind, "findings": findings}
    return (_HEAD + yaml.safe_dump(raw, sort_keys=False, allow_unicode=True, width=130)).encode()


def gone(baseline: Baseline, report: Report) -> list[Known]:
    """Those that this run looked for, in a scenario in which they were found, and did not find."""
    found = {each.cause or each.requirements[0] for each in findings(report.trials)}
    return [each for each in baseline.findings if each.key not in found and not report.partial and _looked_for(each, report)]


def _looked_for(known: Known, report: Report) -> bool:
    trials = [trial for trial in report.trials if not known.scenarios or trial.scenario in known.scenarios]
    tried = {verdict.requirement for trial in trials for verdict in trial.verdicts if verdict.exercised}
    return not tried.isdisjoint(known.requirements)


def new(baseline: Baseline, report: Report) -> list[FindingReport]:
    """What was found and is not known."""
    return [each for each in findings(report.trials) if not baseline.has(each.cause, each.requirements[0])]


def excused(baseline: Baseline, report: Report) -> Report:
    """The report for a user who lives with what is known: that counts as passed."""

    def judged(verdict: RequirementVerdict) -> RequirementVerdict:
        is_known = verdict.result == "failed" and baseline.has(verdict.cause, verdict.requirement)
        return msgspec.structs.replace(verdict, result="passed") if is_known else verdict

    trials = (msgspec.structs.replace(trial, verdicts=tuple(map(judged, trial.verdicts))) for trial in report.trials)
    return msgspec.structs.replace(report, trials=tuple(trials))


def updated(baseline: Baseline, report: Report) -> Baseline:
    """With what was found, and without what is gone; what was not looked for stays, and so do notes."""
    before, lost = {each.key: each for each in baseline.findings}, {each.key for each in gone(baseline, report)}
    kept = {key: each for key, each in before.items() if key not in lost}
    for each in findings(report.trials):
        scenarios = {trial.scenario for trial in report.trials if trial.name in each.trials}
        known = Known(cause=each.cause, requirements=each.requirements, scenarios=tuple(sorted(scenarios)), headline=each.headline)
        earlier = before.get(known.key)
        kept[known.key] = msgspec.structs.replace(known, note=earlier.note) if earlier is not None else known
    return Baseline(findings=tuple(kept.values()))


def in_words(baseline: Baseline, report: Report) -> list[str]:
    """What a run shows of a baseline: how many findings are known and new, and which are gone."""
    unknown = new(baseline, report)
    known = len(findings(report.trials)) - len(unknown)
    how = "take it out with the option update-baseline"
    lost = [f"gone: {each.key} ({', '.join(each.requirements)}); {how}" for each in gone(baseline, report)]
    return [f"baseline: {known} known, {len(unknown)} new", *lost]
