"""Plans of the isolation scenario: a second primary appears while the controller waits to be shown what it did for the first."""

from collections.abc import Iterator

from staleproof.core.operator.observed import Observed
from staleproof.core.plan.step import Apply, Rest
from staleproof.core.times import WAITS_SECONDS
from staleproof.draw.canonical import another, appear, hidden_creates
from staleproof.draw.family import Draft, Scenario
from staleproof.draw.profile import Profile

SCENARIO = Scenario("isolation")


@SCENARIO.family
def second_primary(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Hide its creates for the first primary; then the second appears, if there is room for it."""
    first = appear(observed)
    steps = (first, Apply(object=another(first.object, observed.hosts)), Rest(seconds=WAITS_SECONDS))
    hidden = [] if observed.alone else hidden_creates(observed)[:1]  # one kind is as good as another: it waits for none
    return (
        Draft(f"hide own creates of {hide.resource} while a second primary appears", [hide], steps, aims=("isolates-objects",))
        for hide in hidden
    )
