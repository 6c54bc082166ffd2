"""Connections that are more than HTTP: exec and followed logs pass untouched, watches over WebSocket are turned away."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from staleproof.core.history.entry import Asked, Broke, Opened
from staleproof.drive.cluster.control_plane import CONTROLLER

from .proxy_client import trusting
from .proxy_stage import ProxyStage


async def test_a_watch_over_websocket_is_refused_as_by_a_server_without_it(stage: ProxyStage) -> None:
    """The client must not be shown anything: it would throw it away. A client that then watches over HTTP is served as all are."""
    start = await stage.revision()
    tls, token = trusting(stage.proxy.ca_file), stage.plane.tokens[CONTROLLER]
    url = f"{stage.proxy.server.replace('https', 'wss')}{stage.path}?watch=1&resourceVersion={start}"
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}) as session:
        with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
            await session.ws_connect(url, ssl=tls, origin=stage.proxy.server)
    assert caught.value.status == 200
    await stage.all_recorded()
    assert [entry for entry in stage.entries if isinstance(entry, Asked | Broke | Opened)] == []


async def test_exec_and_followed_logs_pass_untouched(stage: ProxyStage) -> None:
    more = asyncio.Event()
    async with kubelet(stage.proxy.ca_file.with_name("mitmproxy-ca.pem"), more) as port:
        pod = await pod_on(stage, port)
        client = await stage.connection()
        upgrade = {"Upgrade": "SPDY/3.1", "Connection": "Upgrade", "X_Stream_Protocol_Version": "v4.channel.k8s.io"}
        assert await client.ask("POST", f"{pod}/exec?command=cat&stdin=true&stdout=true", **upgrade) == 101
        sent = bytes(range(256)) * 1000
        client.writer.write(sent)
        assert await client.reader.readexactly(len(sent)) == sent
        log = await stage.connection()
        assert await log.ask("GET", f"{pod}/log?follow=true") == 200
        assert await log.chunk() == b"first\n"  # while the log goes on
        more.set()
        assert [await log.chunk(), await log.chunk()] == [b"second\n", b""]
    await stage.all_recorded()
    assert [entry for entry in stage.entries if isinstance(entry, Asked | Broke)] == []


@asynccontextmanager
async def kubelet(certificate: Path, more: asyncio.Event) -> AsyncIterator[int]:
    """What kube-apiserver needs behind exec and log: an echo, and a log whose second line waits for `more`."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        with contextlib.suppress(OSError):
            if b" /exec/" in head:
                writer.write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n")
                while data := await reader.read(65536):
                    writer.write(data)
            else:
                writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nfirst\n\r\n")
                await more.wait()
                writer.write(b"7\r\nsecond\n\r\n0\r\n\r\n")
        writer.close()

    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate)
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def pod_on(stage: ProxyStage, port: int) -> str:
    """Make a pod on a node whose kubelet listens on this port; its path."""
    node = f"node-{stage.namespace}"
    status = {
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
    }
    await stage.create(node, "nodes")
    await stage.api.merge(await stage.kind("nodes"), "", node, {"status": status}, subresource="status")
    await stage.create("sample", "pods", spec={"nodeName": node, "containers": [{"name": "main", "image": "sample"}]})
    return f"/api/v1/namespaces/{stage.namespace}/pods/sample"
