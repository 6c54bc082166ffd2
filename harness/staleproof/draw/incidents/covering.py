"""A covering selection: few incidents in which every value occurs that their faults have in any of them."""

from collections.abc import Iterable

from staleproof.core.fault import AnyFault
from staleproof.draw.incidents.single import Faults

_WHEN = frozenset({"window", "nth", "times", "as_of_step", "write"})
"""Fields that say when something happens: one moment is as good as another."""


def covering(incidents: Iterable[Faults]) -> list[Faults]:
    """One after the other, each the first of those that show most that none before it shows."""
    known = [(each, {value for fault in each for value in _values(fault)}) for each in incidents]
    left = {value for _, values in known for value in values}
    chosen: list[Faults] = []
    while left:
        best, shown = max(known, key=lambda each: len(each[1] & left))
        chosen.append(best)
        left -= shown
    return chosen


def _values(fault: AnyFault) -> list[tuple[str, str, str]]:
    return [(fault.tag, name, repr(getattr(fault, name))) for name in fault.__struct_fields__ if name not in _WHEN]
