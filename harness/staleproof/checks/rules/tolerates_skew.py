"""tolerates-skew: survive any relative lag between resources.

Put to the test: an event of one resource was late while something of another was shown (children older than their parents, or the
other way round). A finding is an end that is not the references', after a time that any controller can do with, when nothing was
done to it but lags. A write that breaks another rule meanwhile is told by that rule, and by that rule only: then this one has
nothing to say, neither good nor bad.
"""

from collections.abc import Iterator

from staleproof.checks.facts.lags import lags
from staleproof.checks.facts.wording import listing
from staleproof.checks.requirement import Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import NotExercised, Said, Suspicion


def check(trial: Trial) -> Iterator[Said]:
    if not lags(trial):
        yield NotExercised("nothing of one resource was shown to the controller while another resource was late")
        return
    lag = lags(trial)[0]
    # Not by a fault that ends the stream: that is for survives-stream-loss and survives-expiry.
    charge = f"after its view of {lag.behind} was behind that of {listing(lag.ahead)}"
    yield Suspicion((lag.withheld, lag.shown), charge, unless_broken=True)


REQUIREMENT = Requirement(
    slug="tolerates-skew",
    must="The controller MUST survive any lag of one resource behind another.",
    level="core",
    source="kubernetes/kubernetes#112684; KEP-2340",
    faults=("Skew", "Hold", "Delay"),
    remedy="never conclude from a parent in one cache that a child in another cache must be there (or gone) by now: "
    "look again when the other cache moves, and read live before a destructive act",
    kind="end",
    wrong="another end than without faults",
    effects=frozenset({"lags"}),
    check=check,
    outlives=frozenset({"hides", "lags"}),
)
