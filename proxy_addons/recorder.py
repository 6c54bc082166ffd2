"""mitmproxy addon: records every request that is not a watch, and tells the schedule of each write before it is forwarded."""

import itertools
from collections.abc import Mapping
from typing import Any

from mitmproxy import http

from staleproof.core.answer import read_answer, read_preconditions
from staleproof.core.entry import Answered, Asked, Listed, Outcome
from staleproof.core.request import ApiRequest, is_long_running, parse

from .board import Board
from .guard import kills_flow_on_error


class Identities:
    """Which client a request comes from, by its bearer token. A single nameless client is allowed (client certificates)."""

    def __init__(self, tokens: Mapping[str, str], default: str) -> None:
        self._tokens, self._default = tokens, default

    def of(self, flow: http.HTTPFlow) -> str:
        scheme, _, token = flow.request.headers.get("authorization", "").partition(" ")
        return self._tokens.get(token.strip(), "unknown") if scheme.lower() == "bearer" else self._default


def outcome_of(code: int, *, retry_after: bool) -> Outcome:
    """What the client may conclude from a status.

    Retry-After is sent only for requests that were not executed (legality rows 28, 29, 31). Any other 5xx may have been sent after
    the execution, or while it still goes on (row 30).
    """
    if 200 <= code < 300:
        return "ok"
    return "unknown" if code >= 500 and not retry_after else "fail"


class Recorder:
    """Hooks: request, response, error."""

    def __init__(self, board: Board, identities: Identities) -> None:
        self._board, self._identities = board, identities
        self._numbers = itertools.count(1)
        self._open: dict[str, tuple[int, ApiRequest]] = {}

    @kills_flow_on_error
    def request(self, flow: http.HTTPFlow) -> None:
        request = parse(flow.request.method, flow.request.path)
        if request is None or request.is_watch or is_long_running(request):
            return
        number = next(self._numbers)
        self._open[flow.id] = number, request
        self._board.record(self._asked(number, request, flow))
        if request.is_write:
            self._board.asked(request)

    @kills_flow_on_error
    def response(self, flow: http.HTTPFlow) -> None:
        number, request = self._open.pop(flow.id, (0, None))
        if request is None or flow.response is None:
            return
        now, code = self._board.now(), flow.response.status_code
        answer = read_answer(flow.response.content or b"")
        outcome = outcome_of(code, retry_after="retry-after" in flow.response.headers)
        ok = outcome == "ok"
        if ok and request.verb == "list":
            self._board.schedule.listed(request)
            self._board.record(
                Listed(
                    at=now,
                    request=number,
                    client=self._identities.of(flow),
                    resource=request.resource,
                    namespace=request.namespace,
                    selector=request.selector,
                    revision=answer.revision,
                    items=answer.items,
                    more=answer.more,
                )
            )
            return
        self._board.record(
            Answered(
                at=now,
                request=number,
                outcome=outcome,
                code=code,
                reason="" if ok else answer.reason,
                namespace=answer.namespace,
                name=answer.name,
                uid=answer.uid,
                revision=answer.revision,
                items=answer.items,
            )
        )

    def error(self, flow: http.HTTPFlow) -> None:
        """The connection broke: whether a write was executed, the controller cannot know."""
        number, request = self._open.pop(flow.id, (0, None))
        if request is not None:
            reason = flow.error.msg if flow.error is not None else "connection lost"
            self._board.record(Answered(at=self._board.now(), request=number, outcome="unknown", reason=reason))

    def _asked(self, number: int, request: ApiRequest, flow: http.HTTPFlow) -> Asked:
        preconditions: dict[str, Any] = {}
        if request.verb == "delete":
            uid, revision = read_preconditions(flow.request.content or b"")
            preconditions = {"precondition_uid": uid, "precondition_revision": revision}
        return Asked(
            at=self._board.now(),
            request=number,
            client=self._identities.of(flow),
            verb=request.verb,
            resource=request.resource,
            namespace=request.namespace,
            name=request.name,
            subresource=request.subresource,
            selector=request.selector,
            dry_run="dryRun" in request.query,
            **preconditions,
        )
