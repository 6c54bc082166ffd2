"""recovers-in-bounded-time: not sleep long after the cache has caught up.

Put to the test: the controller was kept from seeing something; then it had been shown everything, the state was not the
references' yet, and no step of the workload came any more: it had to wake by itself. A finding is that it asked for no write (a
refused one would count) for longer than it ever needs: the longest pause of any fault-free run, ten times over, and 5 s at least.

What is waited for with patience does not count: it is judged as if the trial had ended before that.

A pass needs a hold of 10 s or more, and so does a finding about a controller that never went on: a shorter hold does not send a
controller to sleep, so there may be another reason. Whether it ends well is for other requirements to say.
"""

from collections.abc import Iterator

from staleproof.checks.ends.convergence import certain_difference, differences, unneeded
from staleproof.checks.facts.pending_events import pending_events
from staleproof.checks.facts.recovery_budget import usual_pauses
from staleproof.checks.facts.stimuli import sleep_after
from staleproof.checks.requirement import Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, Inconclusive, NotExercised, Said
from staleproof.core.fault import Effect
from staleproof.core.history.entry import Started, StepBegan, Stopped
from staleproof.core.plan.step import Rest

OTHER_REASONS: frozenset[Effect] = frozenset({"competes", "disconnects", "loses", "rejects", "slows"})
BOUND_SECONDS, BOUND_FACTOR, LONG_HOLD_SECONDS = 5.0, 10.0, 10.0


def check(trial: Trial) -> Iterator[Said]:
    settled = _ended(trial)
    hides = [number for number, fault in trial.fired.items() if "hides" in fault.effects and number in trial.spans]
    reason = unneeded(trial) or ("" if hides else "nothing was kept from the controller")
    if reason:
        yield NotExercised(reason)
        return
    opened, closed = min(trial.spans[number].opened for number in hides), max(map(trial.closing, hides))
    other = _other(trial, opened, closed)
    caught_up = None if other else pending_events(trial).caught_up(since=closed, until=settled)
    if caught_up is None:
        yield NotExercised(other or "it was not shown everything after the hold")
    else:
        yield from _judge(trial, opened, closed, caught_up)


def _judge(trial: Trial, opened: int, closed: int, caught_up: int) -> Iterator[Said]:
    """Of the last thing that was kept from it, and was shown at `caught_up`."""
    settled = _ended(trial)
    left, sleep = certain_difference(trial, caught_up + 1), sleep_after(trial, caught_up, settled)
    held, waited, pause = _seconds(trial, opened, closed), _seconds(trial, caught_up, sleep.until), max(usual_pauses(trial))
    too_short = f"a hold of {held:.1f} s is too short to send a controller to sleep"
    if not left or (not sleep.wrote and not differences(trial, settled)):
        yield NotExercised("when it had been shown everything there was nothing left for it to do")
    elif held < LONG_HOLD_SECONDS and not sleep.wrote:
        yield NotExercised(f"it never went on, and {too_short}")
    elif sleep.seconds > max(BOUND_SECONDS, BOUND_FACTOR * pause):
        wrote = "it first wrote" if sleep.wrote else "it had not written"
        because = (
            f"{wrote} {waited:.1f} s after it had been shown everything, though fault-free runs never pause longer than "
            f"{pause:.1f} s; until then, {left}"
        )
        yield Finding(because, tuple(sorted({opened, closed, caught_up, sleep.until})), basis="pace")
    elif not sleep.wrote:
        yield Inconclusive(f"it had not written when the trial ended, {waited:.1f} s after it was shown everything")
    elif held < LONG_HOLD_SECONDS:
        yield NotExercised(too_short)


def _ended(trial: Trial) -> int:
    """Where the time was over that is judged; ValueError for a trial that has no settling phase."""
    return trial.ending[1] if trial.overdue is None else trial.overdue


def _seconds(trial: Trial, since: int, until: int) -> float:
    return trial.at(until) - trial.at(since)


def _other(trial: Trial, opened: int, closed: int) -> str:
    """What else was done to the controller, so that the hold tells nothing; empty when it does."""
    settled = _ended(trial)
    steps = (trial.plan.steps[entry.step - 1] for _, entry in trial.every(StepBegan, since=closed, until=settled))
    if not all(isinstance(step, Rest) for step in steps):
        return "the workload went on after the hold"
    if any(opened <= index < settled for index in trial.positions(Started, Stopped)):
        return "the controller's process was stopped or started meanwhile"
    others = [fault.tag for fault in trial.fired.values() if not OTHER_REASONS.isdisjoint(fault.effects)]
    if others:
        return f"{others[0]} fired, too, and may have sent it to sleep or kept it waiting"
    others = [fault.tag for number, fault in trial.fired.items() if number in trial.spans and trial.closing(number) > closed]
    return f"{others[0]} went on after the hold" if others else ""


REQUIREMENT = Requirement(
    slug="recovers-in-bounded-time",
    must="The controller MUST not sleep long after its cache has caught up.",
    level="core",
    source="KEP-5647, Risks and Mitigations",
    faults=("Hold", "HideOwnWrite", "Coalesce"),
    remedy="wake the object when the awaited write is shown, by an event or by a list, not only after a long back-off, "
    "and forget the back-off of an object that has caught up",
    severity="stuck",
    kind="pace",
    wrong="a sleep after it could catch up",
    check=check,
    needs_end=True,
    waits=True,
)
