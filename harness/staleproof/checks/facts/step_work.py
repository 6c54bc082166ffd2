"""What the controller did in each step of the workload, by the kinds of its writes; and whether it stopped half-way."""

from collections import Counter
from collections.abc import Sequence

from staleproof.checks.trial import Trial, fact
from staleproof.core.history.change import WriteKind, void_writes, write_kind


@fact
def changing_kinds(trial: Trial) -> Sequence[tuple[int, WriteKind]]:
    """(position, kind) of each write that changed anything, in the order of the requests."""
    void = {request.index for request in void_writes(trial.work, trial.commits, trial.plan.settle.moves)}
    return [(request.index, write_kind(request.asked)) for request in trial.work if request.index not in void]


def kinds_between(trial: Trial, since: int, until: int | None) -> frozenset[WriteKind]:
    """The kinds of writes that changed anything between two positions; none if the second is not known."""
    return frozenset(kind for index, kind in changing_kinds(trial) if since < index < (until or since))


def stopped_half_way(reference: Trial, other_runs: Sequence[Trial]) -> bool:
    """Whether some kind of work that all other runs did ceased in this run: not done so often, and not done any more where those
    still did it. What is done sooner than in these is done as often."""
    every = [_last_steps(other) for other in other_runs]
    mine, times = _last_steps(reference), _times(reference)
    for kind in frozenset.intersection(*map(frozenset, every)) if every else ():
        late = mine.get(kind, -1) < min(last[kind] for last in every)
        if late and times[kind] < min(_times(other)[kind] for other in other_runs):
            return True
    return False


@fact
def _times(trial: Trial) -> Counter[WriteKind]:
    return Counter(kind for _, kind in changing_kinds(trial))


@fact
def _last_steps(trial: Trial) -> dict[WriteKind, int]:
    """The last step of the workload after the beginning of which each kind of write was made."""
    began = [step.began for step in trial.workload]
    return {kind: sum(begin < index for begin in began) for index, kind in changing_kinds(trial)}
