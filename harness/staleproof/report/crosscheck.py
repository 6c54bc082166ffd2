"""A ConformanceReport, added up again: every sum in it follows from the trials that it lists. And two of them, compared."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import yaml

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.checks.verdict import Outcome
from staleproof.core.fault.suggest import mistakes
from staleproof.core.plan.plan import API_VERSION
from staleproof.core.wording import not_yaml
from staleproof.report.conformance import (
    PROFILE,
    ConformanceReport,
    ProfileResult,
    RequirementResult,
    TrialEvidence,
    count,
    digest_of,
    not_submittable,
    summary,
)

_ORDER = [outcome.word for outcome in Outcome]
_EXPECTED = f"expected a ConformanceReport of {API_VERSION}, as a run writes it to conformance.yaml"


class ConformanceError(ValueError):
    """What is no ConformanceReport; the message says where."""


def decode(data: bytes) -> ConformanceReport:
    """The document in a file. ConformanceError when it is none, or says what none says."""
    try:
        raw = yaml.load(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, UnicodeDecodeError) as err:
        raise ConformanceError(f"{not_yaml(err)}; {_EXPECTED}") from err
    if not isinstance(raw, dict) or raw.get("kind") != "ConformanceReport" or raw.get("apiVersion") != API_VERSION:
        raise ConformanceError(f"{_EXPECTED}, found {_called(raw)}")
    try:
        return msgspec.convert(raw, ConformanceReport)
    except msgspec.ValidationError as err:
        raise ConformanceError(f"{'; '.join(mistakes(raw, ConformanceReport)) or err}; {_EXPECTED}") from err


def problems(document: ConformanceReport) -> Iterator[str]:
    """What in it does not add up, in words."""
    yield from _differs("profiles", [each.name for each in document.profiles], [PROFILE])
    for profile in document.profiles:
        yield from _in_profile(profile, document)
    names = [trial.name for trial in document.trials]
    yield from (f"trial {name} is listed {names.count(name)} times" for name in dict.fromkeys(names) if names.count(name) > 1)
    histories = [trial.history for trial in document.trials]
    if len(set(histories)) < len(histories):
        yield "two trials have the same history"
    yield from _differs("plansLeftOut", document.plans_left_out, len(document.left_out or ()))
    because = tuple(not_submittable(document))
    yield from _differs("notSubmittableBecause", document.not_submittable_because or (), because)
    yield from _differs("submittable", document.submittable, not because)


def disagreements(before: ConformanceReport, after: ConformanceReport) -> Iterator[str]:
    """Where a run that was done again does not agree: each requirement has to have the same result, and each cause of a failure has
    to be found again. Counts and times may differ."""
    results, again = _results(before), _results(after)
    for slug, test in results.items():
        other = again.get(slug)
        if other is None or other.result != test.result:
            yield f"{slug}: {test.result} in the report, {other.result if other else 'not there'} now{_because(other)}"
            continue
        for cause in set(test.causes or ()) - set(other.causes or ()):
            found = " and ".join(other.causes or ()) or "nothing known"
            yield f"{slug}: the cause in the report was not found again: {cause}; now it is {found}"
    yield from (f"{slug}: not in the report, {again[slug].result} now" for slug in again if slug not in results)


def _in_profile(profile: ProfileResult, document: ConformanceReport) -> Iterator[str]:
    levels = (("core", profile.core), ("extended", profile.extended), ("provisional", profile.provisional))
    for level, found in levels:
        known = [each.slug for each in REQUIREMENTS if each.level == level]
        names = [test.name for test in found.tests]
        if names != known:
            difference = ", ".join(sorted(set(names) ^ set(known))) or "their order, or one is there twice"
            yield f"{level}: the tests are not the requirements of this version: {difference}"
        yield from _differs(f"{level}.statistics", found.statistics, count(found.tests))
        for test in found.tests:
            yield from _in_test(test, document)
    yield from _differs("core.result", profile.core.result, profile.core.statistics.result)
    yield from _differs("extended.result", profile.extended.result, profile.extended.statistics.result)
    said = summary(profile.core.statistics, profile.extended.statistics, profile.provisional.statistics)
    yield from _differs("summary", profile.summary, said)


def _in_test(test: RequirementResult, document: ConformanceReport) -> Iterator[str]:
    trials = [trial for trial in document.trials if test.name in trial.results]
    for name, said, follows in _sums(test, trials, document):
        yield from _differs(f"{test.name}.{name}", said, follows)
    if test.result != "failed" and (test.severity or test.causes):
        yield f"{test.name}: it has the severity or the causes of a failure, and did not fail"


def _sums(
    test: RequirementResult, trials: Sequence[TrialEvidence], document: ConformanceReport
) -> Iterator[tuple[str, object, object]]:
    """What the test says, and what follows from the trials, by name."""
    aimed = [trial for trial in document.trials if test.name in trial.aims]
    left_out = sum(test.name in plan.aims for plan in document.left_out or ())
    words = [trial.results[test.name] for trial in trials]
    failed = [trial for trial in trials if trial.results[test.name] == "failed"]
    yield "result", test.result, max(words, key=_ORDER.index, default="not exercised")
    yield "trials", test.trials, len(trials)
    yield "plans", test.plans, len(aimed) + left_out
    yield "plansExercised", test.plans_exercised, sum(test.name in trial.results for trial in aimed)
    yield "faultsPlanned", test.faults_planned, sum(trial.faults_planned for trial in trials)
    yield "faultsFired", test.faults_fired, sum(trial.faults_fired for trial in trials)
    yield "faultsRefused", test.faults_refused, sum(trial.faults_refused for trial in trials)
    yield "reproduced", test.reproduced or "", (failed[0].reproduced or "") if failed else ""
    yield "evidence", test.evidence, digest_of([trial.history for trial in trials])


def _differs(name: str, said: object, follows: object) -> Iterator[str]:
    if said != follows:
        yield f"{name}: it says {_shown(said)}, and {_shown(follows)} follows from its trials"


def _shown(value: object) -> str:
    return str(msgspec.to_builtins(value)) if isinstance(value, msgspec.Struct) else repr(value)


def _results(document: ConformanceReport) -> Mapping[str, RequirementResult]:
    every = (test for each in document.profiles for test in (*each.core.tests, *each.extended.tests, *each.provisional.tests))
    return {test.name: test for test in every}


def _because(test: RequirementResult | None) -> str:
    return f" ({test.reason})" if test is not None and test.reason else ""


def _called(raw: Any) -> str:  # noqa: ANN401  # what YAML may be
    return f"kind {raw.get('kind')!r} of {raw.get('apiVersion')!r}" if isinstance(raw, dict) else type(raw).__name__
