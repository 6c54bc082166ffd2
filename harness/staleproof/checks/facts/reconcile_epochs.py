"""When the controller may have decided anew about an owner's children.

Reconcile boundaries cannot be seen on the wire. A new decision can begin when the owner, or a primary above it, is shown; when the
controller has written the owner, as a reconciliation does at its end; when a step begins; when the controller starts. Within one
decision a controller makes what it found missing, and nothing twice. Whether to take two decisions for one, or one for two, is the
error to prefer depends on what it excuses, so each question says which boundaries it counts.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence

from staleproof.checks.trial import Trial, fact
from staleproof.core.history.entry import Answered, Delivered, Listed, Started, StepBegan, StepEnded


class Epochs:
    """Positions at which a decision about something may have begun, in order."""

    def __init__(self, trial: Trial) -> None:
        self._primaries = {commit.entry.uid for commit in trial.commits if commit.entry.resource in trial.primaries}
        self.began = trial.positions(Started, StepBegan)
        self._stepped = trial.positions(Started, StepBegan, StepEnded)
        self.shown: dict[str, list[int]] = defaultdict(list)
        self.wrote: dict[str, list[int]] = defaultdict(list)
        self.listed: dict[str, list[int]] = defaultdict(list)
        self.shown_primary: list[int] = []

    def owner_shown(self, owner_uid: str) -> Sequence[int]:
        """Where an owner was shown, or, for one that is no primary itself, any primary that may be above it."""
        return sorted([*self.shown.get(owner_uid, ()), *(() if owner_uid in self._primaries else self.shown_primary)])

    def decides(self, owner_uid: str) -> Sequence[int]:
        """Where a decision about an owner's children may have begun."""
        return sorted([*self.began, *self.owner_shown(owner_uid), *self.wrote.get(owner_uid, ())])

    def is_same(self, owner_uid: str, resource: str, *, since: int, before: int) -> bool:
        """Whether what was decided on an owner's children of a resource at a position was still being carried out before another.

        Here it is one decision taken for two that excuses: any primary and any list of the children counts.
        """
        boundaries = (
            self._stepped,
            self.shown_primary,
            self.shown.get(owner_uid, ()),
            self.wrote.get(owner_uid, ()),
            self.listed.get(resource, ()),
        )
        return all(bisect_left(positions, since) == bisect_left(positions, before) for positions in boundaries)


@fact
def reconcile_epochs(trial: Trial) -> Epochs:
    """Of the controller under test."""
    epochs = Epochs(trial)
    for index, entry in enumerate(trial.entries):
        match entry:
            case Delivered() if entry.uid and not entry.initial_end:
                _show(epochs, index, trial.resource_of(entry.stream) in trial.primaries, [entry.uid])
            case Listed():
                _show(epochs, index, entry.resource in trial.primaries, (item.uid for item in entry.items))
                epochs.listed[entry.resource].append(index)
            case Answered() if entry.uid and (request := trial.request_of.get(entry.request)) is not None:
                if request.asked.verb in ("update", "patch") and request.index < index:
                    epochs.wrote[entry.uid].append(index)
    return epochs


def _show(epochs: Epochs, index: int, is_primary: bool, uids: Iterable[str]) -> None:  # noqa: FBT001
    if is_primary:
        epochs.shown_primary.append(index)
    for uid in uids:
        epochs.shown[uid].append(index)
