"""Does to requests and answers what the schedule decides: rejects, cuts, delays, stalls, answers from the past, competes.

Decides nothing. A write that was answered here in place of being forwarded was not executed; one whose answer is lost was.
"""

from dataclasses import dataclass, field

import aiohttp
import msgspec
from mitmproxy import http

from staleproof.core.engine.answer import read_answer
from staleproof.core.engine.competing_write import rival_of
from staleproof.core.engine.schedule import Called, Schedule
from staleproof.core.engine.snapshot import single
from staleproof.core.entry import Competed, Refused, Resumed, Stalled
from staleproof.core.fault.availability import GONE
from staleproof.core.fault.decision import (
    Competition,
    Cut,
    ErrorEvent,
    Freeze,
    FromPast,
    Refusal,
    Reply,
    Stall,
    Wait,
)
from staleproof.core.frame import error_event
from staleproof.core.request import ApiRequest

from .connections import Connections
from .fail_closed import readable
from .proxy_state import Board
from .relay import Relay
from .upstream import Said, Upstream, on_behalf

_JSON = {"Content-Type": "application/json"}


@dataclass(slots=True)
class Call:
    """A request on its way. `number` is 0 for a WATCH.

    `fault` is the one that answered it or lost its answer; `executed` what we know of it then; `told` the code and the reason that
    the client got in place of the API server's answer (code 0: no answer). `plan` is the schedule that the fault belongs to,
    `counted` what its faults have counted this request as.
    """

    number: int
    request: ApiRequest
    client: str
    fault: int | None = None
    executed: bool | None = None
    told: tuple[int, str] | None = None
    plan: Schedule | None = None
    counted: dict[int, int] = field(default_factory=dict)


