"""mitmproxy addon: sends every watch through the relay and keeps answers readable.

All traffic passes mitmproxy, watches included: one place for TLS, attribution and recording.
"""

from mitmproxy import connection, http

from staleproof.core.request import flag, is_long_running, json_only, parse

from .connections import Connections
from .fail_closed import kills_on_error
from .proxy_state import ProxyState
from .relay import FLOW_HEADER, Relay, Watch
from .request_recorder import Identities

_RESET = "staleproof-reset"


class WatchGate:
    """Hooks: running, requestheaders, responseheaders, response, error, client_disconnected."""

    def __init__(self, relay: Relay, identities: Identities, connections: Connections, state: ProxyState) -> None:
        self._relay, self._identities, self._connections, self._state = relay, identities, connections, state

    async def running(self) -> None:
        await self._relay.start()

    def requestheaders(self, flow: http.HTTPFlow) -> None:
        with kills_on_error(flow):
            flow.request.headers.pop(FLOW_HEADER, None)
            if flow.request.path.startswith(("/api/", "/apis/")):
                flow.request.headers.pop("accept-encoding", None)  # what we read shall not be packed first
                if "protobuf" in (accept := flow.request.headers.get("accept", "")):
                    flow.request.headers["accept"] = json_only(accept)
            self._send_through_relay(flow)

    def _send_through_relay(self, flow: http.HTTPFlow) -> None:
        request = parse(flow.request.method, flow.request.path)
        if request is None or not request.is_watch:
            return
        if "upgrade" in flow.request.headers:
            why = f"a watch of {request.resource} over WebSocket passes unseen; let the controller watch over HTTP"
            self._state.broke("watch", why)
            return
        self._relay.expect(flow.id, Watch(self._identities.of(flow), request, lambda: flow.metadata.update({_RESET: True})))
        flow.request.headers[FLOW_HEADER] = flow.id
        flow.request.scheme, flow.request.host, flow.request.port = "http", "127.0.0.1", self._relay.port

    def responseheaders(self, flow: http.HTTPFlow) -> None:
        with kills_on_error(flow):
            request = parse(flow.request.method, flow.request.path)
            streamed = request is not None and (request.is_watch or is_long_running(request))
            if flow.response is not None and (streamed or _follows(flow.request)):
                flow.response.stream = True  # True, not a callable; else it is buffered until the end

    def response(self, flow: http.HTTPFlow) -> None:
        self._relay.forget(flow.id)

    async def error(self, flow: http.HTTPFlow) -> None:
        """The relay has broken off: all that it sent before is on its way to the client by now."""
        self._relay.forget(flow.id)
        if _RESET in flow.metadata:
            await self._connections.reset(flow)

    def client_disconnected(self, client: connection.Client) -> None:
        self._state.conditions.recheck()


def _follows(request: http.Request) -> bool:
    """Whether logs are to be followed. The query is parsed only where there is one."""
    return "?" in request.path and flag(dict(request.query), "follow")
