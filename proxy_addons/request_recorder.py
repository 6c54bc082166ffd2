"""mitmproxy addon: every request on its way. Records it, lets the faults have their say, records what the client is told."""

import itertools
from collections.abc import Mapping

from mitmproxy import http

from staleproof.core.engine.exchange import Exchange
from staleproof.core.entry import Listed, RequestId
from staleproof.core.request import is_long_running, parse

from .fail_closed import kills_on_error, readable
from .proxy_state import ProxyState
from .request_faults import RequestFaults


class Identities:
    """Which client a request comes from, by its bearer token. A single nameless client is allowed (client certificates)."""

    def __init__(self, tokens: Mapping[str, str], default: str) -> None:
        self._tokens, self._default = tokens, default

    def of(self, flow: http.HTTPFlow) -> str:
        scheme, _, token = flow.request.headers.get("authorization", "").partition(" ")
        return self._tokens.get(token.strip(), "unknown") if scheme.lower() == "bearer" else self._default


class RequestRecorder:
    """Hooks: request, response, error."""

    def __init__(self, state: ProxyState, identities: Identities, faults: RequestFaults) -> None:
        self._state, self._identities, self._faults = state, identities, faults
        self._numbers = itertools.count(1)
        self._open: dict[str, Exchange] = {}

    async def request(self, flow: http.HTTPFlow) -> None:
        with kills_on_error(flow):
            request = parse(flow.request.method, flow.request.path)
            if request is None or is_long_running(request) or (request.is_watch and "upgrade" in flow.request.headers):
                return
            exchange = Exchange(RequestId(0 if request.is_watch else next(self._numbers)), request, self._identities.of(flow))
            if not request.is_watch:
                self._open[flow.id] = exchange
                self._state.record(exchange.asked(readable(flow.request), self._state.now()))
                self._state.asked(request)
            await self._faults.before(flow, exchange)

    async def response(self, flow: http.HTTPFlow) -> None:
        with kills_on_error(flow):
            exchange, answer = self._open.get(flow.id), flow.response
            if exchange is None or answer is None:
                return
            if exchange.told is None:  # else it is a fault that has answered
                await self._faults.after(flow, exchange)
            self._open.pop(flow.id, None)
            self._answered(exchange, answer)

    def error(self, flow: http.HTTPFlow) -> None:
        exchange = self._open.pop(flow.id, None)
        if exchange is not None:
            why = flow.error.msg if flow.error is not None else "connection lost"
            self._state.record(exchange.broken(why, self._state.now()))

    def _answered(self, exchange: Exchange, answer: http.Response) -> None:
        """What the API server (or a fault) said, and what the client was told."""
        retry_after = "retry-after" in answer.headers
        entry = exchange.answered(answer.status_code, readable(answer), self._state.now(), retry_after=retry_after)
        if isinstance(entry, Listed):
            self._state.schedule.expiries.listed(exchange.request)
        self._state.record(entry)
