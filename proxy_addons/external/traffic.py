"""mitmproxy's hooks for what goes to external systems. Each listener stands before one system, which a connection is known by."""

import asyncio
import time

from mitmproxy import connection, ctx, http, tcp
from mitmproxy.addons.proxyserver import Proxyserver

from staleproof.core.times import LOOK_SECONDS

from ..connections import reset_handler
from .postgresql import Session
from .systems import Call, System, Systems

REJECTED = 503
"""The status with which requests are rejected."""
_LONGEST_BODY = 64 << 10
_CLIENT_ERROR, _SERVER_ERROR = 400, 500


class Listeners:
    """Which system is behind which listener, by mitmproxy's name of the listener."""

    def __init__(self, systems: Systems, modes: dict[str, str], proxyserver: Proxyserver) -> None:
        self._systems, self._modes, self._proxyserver = systems, modes, proxyserver

    def system(self, client: connection.Client) -> System:
        return self._systems[self._modes[client.proxy_mode.full_spec]]

    async def reset(self, client: connection.Client) -> None:
        """End this client's connection at once."""
        handler = self._proxyserver.connections.get(client.id)
        if handler is not None:
            await reset_handler(handler)


class TcpTraffic:
    """Hooks: tcp_start, tcp_message, tcp_end, tcp_error."""

    def __init__(self, listeners: Listeners) -> None:
        self._listeners = listeners
        self._sessions: dict[str, Session] = {}

    def tcp_start(self, flow: tcp.TCPFlow) -> None:
        async def cut() -> None:
            await self._listeners.reset(flow.client_conn)

        def send(data: bytes) -> None:
            if flow.id in self._sessions:
                ctx.master.commands.call("inject.tcp", flow, True, data)  # noqa: FBT003  # mitmproxy's own command

        self._sessions[flow.id] = Session(self._listeners.system(flow.client_conn), send, cut)

    async def tcp_message(self, flow: tcp.TCPFlow) -> None:
        message, session = flow.messages.pop(), self._sessions[flow.id]  # they would be kept for the life of the connection
        passed = session.from_client if message.from_client else session.from_server
        message.content = await passed(message.content)

    def tcp_end(self, flow: tcp.TCPFlow) -> None:
        self._sessions.pop(flow.id).ended()

    def tcp_error(self, flow: tcp.TCPFlow) -> None:
        self._sessions.pop(flow.id).ended()


class HttpTraffic:
    """Hooks: request, response, error."""

    def __init__(self, listeners: Listeners) -> None:
        self._listeners = listeners
        self._calls: dict[str, Call] = {}

    async def request(self, flow: http.HTTPFlow) -> None:
        system, request = self._listeners.system(flow.client_conn), flow.request
        call = system.called("", request.method, request.path, _words(request.content))
        if call.effect == "reject":
            system.answered(call, "fail", str(REJECTED), executed=False)
            flow.response = http.Response.make(REJECTED)
        elif call.effect == "cut":
            system.answered(call, "unknown", executed=False)
            await self._listeners.reset(flow.client_conn)
            flow.kill()
        else:
            self._calls[flow.id] = call

    async def response(self, flow: http.HTTPFlow) -> None:
        call = self._calls.pop(flow.id, None)
        if call is None or flow.response is None:
            return  # our own
        system, code = self._listeners.system(flow.client_conn), flow.response.status_code
        if call.effect == "lose-answer":
            system.answered(call, "unknown", executed=True)
            await self._listeners.reset(flow.client_conn)
            flow.kill()
            return
        if call.effect == "stall":
            system.answered(call, "unknown", executed=True)
            while flow.client_conn.connected:
                await asyncio.sleep(LOOK_SECONDS)
            return
        await asyncio.sleep(max(0.0, call.due - time.monotonic()))
        is_ok = code < _CLIENT_ERROR
        system.answered(call, "ok" if is_ok else "fail", str(code), executed=is_ok if code < _SERVER_ERROR else None)

    async def error(self, flow: http.HTTPFlow) -> None:
        """The system is down, or the client has left. mitmproxy would answer in place of the system."""
        call = self._calls.pop(flow.id, None)
        if call is not None:
            self._listeners.system(flow.client_conn).answered(call, "unknown")
            await self._listeners.reset(flow.client_conn)


def _words(body: bytes | None) -> tuple[str, ...]:
    """A body in which something may be mentioned; none if it is no text, or long."""
    if not body or len(body) > _LONGEST_BODY:
        return ()
    try:
        return (body.decode(),)
    except UnicodeDecodeError:
        return ()
