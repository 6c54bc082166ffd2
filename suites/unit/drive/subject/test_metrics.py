"""Metrics: what is kept of them, where they are, and how they are read."""

import socket
import time

import pytest
from aiohttp import web
from aiohttp.test_utils import RawTestServer

from staleproof.checks.facts import skip_metrics
from staleproof.core.history.entry import Sample
from staleproof.drive.process.address import free_port
from staleproof.drive.subject.metrics import (
    DEPTH,
    SKIPS,
    VERSIONS,
    Endpoint,
    Unreadable,
    endpoint,
    is_url,
    samples_in,
    says_working,
)
from staleproof.errors import UsageError

pytestmark = pytest.mark.io

TEXT = """\
# HELP go_goroutines Number of goroutines.
# TYPE go_goroutines gauge
go_goroutines 42
# TYPE replicaset_controller_stale_sync_skips_total counter
replicaset_controller_stale_sync_skips_total{group="",resource="pods"} 3
job_controller_stale_sync_skips_total{group="a\\"b, {c} d",resource="pods"} 1
stale_sync_skips_total_seconds{resource="pods"} 5
# TYPE informer_store_resource_version gauge
informer_store_resource_version{name="rs",group="apps",version="v1",resource="replicasets"} 1.234567e+06
informer_store_resource_version{name="rs",group="",version="v1",resource="pods"} NaN
informer_store_resource_version{name="rs",group="",version="v1",resource="nodes"} 1.5
informer_store_resource_version_old{resource="pods"} 1
plain_stale_sync_skips_total 0
"""


def test_the_names_are_the_requirements() -> None:
    assert (SKIPS, VERSIONS, DEPTH) == (skip_metrics.SKIPS, skip_metrics.VERSIONS, skip_metrics.DEPTH)


def test_whole_numbers_that_a_requirement_looks_at_are_kept() -> None:
    assert samples_in(TEXT) == (
        Sample("replicaset_controller_stale_sync_skips_total", {"group": "", "resource": "pods"}, 3),
        Sample("job_controller_stale_sync_skips_total", {"group": 'a"b, {c} d', "resource": "pods"}, 1),
        Sample(VERSIONS, {"name": "rs", "group": "apps", "version": "v1", "resource": "replicasets"}, 1234567),
        Sample("plain_stale_sync_skips_total", {}, 0),
    )


def test_of_queues_those_are_kept_that_are_not_empty() -> None:
    text = 'workqueue_depth{name="rs"} 0\nworkqueue_depth{name="job",controller="job"} 2\nworkqueue_adds_total{name="rs"} 7\n'
    assert samples_in(text) == (Sample(DEPTH, {"name": "job", "controller": "job"}, 2),)


@pytest.mark.parametrize("text", ["", "\n", "go_goroutines 42\n", "<html>\n"])
def test_there_may_be_none(text: str) -> None:
    assert samples_in(text) == ()


@pytest.mark.parametrize("line", [f"{VERSIONS} many\n", f'{VERSIONS}{{resource="pods" 1\n', f"{VERSIONS}\n"])
def test_what_is_not_in_the_format_is_unreadable(line: str) -> None:
    with pytest.raises(Unreadable, match="something else than metrics"):
        samples_in(line)


@pytest.mark.parametrize(
    ("text", "working"),
    [
        ("", False),
        (TEXT, False),
        ('workqueue_depth{name="rs"} 0\nworkqueue_adds_total{name="rs"} 7\n', False),
        ('workqueue_depth{name="rs"} 2\n', True),
        ('workqueue_unfinished_work_seconds{name="rs"} 0.25\n', True),
        ('controller_runtime_active_workers{controller="w"} 1\n', True),
        ('workqueue_depth{name="rs"} NaN\n', False),
    ],
)
def test_whether_the_controller_says_that_it_has_work(text: str, *, working: bool) -> None:
    assert says_working(text) is working


# --- where they are --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:{metrics_port}/metrics", Endpoint("http://127.0.0.1:8085/metrics")),
        ("https://127.0.0.1:{metrics_port}/metrics", Endpoint("https://127.0.0.1:8085/metrics", "secret")),
        ("https://localhost:10257/metrics", Endpoint("https://localhost:10257/metrics", "secret")),
        ("https://example.com/metrics", Endpoint("https://example.com/metrics")),
    ],
)
def test_the_token_goes_to_this_machine_over_tls_and_nowhere_else(url: str, expected: Endpoint) -> None:
    assert endpoint(url, 8085, "secret") == expected
    assert "secret" not in repr(expected)


@pytest.mark.parametrize("url", ["127.0.0.1:8085", "ftp://x/metrics", "http://", "http://x:port/", "http://x:0/", "{metrics_port}"])
def test_what_is_no_url_is_refused(url: str) -> None:
    assert not is_url(url)
    with pytest.raises(UsageError, match="--controller-metrics: expected a URL as"):
        endpoint(url, 8085, "")


# --- reading them ----------------------------------------------------------------------------------------------------------------


async def test_a_reading_says_when_it_was_and_what_it_took(source: Endpoint) -> None:
    began = time.monotonic()
    reading = await source.read()
    assert began <= reading.at <= time.monotonic()
    assert 0 < reading.took <= reading.at - began + 0.000001
    assert [(sample.name, sample.value) for sample in reading.samples] == [
        ("widget_controller_stale_sync_skips_total", 1),
        (VERSIONS, 12),
    ]
    await source.check()


async def test_where_nothing_listens_there_is_nothing_to_read() -> None:
    for wait in (Endpoint(f"http://127.0.0.1:{free_port()}/").read, Endpoint(f"https://127.0.0.1:{free_port()}/").check):
        with pytest.raises(Unreadable, match="Connect call failed"):
            await wait()


@pytest.mark.parametrize(
    ("status", "text", "why"),
    [
        (404, "go_goroutines 42\n", "it answers 404 Not Found"),
        (302, "", "it answers 302 Found"),
        (200, "<html>no metrics</html>", "it answers with something else than metrics"),
        (200, '{"major": "1"}', "it answers with something else than metrics"),
    ],
)
async def test_something_else_that_answers_is_no_endpoint(status: int, text: str, why: str) -> None:
    async def answer(request: web.BaseRequest) -> web.Response:
        return web.Response(status=status, text=text, headers={"Location": "/"} if status == 302 else {})

    async with RawTestServer(answer) as server:
        with pytest.raises(Unreadable, match=why):
            await Endpoint(str(server.make_url("/metrics"))).check()


async def test_one_that_does_not_answer_is_not_waited_for() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(Unreadable, match="it does not answer within 2 s"):
            await Endpoint(f"http://127.0.0.1:{silent.getsockname()[1]}/").read()


@pytest.mark.parametrize(
    ("url", "port", "found"),
    [
        ("http://127.0.0.1:8080/metrics", 8080, "http://127.0.0.1:40001/metrics"),
        ("https://localhost:8443/metrics?a=b", 8443, "https://127.0.0.1:40001/metrics?a=b"),
        ("http://[::1]:{metrics_port}/metrics", 40001, "http://127.0.0.1:40001/metrics"),
        ("http://127.0.0.1/metrics", None, "http://127.0.0.1/metrics"),
        ("http://192.0.2.1:8080/metrics", 8080, "http://192.0.2.1:8080/metrics"),
    ],
)
def test_what_a_container_serves_is_read_where_its_port_is_published(url: str, port: int | None, found: str) -> None:
    inside = endpoint(url, 40001, "")
    assert inside.port == port
    assert inside.published(40001).url == found
