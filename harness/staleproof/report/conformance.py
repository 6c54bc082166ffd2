"""conformance.yaml: kind ConformanceReport, in the manner of Gateway API conformance, derived from the report.

Trials under hostile faults are left out: no API server causes them, so they say nothing about conformance. All sums follow from the
trials that are listed at its end, each with the digest of its history, so a reader can add them up again (`crosscheck`).
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

import msgspec
import yaml
from msgspec import UNSET, UnsetType

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.checks.requirement import Level, Requirement
from staleproof.checks.verdict import Outcome, Severity, rank
from staleproof.core.plan.plan import API_VERSION, ApiVersion
from staleproof.core.wording import plural, some
from staleproof.report.coverage import USUAL_ERROR
from staleproof.report.model import Report, TrialReport, Word, exercised, overall, reason, refused, scored, tried
from staleproof.version import is_release

PROFILE = "WATCH-CACHE"
NOT_CHECKED = "not checked"
"""So begins what a report's environment says of rights that the controller was not held to."""
_MUTABLE = frozenset({"", "latest", "main", "master", "head", "dev"})
_WORDS = {"success": "succeeded", "partial": "partially succeeded", "failure": "failed"}
_TYPED = frozenset({"kubernetes", "provider", "arch", "wireFormat", "rbac", "companions", "staleproof"})
"""What of a report's environment has a field of its own."""
_NOT_SENT = frozenset({USUAL_ERROR})
"""A line of a log is for those who made the run."""
_MOST = 3

TestResult = Literal["success", "partial", "failure"]
Count = Annotated[int, msgspec.Meta(ge=0)]
Digest = Annotated[str, msgspec.Meta(pattern="^sha256:[0-9a-f]{64}$")]
Reproduced = Annotated[str, msgspec.Meta(pattern="^[0-9]+/[0-9]+$")]


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


class Surroundings(_Struct, frozen=True, kw_only=True):
    """Where the controller ran.

    Attributes:
        provider: where the control plane came from.
        rbac_checked: whether the controller was held to its own rights; `rbac` says which, or why not.
        companions: the real controllers beside it.
        profile: how thorough the run was; `minutes`: it was limited to so many.
        versions: of Python and of each package that staleproof runs on, by name.
        notes: what else the run says of it.
    """

    kubernetes: str
    provider: str
    arch: str
    wire_format: str
    rbac_checked: bool
    rbac: str
    companions: tuple[str, ...]
    profile: str
    minutes: float | UnsetType = UNSET
    versions: dict[str, str]
    notes: dict[str, str]


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
    reproduced: Reproduced | UnsetType = UNSET
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
    def counts(self) -> str:
        return f"{self.failed} failed, {self.inconclusive} inconclusive, {self.not_exercised} not exercised, {self.passed} passed"


class LevelResult(_Struct, frozen=True, kw_only=True):
    """All requirements of a level."""

    result: TestResult
    statistics: Statistics
    tests: tuple[RequirementResult, ...]


class ToldResult(_Struct, frozen=True, kw_only=True):
    """Requirements that are told and not scored: one day they may be."""

    statistics: Statistics
    tests: tuple[RequirementResult, ...]


class ProfileResult(_Struct, frozen=True, kw_only=True):
    """A profile is a set of requirements; so far there is one."""

    name: str
    summary: str
    core: LevelResult
    extended: LevelResult
    provisional: ToldResult


class TrialEvidence(_Struct, frozen=True, kw_only=True):
    """One trial. `plan` is the fingerprint of its plan, `history` the digest of what was recorded, before compression; `aims` are
    the requirements that the plan was made for, `results` what came of those that it exercised."""

    name: str
    scenario: str
    plan: str
    history: Digest
    faults_planned: Count
    faults_fired: Count
    faults_refused: Count
    reproduced: Reproduced | UnsetType = UNSET
    aims: tuple[str, ...]
    results: dict[str, Word]


class LeftOutPlan(_Struct, frozen=True, kw_only=True):
    """A plan that was not run: without `why`, for want of time."""

    scenario: str
    plan: str
    aims: tuple[str, ...]
    why: str | UnsetType = UNSET


class Run(_Struct, frozen=True, kw_only=True):
    """One of the runs that were merged, and the command that does it again."""

    run_id: str
    seed: str
    reproduce: str


