"""The numbers that a controller gives to what it keeps of earlier states, each the next: they say which is the newest.

A controller that takes a state of the past for a new one numbers it again, and then the newest, which has the highest as before.
Crossplane numbers CompositionRevisions so (internal/controller/apiextensions/composition/reconciler.go); for what Kubernetes' own
controllers number see `facts.revisions`.
"""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter

from staleproof.checks.but_for import in_references
from staleproof.checks.ends.hull import Baseline, group
from staleproof.checks.ends.states import final_objects
from staleproof.checks.facts.garbage import without_garbage
from staleproof.checks.facts.object_history import Incarnation, of_resource
from staleproof.checks.facts.roles import Role, of_any_incarnation
from staleproof.checks.trial import Trial
from staleproof.core.history.flatten import Flat, flatten

State = Mapping[Role, Sequence[Flat]]


def in_same_order(trial: Trial, run: Trial, usual: Baseline, state: State, role: Role, path: str) -> bool:
    """Whether the objects of an owner are numbered in a state of a run, and as in a reference but for how high the numbers are.
    `role`, `path`: one of them, and where its number is, which is higher than in any reference."""
    order, known = _order(state, role, path), usual.values.get(role, {}).get(path, {})
    if not (order and known):
        return False
    runs = [run, *trial.references]
    return (
        all(_is_below(each, state[role][0].get(path)) for each in known.values())
        and all(_counts_up(each, role, path) for each in runs)
        and order in in_references(trial, lambda each: _order_in(each, usual, role, path))
    )


def _is_below(usual: object, number: object) -> bool:
    return isinstance(usual, int) and isinstance(number, int) and usual < number


def _order_in(run: Trial, usual: Baseline, role: Role, path: str) -> Sequence[Role]:
    """The same of the end of a reference."""
    return _order(group(without_garbage(final_objects(run), usual.kinds), run.namespace, usual.names), role, path)


def _order(state: State, role: Role, path: str) -> Sequence[Role]:
    """The roles of one owner's objects of this resource, by their numbers; empty where one has none, two have the same, or two
    cannot be told apart by their names."""
    flats = [(each, flat.get(path)) for each, found in state.items() if each[:2] == role[:2] for flat in found]
    numbers = [(each, number) for each, number in flats if isinstance(number, int) and not isinstance(number, bool)]
    roles, different = {each for each, _ in numbers}, {number for _, number in numbers}
    is_numbered = len(roles) == len(different) == len(flats) > 1
    return [each for each, _ in sorted(numbers, key=itemgetter(1))] if is_numbered else []


def _counts_up(run: Trial, role: Role, path: str) -> bool:
    """Whether each number that the controller ever wrote there, for the owner that is there in the end, was the next."""
    of = [each for each in of_resource(run, role.resource) if of_any_incarnation(each.role)[:2] == role[:2]]
    owners = {each.owner_uid for each in of if each.is_live(before=len(run.entries))}
    given = [number for _, number in sorted(_given(run, [each for each in of if each.owner_uid in owners], path))]
    return len(owners) == 1 and bool(given) and given in ([*range(1, len(given) + 1)], [*range(len(given))])


def _given(run: Trial, objects: Sequence[Incarnation], path: str) -> Iterator[tuple[int, object]]:
    """Where each of these objects was given another number, and which."""
    for each in objects:
        last = None
        for commit in each.commits:
            number = dict(flatten(commit.entry.object, {}, run.namespace)).get(path)
            if number != last:
                yield commit.index, number
                last = number
