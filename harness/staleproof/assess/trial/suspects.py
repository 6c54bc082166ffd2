"""What a sweep says: which of its primaries are suspects, and are to be run alone. A sweep by itself is no accusation."""

from collections.abc import Iterator, Sequence

from staleproof.assess.trial.result import Result
from staleproof.checks.catalog import BY_SLUG, is_scored
from staleproof.checks.judge import judge
from staleproof.checks.trial import indexed
from staleproof.checks.verdict import Finding, Outcome, Verdict, rank
from staleproof.core.history.entry import Asked, Committed
from staleproof.core.history.history import History
from staleproof.draw.copies import copies_in, mentioned

SUSPECT = "suspect"
_MOST = 3
"""So many are run alone: what is wrong with several of them has one cause more often than not."""


def suspects(sweep: Result) -> list[str]:
    """The names of the primaries that its findings are about, those of the worst first, and no more than a few; all of them where
    that does not show. How long something took is judged in a run of one primary only, so no suspicion rests on it."""
    names = copies_in(sweep.plan)
    failures = sorted((each for each in sweep.failures if not _is_pace(each)), key=lambda verdict: rank(verdict.worst.severity))
    meant = dict.fromkeys(name for each in failures for finding in each.findings for name in _about(finding, sweep, names))
    return list(meant)[:_MOST] or (names if failures else [])


def is_in_doubt(result: Result) -> bool:
    """Whether something that is scored is open."""
    return any(each.outcome is Outcome.INCONCLUSIVE and is_scored(each.requirement) for each in result.verdicts)


def without_suspects(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """What a sweep whose suspects did not come back alone says: how long something took belongs to runs alone, and what is
    suspected, or in doubt, is not passed."""
    return tuple(map(_of_all, verdicts))


def judged_alone(history: History) -> tuple[Verdict, ...]:
    """What a stored history shows by itself: of a sweep, no finding."""
    verdicts = judge(history)
    return without_suspects(verdicts) if copies_in(history.header.plan) else tuple(verdicts)


def in_words(sweep: Result) -> str:
    """The first of what it is suspected of, and how much more there is; empty for nothing."""
    reasons = [f"{each.requirement}: {each.findings[0].because}" for each in sweep.failures if not _is_pace(each)]
    more = f", and {len(reasons) - 1} more" if len(reasons) > 1 else ""
    return f"{reasons[0]}{more}" if reasons else ""


def _of_all(verdict: Verdict) -> Verdict:
    is_pace = _is_pace(verdict)
    if verdict.outcome is Outcome.PASS and not is_pace:
        return verdict
    why = verdict.why or ("how long it takes is seen alone" if is_pace else "suspected in a sweep, and not seen alone")
    return Verdict(verdict.requirement, Outcome.NOT_EXERCISED, why=why)


def _is_pace(verdict: Verdict) -> bool:
    return verdict.requirement in BY_SLUG and BY_SLUG[verdict.requirement].kind == "pace"


def _about(finding: Finding, sweep: Result, names: Sequence[str]) -> Iterator[str]:
    """Whose it is, by what its witnesses were asked about, or show; or by what it says."""
    trial = indexed(sweep.history)
    witnesses = [trial.entries[index] for index in reversed(finding.witnesses)]
    texts = [each.name for each in witnesses if isinstance(each, Asked | Committed)]
    yield from (name for text in (finding.because, *texts) for name in mentioned(names, text))
