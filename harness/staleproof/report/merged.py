"""Several runs as one: parts of one list of plans, that several machines ran, or one machine at several times.

Nothing is added up that is already a sum: the trials are put together, and all sums follow from them, as of any run.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec

from staleproof.checks.catalog import BY_SLUG
from staleproof.report.model import ALL_BUT, LeftOut, Report, Shard, TrialReport

_SAME: dict[str, Callable[[Report], object]] = {
    "staleproof": lambda report: report.environment.get("staleproof", ""),
    "suite": lambda report: report.suite_digest,
    "controller": lambda report: report.environment.get("controller", ""),
    "implementation": lambda report: msgspec.to_builtins(report.implementation),
    "kubernetes": lambda report: report.environment.get("kubernetes", ""),
    "rights": lambda report: report.environment.get("rbac", ""),
    "profile": lambda report: report.profile,
}
"""What has to be the same of all, or they would be reports of different things, by its name."""
_LISTS = frozenset({"companions", "moves", "passed on", "prerequisites"})
"""What of an environment is a list with commas."""
_TRIALS, _SHOWN = "trials", 80


class MergeError(ValueError):
    """Runs that cannot be one; the message says what differs."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Where the files of a trial come from: the number of its run, as they were given, and its folder there."""

    run: int
    folder: str


def merged(reports: Sequence[Report]) -> tuple[Report, dict[str, Kept]]:
    """The report of all, whatever their order, and where the files of each of its trials come from, by the trial's folder.

    A trial that several reports have counts once. A plan that one run left out and another ran is not left out. A report without
    a trial adds nothing but its shard.

    Raises:
        MergeError: there are fewer than two; or they are not about the same controller, suite and surroundings.
    """
    _check(reports)
    order = sorted(range(len(reports)), key=lambda number: (reports[number].date, reports[number].run_id))
    trials, kept, names = _trials(reports, order)
    parts = [reports[number] for number in order]
    shards = tuple(shard for each in parts for shard in _shards(each))
    minutes = [each.minutes for each in parts]
    made = Report(
        run_id=f"merged-{hashlib.sha256(' '.join(sorted(each.run_id for each in parts)).encode()).hexdigest()[:8]}",
        date=max(each.date for each in parts),
        partial=any(each.partial for each in parts),
        seed=", ".join(dict.fromkeys(each.seed for each in parts if each.seed)),
        reproduce=" && ".join(each.reproduce for each in parts),
        shards=shards,
        profile=parts[0].profile,
        suite_digest=parts[0].suite_digest,
        versions=_joined([each.versions for each in parts]),
        deselected=tuple(sorted(_deselected(parts))),
        environment=_joined([each.environment for each in parts]),
        implementation=parts[0].implementation,
        trials=trials,
        left_out=_left_out(parts, trials),
        wanted=tuple(slug for slug in BY_SLUG if any(slug in each.wanted for each in parts)),
        minutes=None if None in minutes else max(each for each in minutes if each is not None),
        learning_seconds=max(each.learning_seconds for each in parts),
        unlearnt=any(each.unlearnt for each in parts),
        unfinished_seconds=sum(each.unfinished_seconds for each in parts),
        helping_seconds=sum(each.helping_seconds for each in parts),
        refused=dict(sum((Counter(each.refused) for each in parts), Counter())),
        ended_searches=tuple(
            dict.fromkeys(
                msgspec.structs.replace(search, trial=names.get((number, search.trial), search.trial))
                for number, each in enumerate(parts, 1)
                for search in each.ended_searches
            )
        ),
    )
    return made, kept


def _check(reports: Sequence[Report]) -> None:
    if len(reports) < 2:
        raise MergeError("one run is nothing to merge: name two runs or more, the folders of the parts")
    for name, of in _SAME.items():
        said = {number: of(each) for number, each in enumerate(reports)}
        known = [number for number, each in said.items() if each or reports[number].trials]  # one without a trial may not know
        other = next((number for number in known if said[number] != said[known[0]]), None)
        if other is not None:
            first, second = (f"{reports[number].run_id} has {str(said[number])[:_SHOWN]!r}" for number in (known[0], other))
            raise MergeError(f"they differ in {name}: {first}, {second}; merge runs of one controller, with the same options")


def _deselected(parts: Sequence[Report]) -> set[str]:
    """What none of them was to run. One that ran named plans alone adds nothing to others that ran tests; if all did, there is
    nothing but what they name."""
    said = [set(each.deselected) for each in parts]
    of_tests = [each for each in said if not any(text.startswith(ALL_BUT) for text in each)]
    return set.intersection(*of_tests) if of_tests else {text for each in said for text in each if text.startswith(ALL_BUT)}


def _trials(
    reports: Sequence[Report], order: Sequence[int]
) -> tuple[tuple[TrialReport, ...], dict[str, Kept], dict[tuple[int, str], str]]:
    """All trials, under names that none other has; where their files come from; and what each is called now, by the number of its
    run in that order and its name there."""
    made: dict[str, TrialReport] = {}
    kept: dict[str, Kept] = {}
    names: dict[tuple[int, str], str] = {}
    for number, run in enumerate(order, 1):
        for trial in reports[run].trials:
            if trial.evidence not in made:
                name = _name(number, trial.name)
                made[trial.evidence] = msgspec.structs.replace(trial, name=name, folder=f"{_TRIALS}/{name}")
                kept[f"{_TRIALS}/{name}"] = Kept(run, trial.folder)
            names[number, trial.name] = made[trial.evidence].name
    return tuple(sorted(made.values(), key=lambda trial: trial.name)), kept, names


def _name(number: int, name: str) -> str:
    return f"s{number}-{name}"


def _shards(report: Report) -> Iterable[Shard]:
    """A report that was merged has had its own."""
    own = Shard(run_id=report.run_id, date=report.date, seed=report.seed, reproduce=report.reproduce, trials=len(report.trials))
    return report.shards or (own,)


def _left_out(reports: Sequence[Report], trials: Sequence[TrialReport]) -> tuple[LeftOut, ...]:
    """What none of them ran, once."""
    ran = {trial.plan for trial in trials if trial.plan}
    every = {(plan.plan, plan.scenario, plan.title): plan for each in reports for plan in each.left_out if plan.plan not in ran}
    return tuple(every[key] for key in sorted(every))


def _joined(every: Sequence[dict[str, str]]) -> dict[str, str]:
    """What they say under each name: once, if they say the same; a list is put together."""

    def said(name: str) -> str:
        texts = [each[name] for each in every if name in each]
        if name in _LISTS:
            return ", ".join(dict.fromkeys(item for text in texts for item in text.split(", ")))
        return "; ".join(dict.fromkeys(texts))

    return {name: said(name) for name in dict.fromkeys(name for each in every for name in each)}
