"""What the controller says of itself: its metrics, read over HTTP, in Prometheus' text format.

It decides which samples are kept (those that a requirement looks at), when they are read, and that a reading which fails is none:
a controller may be down.
"""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import aiohttp
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from staleproof.core.entry import Continued, Entry, Exited, FaultClosed, FaultOpened, Metrics, Released, Sample, Started, Stopped
from staleproof.core.plan import Subject
from staleproof.drive.cluster.control_plane.existing import is_loopback
from staleproof.drive.trial.event_bus import Feed
from staleproof.errors import UsageError

METRICS_PORT = "{metrics_port}"
OPTION = "--controller-metrics"
EXPECTED = f"a URL as http://127.0.0.1:{METRICS_PORT}/metrics"
SKIPS = "_stale_sync_skips_total"
VERSIONS = "informer_store_resource_version"
READ_SECONDS = 2.0
EVERY_SECONDS = 1.0
_AGAIN_SECONDS = 0.1
_DAY_SECONDS = 86400.0


class Unreadable(Exception):
    """There are no metrics at the URL now; the message says why."""


def subject_at(subject: Subject, port: int) -> Subject:
    """The subject with the port of its metrics in its command, arguments and variables."""

    def words(given: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(word.replace(METRICS_PORT, str(port)) for word in given)

    env = {name: value.replace(METRICS_PORT, str(port)) for name, value in subject.env.items()}
    return replace(subject, command=words(subject.command), arguments=words(subject.arguments), env=env)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where metrics are served. `token` is sent if it is not empty; a certificate is never looked at."""

    url: str
    token: str = field(default="", repr=False)

    async def check(self) -> None:
        """Read all that is there.

        Raises:
            Unreadable: nothing answers, or it answers with something else than metrics.
        """
        _parsed(await self._text())

    async def read(self) -> Metrics:
        """One reading, at an absolute time.

        Raises:
            Unreadable: as for `check`.
        """
        began = time.monotonic()
        text = await self._text()
        at = time.monotonic()
        return Metrics(at=at, took=round(at - began, 6), samples=samples_in(text))

    async def _text(self) -> str:
        """Each reading has a connection of its own: the one before may have been to another life of the controller."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        timeout = aiohttp.ClientTimeout(total=READ_SECONDS)
        try:
            async with (
                aiohttp.ClientSession(headers=headers, timeout=timeout) as session,
                session.get(self.url, ssl=False, allow_redirects=False) as response,
            ):
                if response.status != 200:
                    raise Unreadable(f"it answers {response.status} {response.reason}")
                return await response.text(errors="replace")
        except TimeoutError as err:
            raise Unreadable(f"it does not answer within {READ_SECONDS:g} s") from err
        except (aiohttp.ClientError, OSError) as err:
            raise Unreadable(str(err) or type(err).__name__) from err


def is_url(url: str) -> bool:
    """Whether it is a URL of HTTP, once it has a port."""
    try:
        parts = urlsplit(url.replace(METRICS_PORT, "1"))
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def endpoint(url: str, port: int, token: str) -> Endpoint:
    """The endpoint at the URL of the option, with its port. The controller's token goes to programs of this machine only, over TLS.

    Raises:
        UsageError: it is no URL of HTTP.
    """
    if not is_url(url):
        raise UsageError(f"{OPTION}: expected {EXPECTED}, found {url!r}")
    placed = url.replace(METRICS_PORT, str(port))
    return Endpoint(placed, token if urlsplit(placed).scheme == "https" and is_loopback(placed) else "")


def samples_in(text: str) -> tuple[Sample, ...]:
    """Those that are kept: counts of skipped syncs and versions of informers, if they are whole numbers.

    Raises:
        Unreadable: they are not in Prometheus' text format.
    """
    # A large controller serves ten thousand lines; a handful is kept.
    lines = [line for line in text.split("\n") if not line.startswith("#") and _is_kept(line.partition("{")[0].partition(" ")[0])]
    return _parsed("\n".join([*lines, ""])) if lines else ()


def _parsed(text: str) -> tuple[Sample, ...]:
    try:
        return tuple(_samples(text))
    except ValueError as err:
        raise Unreadable(f"it answers with something else than metrics ({err})") from err


def _samples(text: str) -> Iterator[Sample]:
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if _is_kept(sample.name) and float(sample.value).is_integer():
                yield Sample(sample.name, dict(sample.labels), int(sample.value))


def _is_kept(name: str) -> bool:
    return name.endswith(SKIPS) or name == VERSIONS


class Readings:
    """The readings of one trial: those that the runner asks for, and those that `follow`, a task, makes in between.

    In between: once a life of the controller answers, and every second while a fault is open.
    """

    def __init__(self, source: Endpoint | None, feed: Feed) -> None:
        self._source, self._feed = source, feed
        self._one_at_a_time = asyncio.Lock()
        self._open: set[int] = set()
        self._runs, self._is_unread = True, False
        self._tried_at = 0.0

    def see(self, entry: Entry) -> None:
        """Entries of the trial, as they happen."""
        match entry:
            case Started():
                self._runs = self._is_unread = True
            case Continued():
                self._runs = True
            case Stopped() | Exited():
                self._runs = False
            case FaultOpened():
                self._open.add(entry.fault)
            case FaultClosed():
                self._open.discard(entry.fault)
            case Released():
                self._open.clear()

    async def take(self) -> None:
        """Read once, now. One that fails is not recorded."""
        if self._source is None or not self._runs:
            return
        async with self._one_at_a_time:
            self._tried_at = time.monotonic()
            try:
                reading = await self._source.read()
            except Unreadable:
                return
            self._is_unread = False
            self._feed.take(reading)

    async def follow(self) -> None:
        """Read whenever it is due, until the proxy is gone."""
        while self._source is not None and not self._feed.dead:
            if await self._feed.until(self._due, limit_seconds=_DAY_SECONDS):
                await self.take()

    def _due(self, now: float) -> bool | float:
        if not self._runs or not (self._is_unread or self._open):
            return False
        due = self._tried_at + (_AGAIN_SECONDS if self._is_unread else EVERY_SECONDS)
        return True if now >= due else due
