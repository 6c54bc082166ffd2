"""Which entries tell the story of a write that was made on an old view."""

from collections.abc import Iterable, Sequence

from staleproof.checks.facts.object_history import Incarnation
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import Delivered, Listed

_TOLD = 3


def context(trial: Trial, before: Iterable[int | None], asked: int, committed: int) -> tuple[int, ...]:
    """Positions, in order: what had happened unseen (None is left out), the faults open at the write, the last thing shown of a
    primary, the write, its commit."""
    unseen = [index for index in before if index is not None]
    return tuple(sorted({*unseen, *trial.faults_open_at(asked), *_last_shown_primary(trial, asked), asked, committed}))


def inherited(trial: Trial, children: Iterable[Incarnation], asked: int, committed: int) -> tuple[int, ...]:
    """`context`, with the first answers that told of these children being created, and the start of the life that asks."""
    answers = [child.creator.answer_index for child in children if child.creator and child.creator.answer_index is not None]
    return context(trial, [*answers[:_TOLD], trial.life_began(asked)], asked, committed)


def _last_shown_primary(trial: Trial, asked: int) -> Sequence[int]:
    delivered = [
        i for i, entry in trial.every(Delivered, until=asked) if entry.uid and trial.resource_of(entry.stream) in trial.primaries
    ]
    listed = [i for i, entry in trial.every(Listed, until=asked) if entry.resource in trial.primaries]
    return sorted([*delivered[-1:], *listed[-1:]])[-1:]
