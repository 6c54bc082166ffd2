"""The control API, and the ports themselves: what makes no sense changes nothing and stops nothing."""

import asyncio
import socket
import ssl
import struct

import pytest

from staleproof.core.entry import Broke, Listed

from .proxy_client import Connection, until
from .proxy_stage import Stage, Theatre
from .proxy_stage import theatre as theatre


def test_a_wrong_token_changes_nothing(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        watch = await stage.watch(await stage.revision())
        async with stage.control(token="wrong") as session:
            for method, path in (("PUT", "/v1/plan"), ("POST", "/v1/step"), ("POST", "/v1/sever"), ("GET", "/v1/entries")):
                async with session.request(method, path, json={"resource": "configmaps", "step": 1}) as response:
                    assert response.status == 401
                    assert "token" in (await response.json())["error"]
        await stage.create("sample")
        await watch.until(1)
        assert watch.ending == ""

    theatre.play(body)


def test_a_command_that_makes_no_sense_is_refused(theatre: Theatre) -> None:
    bad = [
        ("PUT", "/v1/plan", b"{"),
        ("PUT", "/v1/plan", b'{"faults": [{"fault": "Nonsense"}]}'),
        ("PUT", "/v1/plan", b'{"fault": []}'),
        ("PUT", "/v1/plan", b"\xff\xfe"),
        ("POST", "/v1/step", b'{"step": "one"}'),
        ("POST", "/v1/sever", b"{}"),
        ("GET", "/v1/entries?after=x", b""),
        ("GET", "/v1/entries?after=-1", b""),
    ]

    async def body(stage: Stage) -> None:
        async with stage.control() as session:
            for method, path, data in bad:
                async with session.request(method, path, data=data) as response:
                    assert (path, data, response.status) == (path, data, 400)
                    assert (await response.json())["error"]
        await stage.told()
        assert stage.of(Broke) == []

    theatre.play(body)


def test_a_commonplace_network_failure_stops_nothing(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
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
            reset_on_close(client)
            client.abort()
        head = f"GET /v1/entries HTTP/1.1\r\nHost: x\r\nAuthorization: {stage.control_headers['Authorization']}\r\n\r\n"
        for reset in (False, True):  # readers that leave before they have been given anything
            poke(host, control, head.encode(), reset=reset)
        async with stage.control() as session, session.get("/v1/entries"):
            pass  # and one that leaves later
        assert (await (await stage.connection()).call("GET", stage.path))[0] == 200
        await until(lambda: len(stage.of(Listed)) == 1)
        await stage.told()
        assert stage.of(Broke) == []

    theatre.play(body)


def poke(host: str, port: int, data: bytes, *, reset: bool) -> None:
    with socket.create_connection((host, port)) as connection:
        connection.sendall(data)
        if reset:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def reset_on_close(connection: Connection) -> None:
    plain = connection.writer.get_extra_info("socket")
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
