"""What the controller says of itself: its metrics, read over HTTP, in Prometheus' text format.

It decides which samples are kept: those that a requirement looks at.
"""

import time
from dataclasses import dataclass, field
from dataclasses import replace as replace_fields
from typing import Self
from urllib.parse import urlsplit

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

from staleproof.core.history.entry import Metrics, Sample
from staleproof.core.times import METRICS_ANSWER_SECONDS
from staleproof.drive.process.address import LOOPBACK, is_loopback
from staleproof.errors import UsageError

METRICS_PORT = "{metrics_port}"
OPTION = "--controller-metrics"
EXPECTED = f"a URL as http://127.0.0.1:{METRICS_PORT}/metrics"
SKIPS = "_stale_sync_skips_total"
VERSIONS = "informer_store_resource_version"
DEPTH = "workqueue_depth"
WORKING = (DEPTH, "workqueue_unfinished_work_seconds", "workqueue_longest_running_processor_seconds", "active_workers")
"""How the names of gauges end that are above zero while a controller has work (client-go util/workqueue/metrics.go and
controller-runtime pkg/internal/controller/metrics). What waits in a delaying queue is in none of them."""
INSIDE = (
    " They are read through a port of its container that is published, so it must serve them on all addresses (:8080) and not on "
    "127.0.0.1 alone; --controller-network host does without that."
)


class Unreadable(Exception):
    """There are no metrics at the URL now; the message says why."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where metrics are served. A `token` is sent unless it is empty; the server's certificate is never looked at."""

    url: str
    token: str = field(default="", repr=False)

    @property
    def port(self) -> int | None:
        """The one in its URL, if that has one."""
        return urlsplit(self.url).port

    def published(self, port: int) -> Self:
        """The same in a container whose port is published as this one of loopback. What is on another machine, or has no port,
        stays."""
        parts = urlsplit(self.url)
        if not parts.port or not is_loopback(self.url):
            return self
        return replace_fields(self, url=parts._replace(netloc=f"{LOOPBACK}:{port}").geturl())

    async def check(self) -> None:
        """Read everything and keep nothing. Unreadable when nothing answers, or the answer is something else than metrics."""
        _parsed(await self._text())

    async def read(self) -> Metrics:
        """One reading, at an absolute time. Unreadable as for `check`."""
        began = time.monotonic()
        text = await self._text()
        at = time.monotonic()
        return Metrics(at=at, took=round(at - began, 6), samples=samples_in(text))

    async def is_working(self) -> bool:
        """Whether the metrics say that the controller has work; False when they say nothing of it. Unreadable as for `check`."""
        return says_working(await self._text())

    async def _text(self) -> str:
        """Over a connection of its own: that of the reading before may have been to another life of the controller."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        timeout = aiohttp.ClientTimeout(total=METRICS_ANSWER_SECONDS)
        try:
            async with (
                aiohttp.ClientSession(headers=headers, timeout=timeout) as session,
                session.get(self.url, ssl=False, allow_redirects=False) as response,
            ):
                if response.status != 200:
                    raise Unreadable(f"it answers {response.status} {response.reason}")
                return await response.text(errors="replace")
        except TimeoutError as err:
            raise Unreadable(f"it does not answer within {METRICS_ANSWER_SECONDS:g} s") from err
        except (aiohttp.ClientError, OSError) as err:
            raise Unreadable(str(err) or type(err).__name__) from err


def is_url(url: str) -> bool:
    """Whether it is a URL of HTTP once its port is filled in."""
    try:
        parts = urlsplit(url.replace(METRICS_PORT, "1"))
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def endpoint(url: str, port: int, token: str) -> Endpoint:
    """The endpoint at the URL of the option, with this port. The controller's token only goes to this machine, over TLS. UsageError
    when the URL is not one of HTTP."""
    if not is_url(url):
        raise UsageError(f"{OPTION}: expected {EXPECTED}, found {url!r}")
    placed = url.replace(METRICS_PORT, str(port))
    return Endpoint(placed, token if urlsplit(placed).scheme == "https" and is_loopback(placed) else "")


def samples_in(text: str) -> tuple[Sample, ...]:
    """The samples that are kept: counts of skipped syncs, versions of informers and depths of queues that are not empty, where
    these are whole numbers. Unreadable when the text is not in Prometheus' format."""
    # A large controller serves ten thousand lines; a handful is kept.
    lines = [line for line in text.split("\n") if not line.startswith("#") and _is_kept(_name(line))]
    return _parsed("\n".join([*lines, ""])) if lines else ()


def says_working(text: str) -> bool:
    """Whether any gauge of work is above zero. Unreadable when the text is not in Prometheus' format."""
    lines = [line for line in text.split("\n") if not line.startswith("#") and _name(line).endswith(WORKING)]
    try:
        return any(sample.value > 0 for f in text_string_to_metric_families("\n".join([*lines, ""])) for sample in f.samples)
    except ValueError as err:
        raise Unreadable(f"it answers with something else than metrics ({err})") from err


def _name(line: str) -> str:
    return line.partition("{")[0].partition(" ")[0]


def _parsed(text: str) -> tuple[Sample, ...]:
    try:
        every = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    except ValueError as err:
        raise Unreadable(f"it answers with something else than metrics ({err})") from err
    kept = (sample for sample in every if _is_kept(sample.name) and float(sample.value).is_integer())
    kept = (sample for sample in kept if sample.value or not sample.name.endswith(DEPTH))
    return tuple(Sample(sample.name, dict(sample.labels), int(sample.value)) for sample in kept)


def _is_kept(name: str) -> bool:
    return name.endswith((SKIPS, DEPTH)) or name == VERSIONS
