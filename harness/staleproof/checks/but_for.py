"""What fault-free runs do of the same: the one place in which the references of a trial are read.

The caller names a question about one history and the runs that are to answer it, because not all show how things come about:

- all of them (`in_references`) show how the workload ends;
- those of the whole workload, step by step (`in_alike`), show what happens in a step;
- those of them in which the controller was not restarted (`in_calm`) show what it does without a restart, which would be an excuse.

Answers come one after the other, as they are wanted: to look at a reference costs as much as to look at the trial.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

from staleproof.checks.trial import Trial
from staleproof.core.history.history import HistoryRole

D = TypeVar("D")
T = TypeVar("T")
Deeds = Callable[[Trial], Iterable[D]]
"""Looks at one history, and says what was done in it."""


def in_references(trial: Trial, ask: Callable[[Trial], T]) -> Iterator[T]:
    """What each reference answers."""
    return map(ask, trial.references)


def in_alike(trial: Trial, ask: Callable[[Trial], T]) -> Iterator[T]:
    """What each reference of the whole workload answers."""
    return map(ask, trial.alike)


def in_calm(trial: Trial, ask: Callable[[Trial], T]) -> Iterator[T]:
    """What each of those answers in which the controller was not restarted."""
    return map(ask, trial.calm)


def is_compared(trial: Trial) -> bool:
    """Whether there are such runs to compare it with."""
    return bool(trial.calm)


def roles(trial: Trial) -> list[HistoryRole]:
    """What each run is that it is compared with."""
    return [each.role for each in (*trial.references, *trial.ablated)]


def unheard_of(trial: Trial, deeds: Deeds[D], key: Callable[[D], Hashable], *, usual: Deeds[D] | None = None) -> Iterator[D]:
    """The deeds of a trial of a kind (`key`) that no reference shows. `usual`: what references may show, if that is more."""
    found = list(deeds(trial))
    known = {key(deed) for deeds_of_one in in_references(trial, usual or deeds) for deed in deeds_of_one} if found else set()
    return (deed for deed in found if key(deed) not in known)


def most_often(trial: Trial, deeds: Deeds[D], key: Callable[[D], Hashable]) -> Counter[Hashable]:
    """By kind, how often any one reference shows such deeds, at most."""
    most = Counter[Hashable]()
    for deeds_of_one in in_references(trial, deeds):
        most |= Counter(map(key, deeds_of_one))
    return most
