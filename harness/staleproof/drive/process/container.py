"""One container with a lifetime: created, followed, signalled, stopped, removed. The counterpart of `process`.

It decides what a start, an exit and a stop are, what a container may do (the host's network, no privileges) and
how its output reaches a file. It does not decide what a container is for. What becomes of one when this process is
killed with SIGKILL stands in `leftovers`.
"""

import asyncio
import os
import shlex
import signal
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

from docker.errors import DockerException, NotFound  # type: ignore[import-untyped]
from testcontainers.core.container import DockerContainer
from testcontainers.core.exceptions import ContainerConnectException

from staleproof.drive.process import leftovers
from staleproof.drive.process.images import Wanted, digest_of, engine_errors, find_image, find_reaper, in_short, reach_engine
from staleproof.drive.process.process import PROBE_INTERVAL_SECONDS, SHOWN_LINES
from staleproof.errors import SetupError

KILL_SECONDS = 10.0
LOST = 255  # no exit code can be had: the engine went away, or somebody else removed the container
_TAIL_BYTES = 64 * 1024
A = TypeVar("A")
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerCommand:
    """What to run. An empty `entrypoint` or `arguments` means the image's own.

    Attributes:
        files: content by path inside; readable by every user there, whoever the image runs as. They are copied, not
            mounted: a file that only its owner may read stays so on this machine, and rootless engines, user namespaces
            and SELinux need no exception.
        scratch: paths inside that are writable, in memory, and gone with the container.
        instead: ends the sentence "Start Docker, or …".
    """

    name: str
    wanted: Wanted
    log: Path
    instead: str
    entrypoint: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    scratch: tuple[str, ...] = ()

    def words(self) -> str:
        return shlex.join((*self.entrypoint, *self.arguments)) or "(the image's own)"


@dataclass(frozen=True, slots=True)
class _Started:
    """What the engine says of a container it has started. `container` is docker's own, which has no annotations."""

    box: DockerContainer
    container: Any
    image_digest: str

    @property
    def pid(self) -> int:
        return int(self.container.attrs["State"]["Pid"])

    @property
    def stop_signal(self) -> str:
        return str(self.container.attrs["Config"].get("StopSignal") or "SIGTERM")