class ConformanceReport(_Struct, frozen=True, kw_only=True):
    """The document. `not_submittable_because` says why others could not rely on it; `partial`: the run was interrupted;
    `unlearnt`: the time was over before it was known what the controller does without faults, in one of the runs at least;
    `left_out` are the plans for which there was no time, or that could not be carried out, `plans_left_out` in number; `deselected`
    are tests of the suite that were not to be run. `runs` are those that were merged; there `reproduce` has all commands."""

    api_version: ApiVersion
    kind: Literal["ConformanceReport"]
    metadata: Metadata
    implementation: NamedImplementation
    environment: Surroundings
    mode: str = "default"
    seed: str = ""
    profiles: tuple[ProfileResult, ...]
    partial: bool = False
    unlearnt: bool | UnsetType = UNSET
    deselected: tuple[str, ...] | UnsetType = UNSET
    plans_left_out: Count = 0
    submittable: bool
    not_submittable_because: tuple[str, ...] | UnsetType = UNSET
    reproduce: str
    runs: tuple[Run, ...] | UnsetType = UNSET
    left_out: tuple[LeftOutPlan, ...] | UnsetType = UNSET
    trials: tuple[TrialEvidence, ...] = ()


SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    **msgspec.json.schema(ConformanceReport),
}


def conformance(report: Report) -> ConformanceReport:
    """The ConformanceReport of a run."""
    counted, implementation = scored(report), report.implementation
    made = ConformanceReport(
        api_version=API_VERSION,
        kind="ConformanceReport",
        metadata=Metadata(
            date=report.date,
            run_id=report.run_id,
            tool=Tool(version=report.environment.get("staleproof", ""), suite_digest=report.suite_digest),
        ),
        implementation=NamedImplementation(
            **msgspec.structs.asdict(implementation) | {"image_digest": implementation.image_digest or UNSET}
        ),
        environment=_surroundings(report),
        seed=report.seed,
        profiles=(_profile(counted),),
        partial=report.partial,
        unlearnt=report.unlearnt or UNSET,
        deselected=report.deselected or UNSET,
        plans_left_out=len(report.left_out),
        submittable=True,
        reproduce=report.reproduce,
        runs=tuple(Run(run_id=each.run_id, seed=each.seed, reproduce=each.reproduce) for each in report.shards) or UNSET,
        left_out=tuple(
            LeftOutPlan(scenario=each.scenario, plan=each.plan, aims=each.aims, why=each.why or UNSET) for each in report.left_out
        )
        or UNSET,
        trials=tuple(map(_evidence, counted.trials)),
    )
    because = tuple(not_submittable(made))
    return msgspec.structs.replace(made, submittable=not because, not_submittable_because=because or UNSET)


def to_yaml(report: Report) -> str:
    """conformance.yaml."""
    return dumped(conformance(report))


def dumped(document: ConformanceReport) -> str:
    """A ConformanceReport as the file has it: a trial is a line."""
    raw = msgspec.to_builtins(document)
    raw["trials"] = [_Line(trial) for trial in raw["trials"]]
    return yaml.dump(raw, Dumper=_Dumper, sort_keys=False, width=120, allow_unicode=True)


def not_submittable(document: ConformanceReport) -> Iterator[str]:
    """Why others could not rely on this report, and what is missing; nothing when they can."""
    implementation, tool = document.implementation, document.metadata.tool
    missing = [
        f"--implementation-{name}" for name in ("organization", "project", "url", "version") if not getattr(implementation, name)
    ]
    if missing:
        yield f"the implementation is not named: {', '.join(missing)}"
    elif implementation.version.lower() in _MUTABLE:
        yield f"the version {implementation.version!r} is a branch or a moving tag, not a release"
    yield from _lacking(document)
    if not document.trials:
        yield "there is no trial in it"
    if not is_release(tool.version):
        yield f"the staleproof that ran is no release: {tool.version or 'no version'}"


def _lacking(document: ConformanceReport) -> Iterator[str]:
    """What of the suite was not run, and why."""
    if document.partial:
        yield "the run was interrupted"
    if document.unlearnt:
        yield "the time was over before it was known what the controller does without faults"
    if document.plans_left_out:
        yield f"{plural(document.plans_left_out, 'plan')} left out"
    if document.deselected:
        left = f"{plural(len(document.deselected), 'test')} of the suite deselected: {some(document.deselected, _MOST)}"
        yield f"{left}; `staleproof report merge` joins runs of its parts"


