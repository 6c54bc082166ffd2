"""The control API: a small HTTP server on loopback with which the runner (or a suite in any language) drives the faults.

Every call needs the token. Commands take effect before they are answered.
"""

import hmac
from collections.abc import Awaitable, Callable
from contextlib import aclosing

import msgspec
from aiohttp import web

from staleproof.core.fault import AnyFault

from .board import Board


class Install(msgspec.Struct, forbid_unknown_fields=True):
    """PUT /v1/plan"""

    faults: list[AnyFault] = []
    namespace: str = ""


class Step(msgspec.Struct, forbid_unknown_fields=True):
    """POST /v1/step"""

    step: int


class Expire(msgspec.Struct, forbid_unknown_fields=True):
    """POST /v1/expire"""

    resource: str


def application(board: Board, token: str) -> web.Application:
    """The control API for one proxy."""

    @web.middleware
    async def guarded(request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> web.StreamResponse:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(given.encode(), token.encode()):
            return web.json_response({"error": "wrong token; send the proxy's control token as a bearer token"}, status=401)
        try:
            return await handler(request)
        except (msgspec.DecodeError, UnicodeDecodeError) as err:
            return web.json_response({"error": f"body: {err}"}, status=400)
        except (
            ConnectionError
        ):  # the caller left before the whole answer; aiohttp would log that as an error, which stops the process
            return web.Response()

    routes = _Routes(board)
    app = web.Application(middlewares=[guarded])
    app.add_routes(
        [
            web.get("/v1/healthz", routes.healthz),
            web.get("/v1/entries", routes.entries),
            web.put("/v1/plan", routes.install),
            web.post("/v1/step", routes.step),
            web.post("/v1/release", routes.release),
            web.post("/v1/expire", routes.expire),
        ]
    )
    return app


class _Routes:
    def __init__(self, board: Board) -> None:
        self._board = board

    async def healthz(self, request: web.Request) -> web.StreamResponse:
        streams = [{"stream": s.number, "resource": s.request.resource, "held": len(s.gate)} for s in self._board.streams.values()]
        return web.json_response({"entries": self._board.journal.end, "streams": streams})

    async def entries(self, request: web.Request) -> web.StreamResponse:
        """NDJSON, one entry a line, from number `after` on, until the caller leaves.

        What had been read long ago is gone; the header says which number the first line has.
        """
        after = request.query.get("after", "0")
        if not (after.isascii() and after.isdigit()):
            return web.json_response({"error": f"after: expected the number of an entry, found {after!r}"}, status=400)
        first = max(int(after), self._board.journal.first)
        headers = {"Content-Type": "application/x-ndjson", "X-Staleproof-First": str(first)}
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        async with aclosing(self._board.journal.lines(first)) as batches:
            async for lines in batches:
                await response.write(lines)
        return response

    async def install(self, request: web.Request) -> web.StreamResponse:
        """Replace the plan. Whatever the last one held leaves first."""
        body = msgspec.json.decode(await request.read(), type=Install)
        self._board.install(body.faults, body.namespace)
        return self._done()

    async def step(self, request: web.Request) -> web.StreamResponse:
        """A step is about to be done: faults open and close by its number."""
        self._board.begin_step(msgspec.json.decode(await request.read(), type=Step).step)
        return self._done()

    async def release(self, request: web.Request) -> web.StreamResponse:
        """Close every fault; everything held leaves."""
        self._board.release()
        return self._done()

    async def expire(self, request: web.Request) -> web.StreamResponse:
        """End the streams of a resource with 410, so that the controller lists again."""
        ended = self._board.expire(msgspec.json.decode(await request.read(), type=Expire).resource)
        return web.json_response({"entries": self._board.journal.end, "streams": ended})

    def _done(self) -> web.StreamResponse:
        return web.json_response({"entries": self._board.journal.end})
