"""report.json: what a run means. The one source of every other format; derived from verdicts, never typed in."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.checks.verdict import Outcome

Word = Literal["passed", "inconclusive", "failed"]


class _Struct(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Keys are lower camel case."""


class RequirementVerdict(_Struct, frozen=True, kw_only=True):
    """What one trial shows about one requirement. `exercised` is false when nothing happened that could have shown a violation."""

    requirement: str
    result: Word
    exercised: bool
    why: str = ""
    story: str = ""


class TrialReport(_Struct, frozen=True, kw_only=True):
    """One trial. `folder` is relative to the run's; `evidence` is the sha256 of its history.jsonl."""

    name: str
    scenario: str
    title: str
    folder: str
    evidence: str
    seconds: float
    faults_planned: int
    faults_fired: int
    reproduced: tuple[int, int]
    crash: str = ""
    verdicts: tuple[RequirementVerdict, ...]


class Implementation(_Struct, frozen=True, kw_only=True):
    """Who made the controller, as they say."""

    organization: str = ""
    project: str = ""
    url: str = ""
    version: str = ""
    contact: tuple[str, ...] = ()
    image_digest: str = ""


class Report(_Struct, frozen=True, kw_only=True):
    """A run. `partial` says that it was interrupted: what was finished is in it."""

    api_version: Literal["staleproof.dev/v1alpha1"] = "staleproof.dev/v1alpha1"
    kind: Literal["Report"] = "Report"
    run_id: str
    date: str
    partial: bool = False
    seed: str = ""
    reproduce: str
    environment: dict[str, str] = {}
    implementation: Implementation = Implementation()
    trials: tuple[TrialReport, ...]


def encode(report: Report) -> bytes:
    return msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n"


def outcome(verdict: RequirementVerdict) -> Outcome:
    """The value behind the words."""
    if verdict.result == "inconclusive":
        return Outcome.INCONCLUSIVE if verdict.exercised else Outcome.NOT_EXERCISED
    return Outcome.PASS if verdict.result == "passed" else Outcome.FAIL


def verdicts_on(slug: str, trials: Sequence[TrialReport]) -> list[tuple[TrialReport, RequirementVerdict]]:
    """Every trial's verdict on one requirement."""
    return [(trial, verdict) for trial in trials for verdict in trial.verdicts if verdict.requirement == slug]


def overall(report: Report) -> dict[str, Outcome]:
    """Slug → what the whole run shows. The worst wins; not exercised in one trial is fine if it was in another."""
    return {
        requirement.slug: max((outcome(v) for _, v in verdicts_on(requirement.slug, report.trials)), default=Outcome.NOT_EXERCISED)
        for requirement in REQUIREMENTS
    }
