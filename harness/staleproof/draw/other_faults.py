"""Plans of the scenario of other faults: a family for each fault of which no other scenario knows.

Each comes over a primary's life in few plans, in which it has every value that plans give to its fields.
"""

from collections.abc import Collection, Iterator
from functools import partial

from staleproof.core.fault import AnyFault
from staleproof.core.operator.observed import Observed
from staleproof.draw.canonical import life, slow_to_start
from staleproof.draw.family import Draft, Family, Scenario
from staleproof.draw.incidents.covering import covering
from staleproof.draw.incidents.forms import forms
from staleproof.draw.incidents.single import needs, single
from staleproof.draw.incidents.table import KINDS
from staleproof.draw.occasions import occasions
from staleproof.draw.profile import Profile


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
