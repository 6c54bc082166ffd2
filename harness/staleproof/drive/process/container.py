"""One container with a lifetime: created, followed, signalled, stopped, removed. The counterpart of `process`.

It decides what a start, an exit and a stop are, what a container may do (no privileges) and how its output reaches a file. It does
not decide what a container is for, or which network it needs. `reaper` says what becomes of one when this process is killed with
SIGKILL.
"""

import asyncio
import shlex
import signal
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

from docker.errors import DockerException, NotFound  # type: ignore[import-untyped]
from testcontainers.core.container import DockerContainer
from testcontainers.core.exceptions import ContainerConnectException

from staleproof.core.times import KILL_SECONDS, OTHERS_GRACE_SECONDS
from staleproof.drive.process.address import LOOPBACK
from staleproof.drive.process.images import ImageRequest, digest_of, engine_errors, find_image, find_ryuk, in_short, reach_engine
from staleproof.drive.process.program import Log, Program
from staleproof.drive.process.reaper import RUN_LABEL, reap_containers, tell_sweeper, this_run
from staleproof.errors import SetupError

LOST = 255  # the exit code cannot be had: the engine went away, or another user removed the container
A = TypeVar("A")
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerCommand:
    """What to run. An empty `entrypoint` or `arguments` means the image's own.

    Attributes:
        files: content by path inside; every user inside can read them, whatever user the image runs as. They are copied, not
            mounted: on this machine a file that only its owner may read stays so, and rootless engines, user namespaces and SELinux
            need no exception.
        scratch: paths inside that are writable, in memory, and gone with the container.
        instead: ends the sentence "Start Docker, or …".
        network: the engine's name of it.
        publish: ports inside, and those of loopback that lead there.
    """

    name: str
    image: ImageRequest
    log: Path
    instead: str
    entrypoint: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    scratch: tuple[str, ...] = ()
    network: str = "host"
    publish: Mapping[int, int] = field(default_factory=dict)

    def words(self) -> str:
        return shlex.join((*self.entrypoint, *self.arguments)) or "(the image's own)"


class Container(Program):
    """A running or finished container. `pid` is its first process as this machine sees it; 0 when it exited at once."""

    def __init__(self, command: ContainerCommand, started: tuple[DockerContainer, Any], log: Log) -> None:
        self.command, self.name, self.log = command, command.name, log
        self._box, self._image = started
        self.image_digest = digest_of(self._image)
        self._container: Any = self._box.get_wrapped_container()  # docker's own, which has no annotations
        self.pid = int(self._container.attrs["State"]["Pid"])
        self._code: int | None = None
        self._note = self._reason = ""
        self._stopped = False
        self._exited = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        # Not one of asyncio's threads: those would keep the program from ending when an engine no longer answers.
        self._follower = threading.Thread(target=self._follow, name=f"{command.name}: container log", daemon=True)
        self._follower.start()

    @classmethod
    async def start(cls, command: ContainerCommand) -> Self:
        """Return once the engine has started it. SetupError when it cannot be started at all."""
        try:
            log = Log.opened(command.log)
        except OSError as err:
            raise SetupError(f"{command.name}: cannot write the log {command.log}: {err}.") from err
        return cls(command, await _undivided(_start, command, lambda started: _discard(started[0])), log)

    @property
    def exit_code(self) -> int | None:
        return self._code

    @property
    def exit_reason(self) -> str:
        return self._reason

    def identity(self) -> dict[str, str]:
        labels = ", ".join(f"{name}={value}" for name, value in sorted((self._image.labels or {}).items()))
        return {"imageDigest": self.image_digest} | ({"imageLabels": labels} if labels else {})

    async def wait(self) -> int:
        """Also until everything it wrote is in the log."""
        await self._exited.wait()
        return LOST if self._code is None else self._code

    async def send_signal(self, number: int | str) -> None:
        """Even where this user may not signal it directly."""
        if self.running:
            await asyncio.wrap_future(_in_thread(lambda: self._kill(number)))

    async def stop(self, *, grace_seconds: float = OTHERS_GRACE_SECONDS) -> int:
        """With the signal that the image asks for, if it does, in place of TERM. The container is removed."""
        if self._stopped:
            return await self.wait()
        self._stopped = True
        try:
            await self.send_signal(self._container.attrs["Config"].get("StopSignal") or "SIGTERM")
            await self.send_signal(signal.SIGCONT)  # a paused program would not see TERM before CONT
            await self._exits_within(grace_seconds)
            await self.send_signal(signal.SIGKILL)
            await self._exits_within(KILL_SECONDS)
        finally:
            await _undivided(_remove, self._box, None)
        await self._exits_within(KILL_SECONDS)  # in case only the removal ended it
        return LOST if self._code is None else self._code

    def description(self) -> str:
        why = f", {self._reason}" if self._reason else ""
        state = "it runs" if self.running else f"it exited with code {self.exit_code}{why}"
        note = f" ({self._note})" if self._note else ""
        return f"Image: {self.command.image.name} ({self.image_digest})\nCommand: {self.command.words()}\nState: {state}{note}"

    async def _exits_within(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._exited.wait(), seconds)

    def _kill(self, number: int | str) -> None:
        try:
            with engine_errors(f"signalling {self.command.name}"):
                self._container.kill(signal=number)
        except SetupError as err:
            # 409: it exited meanwhile; 404: another user removed it. The follower finds out what became of it.
            if getattr(err.__cause__, "status_code", None) not in (404, 409):
                raise

    def _copy_log(self) -> None:
        try:
            with self.command.log.open("ab", buffering=0) as log:
                for chunk in self._container.logs(stream=True, follow=True):
                    log.write(chunk)
        except OSError as err:  # a full disk, a log driver that cannot be read: no exit
            self._note = f"its log is cut off: {in_short(err)}"

    def _follow(self) -> None:
        """In a thread: copy the log until it ends, which it does when the program exits, then note the exit code."""
        code = LOST
        try:
            self._copy_log()
            code = int(self._container.wait()["StatusCode"])
            self._container.reload()
            self._reason = reason_of(self._container.attrs["State"])
        except Exception as err:  # whatever the engine or the connection to it raises: nothing would catch it in a thread
            self._note = f"its exit code is not known: {in_short(err)}"
        finally:
            self._code = code
            with suppress(RuntimeError):  # the loop is closed: nothing waits any more
                self._loop.call_soon_threadsafe(self._exited.set)