def count(tests: Sequence[RequirementResult]) -> Statistics:
    """How many of these had each result."""
    found = Counter(test.result for test in tests)
    return Statistics(
        passed=found["passed"],
        failed=found["failed"],
        inconclusive=found["inconclusive"],
        not_exercised=found["not exercised"],
    )


def summary(core: Statistics, extended: Statistics, provisional: Statistics) -> str:
    """What the levels came to, in words; what is not scored comes last, if any of it failed."""
    said = [f"{name} {_WORDS[of.result]}{'' if of.result == 'success' else f': {of.counts}'}." for name, of in
            (("Core", core), ("Extended", extended))]  # fmt: skip
    unscored = [f"Not scored: {provisional.failed} failed."] if provisional.failed else []
    return " ".join([*said, *unscored])


def digest_of(histories: Sequence[str]) -> str:
    """The digest of these digests, whatever their order; empty for none. Each with or without what it is a digest by."""
    bare = sorted(each.removeprefix("sha256:") for each in histories)
    return f"sha256:{hashlib.sha256(''.join(bare).encode()).hexdigest()}" if bare else ""


def _profile(counted: Report) -> ProfileResult:
    core, extended, provisional = (_level(level, counted) for level in ("core", "extended", "provisional"))
    return ProfileResult(
        name=PROFILE,
        summary=summary(core.statistics, extended.statistics, provisional.statistics),
        core=core,
        extended=extended,
        provisional=ToldResult(statistics=provisional.statistics, tests=provisional.tests),
    )


def _level(level: Level | str, counted: Report) -> LevelResult:
    tests = tuple(_result(requirement, counted) for requirement in REQUIREMENTS if requirement.level == level)
    statistics = count(tests)
    return LevelResult(result=statistics.result, statistics=statistics, tests=tests)


def _result(requirement: Requirement, report: Report) -> RequirementResult:
    """One requirement over all the trials that exercised it."""
    joined = overall(report)[requirement.slug]
    counted, aimed = exercised(requirement.slug, report.trials), tried(requirement.slug, report)
    why = reason(requirement.slug, report.trials, joined) if joined is not Outcome.PASS else ""
    failed = [trial for trial, verdict in counted if verdict.result == "failed"]
    failures = sorted((verdict for _, verdict in counted if verdict.result == "failed"), key=lambda each: rank(each.severity))
    causes = tuple(dict.fromkeys(verdict.cause for verdict in failures if verdict.cause))
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
        evidence=digest_of([trial.evidence for trial, _ in counted]),
    )


def _evidence(trial: TrialReport) -> TrialEvidence:
    return TrialEvidence(
        name=trial.name,
        scenario=trial.scenario,
        plan=trial.plan,
        history=f"sha256:{trial.evidence}",
        faults_planned=trial.faults_planned,
        faults_fired=trial.faults_fired,
        faults_refused=refused([trial]),
        reproduced="{}/{}".format(*trial.reproduced) if any(each.result == "failed" for each in trial.verdicts) else UNSET,
        aims=trial.aims,
        results={verdict.requirement: verdict.result for verdict in trial.verdicts if verdict.exercised},
    )


def _surroundings(report: Report) -> Surroundings:
    said = report.environment
    rights = said.get("rbac", NOT_CHECKED)
    return Surroundings(
        kubernetes=said.get("kubernetes", ""),
        provider=said.get("provider", ""),
        arch=said.get("arch", ""),
        wire_format=said.get("wireFormat", ""),
        rbac_checked=not rights.startswith(NOT_CHECKED),
        rbac=rights,
        companions=tuple(filter(None, said.get("companions", "").split(", "))),
        profile=report.profile,
        minutes=report.minutes if report.minutes is not None else UNSET,
        versions=report.versions,
        notes={name: text for name, text in said.items() if name not in _TYPED | _NOT_SENT},
    )


class _Line(dict[str, Any]):
    """What stands on one line."""


class _Dumper(yaml.SafeDumper):
    """Writes no aliases: a reader looks for what is meant where it is said."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ANN401  # yaml's
        return True


def _line(dumper: yaml.SafeDumper, data: _Line) -> yaml.MappingNode:
    return dumper.represent_mapping("tag:yaml.org,2002:map", data, flow_style=True)


_Dumper.add_representer(_Line, _line)
