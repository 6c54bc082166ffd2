"""Plans drawn by Hypothesis: all of them, before the first is run, from a seed that the run prints and records.

The seed is given in so many words, because Hypothesis would draw the same plans in every run of a CI system. Strategies must draw
from what they are given and from small numbers: Hypothesis mixes in constants of whatever modules happen to be imported, but none
below 100, and the same seed must give the same plans in every process.

Hypothesis' database keeps the plans that failed, as they are written and not as choices, so that they outlive a change of the
strategies. What failed is drawn first, until it passes.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.strategies import SearchStrategy
from msgspec.structs import replace

from staleproof.core.operator.observed import Observed
from staleproof.core.plan.coverage import Occasion, occasions
from staleproof.core.plan.fingerprint import fingerprint, identity
from staleproof.core.plan.manifest import namespace_of, target_of
from staleproof.core.plan.plan import Plan, PlanError, Subject, decode, encode, is_plain
from staleproof.core.plan.step import Apply, Rest
from staleproof.core.times import LONG_SECONDS
from staleproof.draw.family import Family
from staleproof.draw.order import most_varied
from staleproof.draw.profile import PROFILES, Profile

_EXAMPLES = "examples"
_CANDIDATES, _ALIKE = 5, 3
"""So many plans are drawn for each that is kept, and so many are kept of a workload: they share their references."""
_FEW = 10
"""So many are drawn from one seed."""

for _profile in PROFILES.values():
    settings.register_profile(
        f"staleproof-{_profile.name}",
        max_examples=max(_profile.examples, 1),
        derandomize=False,  # as it would be in CI
        deadline=None,  # a trial takes as long as the controller does
        phases=(Phase.explicit, Phase.reuse, Phase.generate),  # Hypothesis takes no limit for shrinking
        suppress_health_check=tuple(HealthCheck),
    )


def drawn(plans: SearchStrategy[Plan], *, by: str, examples: int) -> list[Plan]:
    """So many plans, fewer if there are no more, each different; the same for the same seed `by`."""
    return [plan for (plan,) in _drawn(plans.map(lambda plan: (plan,)), fingerprint, by, examples)]


def _drawn(
    some: SearchStrategy[tuple[Plan, ...]], name: Callable[[Plan], str], by: str, examples: int
) -> Iterable[tuple[Plan, ...]]:
    """What is drawn so many times; no two begin with a plan of the same name.

    Hypothesis changes what it has drawn by little and little, so a few are drawn from each of many seeds that follow from this one.
    """
    found: dict[str, tuple[Plan, ...]] = {}
    number, before = 0, -1
    while before < len(found) < examples:
        before = len(found)
        for plans in _few(some, f"{by}/{number}"):
            found.setdefault(name(plans[0]), plans)
        number += 1
    return itertools.islice(found.values(), examples)


def _few(some: SearchStrategy[tuple[Plan, ...]], by: str) -> list[tuple[Plan, ...]]:
    """Those last in which all are the same plan: Hypothesis begins with the simplest, whatever the seed."""
    found: list[tuple[Plan, ...]] = []

    @seed(by)
    @settings(settings.get_profile("staleproof-standard"), max_examples=_FEW, phases=[Phase.generate], database=None)
    @given(some)
    def note(plans: tuple[Plan, ...]) -> None:
        found.append(plans)

    note()
    return sorted(found, key=lambda plans: len(plans) > 1 and all(each == plans[0] for each in plans))


def drawn_family(scenario: str, alike: Callable[[Observed, int], SearchStrategy[tuple[Plan, ...]]]) -> Family:
    """The drawn plans of a scenario, as many as the profile says.

    More are drawn than that, and those are kept that cover what no plan before them covers: what Hypothesis draws is often alike.
    None is kept that rests for long while no fault keeps anything back. `alike` draws so many plans over one workload, because a
    workload of its own costs a plan two references.
    """

    def made(observed: Observed, profile: Profile) -> Iterator[Plan]:
        some = _drawn(alike(observed, _ALIKE * _CANDIDATES), _workload, profile.seed, math.ceil(profile.examples / _ALIKE))
        found = {fingerprint(plan): plan for plans in some for plan in plans if not rests_in_vain(plan)}
        yield from most_varied(list(found.values()), profile.examples)

    return Family(scenario, "drawn", made, drawn=True)


def rests_in_vain(plan: Plan) -> bool:
    """Whether it rests for long in a step in which no fault keeps anything back."""
    lasting = [fault.window for fault in plan.faults if fault.keeps_back]
    long = [number for number, step in enumerate(plan.steps, 1) if isinstance(step, Rest) and step.seconds >= LONG_SECONDS]
    return any(not any(each.from_step <= number < (each.until_step or math.inf) for each in lasting) for number in long)


def _workload(plan: Plan) -> str:
    """What is done to which object, not its content at first: to touch one with three replicas shows what one with five does."""
    return repr([target_of(step.object) if isinstance(step, Apply) else step for step in plan.steps])


class Failing:
    """The drawn plans that failed and have not passed since, of one controller; no other has the same."""

    def __init__(self, root: Path, controller: Subject) -> None:
        self._database = DirectoryBasedExampleDatabase(root / _EXAMPLES)
        self._controller = identity(controller)

    def plans(self, family: Family) -> list[Plan]:
        """Those of a family, in an order of their own; what cannot be read any more is forgotten."""
        key, found = self._key(family), {}
        for data in list(self._database.fetch(key)):
            try:
                found[data] = decode(data)
            except PlanError:
                self._database.delete(key, data)
        return [found[data] for data in sorted(found)]

    def note(self, family: Family, plan: Plan, *, failed: bool) -> None:
        """Keep a plan that failed, forget one that passed. What holds a secret cannot be written as it is run, and is not kept."""
        plan = replace(plan, controller=None, manifests=(), before=())  # the run has its own
        change = self._database.save if failed else self._database.delete
        if is_plain(plan):
            change(self._key(family), encode(plan))

    def _key(self, family: Family) -> bytes:
        return f"{self._controller} {family}".encode()


class Covered:
    """What earlier runs covered of a controller: a set of occasions, beside the plans that failed.

    It says what is run first and never what is drawn, so that a seed gives the same plans whatever was run before.
    """

    def __init__(self, root: Path, controller: Subject) -> None:
        self._database = DirectoryBasedExampleDatabase(root / _EXAMPLES)
        self._key = f"{identity(controller)} covered".encode()

    def note(self, occasions: Iterable[Occasion]) -> None:
        """Add these."""
        for each in occasions:
            self._database.save(self._key, msgspec.json.encode(each))

    def new_first(self, plans: Iterable[Plan]) -> list[Plan]:
        """Those first that cover what no earlier run did."""
        known = set(self._database.fetch(self._key))
        return sorted(plans, key=lambda plan: known.issuperset(map(msgspec.json.encode, occasions(plan))))


def is_about(plan: Plan, observed: Observed) -> bool:
    """Whether the plan is one of this primary's."""
    own = observed.target, namespace_of(observed.sample)
    return any(isinstance(step, Apply) and (target_of(step.object), namespace_of(step.object)) == own for step in plan.steps)


def first(failed: Iterable[Plan], rest: Iterable[Plan]) -> list[Plan]:
    """All plans, each once, those that failed before the others."""
    return list({fingerprint(plan): plan for plan in (*failed, *rest)}.values())