def reason_of(state: Mapping[str, Any]) -> str:
    """What an engine says of an exit besides its code."""
    if state.get("OOMKilled"):
        return "killed because its memory ran out"
    return str(state.get("Error") or "")


def _start(command: ContainerCommand) -> tuple[DockerContainer, Any]:
    client = reach_engine(instead=command.instead)
    with closing(client.client):
        find_ryuk(client)
        image = find_image(client, command.image)
        with engine_errors("removing what dead runs left behind"):
            reap_containers(client.client)
    box = _box(command)
    box.image = image.id  # what was found is what runs, whatever its name comes to mean meanwhile
    tell_sweeper("+")
    try:
        box.start()
        box.get_wrapped_container().reload()
    except (DockerException, ContainerConnectException, OSError) as err:
        _discard(box)
        raise SetupError(
            f"{command.name}: the image {command.image.name} is there, but its container does not start: {in_short(err)}. "
            f"Check the command: {command.words()}"
        ) from err
    return box, image


def _box(command: ContainerCommand) -> DockerContainer:
    with engine_errors("connecting"):
        box = DockerContainer(command.image.name).with_envs(**command.env)
    if command.arguments:
        box.with_command(list(command.arguments))
    for path, content in command.files.items():
        box.with_copy_into_container(content, path, 0o444)
    for path in command.scratch:
        box.with_tmpfs_mount(path)
    for inside, outside in command.publish.items():
        box.ports[f"{inside}/tcp"] = (LOOPBACK, outside)  # type: ignore[assignment]  # docker's own way of saying where
    box.with_kwargs(
        network=command.network,
        labels={RUN_LABEL: this_run()},
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
    tell_sweeper("-")


def _discard(box: DockerContainer) -> None:
    """After an error that is already on its way to the user."""
    with suppress(DockerException, OSError):
        box.stop()
        tell_sweeper("-")


async def _undivided(work: Callable[[A], R], argument: A, undo: Callable[[R], None] | None) -> R:
    """Work in a thread, which cannot be cancelled: a cancellation waits until it is done, then undoes it. Another cancellation
    waits no longer; the work is undone all the same."""
    running = _in_thread(lambda: work(argument))
    try:
        return await asyncio.wrap_future(running)
    except asyncio.CancelledError:
        await asyncio.wrap_future(_in_thread(lambda: _undone(running, undo)))
        raise


def _undone(running: Future[R], undo: Callable[[R], None] | None) -> None:
    with suppress(Exception):  # then there is nothing to undo
        result = running.result()
        if undo is not None:
            undo(result)


def _in_thread(work: Callable[[], R]) -> Future[R]:
    """Not one of asyncio's threads: those would keep the program from ending when an engine no longer answers."""
    done: Future[R] = Future()
    done.set_running_or_notify_cancel()  # from here on nothing cancels it

    def run() -> None:
        try:
            result = work()
        except BaseException as err:
            done.set_exception(err)
        else:
            done.set_result(result)

    threading.Thread(target=run, name="staleproof: engine", daemon=True).start()
    return done
