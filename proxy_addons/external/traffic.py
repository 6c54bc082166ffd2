"""mitmproxy's hooks for what goes to external systems. Each listener stands before one system, which a connection is known by."""

from mitmproxy import connection, ctx, tcp
from mitmproxy.addons.proxyserver import Proxyserver

from ..connections import reset_handler
from .postgresql import Session
from .systems import Systems


class Listeners:
    """Which system is behind which listener, by mitmproxy's name of the listener."""

    def __init__(self, systems: Systems, modes: dict[str, str]) -> None:
        self._systems, self._modes = systems, modes

    def system(self, client: connection.Client) -> str:
        return self._modes[client.proxy_mode.full_spec]


class TcpTraffic:
    """Hooks: tcp_start, tcp_message, tcp_end, tcp_error."""

    def __init__(self, systems: Systems, listeners: Listeners, proxyserver: Proxyserver) -> None:
        self._systems, self._listeners, self._proxyserver = systems, listeners, proxyserver
        self._sessions: dict[str, Session] = {}

    def tcp_start(self, flow: tcp.TCPFlow) -> None:
        async def cut() -> None:
            handler = self._proxyserver.connections.get(flow.client_conn.id)
            if handler is not None:
                await reset_handler(handler)

        def send(data: bytes) -> None:
            if flow.id in self._sessions:
                ctx.master.commands.call("inject.tcp", flow, True, data)  # noqa: FBT003  # mitmproxy's own command

        system = self._systems[self._listeners.system(flow.client_conn)]
        self._sessions[flow.id] = Session(system, send, cut)

    async def tcp_message(self, flow: tcp.TCPFlow) -> None:
        message, session = flow.messages.pop(), self._sessions[flow.id]  # they would be kept for the life of the connection
        passed = session.from_client if message.from_client else session.from_server
        message.content = await passed(message.content)

    def tcp_end(self, flow: tcp.TCPFlow) -> None:
        self._sessions.pop(flow.id).ended()

    def tcp_error(self, flow: tcp.TCPFlow) -> None:
        self._sessions.pop(flow.id).ended()
