"""mitmproxy addon: everything that a client sends, and what it gets.

Every watch goes through the relay. Every other request is recorded, the faults have their say, and what the client gets is
recorded, too. All traffic passes mitmproxy, watches included: one place for TLS. What no fault concerns may pass without becoming a
flow (`shortcut`), and is recorded by the same functions.

A watch over WebSocket is answered as a server without WebSocket does, and clients that try it first (fabric8) then watch over HTTP.
The answer holds no events, because the client would throw them away, and the history would say that it was shown them.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from mitmproxy import connection, http

from staleproof.core.engine.exchange import Exchange, with_content
from staleproof.core.history.entry import RequestId
from staleproof.core.history.request import ApiRequest, flag, is_long_running, json_only, parse

from .connections import Connections
from .identities import Identities
from .proxy_state import ProxyState
from .relay import FLOW_HEADER, Relay, Watch
from .request_faults import RequestFaults, readable

_RESET, _PROGRAM = "staleproof-reset", "staleproof-program"


class Traffic:
    """Hooks: running, requestheaders, request, responseheaders, response, error, client_disconnected."""

    def __init__(
        self, state: ProxyState, identities: Identities, connections: Connections, relay: Relay, faults: RequestFaults
    ) -> None:
        self._state, self._identities, self._connections, self._relay, self._faults = state, identities, connections, relay, faults
        self._open: dict[str, Exchange] = {}

    async def running(self) -> None:
        await self._relay.start()

    def requestheaders(self, flow: http.HTTPFlow) -> None:
        with _kills_on_error(flow):
            flow.request.headers.pop(FLOW_HEADER, None)
            self._tell_apart(flow)
            request = _api_request(flow)
            if flow.request.path.startswith(("/api/", "/apis/")):
                flow.request.headers.pop("accept-encoding", None)  # what we read shall not be packed first
                if accept := flow.request.headers.get("accept", ""):
                    flow.request.headers["accept"] = json_only(accept, watch=request is not None and request.is_watch)
            if request is not None and request.is_watch and not _is_upgrade(flow):
                self._send_through_relay(flow, request)

    async def request(self, flow: http.HTTPFlow) -> None:
        with _kills_on_error(flow):
            request = _api_request(flow)
            if request is None or is_long_running(request):
                return
            if request.is_watch and _is_upgrade(flow):
                flow.response = http.Response.make(200, b"", {"content-type": "application/json"})
                return
            number = RequestId(0 if request.is_watch else next(self._state.request_numbers))
            body = readable(flow.request)
            content_type = flow.request.headers.get("content-type", "")
            exchange = Exchange(number, with_content(request, content_type, body), self._identity(flow))
            if not request.is_watch:
                self._open[flow.id] = exchange
                self._state.record(exchange.asked(body, self._state.now()))
                self._state.requested(exchange.request)
            await self._faults.before(flow, exchange)

    def responseheaders(self, flow: http.HTTPFlow) -> None:
        with _kills_on_error(flow):
            request = _api_request(flow)
            streamed = request is not None and (request.is_watch or is_long_running(request))
            follows = "?" in flow.request.path and flag(dict(flow.request.query), "follow")  # of logs; seldom is there a query
            if flow.response is not None and (streamed or follows):
                flow.response.stream = True  # True, not a callable; else it is buffered until the end

    async def response(self, flow: http.HTTPFlow) -> None:
        with _kills_on_error(flow):
            self._relay.forget(flow.id)
            exchange, answer = self._open.get(flow.id), flow.response
            if exchange is None or answer is None:
                return
            if exchange.client_status is None:  # else it is a fault that has answered
                await self._faults.after(flow, exchange)
            self._open.pop(flow.id, None)
            retry_after = "retry-after" in answer.headers
            self._state.answered(exchange, answer.status_code, readable(answer), retry_after=retry_after)

    async def error(self, flow: http.HTTPFlow) -> None:
        """The relay or the API server has broken off: all that the relay sent before is on its way to the client by now."""
        self._relay.forget(flow.id)
        if _RESET in flow.metadata:
            await self._connections.reset(flow)
        exchange = self._open.pop(flow.id, None)
        if exchange is not None:
            why = flow.error.msg if flow.error is not None else "connection lost"
            self._state.record(exchange.broken(why, self._state.now()))

    def client_disconnected(self, client: connection.Client) -> None:
        self._state.conditions.recheck()

    def _send_through_relay(self, flow: http.HTTPFlow, request: ApiRequest) -> None:
        self._relay.expect(flow.id, Watch(self._identity(flow), request, lambda: flow.metadata.update({_RESET: True})))
        flow.request.headers[FLOW_HEADER] = flow.id
        flow.request.scheme, flow.request.host, flow.request.port = "http", "127.0.0.1", self._relay.port

    def _identity(self, flow: http.HTTPFlow) -> str:
        return flow.metadata.get(_PROGRAM) or self._identities.of(flow.request.headers.get("authorization", ""))

    def _tell_apart(self, flow: http.HTTPFlow) -> None:
        """Note which further program the request comes from, and pass it on as one of the controller's."""
        program, onward = self._identities.onward(flow.request.headers.get("authorization", ""))
        if program:
            flow.metadata[_PROGRAM] = program
            flow.request.headers.pop("authorization")
            if onward:
                flow.request.headers["authorization"] = onward


@contextmanager
def _kills_on_error(flow: http.HTTPFlow) -> Iterator[None]:
    """A hook that fails must not let its flow through: mitmproxy would log the exception and forward the request all the same.

    Kill the flow and raise on: mitmproxy logs it as an error, and the process stops because of that.
    """
    try:
        yield
    except BaseException:
        if flow.killable:
            flow.kill()
        raise


def _api_request(flow: http.HTTPFlow) -> ApiRequest | None:
    request = parse(flow.request.method, flow.request.path)
    return None if request is None else request.of_program(flow.metadata.get(_PROGRAM, ""))


def _is_upgrade(flow: http.HTTPFlow) -> bool:
    return "upgrade" in flow.request.headers
