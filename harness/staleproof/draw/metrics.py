"""Plans of the metrics scenario: what the controller counts as skipped for staleness, while it is behind and while it is not."""

from collections.abc import Iterator

from msgspec import structs

from staleproof.core.fault import Window
from staleproof.core.operator.observed import Observed
from staleproof.draw.canonical import hidden_creates, life
from staleproof.draw.family import Draft, Scenario
from staleproof.draw.profile import Profile

SCENARIO = Scenario("metrics")


@SCENARIO.family
def behind_for_a_while(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Hide its creates until the primary shrinks; when it is touched after that, there is nothing to skip."""
    window = Window(1, life(observed).shrinks or life(observed).last)
    return (
        Draft(
            f"hide own creates of {hide.resource} for a while, and read the metrics",
            [structs.replace(hide, window=window)],
            aims=("reports-skips",),
        )
        for hide in profile.some(hidden_creates(observed) if observed.has_metrics else ())
    )
