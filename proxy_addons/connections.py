"""The clients' side of mitmproxy: which clients are connected, which may connect."""

import asyncio
import contextlib
import fcntl
import socket
import struct
import sys
import termios

from mitmproxy import ctx, http
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.proxy.server import ConnectionHandler

from staleproof.core.times import GLANCE_SECONDS, UNREAD_SECONDS

_LINGER_RESET = struct.pack("ii", 1, 0)


class Connections:
    """Resets connections, and refuses or accepts new ones."""

    def __init__(self, proxyserver: Proxyserver) -> None:
        self._proxyserver = proxyserver
        self._lock = asyncio.Lock()
        self._resets: set[asyncio.Task[None]] = set()

    async def reset(self, flow: http.HTTPFlow) -> None:
        """End this client's TCP connection with a reset instead of an orderly close, behind what was sent before."""
        handler = self._proxyserver.connections.get(flow.client_conn.id)
        if handler is not None:
            await reset_handler(handler)

    def reset_all(self) -> int:
        """Reset every connection, without waiting for it; how many there are."""
        handlers = list(self._proxyserver.connections.values())
        for handler in handlers:
            task = asyncio.get_running_loop().create_task(reset_handler(handler))
            self._resets.add(task)
            task.add_done_callback(self._resets.discard)
        return len(handlers)

    async def listen(self, *, on: bool) -> None:
        """Refuse connections from now on, or accept them again, on the same port."""
        async with self._lock:
            for instance in self._proxyserver.servers:
                if instance.is_running and not on:
                    ctx.options.update(listen_port=instance.listen_addrs[0][1])
                    await instance.stop()
                elif not instance.is_running and on:
                    await instance.start()


async def reset_handler(handler: ConnectionHandler) -> None:
    """End a client's connection with a reset, behind what was sent before."""
    io = handler.transports.get(handler.client)
    if io is None or not isinstance(io.writer, asyncio.StreamWriter):
        return
    await _arrived(io.writer)
    client = io.writer.get_extra_info("socket")
    if client.fileno() >= 0:  # else it is closed already, and mitmproxy has yet to forget it
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_RESET)
    io.writer.transport.abort()


async def _arrived(writer: asyncio.StreamWriter) -> None:
    """Return when the client's machine has all that was written: a reset throws away what is still on the way.

    The history says that it was delivered. A client that reads nothing for `UNREAD_SECONDS` is not waited for.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(UNREAD_SECONDS):
            while not writer.transport.is_closing() and _on_the_way(writer):
                await asyncio.sleep(GLANCE_SECONDS)


def _on_the_way(writer: asyncio.StreamWriter) -> int:
    """How many bytes the client's machine has not acknowledged, as far as this one can tell."""
    sent = bytearray(4)
    with contextlib.suppress(OSError, ValueError):  # only Linux can tell, and only of an open socket
        fcntl.ioctl(writer.get_extra_info("socket").fileno(), termios.TIOCOUTQ, sent)
    return writer.transport.get_write_buffer_size() + int.from_bytes(sent, sys.byteorder)
