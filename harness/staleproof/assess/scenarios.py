"""The canonical plans of every scenario for one primary: what `staleproof run` does without a plan of your own."""

from collections.abc import Iterator
from typing import Literal

from staleproof.core.observed import Observed
from staleproof.core.plan import Plan
from staleproof.draw import deletion, own_writes

_VERBS: tuple[Literal["create", "delete"], ...] = ("create", "delete")


def canonical_plans(observed: Observed) -> Iterator[Plan]:
    """Plans that need no luck, derived from what the controller does without faults."""
    yield own_writes.idempotence(observed)
    for verb in _VERBS:
        for poke in own_writes.POKES:
            yield from own_writes.canonical(observed, verb, poke)
    yield from deletion.canonical(observed)
