"""Does to requests and answers what the schedule decides: rejects, cuts, delays, stalls, answers from the past, competes.

Decides nothing. A write that was answered here in place of being forwarded was not executed; one whose answer is lost was.
"""

from collections.abc import Mapping
from typing import Any

from mitmproxy import http

from staleproof.core.engine.answer import read_answer
from staleproof.core.engine.competing_write import rival_of
from staleproof.core.engine.exchange import Exchange
from staleproof.core.engine.planned_fault import FaultRef
from staleproof.core.engine.snapshot import single
from staleproof.core.engine.status import reply_body
from staleproof.core.fault.availability import GONE
from staleproof.core.fault.decision import Competition, Cut, FromPast, Reply, Stall, Wait
from staleproof.core.history.entry import Competed, Resumed, Stalled

from .api_server import ApiServer, Fields, on_behalf
from .connections import Connections
from .proxy_state import ProxyState
from .relay import Relay

_JSON = {"Content-Type": "application/json"}
_NOT_FOUND = Reply(404, "NotFound", "not found")


class RequestFaults:
    """Asked before a request is forwarded and before its answer is sent. `rival_token`: of the user that makes competing writes;
    empty: the client that is competed with, which may not be allowed the verb."""

    def __init__(
        self, state: ProxyState, connections: Connections, relay: Relay, api_server: ApiServer, rival_token: str = ""
    ) -> None:
        self._state, self._connections, self._relay, self._api_server = state, connections, relay, api_server
        self._rival_token = rival_token

    async def before(self, flow: http.HTTPFlow, exchange: Exchange) -> None:
        """The request has not been sent upstream yet."""
        decision, fault = self._state.on_request(exchange)
        while isinstance(decision, Stall) and decision.then == "forward" and fault is not None:
            await self._stall(flow, exchange, fault)  # what the client is kept waiting for is still to come
            if not flow.client_conn.connected:
                await self._cut(flow, exchange, fault)
                return
            decision, fault = self._state.on_request(exchange)
        if fault is not None:
            await self._carry_out(decision, flow, exchange, fault)
        if flow.response is None and flow.error is None and exchange.client_status is None:
            self._expire(flow, exchange)

    async def after(self, flow: http.HTTPFlow, exchange: Exchange) -> None:
        """The API server has answered, and the client has not heard of it yet."""
        assert flow.response is not None
        if 200 <= flow.response.status_code < 300:
            decision, fault = self._state.schedule.on_answer(exchange.request)
            if fault is not None:
                await self._carry_out(decision, flow, exchange, fault)

    async def _carry_out(self, decision: object, flow: http.HTTPFlow, exchange: Exchange, fault: FaultRef) -> None:
        match decision:
            case Reply():
                self._reply(decision, flow, exchange, fault)
            case Cut():
                await self._cut(flow, exchange, fault)
            case Wait(seconds):
                await self._wait(seconds, flow, exchange, fault)
            case Stall():
                self._fired(exchange, fault)
                await self._stall(flow, exchange, fault)
                await self._cut(flow, exchange, fault)
            case FromPast(step):
                await self._answer_from_past(self._state.schedule.revision_at(step), flow, exchange, fault)
            case Competition(edit, then_seconds):
                await self._compete(edit, flow, exchange, fault)
                if then_seconds:
                    await self._wait(then_seconds, flow, exchange, fault)

    def _expire(self, flow: http.HTTPFlow, exchange: Exchange) -> None:
        """Answer 410 if the history that the client wants to resume from is gone: by HTTP, or let the relay do it by an event."""
        expiry = self._state.schedule.expiries.of(exchange.request)
        if expiry is not None and expiry.how == "http":
            self._reply(GONE, flow, exchange, expiry.fault)
        elif expiry is not None:
            self._relay.expired(flow.id, expiry)

    def _says(self, flow: http.HTTPFlow, exchange: Exchange, fault: FaultRef | None, answer: tuple[int, str]) -> None:
        """A fault has the last word about this request, which was executed if it has been answered."""
        exchange.fault = self._state.schedule.number(fault)
        exchange.executed, exchange.client_status = flow.response is not None, answer
        self._fired(exchange, fault)

    def _refused(self, exchange: Exchange) -> None:
        """Record a WATCH that was given something else than a stream; other requests have entries of their own."""
        if exchange.request.is_watch:
            self._state.record(exchange.refused(self._state.now()))

    def _reply(self, reply: Reply, flow: http.HTTPFlow, exchange: Exchange, fault: FaultRef | None) -> None:
        self._says(flow, exchange, fault, (reply.code, reply.reason))
        flow.response = _response(reply)
        self._refused(exchange)

    async def _cut(self, flow: http.HTTPFlow, exchange: Exchange, fault: FaultRef) -> None:
        self._says(flow, exchange, fault, (0, ""))
        await self._connections.reset(flow)
        if flow.killable:
            flow.kill()
        self._refused(exchange)

    async def _stall(self, flow: http.HTTPFlow, exchange: Exchange, fault: FaultRef) -> None:
        """Wait until the fault closes, the plan is replaced, or the client has left."""
        state, number, verb, resource = self._state, exchange.number, exchange.request.verb, exchange.request.resource
        state.record(Stalled(at=state.now(), request=number, verb=verb, resource=resource, fault=fault.number))
        await state.conditions.until(lambda: self._is_over(flow, fault))
        current = state.schedule.number(fault)
        state.record(Resumed(at=state.now(), request=number, verb=verb, resource=resource, fault=current))

    async def _wait(self, seconds: float, flow: http.HTTPFlow, exchange: Exchange, fault: FaultRef) -> None:
        """Wait for so long, or until one of those happens."""
        self._fired(exchange, fault)
        await self._state.conditions.until(lambda: self._is_over(flow, fault), seconds=seconds)
        if flow.response is not None and not flow.client_conn.connected:
            self._says(flow, exchange, fault, (0, ""))

    def _is_over(self, flow: http.HTTPFlow, fault: FaultRef) -> bool:
        return not self._state.schedule.is_open(fault) or not flow.client_conn.connected

    async def _answer_from_past(self, revision: int, flow: http.HTTPFlow, exchange: Exchange, fault: FaultRef) -> None:
        """Let the API server say what was there at that revision; if it cannot, the request goes on untouched."""
        if exchange.request.is_watch:
            self._relay.from_past(flow.id, revision, fault)
            return
        answer = await self._api_server.list_at(exchange.request, flow.request.path, _fields(flow.request), revision)
        number = self._state.schedule.number(fault)
        if answer is None:
            self._state.refused(fault, f"the API server no longer knows revision {revision}", str(exchange))
        elif number is not None:
            body = single(answer) if exchange.request.verb == "get" else answer
            exchange.fault, exchange.client_status = number, (200 if body else 404, "")
            flow.response = http.Response.make(200, body, _JSON) if body else _response(_NOT_FOUND)
            self._state.schedule.gave_past(exchange.request, revision)
            self._fired(exchange, fault)

    async def _compete(self, edit: Mapping[str, Any], flow: http.HTTPFlow, exchange: Exchange, fault: FaultRef) -> None:
        """Let another user write before the controller's request goes on, or before its answer does."""
        state, request = self._state, flow.request
        content_type = request.headers.get("content-type", "")
        rival = rival_of(exchange.request, request.path, content_type, readable(request), exchange.number, edit)
        if isinstance(rival, str):
            state.refused(fault, rival, str(exchange))
            return
        own = {"authorization": f"Bearer {self._rival_token}"} if self._rival_token else {}
        headers = on_behalf(_fields(request), content_type=rival.content_type, accept="application/json", **own)
        said = await self._api_server.ask(rival.method, rival.target, headers, rival.body)
        if said is None or not 200 <= said.code < 300:
            state.refused(fault, f"the competing {rival.method} was answered {said.code if said else 'not at all'}", str(exchange))
            return
        number, answer = state.schedule.number(fault), read_answer(said.body)
        if number is None:
            return
        state.record(
            Competed(
                at=state.now(),
                request=exchange.number,
                resource=exchange.request.resource,
                namespace=answer.namespace,
                name=answer.name,
                uid=answer.uid,
                revision=answer.revision,
                fault=number,
                executed=flow.response is not None,
            )
        )
        self._fired(exchange, fault)

    def _fired(self, exchange: Exchange, fault: FaultRef | None) -> None:
        self._state.fired(fault, f"{exchange}{f', request {exchange.number}' if exchange.number else ''}")


def readable(message: http.Message) -> bytes:
    """The body, unpacked where possible: one that cannot be unpacked is passed on all the same, and must not stop us."""
    try:
        return message.get_content(strict=True) or b""
    except (ValueError, TypeError):  # mitmproxy tries Python's codecs too, and those raise what they like
        return message.raw_content or b""


def _fields(request: http.Request) -> Fields:
    return [(str(name), str(value)) for name, value in request.headers.items(multi=True)]


def _response(reply: Reply) -> http.Response:
    """A Status in JSON, as the API server sends it."""
    headers = _JSON if reply.retry_after is None else {**_JSON, "Retry-After": str(reply.retry_after)}
    return http.Response.make(200 if reply.as_event else reply.code, reply_body(reply), headers)