class Container:
    """A running or finished container. `pid` is its first process as this machine sees it; 0 when it exited at once."""

    def __init__(self, command: ContainerCommand, started: _Started, log_start: int) -> None:
        self.command = command
        self.pid = started.pid
        self.image_digest = started.image_digest
        self._started = started
        self._log_start = log_start
        self._code: int | None = None
        self._note = ""
        self._stopped = False
        self._exited = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        # Not one of asyncio's threads: those would keep the program from ending when an engine no longer answers.
        self._follower = threading.Thread(target=self._follow, name=f"{command.name}: container log", daemon=True)
        self._follower.start()

    @classmethod
    async def start(cls, command: ContainerCommand) -> Self:
        """Return once the engine has started it; SetupError when it cannot be started at all."""
        log_start = _open_log(command)
        started = await _undivided(_start, command, lambda started: _discard(started.box))
        return cls(command, started, log_start)

    @property
    def running(self) -> bool:
        return self._code is None

    @property
    def exit_code(self) -> int | None:
        """None while it runs; 128 + n when signal n ended it; LOST when nobody can tell."""
        return self._code

    async def wait(self) -> int:
        """Its exit code, once it has exited and all it wrote is in the log."""
        await self._exited.wait()
        return LOST if self._code is None else self._code

    async def ready(self, probe: Callable[[], Awaitable[bool]], *, limit_seconds: float) -> None:
        """Wait until `probe` says yes. An exit ends the wait at once and is told as an exit, not as a time-out."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_seconds):
                while self.running:
                    if await probe() and self.running:
                        return
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._exited.wait(), PROBE_INTERVAL_SECONDS)
        if self.running:
            found = f"not ready within {limit_seconds:g} s"
        else:
            found = f"exited with code {self.exit_code} before it was ready"
        raise SetupError(f"{self.command.name}: {found}.\n{self.account()}")

    async def signal(self, number: int | str) -> None:
        """To its first process, also where this user may not signal it directly; nothing happens when it is gone."""
        if self.running:
            await asyncio.to_thread(self._kill, number)

    async def stop(self, *, grace_seconds: float = 10.0) -> int:
        """TERM (or what the image asks for), wait, KILL, remove; the exit code. Calling it again changes nothing."""
        if self._stopped:
            return await self.wait()
        self._stopped = True
        try:
            await self.signal(self._started.stop_signal)
            await self.signal(signal.SIGCONT)  # a paused program would not see TERM before CONT
            await self._exits_within(grace_seconds)
            await self.signal(signal.SIGKILL)
            await self._exits_within(KILL_SECONDS)
        finally:
            await _undivided(_remove, self._started.box, None)
        await self._exits_within(KILL_SECONDS)  # where only the removal ended it
        return LOST if self._code is None else self._code

    def last_lines(self, count: int = SHOWN_LINES) -> list[str]:
        """The end of what this container wrote; the log may hold the output of earlier ones above it."""
        try:
            with self.command.log.open("rb") as log:
                size = log.seek(0, os.SEEK_END)
                log.seek(max(self._log_start, size - _TAIL_BYTES))
                return log.read().decode(errors="replace").splitlines()[-count:]
        except OSError:
            return []

    def account(self) -> str:
        """For an error message: image, command line, state, and how the log ends."""
        lines = "\n".join(f"  | {line}" for line in self.last_lines()) or "  | (it wrote nothing)"
        state = "it runs" if self.running else f"it exited with code {self.exit_code}"
        note = f" ({self._note})" if self._note else ""
        return (
            f"Image: {self.command.wanted.image} ({self.image_digest})\nCommand: {self.command.words()}\n"
            f"State: {state}{note}\nLog {self.command.log} ends:\n{lines}"
        )

    async def _exits_within(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._exited.wait(), seconds)

    def _kill(self, number: int | str) -> None:
        try:
            with engine_errors(f"signalling {self.command.name}"):
                self._started.container.kill(signal=number)
        except SetupError as err:
            # 409: it exited meanwhile; 404: somebody removed it. The follower tells what became of it.
            if getattr(err.__cause__, "status_code", None) not in (404, 409):
                raise

    def _copy_log(self) -> None:
        try:
            with self.command.log.open("ab", buffering=0) as log:
                for chunk in self._started.container.logs(stream=True, follow=True):
                    log.write(chunk)
        except OSError as err:  # a full disk, a log driver that cannot be read: no exit
            self._note = f"its log is cut off: {in_short(err)}"

    def _follow(self) -> None:
        """A thread: the log until it ends, which it does when the program exits, then the exit code."""
        code = LOST
        try:
            self._copy_log()
            code = int(self._started.container.wait()["StatusCode"])
        except Exception as err:  # whatever the engine or the way to it says: a thread has nobody to raise to
            self._note = f"its exit code is not known: {in_short(err)}"
        finally:
            self._code = code
            with suppress(RuntimeError):  # nobody waits any more: the loop is closed
                self._loop.call_soon_threadsafe(self._exited.set)


def _open_log(command: ContainerCommand) -> int:
    try:
        command.log.parent.mkdir(parents=True, exist_ok=True)
        with command.log.open("ab") as log:
            return log.tell()
    except OSError as err:
        raise SetupError(f"{command.name}: cannot write the log {command.log}: {err}.") from err


def _start(command: ContainerCommand) -> _Started:
    client = reach_engine(instead=command.instead)
    try:
        find_reaper(client)
        image = find_image(client, command.wanted)
        with engine_errors("removing what dead runs left behind"):
            leftovers.sweep(client.client)
    finally:
        client.client.close()
    box = _box(command)
    box.image = image.id  # what was found is what runs, whatever its name comes to mean meanwhile
    try:
        box.start()
        box.get_wrapped_container().reload()
    except (DockerException, ContainerConnectException, OSError) as err:
        _discard(box)
        raise SetupError(
            f"{command.name}: the image {command.wanted.image} is there, but its container does not start: {in_short(err)}. "
            f"Check the command: {command.words()}"
        ) from err
    return _Started(box, box.get_wrapped_container(), digest_of(image))


def _box(command: ContainerCommand) -> DockerContainer:
    with engine_errors("connecting"):
        box = DockerContainer(command.wanted.image).with_envs(**command.env)
    if command.arguments:
        box.with_command(list(command.arguments))
    for path, content in command.files.items():
        box.with_copy_into_container(content, path, 0o444)
    for path in command.scratch:
        box.with_tmpfs_mount(path)
    box.with_kwargs(
        network="host",
        labels=leftovers.labels(),
        entrypoint=list(command.entrypoint) or None,
        security_opt=["no-new-privileges"],
    )
    return box


def _remove(box: DockerContainer) -> None:
    name = box.get_wrapped_container().short_id
    with engine_errors(f"removing the container {name} (`docker rm -f {name}` does it by hand)"):
        try:
            box.stop()
        except NotFound:
            box.get_docker_client().client.close()


def _discard(box: DockerContainer) -> None:
    """After an error that is already being told."""
    with suppress(DockerException, OSError):
        box.stop()


async def _undivided(work: Callable[[A], R], argument: A, undo: Callable[[R], None] | None) -> R:
    """In a thread, which cannot be cancelled: a cancellation waits for its end, and undoes what it did."""
    running = asyncio.ensure_future(asyncio.to_thread(work, argument))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait({running})
        if undo is not None and running.exception() is None:
            await asyncio.to_thread(undo, running.result())
        raise
