"""The clients' side of mitmproxy: who is connected, who may connect."""

import asyncio
import socket
import struct

from mitmproxy import ctx, http
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.proxy.server import ConnectionHandler

_LINGER_RESET = struct.pack("ii", 1, 0)


class Connections:
    """Resets connections, and closes and opens the door."""

    def __init__(self, proxyserver: Proxyserver) -> None:
        self._proxyserver = proxyserver
        self._lock = asyncio.Lock()

    def reset(self, flow: http.HTTPFlow) -> None:
        """End this client's TCP connection with a reset instead of an orderly close."""
        handler = self._proxyserver.connections.get(flow.client_conn.id)
        if handler is not None:
            _reset(handler)

    def reset_all(self) -> int:
        """The same for everybody; how many there were."""
        handlers = list(self._proxyserver.connections.values())
        for handler in handlers:
            _reset(handler)
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


def _reset(handler: ConnectionHandler) -> None:
    io = handler.transports.get(handler.client)
    if io is not None and isinstance(io.writer, asyncio.StreamWriter):
        client = io.writer.get_extra_info("socket")
        if client.fileno() >= 0:  # else it is closed already, and not yet forgotten
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_RESET)
        io.writer.transport.abort()
