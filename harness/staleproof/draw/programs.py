"""Plans of the programs scenario, for a subject that is several programs: one of them is held back, or dies, and the others go on.

What one program has not been shown, another has done meanwhile. To the one that is behind, that is another user's work: a status
that it reads, changes and writes back as a whole takes away what the other has said since.
"""

from collections.abc import Iterator

from staleproof.core.fault import HoldStream, Restart, Window
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.step import Rest, Step, Touch, at_once
from staleproof.core.times import WAITS_SECONDS
from staleproof.draw.canonical import UNWOKEN, appear, slow_to_start
from staleproof.draw.family import Draft, Scenario
from staleproof.draw.profile import Profile

SCENARIO = Scenario("programs", settle=slow_to_start)
_BEHIND = ("no-lost-update", "honest-observed-generation", "converges-after-catch-up")
_MOST = 3


@SCENARIO.family
def held_apart(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The view of one further program is held while the primary is changed, which the controller sees and acts on."""
    return (
        Draft(
            f"{program.name} is held back while the primary is changed",
            [HoldStream(resource=observed.resource, program=program.name, window=Window(2))],
            _changed(observed),
            aims=_BEHIND,
        )
        for program in observed.beside
        if observed.resource in program.watched
    )


@SCENARIO.family
def held_alone(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The controller's own view is held while the primary is changed, which the further programs see and act on."""
    names = " and ".join(each.name for each in observed.beside if observed.resource in each.watched)
    if names and observed.resource in observed.watched:
        hold = HoldStream(resource=observed.resource, window=Window(2))
        title = f"the controller is held back while the primary is changed, and {names} goes on"
        yield Draft(title, [hold], _changed(observed), aims=_BEHIND)


@SCENARIO.family
def killed_apart(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """One further program is killed before each step, and the controller stays; and it is down while the primary is changed."""
    steps = _changed(observed)
    for program in observed.beside:
        restarts = [Restart(program=program.name, window=Window(from_step=step)) for step in range(2, len(steps) + 1)]
        yield Draft(f"{program.name} is killed before each step", restarts, steps, aims=("survives-restart",))
        down = Restart(program=program.name, stays_down=True, window=Window(2, 4))
        title = f"{program.name} is down while the primary is changed"
        yield from profile.more([Draft(title, [down], steps, aims=("survives-restart",))])


def _changed(observed: Observed) -> tuple[Step, ...]:
    """The primary appears and is changed; each program has the time to look by itself; then it is touched."""
    moves = [observed.do(move) for move in observed.changes if not move.is_label]
    change = observed.change or at_once(moves[:_MOST]) or Touch(target=observed.target)
    rest = Rest(seconds=WAITS_SECONDS)
    return (appear(observed), change, rest, Touch(target=observed.target), UNWOKEN)
