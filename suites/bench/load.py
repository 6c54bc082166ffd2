"""What the soak does to the proxy: writers, clients that stay, clients that come and go, plans that are installed and released.

Each of them goes on until `stop` is set, and notes in a `Ledger` what it saw. Nothing here judges.
"""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from staleproof.core.fault import AnyFault, DelayStream, DropBookmarks, HoldStream, SeverStream
from staleproof.drive.proxy.client import Proxy
from staleproof.errors import SetupError

from .client import Address, conversation
from .follower import Follower, read_frame, read_object

NAMESPACE = "soak"
OBJECTS = tuple(f"sample-{number}" for number in range(16))
CONFIG_MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
CATCH_UP_SECONDS = 60.0
_RESOURCE = "configmaps"
_WRITES_PER_CONNECTION = 100
_CALM_SECONDS = 2.0
_TOO_LATE_SECONDS = 1.0
_PLANS: tuple[tuple[AnyFault, float], ...] = (
    (HoldStream(resource=_RESOURCE), 2.0),
    (DelayStream(resource=_RESOURCE, by_seconds=0.3), 2.0),
    (HoldStream(resource=_RESOURCE, release="resume"), 1.0),
    (SeverStream(resource=_RESOURCE, how="reset"), 0.5),
    (DropBookmarks(resource=_RESOURCE), 2.0),
    (SeverStream(resource=_RESOURCE, how="clean", nth=20), 1.0),
)


@dataclass(slots=True)
class Ledger:
    """The writes that the API server acknowledged, and what became of the clients."""

    numbers: dict[str, int] = field(default_factory=lambda: dict.fromkeys(OBJECTS, 0))
    revisions: dict[str, int] = field(default_factory=dict)
    frames: int = 0
    clients: int = 0
    plans: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    flaws: list[str] = field(default_factory=list)

    @property
    def writes(self) -> int:
        return sum(self.numbers.values())


async def write(name: str, address: Address, ledger: Ledger, stop: asyncio.Event, *, per_second: float) -> None:
    """Write one object, one write after the other, and change the connection now and then."""
    due = time.monotonic()
    while not stop.is_set():
        async with conversation(address) as talk:
            for _ in range(_WRITES_PER_CONNECTION):
                if stop.is_set():
                    return
                body = b'{"data":{"number":"%d"}}' % (ledger.numbers[name] + 1)
                written = read_object(await talk.ask(address.patch(f"{CONFIG_MAPS}/{name}", body)))
                ledger.numbers[name], ledger.revisions[name] = written.number, written.revision
                due = max(due + 1 / per_second, time.monotonic() - _TOO_LATE_SECONDS)
                await asyncio.sleep(due - time.monotonic())  # the rate that was asked for


class Client:
    """Follows all objects or (`name`) one, on one stream after the other: each resumes where the last one ended."""

    def __init__(self, address: Address, follower: Follower, ledger: Ledger, *, name: str = "") -> None:
        self._address, self.follower, self._ledger = address, follower, ledger
        self._selector = f"&fieldSelector=metadata.name%3D{name}" if name else ""
        self._news = asyncio.Event()

    async def follow(self) -> None:
        while True:
            self.follower.begin()
            try:
                async with conversation(self._address) as talk:
                    talk.send(self._address.get(self._path()))
                    await talk.lines(self._take)
                how = "clean"
            except (OSError, EOFError):
                how = "cut"
            self._ledger.ends[how] += 1

    async def caught_up(self, numbers: Mapping[str, int]) -> bool:
        """Wait until it has been shown these writes; False if that takes too long."""
        try:
            async with asyncio.timeout(CATCH_UP_SECONDS):
                while not self.follower.has(numbers):
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            return False
        return True

    def _path(self) -> str:
        start = f"resourceVersion={self.follower.revision}"
        if self.follower.initial:
            start = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
        return f"{CONFIG_MAPS}?watch=1&allowWatchBookmarks=true&{start}{self._selector}"

    def _take(self, line: bytes) -> None:
        before = len(self.follower.flaws)
        self.follower.see(read_frame(line))
        self._ledger.flaws += self.follower.flaws[before:]
        self._ledger.frames += 1
        self._news.set()


@dataclass(frozen=True, slots=True)
class Visit:
    """How long a client stays, what it watches, and whether it leaves at once or only when it has seen every write so far."""

    seconds: float
    one_object: bool
    resumes: bool
    leaves_at_once: bool


VISITS: Sequence[Visit] = (
    Visit(1.0, one_object=True, resumes=True, leaves_at_once=False),
    Visit(0.5, one_object=True, resumes=False, leaves_at_once=True),
    Visit(3.0, one_object=False, resumes=False, leaves_at_once=False),
    Visit(0.1, one_object=True, resumes=True, leaves_at_once=True),
    Visit(5.0, one_object=True, resumes=False, leaves_at_once=False),
    Visit(0.0, one_object=False, resumes=False, leaves_at_once=True),
)


async def come_and_go(slot: int, address: Address, ledger: Ledger, stop: asyncio.Event) -> None:
    """One client after the other until the end; each slot is at another place in the list."""
    for number in itertools.count(slot):
        if stop.is_set():
            return
        await visit(VISITS[number % len(VISITS)], OBJECTS[number % len(OBJECTS)], address, ledger)


async def visit(kind: Visit, name: str, address: Address, ledger: Ledger) -> None:
    follower = Follower()
    if kind.resumes:
        follower = Follower(numbers={name: ledger.numbers[name]}, revision=ledger.revisions[name])
    client = Client(address, follower, ledger, name=name if kind.one_object else "")
    async with asyncio.TaskGroup() as group:
        following = group.create_task(client.follow())
        await asyncio.sleep(kind.seconds)  # how long it stays
        if not kind.leaves_at_once:
            numbers = dict(ledger.numbers)
            if not await client.caught_up(numbers):
                ledger.flaws.append(f"{kind} was not shown {numbers} within {CATCH_UP_SECONDS:g} s, but {follower.numbers}")
        following.cancel()
    ledger.clients += 1


async def plans(running: Proxy, ledger: Ledger, stop: asyncio.Event) -> None:
    """Install a fault, open it, release it, rest, and go on with the next one."""
    for fault, seconds in itertools.cycle(_PLANS):
        if stop.is_set():
            return
        await running.install((fault,), NAMESPACE)
        await running.begin_step(1)
        await asyncio.sleep(seconds)  # how long the fault is open
        await running.release()
        ledger.plans += 1
        await asyncio.sleep(_CALM_SECONDS)


async def primed(address: Address, ledger: Ledger) -> None:
    """Do everything once, so that the proxy has made whatever it makes on first use before it is measured."""
    try:
        async with asyncio.timeout(CATCH_UP_SECONDS):
            for number, kind in enumerate(VISITS):
                await visit(kind, OBJECTS[number % len(OBJECTS)], address, ledger)
    except TimeoutError as err:
        raise SetupError("expected six visits to end, found that they do not; see the proxy's log") from err
