"""Plans of the scenario of other faults: a family for each fault of which no other scenario knows.

Each comes over a primary's life in few plans, in which it has every value that plans give to its fields.
"""

from collections.abc import Collection, Iterable, Iterator
from functools import partial

from staleproof.core.fault import AnyFault
from staleproof.core.operator.observed import Observed
from staleproof.draw.canonical import life, slow_to_start
from staleproof.draw.family import Draft, Family, Scenario
from staleproof.draw.incidents.forms import forms
from staleproof.draw.incidents.single import Faults, needs, single
from staleproof.draw.incidents.table import KINDS
from staleproof.draw.occasions import occasions
from staleproof.draw.profile import Profile

_WHEN = frozenset({"window", "nth", "times", "as_of_step", "write"})
"""Fields that say when something happens: one moment is as good as another."""


def families(known: Collection[object]) -> list[Family]:
    """One for each legal fault that is none of these and can come alone; it is called after the fault."""
    scenario = Scenario("other-faults", settle=slow_to_start)
    for kind in KINDS:
        if kind not in known and kind.often and kind.contract == "legal":
            scenario.family(partial(_drafts, kind), kind.__name__)
    return scenario.families


def _drafts(kind: type[AnyFault], observed: Observed, profile: Profile) -> Iterator[Draft]:
    at = occasions(observed, life(observed).steps)
    for faults in profile.more(covering(each for need in needs(kind) for each in single(kind, need, at))):
        form = ", ".join(f"{name} {getattr(faults[0], name)}" for name in forms(kind)[0])
        title = f"{faults[0].tag} of {faults[0].about} from step {faults[0].window.from_step}{f' ({form})' * bool(form)}"
        yield Draft(title, faults)


def covering(incidents: Iterable[Faults]) -> list[Faults]:
    """Few of them, in which every value occurs that their faults have in any: each the first of those that show most that none
    before it shows."""
    fields = [
        (each, [(fault, name) for fault in each for name in fault.__struct_fields__ if name not in _WHEN]) for each in incidents
    ]
    known = [(each, {(fault.tag, name, repr(getattr(fault, name))) for fault, name in found}) for each, found in fields]
    left = {value for _, values in known for value in values}
    chosen: list[Faults] = []
    while left:
        best, shown = max(known, key=lambda each: len(each[1] & left))
        chosen.append(best)
        left -= shown
    return chosen
