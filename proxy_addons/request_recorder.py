"""mitmproxy addon: every request on its way. Records it, lets the faults have their say, records what the client is told."""

import itertools
from collections.abc import Mapping
from typing import Any

from mitmproxy import http

from staleproof.core.engine.answer import outcome_of, read_answer, read_preconditions
from staleproof.core.entry import Answered, Asked, Listed
from staleproof.core.request import is_long_running, parse

from .fail_closed import kills_flow_on_error, readable
from .proxy_state import Board
from .request_faults import Call, RequestFaults


class Identities:
    """Which client a request comes from, by its bearer token. A single nameless client is allowed (client certificates)."""

    def __init__(self, tokens: Mapping[str, str], default: str) -> None:
        self._tokens, self._default = tokens, default

    def of(self, flow: http.HTTPFlow) -> str:
        scheme, _, token = flow.request.headers.get("authorization", "").partition(" ")
        return self._tokens.get(token.strip(), "unknown") if scheme.lower() == "bearer" else self._default


class Calls:
    """Hooks: request, response, error."""

    def __init__(self, board: Board, identities: Identities, faults: RequestFaults) -> None:
        self._board, self._identities, self._faults = board, identities, faults
        self._numbers = itertools.count(1)
        self._open: dict[str, Call] = {}

    @kills_flow_on_error
    async def request(self, flow: http.HTTPFlow) -> None:
        request = parse(flow.request.method, flow.request.path)
        if request is None or is_long_running(request):
            return
        client = self._identities.of(flow)
        if request.is_watch:
            if "upgrade" not in flow.request.headers:
                await self._faults.before(flow, Call(0, request, client))
            return
        call = self._open[flow.id] = Call(next(self._numbers), request, client)
        self._board.record(self._asked(call, flow))
        self._board.asked(request)
        await self._faults.before(flow, call)

    @kills_flow_on_error
    async def response(self, flow: http.HTTPFlow) -> None:
        call = self._open.get(flow.id)
        if call is None or flow.response is None:
            return
        said = flow.response
        if call.told is None:  # else it is a fault that has answered
            await self._faults.after(flow, call)
        self._open.pop(flow.id, None)
        self._answered(call, said)

    def error(self, flow: http.HTTPFlow) -> None:
        """The connection broke: whether a write was executed, the controller cannot know."""
        call = self._open.pop(flow.id, None)
        if call is not None:
            reason = flow.error.msg if flow.error is not None else "connection lost"
            now = self._board.now()
            self._board.record(
                Answered(at=now, request=call.number, outcome="unknown", reason=reason, fault=call.fault, executed=call.executed)
            )

    def _asked(self, call: Call, flow: http.HTTPFlow) -> Asked:
        request = call.request
        preconditions: dict[str, Any] = {}
        if request.verb == "delete":
            uid, revision = read_preconditions(readable(flow.request))
            preconditions = {"precondition_uid": uid, "precondition_revision": revision}
        return Asked(
            at=self._board.now(),
            request=call.number,
            client=call.client,
            verb=request.verb,
            resource=request.resource,
            namespace=request.namespace,
            name=request.name,
            subresource=request.subresource,
            selector=request.selector,
            dry_run="dryRun" in request.query,
            **preconditions,
        )

    def _answered(self, call: Call, said: http.Response) -> None:
        """What the API server (or a fault) said, and what the client was told."""
        now, request = self._board.now(), call.request
        answer = read_answer(readable(said))
        lost = call.executed is True
        code, reason = call.told if lost and call.told else (said.status_code, answer.reason)
        outcome = "unknown" if lost else outcome_of(code, retry_after="retry-after" in said.headers)
        if outcome == "ok" and request.verb == "list":
            self._board.schedule.listed(request)
            self._board.record(
                Listed(
                    at=now,
                    request=call.number,
                    client=call.client,
                    resource=request.resource,
                    namespace=request.namespace,
                    selector=request.selector,
                    revision=answer.revision,
                    items=answer.items,
                    more=answer.more,
                    fault=call.fault,
                )
            )
            return
        self._board.record(
            Answered(
                at=now,
                request=call.number,
                outcome=outcome,
                code=code,
                reason="" if outcome == "ok" else reason,
                namespace=answer.namespace,
                name=answer.name,
                uid=answer.uid,
                revision=answer.revision,
                items=answer.items,
                fault=call.fault,
                executed=call.executed,
            )
        )
