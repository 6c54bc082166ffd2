"""The proxy's two ports: clients that send nonsense or hang up stop nothing. The calls of the control API are tested elsewhere."""

import asyncio
import socket
import ssl
import struct

import pytest

from staleproof.core.history.entry import Broke, Listed

from .proxy_client import until
from .proxy_stage import ProxyStage


async def test_ordinary_network_failures_stop_nothing(stage: ProxyStage) -> None:
    host, port = "127.0.0.1", int(stage.proxy.server.rpartition(":")[2])
    control = int(stage.control_url.rpartition(":")[2].partition("/")[0])
    for target in (port, control):
        for data in (
            b"",
            b"\0" * 64,
            b"GET / HTTP/1.1\r\n",
            b"nonsense\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        ):
            for reset in (False, True):
                poke(host, target, data, reset=reset)
    with pytest.raises(ssl.SSLError):  # a client that does not trust the proxy's CA
        await asyncio.open_connection(host, port, ssl=ssl.create_default_context())
    for data in (
        b"nonsense\r\n\r\n",
        b"GET /api HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        b"POST /api HTTP/1.1\r\nContent-Length: 9\r\n\r\n1",
    ):
        client = await stage.connection()
        client.writer.write(data)
        await client.writer.drain()
        client.abort()
    for _ in range(20):  # clients that leave between a request and its answer
        client = await stage.connection()
        client.writer.write(f"GET {stage.path}?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        reset_on_close(client.writer.get_extra_info("socket"))
        client.abort()
    head = f"GET /v1/entries HTTP/1.1\r\nHost: x\r\nAuthorization: {stage.control_headers['Authorization']}\r\n\r\n"
    for reset in (False, True):  # readers that leave before anything has come
        poke(host, control, head.encode(), reset=reset)
    async with stage.control() as session, session.get("/v1/entries"):
        pass  # and one that leaves later
    assert (await (await stage.connection()).call("GET", stage.path))[0] == 200
    await until(lambda: len(stage.of(Listed)) == 1)
    await stage.all_recorded()
    assert stage.of(Broke) == []


def poke(host: str, port: int, data: bytes, *, reset: bool) -> None:
    with socket.create_connection((host, port)) as connection:
        connection.sendall(data)
        if reset:
            reset_on_close(connection)


def reset_on_close(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
