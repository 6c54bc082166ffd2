"""report.json: what a run means. Every other format comes from it, and it comes from the verdicts."""

import re
import shlex
from collections import defaultdict
from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from staleproof.checks.catalog import BY_SLUG, REQUIREMENTS, is_scored
from staleproof.checks.verdict import Outcome, Severity, Verdict, rank
from staleproof.core.grouping import grouped
from staleproof.core.history.external_series import ExternalSeries
from staleproof.core.history.time_breakdown import Spent
from staleproof.core.plan.plan import API_VERSION, ApiVersion

ALL_BUT = "all plans but "
"""So begins what a report says is deselected where only named plans were run."""
Word = Literal["passed", "not exercised", "inconclusive", "failed"]
FaultWord = Literal["fired", "refused", "not fired"]
_MOMENT = re.compile(r" +[0-9]+\.[0-9]+ s  ")


class _Struct(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Keys are lower camel case."""


class RequirementVerdict(_Struct, frozen=True, kw_only=True):
    """What one trial shows about one requirement.

    `story`, `severity` and `cause` are those of the worst finding; empty when there is none, and the last two in older reports.
    """

    requirement: str
    result: Word
    why: str = ""
    story: str = ""
    severity: Severity | Literal[""] = ""
    cause: str = ""

    @property
    def exercised(self) -> bool:
        """Whether anything happened that could have shown a violation."""
        return self.result != "not exercised"

    @property
    def headline(self) -> str:
        """The line of the story that says what was found, without the requirement's name; else why it did not pass."""
        lines = [line for line in self.story.splitlines() if line.startswith(self.requirement)]
        return lines[0].removeprefix(self.requirement).strip() if lines else self.why

    @property
    def moments(self) -> tuple[str, ...]:
        """The lines of the story that say what happened when, `0.028 s  from here …`; of a log below one, what tells most."""
        found: list[list[str]] = []
        for line in map(str.rstrip, self.story.splitlines()):
            if _MOMENT.match(line):
                found.append([line.strip()])
            elif found and line.lstrip().startswith("| "):
                found[-1].append(line.lstrip().removeprefix("| ").strip())
        return tuple(" ".join((first, *_telling(log))) for first, *log in found)


def _telling(log: Sequence[str]) -> Sequence[str]:
    """Of the lines of a log that one which says what went wrong: the last, but a Go program that panics says it first."""
    return [next((line for line in log if line.startswith("panic: ")), log[-1])] if log else []


class FindingReport(_Struct, frozen=True, kw_only=True):
    """All findings of a run that have one cause, if they are scored.

    `severity` is the worst of theirs; `headline` says what was found where it was that bad, in the first of the `trials`, which are
    called by their names, and `shrunk` is how small its plan is; `requirements` are those that were violated, the worst first.
    """

    cause: str
    severity: Severity | Literal[""]
    headline: str
    requirements: tuple[str, ...]
    trials: tuple[str, ...]
    crash: str = ""
    shrunk: str = ""


class FaultReport(_Struct, frozen=True, kw_only=True):
    """A planned fault and what became of it: `at` how many seconds, and `on` what, it fired or was refused; by which legality row;
    and why.

    `name` is the fault's with the verb of the writes that it is about; `phase` and `move` say in which phase of the workload it was
    to happen, and which fields changed in it (`core.plan.coverage`). All are empty in reports of older versions.
    """

    fault: str
    resource: str
    outcome: FaultWord
    at: float | None = None
    on: str = ""
    row: str = ""
    why: str = ""
    name: str = ""
    phase: str = ""
    move: str = ""


class CostReport(_Struct, frozen=True, kw_only=True):
    """What the controller wrote when so many primaries were listed again and nothing had changed; `void`: nothing came of it."""

    primaries: int
    writes: int
    void: int


class HealedReport(_Struct, frozen=True, kw_only=True):
    """What was missing when the time was over that any controller is given (`lacked`, in words) was there so many seconds after the
    release: it was waited for long."""

    seconds: float
    lacked: str = ""


class TrialReport(_Struct, frozen=True, kw_only=True):
    """One trial. `plan` is its plan's fingerprint, empty in reports of older versions. `folder` is relative to the run's;
    `evidence` is the sha256 of its history before compression, which is still in the folder if it is `kept`.

    `hostile` names what no API server does in it, though the documents may allow it: such a trial tells about robustness and is
    not scored. `aims` are the requirements that the plan was made for. `again` says why it was run once more; then this is the
    second run, or, of the `suspect` of a sweep, the run of that primary alone. `unconfirmed`: there was a finding, and no time to
    run it again. `healed_by`: what healed the controller when a re-run with the finding was over; empty: it ended as it should,
    or nothing was tried. `faults` has one for each planned fault; it is empty in reports of older versions. `swept` has the same
    of the sweep in which a `suspect` was found. `references_seconds` is what its references took, 0 when they had been run for
    another plan or by another worker; `confirming_seconds` what it took besides to compare it, to wait for what may heal, and to
    run it again; `spent` says where the trial's own seconds went. `shrunk` says how small a drawn plan with a finding could be
    made; empty: that was not tried. `healed`: the controller came to a good end late, which is a cost. `external`: what happened
    in each external system, over the seconds of the trial; empty where there is none.
    """

    name: str
    plan: str = ""
    scenario: str
    title: str
    aims: tuple[str, ...] = ()
    folder: str
    evidence: str
    kept: bool = True
    seconds: float
    references_seconds: float = 0.0
    confirming_seconds: float = 0.0
    spent: Spent = Spent()
    faults_planned: int
    faults_fired: int
    reproduced: tuple[int, int]
    crash: str = ""
    shrunk: str = ""
    again: str = ""
    unconfirmed: bool = False
    healed_by: str = ""
    hostile: str = ""
    faults: tuple[FaultReport, ...] = ()
    swept: tuple[FaultReport, ...] = ()
    cost: CostReport | None = None
    healed: HealedReport | None = None
    external: tuple[ExternalSeries, ...] = ()
    verdicts: tuple[RequirementVerdict, ...]


class LeftOut(_Struct, frozen=True, kw_only=True):
    """A plan that was not run: its fingerprint, what it was to exercise, and with which faults. `why`: it could not be carried out,
    not even when it was tried once more; empty: there was no time for it."""

    scenario: str
    title: str
    plan: str = ""
    why: str = ""
    aims: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


class EndedSearch(_Struct, frozen=True, kw_only=True):
    """Drawn plans of a scenario for a primary that were not run, and how many, because of what an earlier one had found: which
    requirement is violated, the cause (or what it looks like), and in which trial."""

    scenario: str
    primary: str
    plans: int
    requirement: str
    found: str
    trial: str


class Implementation(_Struct, frozen=True, kw_only=True):
    """Who made the controller, as they say."""

    organization: str = ""
    project: str = ""
    url: str = ""
    version: str = ""
    contact: tuple[str, ...] = ()
    image_digest: str = ""


class Shard(_Struct, frozen=True, kw_only=True):
    """One of the runs of which a report was made: the command that does it again, and how many trials of it are in the report."""

    run_id: str
    date: str
    seed: str = ""
    reproduce: str
    trials: int


class Report(_Struct, frozen=True, kw_only=True):
    """A run, or several as one (`shards`).

    Attributes:
        partial: it was interrupted, and only the finished trials are in the report.
        profile: how thorough it was.
        suite_digest: of the suite, with all that judges and all that invents plans; `versions` has the packages by their names.
        deselected: tests of the suite that were not to be run; where only named plans were, which those are.
        refused: how often the controller asked for what its ServiceAccount may not do.
        findings: what was found in all trials together, the worst first; filled in when it is written.
        left_out: what there was no time for in a run whose `minutes` are limited, and what could not be carried out.
        wanted: the requirements that have to be exercised, as far as plans aim at them.
        learning_seconds: how long it took until it was known what the controller does without faults, by the slowest worker.
        unlearnt: the time was over before that.
        unfinished_seconds: what all workers spent on plans that were begun and not over in time.
        helping_seconds: what they spent on runs that other workers' trials had to be compared with, or be confirmed by.
        ended_searches: what was not drawn on because of a new finding.
        artefacts: the folder that holds the run folder, where a command has to name it (`--dir`); empty: it looks there anyway.
    """

    api_version: ApiVersion = API_VERSION
    kind: Literal["Report"] = "Report"
    run_id: str
    date: str
    partial: bool = False
    seed: str = ""
    reproduce: str
    shards: tuple[Shard, ...] = ()
    profile: str = ""
    suite_digest: str = ""
    versions: dict[str, str] = {}
    deselected: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    implementation: Implementation = Implementation()
    trials: tuple[TrialReport, ...]
    findings: tuple[FindingReport, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    wanted: tuple[str, ...] = ()
    minutes: float | None = None
    learning_seconds: float = 0.0
    unlearnt: bool = False
    unfinished_seconds: float = 0.0
    helping_seconds: float = 0.0
    refused: dict[str, int] = {}
    ended_searches: tuple[EndedSearch, ...] = ()
    artefacts: str = ""


def replay(name: str, artefacts: str = "") -> str:
    """The command that runs a finding or a trial again, which is in this artefact folder."""
    return shlex.join(["staleproof", "replay", name, *([f"--dir={artefacts}"] if artefacts else [])])


def encode(report: Report) -> bytes:
    """report.json, indented for people."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n"


def outcome(verdict: RequirementVerdict) -> Outcome:
    """The outcome that this word stands for."""
    return next(each for each in Outcome if each.word == verdict.result)


def verdicts_on(slug: str, trials: Sequence[TrialReport]) -> list[tuple[TrialReport, RequirementVerdict]]:
    """Every trial's verdict on one requirement."""
    return [(trial, verdict) for trial in trials for verdict in trial.verdicts if verdict.requirement == slug]


def exercised(slug: str, trials: Sequence[TrialReport]) -> list[tuple[TrialReport, RequirementVerdict]]:
    """The verdicts on one requirement of the trials that exercised it."""
    return [(trial, verdict) for trial, verdict in verdicts_on(slug, trials) if outcome(verdict) is not Outcome.NOT_EXERCISED]


class Tried(NamedTuple):
    """How much of a requirement was tried: of the plans that were made for it, how many exercised it."""

    exercised: int
    plans: int


def tried(slug: str, report: Report) -> Tried:
    """How much of a requirement was tried; plans that were left out count as plans."""
    aimed = [verdict for trial, verdict in verdicts_on(slug, report.trials) if slug in trial.aims]
    left_out = sum(slug in plan.aims for plan in report.left_out)
    return Tried(sum(verdict.exercised for verdict in aimed), len(aimed) + left_out)


def reason(slug: str, trials: Sequence[TrialReport], joined: Outcome) -> str:
    """Why the outcome of one requirement is this one, as the first trial with that outcome says. Of trials that did not exercise it
    those come first in which a fault fired that brings violations out: all others were about something else."""
    said = [(trial, verdict.why or verdict.headline) for trial, verdict in verdicts_on(slug, trials) if outcome(verdict) is joined]
    fired = [({fault.fault for fault in trial.faults if fault.outcome == "fired"}, why) for trial, why in said if why]
    reasons = [(not faults.isdisjoint(BY_SLUG[slug].faults), why) for faults, why in fired]
    return max(reasons, key=lambda each: joined is Outcome.NOT_EXERCISED and each[0], default=(False, ""))[1]


def doubts(trial: TrialReport | None, verdicts: Sequence[Verdict]) -> list[str]:
    """What the report of a run says of the requirements that the trial's history fails by itself, where it does not say that they
    failed: a history alone does not tell whether that came back. One line for each reason, without what was found: that is
    shown anyway. None: no report has the trial."""
    found = {each.requirement: each.findings[0].because for each in verdicts if each.outcome is Outcome.FAIL}
    said = [each for each in (trial.verdicts if trial is not None else ()) if each.result != "failed" and each.requirement in found]
    reasons = grouped(((each.result, each.why.removesuffix(f": {found[each.requirement]}")), each.requirement) for each in said)
    return [
        f"the report of its run has {', '.join(slugs)} as {result}{f', {why}' if why else ''}"
        for (result, why), slugs in reasons.items()
    ]


def findings(trials: Sequence[TrialReport]) -> list[FindingReport]:
    """What fails the run, by cause, the worst first, and then what more trials show. What has no known cause stands for itself."""
    groups: dict[str, list[tuple[TrialReport, RequirementVerdict]]] = defaultdict(list)
    for trial in trials:
        for verdict in trial.verdicts:
            if verdict.result == "failed" and is_scored(verdict.requirement) and not trial.hostile:
                groups[verdict.cause or verdict.requirement].append((trial, verdict))
    found = [_finding(sorted(group, key=lambda pair: rank(pair[1].severity))) for group in groups.values()]
    return sorted(found, key=lambda each: (rank(each.severity), -len(each.trials)))


def _finding(group: Sequence[tuple[TrialReport, RequirementVerdict]]) -> FindingReport:
    """The worst first."""
    first, worst = group[0]
    return FindingReport(
        cause=worst.cause,
        severity=worst.severity,
        headline=worst.headline,
        requirements=tuple(dict.fromkeys(verdict.requirement for _, verdict in group)),
        trials=tuple(dict.fromkeys(trial.name for trial, _ in group)),
        crash=first.crash,
        shrunk=first.shrunk,
    )


def scored(report: Report) -> Report:
    """The same without the trials under hostile faults."""
    return msgspec.structs.replace(report, trials=tuple(trial for trial in report.trials if not trial.hostile))


def refused(trials: Sequence[TrialReport]) -> int:
    """How many planned faults were refused because they would have been hostile, or could not be carried out."""
    return sum(fault.outcome == "refused" for trial in trials for fault in trial.faults)


def overall(report: Report) -> dict[str, Outcome]:
    """What the whole run shows of each requirement, by its slug: the worst of all trials, if any exercised it.

    A trial under hostile faults exercises nothing; it counts only when it was disturbed.
    """
    return {
        requirement.slug: max((outcome(v) for _, v in verdicts_on(requirement.slug, report.trials)), default=Outcome.NOT_EXERCISED)
        for requirement in REQUIREMENTS
    }
