"""When a step of a trial is over, and when the trial has come to its end: what the runner waits for, and how long."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property

from staleproof.core.history.activity import called_after
from staleproof.core.history.entry import Committed, Settled
from staleproof.core.history.history import History
from staleproof.core.plan.waiting import closes_with, pause_seconds
from staleproof.core.times import (
    ASKED_AGAIN_SECONDS,
    AT_MOST_NEEDED_SECONDS,
    CIRCLES_FACTOR,
    CIRCLES_SECONDS,
    MARGIN_SECONDS,
    POLL_SECONDS,
    SURE_SECONDS,
)
from staleproof.drive.trial.event_bus import Condition, EventBus
from staleproof.drive.trial.looks import Looks
from staleproof.drive.trial.process_faults import ProcessFaults
from staleproof.drive.trial.readings import Readings
from staleproof.drive.trial.spec import Live, Reached, TrialSpec

_MANY_ROUNDS = 20
_MOST_DOUBTS = 20
"""How often the controller's metrics may say, `POLL_SECONDS` apart, that it has work although nothing is seen of it."""


class Endings:
    """Of one trial. `live`: what there is of it now, without what was given; `so_far`: what was recorded of it until now."""

    def __init__(
        self,
        spec: TrialSpec,
        bus: EventBus,
        process_faults: ProcessFaults,
        readings: Readings,
        *,
        live: Callable[[], Live],
        so_far: Callable[[], History],
    ) -> None:
        self._spec, self._settle, self._bus, self._activity = spec, spec.plan.settle, bus, bus.activity
        self._process_faults, self._readings = process_faults, readings
        self._live, self._so_far = live, so_far
        self._step_began = self._needed = 0.0
        self._good: dict[float, bool] = {}

    async def until_over(self, number: int) -> bool:
        """Wait until a step is over; whether the controller is idle then, and not just out of time.

        No controller is idle between two lives: one that was killed in a step still has to finish it; but a crash loop is not
        waited for. Nor is one idle whose own metrics say that it has work, unless they say so all the time.
        """
        doubts, self._step_began = 0, time.monotonic()
        while True:
            idle = await self._bus.until(self._over(number), limit_seconds=self._settle.limit_seconds)
            if self._goes_in_circles(time.monotonic()):
                return False
            if self._process_faults.is_looping:
                return idle
            if await self._process_faults.settled():
                continue
            if not idle or doubts == _MOST_DOUBTS or not await self._readings.says_working():
                return idle
            doubts += 1
            await asyncio.sleep(POLL_SECONDS)

    async def until_settled(self, released: float) -> Settled:
        """Wait until the controller has converged and is quiet, or has had its time since the release; how that ended."""
        lacked = await self._until_converged(released)
        if not lacked and await self._has_awaited_a_retry(released):
            lacked = await self._until_converged(released)
        missing, overdue = await self._patiently(released, lacked)
        now = time.monotonic()
        why = f"after {now - released - (0.0 if missing else overdue):.3g} s: {missing or lacked}" if lacked else ""
        return Settled(at=now, ok=not missing, why=why, overdue=round(overdue, 3))

    @property
    def is_end_known(self) -> bool:
        """Whether it can be known, without a further wait, that what the last step was to bring is there."""
        return self._reached_in_the_end is not None

    def _over(self, number: int) -> Condition:
        """A step is over when it has brought what it brought in the references, or else when the controller's pauses are over, too.

        Those are waited for in any case where a fault closes with the step: what the controller does late, it must do under it.
        Before any fault has opened, what the references came to is waited for longer.
        """
        reached = None if closes_with(self._spec.plan, number) else self._reached(number)
        pause = self._settle.idle_seconds if reached is None else pause_seconds(self._spec.plan, number)
        known: dict[float, bool] = {}

        def over(now: float) -> bool | float:
            if self._process_faults.is_looping or self._goes_in_circles(now):
                return True
            since = self._activity.idle_since(now)
            if since is None:
                return now + POLL_SECONDS  # what is owed is forgiven by time alone
            due, soon = since + pause, since + self._settle.settling_seconds
            if now >= due or reached is None:
                return now >= due or due
            if now < soon:
                return min(due, soon)
            if since not in known:
                known[since] = reached(number, self._live(), self._activity.done)
            return known[since] or due

        return over

    def _goes_in_circles(self, now: float) -> bool:
        """Whether under a fault it makes again and again what is removed again and again, in this step, and far more often than the
        references do in all of theirs: it will go on like that for as long as the fault. Nothing is known where there are none."""
        if not (self._spec.plan.faults and self._spec.references) or now - self._step_began < CIRCLES_SECONDS:
            return False
        return self._activity.most_removed > _MANY_ROUNDS + CIRCLES_FACTOR * self._usually_removed

    @cached_property
    def _usually_removed(self) -> int:
        """The most objects called after the same that were removed in any reference."""
        runs = (Counter(called_after(each) for each in _removals(run)) for run in self._spec.references)
        return max((count for run in runs for count in run.values()), default=0)

    def _reached(self, number: int) -> Reached | None:
        """When this step is over without a further wait; None: it cannot be known."""
        return self._spec.reached if number <= self._spec.reached_until else None

    @property
    def _reached_in_the_end(self) -> Reached | None:
        return self._reached(len(self._spec.plan.steps))

    async def _until_converged(self, released: float) -> str:
        """Wait until converged and quiet; what was missing when the time ran out, empty when nothing is."""
        spec, settle = self._spec, self._settle
        lasts = spec.lasts[-1] if spec.lasts else 0.0
        was_released = closes_with(spec.plan, len(spec.plan.steps))
        looks = Looks(lambda: spec.converged(self._live()) if spec.converged else "", "still busy")

        def settled(now: float) -> bool | float:
            if self._process_faults.is_busy:
                return now + POLL_SECONDS
            since, idle = self._activity.quiet_since(now), self._activity.idle_since(now)
            if since is None or idle is None:
                return now + POLL_SECONDS
            if self._needs_no_patience():
                due = idle + (settle.idle_seconds if was_released else settle.settling_seconds)
            else:
                due = max(since + settle.quiet_seconds, idle + settle.idle_seconds, released + lasts)
            if now < due:
                return due
            found = looks.find_nothing(now)
            return found if found is True else self._is_as_good(idle, now) or found

        limit = lasts + (spec.deadline_seconds or settle.deadline_seconds)
        while limit:
            if await self._bus.until(settled, limit_seconds=limit):
                return ""
            limit = self._more_seconds(time.monotonic() - released)
        return looks.in_the_end()

    def _is_as_good(self, since: float, now: float) -> bool | float:
        """Whether what differs is nothing that a verdict is about, once the controller has rested for long; or when it has."""
        patience, due = self._spec.patience, since + max(SURE_SECONDS, self._settle.idle_seconds)
        if patience is None or now < due:
            return patience is not None and due
        if since not in self._good:
            self._good[since] = not patience.missing(self._so_far())
        return self._good[since]

    async def _has_awaited_a_retry(self, released: float) -> bool:
        """Wait until the controller has tried again what it may be about to do again, or has had the time for it; whether there was
        anything to wait for."""
        may_come = self._spec.may_come
        left = released + may_come(self._so_far()) - time.monotonic() if may_come is not None else 0.0
        if may_come is None or left <= 0:
            return False
        looks = Looks(lambda: "a retry" if may_come(self._so_far()) > 0 else "", "a retry")
        await self._bus.until(looks.find_nothing, limit_seconds=left)
        return True

    async def _patiently(self, released: float, lacked: str) -> tuple[str, float]:
        """Wait for what is lacking until the patience is over, and no longer than it takes; what is missing then, and how many
        seconds that took."""
        patience, settle, began = self._spec.patience, self._settle, time.monotonic()
        left = released + patience.seconds - began if patience is not None and lacked else 0.0
        if patience is None or left <= 0 or not patience.missing(self._so_far()):
            return lacked, 0.0
        looks = Looks(lambda: patience.missing(self._so_far()), lacked)

        def is_there(now: float) -> bool | float:
            since, idle = self._activity.quiet_since(now), self._activity.idle_since(now)
            if self._process_faults.is_busy or since is None or idle is None:
                return now + POLL_SECONDS
            due = max(since + settle.quiet_seconds, idle + settle.idle_seconds)
            return due if now < due else looks.find_nothing(now)

        await self._bus.until(is_there, limit_seconds=left)
        return patience.missing(self._so_far()), time.monotonic() - began

    def _needs_no_patience(self) -> bool:
        """Whether what there is at the end is compared with the references, or is what the last step brought in an earlier one."""
        spec, reached = self._spec, self._reached_in_the_end
        if reached is None or spec.converged is not None:
            return reached is not None
        return reached(len(spec.plan.steps), self._live(), self._activity.done)

    def _more_seconds(self, waited: float) -> float:
        """How much longer to wait for convergence before that is asked again, as what the controller does meanwhile may tell; 0 if
        it had its time, or would need more than it is given."""
        needed = self._spec.may_need(self._so_far()) if self._spec.may_need else 0.0
        left = needed + MARGIN_SECONDS - waited if needed <= AT_MOST_NEEDED_SECONDS else 0.0
        has_come = needed < self._needed  # what it tried again may still be under way
        self._needed = needed
        return ASKED_AGAIN_SECONDS if has_come else min(max(left, 0.0), ASKED_AGAIN_SECONDS)


def _removals(run: History) -> Iterator[Committed]:
    """Of a reference, in the trial's namespace."""
    every = (entry for entry in run.entries if isinstance(entry, Committed) and entry.type == "DELETED")
    return (entry for entry in every if entry.namespace == run.header.namespace)
