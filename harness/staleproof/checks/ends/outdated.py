"""Children that were made from an input which the controller had been shown late: no fault-free run makes the like, and another one
is made in their place that is as fault-free runs make it.

To replace such a child is to mend it, whatever there is for a moment: a Pod with the hash of a ConfigMap, a Job for each state.
"""

from collections.abc import Mapping, Sequence

from staleproof.checks.but_for import in_calm
from staleproof.checks.facts.object_history import Incarnation, creations
from staleproof.checks.facts.roles import Role
from staleproof.checks.trial import Trial, fact
from staleproof.core.grouping import grouped
from staleproof.core.history.flatten import flatten
from staleproof.core.plan.manifest import content_of

Content = frozenset[tuple[str, str]]
"""Path and value, by its repr."""


def is_outdated(trial: Trial, child: Incarnation) -> bool:
    """Whether it was made as nothing of its role in fault-free runs, and another one later as they make it."""
    if child.creator is None or is_usual(trial, child):
        return False
    later = (each for each in _made(trial).get(child.role, ()) if each.created > child.created)
    return any(is_usual(trial, each) for each in later)


def is_usual(trial: Trial, child: Incarnation) -> bool:
    """Whether fault-free runs make the like."""
    return content(trial, child) in _usual(trial).get(child.role, ())


def content(trial: Trial, child: Incarnation) -> Content:
    """What it was made with, whatever it is called."""
    made, name = content_of(child.first.entry.object), child.name
    return frozenset((path, repr(value)) for path, value in flatten(made, {name: "<name>"}, trial.namespace))


@fact
def _made(trial: Trial) -> Mapping[Role, Sequence[Incarnation]]:
    return grouped((each.role, each) for _, each in creations(trial))


@fact
def _usual(trial: Trial) -> Mapping[Role, Sequence[Content]]:
    runs = in_calm(trial, lambda run: [(each.role, content(run, each)) for _, each in creations(run)])
    return grouped(pair for run in runs for pair in dict.fromkeys(run))
