"""mitmproxy addon: sends every watch through the relay and keeps answers readable.

All traffic passes mitmproxy, watches included: one place for TLS, attribution and recording.
"""

import asyncio
import socket
import struct

from mitmproxy import http
from mitmproxy.addons.proxyserver import Proxyserver

from staleproof.core.request import flag, is_long_running, json_only, parse

from .board import Board
from .guard import kills_flow_on_error
from .recorder import Identities
from .relay import FLOW_HEADER, Relay, Watch

_LINGER_RESET = struct.pack("ii", 1, 0)


class WatchGate:
    """Hooks: running, requestheaders, responseheaders, error."""

    def __init__(self, relay: Relay, identities: Identities, proxyserver: Proxyserver, board: Board) -> None:
        self._relay, self._identities, self._proxyserver, self._board = relay, identities, proxyserver, board

    async def running(self) -> None:
        await self._relay.start()

    @kills_flow_on_error
    def requestheaders(self, flow: http.HTTPFlow) -> None:
        flow.request.headers.pop(FLOW_HEADER, None)
        if "accept" in flow.request.headers and flow.request.path.startswith(("/api/", "/apis/")):
            flow.request.headers["accept"] = json_only(flow.request.headers["accept"])
        request = parse(flow.request.method, flow.request.path)
        if request is None or not request.is_watch:
            return
        if "upgrade" in flow.request.headers:
            self._board.broke(
                "watch", f"a watch of {request.resource} over WebSocket passes unseen; let the controller watch over HTTP"
            )
            return
        self._relay.expect(flow.id, Watch(self._identities.of(flow), request, lambda: self._reset(flow)))
        flow.request.headers[FLOW_HEADER] = flow.id
        flow.request.scheme, flow.request.host, flow.request.port = "http", "127.0.0.1", self._relay.port

    @kills_flow_on_error
    def responseheaders(self, flow: http.HTTPFlow) -> None:
        request = parse(flow.request.method, flow.request.path)
        streamed = request is not None and (request.is_watch or is_long_running(request))
        if flow.response is not None and (streamed or flag(dict(flow.request.query), "follow")):
            flow.response.stream = True  # True, not a callable; else it is buffered until the end

    def error(self, flow: http.HTTPFlow) -> None:
        self._relay.forget(flow.id)

    def _reset(self, flow: http.HTTPFlow) -> None:
        """End the client's TCP connection with a reset instead of an orderly close."""
        handler = self._proxyserver.connections.get(flow.client_conn.id)
        io = handler.transports.get(handler.client) if handler is not None else None
        if io is not None and isinstance(io.writer, asyncio.StreamWriter):
            io.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_RESET)
            io.writer.transport.abort()
