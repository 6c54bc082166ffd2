"""What would have healed a controller that did not come to a good end: nudges, tried one after the other once the trial is over.

Nothing of it is in the history: the trial has ended, and what is judged is what the controller did when it was left alone.
"""

import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from staleproof.core.plan.but_for import present
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Touch
from staleproof.core.times import NUDGE_SECONDS, NUDGED_REST_SECONDS, POLL_SECONDS
from staleproof.drive.trial.environment import Environment
from staleproof.drive.trial.workload import Refused, Vanished, Workload
from staleproof.errors import SetupError

TOUCH, RELIST, RESTART = "a touch of the primary", "another list of the primaries", "a restart of the controller"
NOTHING = f"nothing, neither {TOUCH} nor {RELIST} nor {RESTART}"


async def what_heals(
    plan: Plan, environment: Environment, workload: Workload, primaries: Sequence[str], lacks: Callable[[], str]
) -> str:
    """The first of these that brings what is lacking, in words; `NOTHING` if none does within some seconds; empty when nothing is
    lacking. The mildest comes first. A life that goes on is not waited for once it has come to rest."""
    bus, rest = environment.bus, max(NUDGED_REST_SECONDS, plan.settle.idle_seconds)

    def is_over(now: float, *, is_new: bool) -> bool | float:
        since = bus.activity.idle_since(now)
        rests = not is_new and since is not None and now - since >= rest
        return rests or not lacks() or now + POLL_SECONDS

    ways: Sequence[tuple[str, Callable[[], Awaitable[None]]]] = (
        (TOUCH, partial(_touch, plan, workload)),
        (RELIST, partial(_relist, workload, primaries)),
        (RESTART, partial(environment.controller_ready, fresh=True)),
    )
    for words, does in ways if lacks() else ():
        with contextlib.suppress(Vanished, Refused, SetupError):  # a controller that cannot start again is not healed by that
            await does()
        bus.activity.touch(time.monotonic())
        await bus.until(partial(is_over, is_new=words == RESTART), limit_seconds=NUDGE_SECONDS)
        if not lacks():
            return words
    return NOTHING if lacks() else ""


async def _touch(plan: Plan, workload: Workload) -> None:
    for target in present(plan.steps):
        await workload.do(Touch(target=target), len(plan.steps) + 1)


async def _relist(workload: Workload, primaries: Sequence[str]) -> None:
    for resource in primaries:
        await workload.resync(resource, limit_seconds=NUDGE_SECONDS)