class RequestFaults:
    """Called before a request is forwarded and before its answer is sent."""

    def __init__(self, board: Board, connections: Connections, relay: Relay, upstream: Upstream) -> None:
        self._board, self._connections, self._relay, self._upstream = board, connections, relay, upstream

    async def before(self, flow: http.HTTPFlow, call: Call) -> None:
        """Nothing has been sent upstream yet."""
        decision, fault = self._ask_faults(call)
        while isinstance(decision, Stall) and decision.then == "forward" and fault is not None:
            await self._stall(flow, call, fault, forward=True)
            if not flow.client_conn.connected:
                await self._cut(flow, call, fault, executed=False)
                return
            decision, fault = self._ask_faults(call)
        await self._carry_out(decision, flow, call, fault)
        if flow.response is None and flow.error is None and call.told is None:
            self._expire(flow, call)

    def _expire(self, flow: http.HTTPFlow, call: Call) -> None:
        """The history that the client wants to resume from is gone, and it is told by HTTP; else the relay tells it in a stream."""
        expiry = self._board.schedule.expiry(call.request)
        if expiry is not None and expiry.how == "http":
            call.plan = self._board.schedule
            self._answer(GONE, flow, call, expiry.fault)

    async def _carry_out(self, decision: object, flow: http.HTTPFlow, call: Call, fault: int | None) -> None:
        if fault is None:
            return
        match decision:
            case Reply():
                self._answer(decision, flow, call, fault)
            case ErrorEvent():
                self._refuse_watch(decision, flow, call, fault)
            case Cut():
                await self._cut(flow, call, fault, executed=False)
            case _:
                await self._in_time(decision, flow, call, fault)

    async def _in_time(self, decision: object, flow: http.HTTPFlow, call: Call, fault: int) -> None:
        """What takes a while before the request goes on or is cut."""
        match decision:
            case Wait(seconds):
                await self._wait(seconds, flow, call, fault)
            case Stall() | Freeze():
                await self._stall(flow, call, fault)
                await self._cut(flow, call, fault, executed=False)
            case FromPast(step):
                await self._answer_from_past(self._board.schedule.revision_at(step), flow, call, fault)
            case Competition():
                await self._compete(flow, call, fault)

    async def after(self, flow: http.HTTPFlow, call: Call) -> None:
        """Upstream has answered, and nobody has heard of it."""
        assert flow.response is not None
        if not 200 <= flow.response.status_code < 300:
            return
        call.plan = self._board.schedule
        decision, fault = self._board.on_answer(call.request)
        if fault is None:
            return
        match decision:
            case Reply():
                self._says(call, fault, executed=True, told=(decision.code, decision.reason))
                flow.response = _status(decision)
            case Cut():
                await self._cut(flow, call, fault, executed=True)
            case Wait(seconds):
                await self._wait(seconds, flow, call, fault)
                if not flow.client_conn.connected:
                    self._says(call, fault, executed=True, told=(0, ""))
            case Freeze():
                await self._stall(flow, call, fault)
                await self._cut(flow, call, fault, executed=True)

    def _ask_faults(self, call: Call) -> Called:
        if not self._board.is_current(call.plan):
            call.counted.clear()
        call.plan = self._board.schedule
        return self._board.on_request(call.request, call.counted)

    def _says(self, call: Call, fault: int | None, *, executed: bool, told: tuple[int, str]) -> None:
        """A fault has the last word about this request."""
        call.fault = fault if self._board.is_current(call.plan) else None
        call.executed, call.told = executed, told
        self._fired(call, fault)

    def _answer(self, reply: Reply, flow: http.HTTPFlow, call: Call, fault: int | None) -> None:
        self._says(call, fault, executed=False, told=(reply.code, reply.reason))
        flow.response = _status(reply)
        self._refused(call)

    def _refuse_watch(self, error: ErrorEvent, flow: http.HTTPFlow, call: Call, fault: int) -> None:
        self._says(call, fault, executed=False, told=(error.code, error.reason))
        flow.response = http.Response.make(200, error_event(error.code, error.reason, error.message), _JSON)
        self._refused(call)

    async def _cut(self, flow: http.HTTPFlow, call: Call, fault: int, *, executed: bool) -> None:
        self._says(call, fault, executed=executed, told=(0, ""))
        await self._connections.reset(flow)
        if flow.killable:
            flow.kill()
        self._refused(call)

    async def _stall(self, flow: http.HTTPFlow, call: Call, fault: int, *, forward: bool = False) -> None:
        """Until the fault closes, the plan is replaced, or the client has left."""
        request, board = call.request, self._board
        if not forward:  # else what it is kept waiting for is still to come
            self._fired(call, fault)
        board.record(Stalled(at=board.now(), request=call.number, verb=request.verb, resource=request.resource, fault=fault))
        await board.waits.until(lambda: self._is_over(flow, call, fault))
        current = fault if board.is_current(call.plan) else None
        board.record(Resumed(at=board.now(), request=call.number, verb=request.verb, resource=request.resource, fault=current))

    async def _wait(self, seconds: float, flow: http.HTTPFlow, call: Call, fault: int) -> None:
        """For so long, or until one of those."""
        self._fired(call, fault)
        await self._board.waits.until(lambda: self._is_over(flow, call, fault), seconds=seconds)

    def _is_over(self, flow: http.HTTPFlow, call: Call, fault: int) -> bool:
        plan = self._board.schedule
        return call.plan is not plan or not plan.is_open(fault) or not flow.client_conn.connected

    async def _answer_from_past(self, revision: int, flow: http.HTTPFlow, call: Call, fault: int) -> None:
        """The API server says what was there at that revision; if it cannot, the request goes on as if nothing were."""
        if call.request.is_watch:
            self._relay.from_past(flow.id, revision, fault)
            return
        said = await self._upstream.list_at(call.request, flow.request.path, flow.request.headers, revision)
        if said is None:
            self._refuse(call, fault, f"the API server no longer knows revision {revision}")
        elif self._board.is_current(call.plan):
            body = single(said) if call.request.verb == "get" else said
            call.fault, call.told = fault, (200 if body else 404, "")
            flow.response = http.Response.make(200, body, _JSON) if body else _status(_NOT_FOUND)
            self._board.schedule.gave_past(call.request, revision)
            self._fired(call, fault)

    async def _compete(self, flow: http.HTTPFlow, call: Call, fault: int) -> None:
        """Somebody else is quicker; then the controller's request goes on."""
        request, content = call.request, readable(flow.request)
        rival = rival_of(request, flow.request.path, flow.request.headers.get("content-type", ""), content, call.number)
        if isinstance(rival, str):
            self._refuse(call, fault, rival)
            return
        headers = on_behalf(flow.request.headers, content_type=rival.content_type, accept="application/json")
        said = await self._ask(rival.method, rival.target, headers, rival.body)
        if said is None or not 200 <= said.code < 300:
            self._refuse(call, fault, f"the competing {rival.method} was answered {said.code if said else 'not at all'}")
            return
        if not self._board.is_current(call.plan):
            return
        answer = read_answer(said.body)
        self._board.record(
            Competed(
                at=self._board.now(),
                request=call.number,
                resource=request.resource,
                namespace=answer.namespace,
                name=answer.name,
                uid=answer.uid,
                revision=answer.revision,
                fault=fault,
            )
        )
        self._fired(call, fault)

    async def _ask(self, method: str, target: str, headers: dict[str, str], body: bytes = b"") -> Said | None:
        try:
            return await self._upstream.ask(method, target, headers, body)
        except (aiohttp.ClientError, TimeoutError):
            return None

    def _refuse(self, call: Call, fault: int, why: str) -> None:
        """What the fault wanted cannot be done."""
        self._board.refused(fault, Refusal("", why), _on(call.request), plan=call.plan)

    def _refused(self, call: Call) -> None:
        """A WATCH was told something else, and no stream is open; other requests have their own entries."""
        if not call.request.is_watch or call.told is None:
            return
        code, reason = call.told
        self._board.record(
            Refused(
                at=self._board.now(),
                client=call.client,
                resource=call.request.resource,
                namespace=call.request.namespace,
                start=call.request.query.get("resourceVersion", ""),
                watch_list=call.request.is_watch_list,
                code=code,
                reason=reason,
                fault=call.fault,
            )
        )

    def _fired(self, call: Call, fault: int | None) -> None:
        if fault is not None:
            on = f"{_on(call.request)}{f', request {call.number}' if call.number else ''}"
            self._board.fired(fault, None, on, plan=call.plan)


def _on(request: ApiRequest) -> str:
    where = "/".join(part for part in (request.namespace, request.name) if part)
    what = f"{request.resource}/{request.subresource}" if request.subresource else request.resource
    return f"{request.verb} {what} {where}".rstrip()


_NOT_FOUND = Reply(404, "NotFound", "not found")


def _status(reply: Reply) -> http.Response:
    """A Status in JSON, as the API server sends it."""
    details = {} if reply.retry_after is None else {"details": {"retryAfterSeconds": reply.retry_after}}
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": reply.message,
        "reason": reply.reason,
        **details,
        "code": reply.code,
    }
    headers = _JSON if reply.retry_after is None else {**_JSON, "Retry-After": str(reply.retry_after)}
    return http.Response.make(reply.code, msgspec.json.encode(status), headers)
