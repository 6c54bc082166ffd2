"""An environment in an event loop in a thread of its own, so that watches go on while a test thinks.

Everything here is called synchronously and returns when it is done.
"""

import asyncio
import math
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self, TypeVar

from anyio.abc import TaskStatus
from anyio.from_thread import BlockingPortal, start_blocking_portal

from staleproof.core.times import ENDING_SECONDS, LOOK_SECONDS
from staleproof.drive.cluster.control_plane import ControlPlane, Progress
from staleproof.drive.process.ending import ended
from staleproof.drive.trial.environment import Environment, EnvironmentOptions, environment
from staleproof.errors import OutOfTime, SetupError

T = TypeVar("T")
Work = Callable[[Environment], Coroutine[Any, Any, T]]
Ends = Callable[[], float]
"""Says when the time is over, on the monotonic clock."""


class Background:
    """Use as a context manager. Raises what `drive` raises: UsageError, SetupError, HarnessBug.

    Attributes:
        plane: the running control plane.
        description: what reports say about the environment, as of the last call.
        refused: how often the controller asked for what it may not do, as of the last call.
    """

    def __init__(self, options: EnvironmentOptions, folder: Path, progress: Progress) -> None:
        self.plane: ControlPlane
        self.description: dict[str, str] = {}
        self.refused: dict[str, int] = {}
        self._options, self._folder, self._progress = options, folder, progress
        self._stack = ExitStack()
        self._portal: BlockingPortal
        self._life: asyncio.Task[Any] | None = None  # the one task in which the environment begins, works and ends
        self._work: asyncio.Queue[tuple[Work[Any], asyncio.Future[Any], Ends]]
        self._ended: Exception | None = None

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._portal = stack.enter_context(start_blocking_portal(name="staleproof"))
            stack.push(self._end)
            self._portal.start_task(self._live)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exc: Any) -> None:  # noqa: ANN401  # as of any context manager
        self._stack.__exit__(*(exc or (None, None, None)))

    def call(self, work: Work[T], *, ends: Ends | None = None) -> T:
        """Run a coroutine with the environment, in its event loop, and cancel it once the time is over, which `ends` may say later.
        SetupError when the run is over, OutOfTime when the time is."""
        try:
            done: asyncio.Future[T] = self._portal.call(self._perform, work, ends or _never)
        except RuntimeError:  # the portal is closed
            raise self._over() from None
        return done.result()

    async def _live(self, *, task_status: TaskStatus[None]) -> None:
        """The environment's life: do what is asked for until cancelled. An error in any part of it ends whatever is being done."""
        self._life, self._work = asyncio.current_task(), asyncio.Queue()
        try:
            async with environment(self._options, self._folder, self._progress) as running:
                self.plane, self.description = running.plane, dict(running.description)
                task_status.started()
                while True:
                    work, done, ends = await self._work.get()
                    await _do(work, running, done, ends)
                    self.description, self.refused = dict(running.description), dict(running.lives.refusals.counts)
        except Exception as err:
            self._ended = _innermost(err)
            raise self._ended from None

    async def _perform(self, work: Work[T], ends: Ends) -> asyncio.Future[T]:
        """Have the work done; the finished future."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._work.put_nowait((work, done, ends))
        await asyncio.wait({done, self._life} if self._life else {done}, return_when=asyncio.FIRST_COMPLETED)
        if not done.done():
            raise self._over()
        return done

    def _end(self, kind: type[BaseException] | None, *_: object) -> None:
        """Stop everything in order, and in a hurry when the run is interrupted. While starting, or in a trial, the waits end now;
        what was recorded is kept."""
        try:
            self._portal.call(self._stop, _patience(kind))
        except KeyboardInterrupt as err:
            self._portal.call(self._stop, _patience(type(err)))
            raise

    async def _stop(self, patience_seconds: float | None) -> None:
        if self._life is not None:
            await ended(self._life, patience_seconds=patience_seconds)

    def _over(self) -> SetupError:
        return SetupError(f"the run is over: {self._ended or 'its parts were stopped'}; see the logs in {self._folder}")


def _patience(kind: type[BaseException] | None) -> float | None:
    """So many seconds everything may take to stop in order, given what ends the run; None: as many as it needs."""
    return ENDING_SECONDS if kind is not None and issubclass(kind, KeyboardInterrupt) else None


async def _do(work: Work[T], running: Environment, done: asyncio.Future[T], ends: Ends) -> None:
    limit = asyncio.timeout(None)
    try:
        async with limit:
            with _kept(limit, ends):
                result = await work(running)
        done.set_result(result)
    except asyncio.CancelledError:
        raise
    except BaseException as err:
        done.set_exception(OutOfTime() if limit.expired() and isinstance(err, TimeoutError) else err)


@contextmanager
def _kept(limit: asyncio.Timeout, ends: Ends) -> Iterator[None]:
    """Let it expire when the time is over; asyncio's clock is the monotonic one."""
    loop, again = asyncio.get_running_loop(), ExitStack()

    def look() -> None:
        if not limit.expired():
            again.pop_all()
            again.callback(loop.call_later(LOOK_SECONDS, look).cancel)
            at = ends()
            limit.reschedule(None if at == math.inf else at)

    with again:
        look()
        yield


def _never() -> float:
    return math.inf


def _innermost(err: Exception) -> Exception:
    """The one error of a task group that has one: how it was run must not hide who is to blame."""
    while isinstance(err, ExceptionGroup) and len(err.exceptions) == 1:
        err = err.exceptions[0]
    return err
