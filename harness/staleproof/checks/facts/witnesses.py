"""Which entries tell the story of a write that was made on an old view."""

from collections.abc import Iterable

from staleproof.checks.facts.object_history import Incarnation
from staleproof.checks.facts.reconcile_epochs import reconcile_epochs
from staleproof.checks.trial import Trial

_EXAMPLES = 3


def context(trial: Trial, before: Iterable[int | None], request_index: int, committed: int) -> tuple[int, ...]:
    """Positions, in order: what had happened unseen (None is left out), the faults open at the write, the last thing shown of a
    primary, the write, its commit."""
    unseen = [index for index in before if index is not None]
    last_shown = [index for index in reconcile_epochs(trial).shown_primary if index < request_index]
    return tuple(sorted({*unseen, *trial.faults_open_at(request_index), *last_shown[-1:], request_index, committed}))


def inherited(trial: Trial, children: Iterable[Incarnation], request_index: int, committed: int) -> tuple[int, ...]:
    """`context`, with the first answers that reported the creation of these children, and the start of the life that asks."""
    answers = [child.creator.answer_index for child in children if child.creator and child.creator.answer_index is not None]
    return context(trial, [*answers[:_EXAMPLES], trial.life_began(request_index)], request_index, committed)
