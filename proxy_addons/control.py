"""The control API: a small HTTP server on loopback with which the runner (or a suite in any language) drives the faults.

Every call needs the token. Commands take effect before they are answered; one whose caller leaves before that may not. What it
accepts and answers is declared in `staleproof.core.control`, which the OpenAPI document is made from.
"""

import hmac
from collections.abc import Awaitable, Callable
from contextlib import aclosing, nullcontext
from typing import TypeVar

import msgspec
from aiohttp import web

from staleproof.core.control import (
    Added,
    AddFault,
    Done,
    Ended,
    Faults,
    FaultState,
    Health,
    InstallPlan,
    Release,
    SeverStreams,
    Step,
    StreamState,
    read,
)
from staleproof.core.engine.routes import openapi
from staleproof.core.plan import PlanError

from .proxy_state import Board
from .runner import Runner

B = TypeVar("B", bound=msgspec.Struct)


def application(board: Board, token: str, runner: Runner) -> web.Application:
    """The control API for one proxy. `token` must not be empty: an empty one would let everybody in."""

    @web.middleware
    async def guarded(request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> web.StreamResponse:
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode("utf-8", "surrogateescape"), token.encode()):
            refused = _problem(401, "wrong token; send the proxy's control token as a bearer token")
            refused.headers["WWW-Authenticate"] = "Bearer"
            return refused
        try:
            return await handler(request)
        except (PlanError, msgspec.DecodeError, UnicodeDecodeError) as err:
            return _problem(400, f"body: {err}")
        except web.HTTPException as err:
            return _problem(err.status, f"{request.method} {request.path}: {err.reason}; GET /v1/openapi.json lists what there is")
        except ConnectionError:  # the caller left before the whole answer; aiohttp would log an error, which stops the process
            return web.Response()

    routes = _Routes(board, runner)
    app = web.Application(middlewares=[guarded])
    app.add_routes(
        [
            web.get("/v1/healthz", routes.healthz),
            web.get("/v1/openapi.json", routes.openapi),
            web.get("/v1/entries", routes.entries),
            web.put("/v1/plan", routes.install),
            web.post("/v1/step", routes.step),
            web.get("/v1/faults", routes.faults),
            web.post("/v1/faults", routes.add_fault),
            web.delete("/v1/faults/{fault:[0-9]+}", routes.remove_fault),
            web.post("/v1/release", routes.release),
            web.post("/v1/sever", routes.sever),
        ]
    )
    return app


class _Routes:
    def __init__(self, board: Board, runner: Runner) -> None:
        self._board, self._runner = board, runner

    async def healthz(self, request: web.Request) -> web.StreamResponse:
        streams = [
            StreamState(s.number, s.client, s.request.resource, s.request.namespace, len(s.gate), s.gate.held_bytes)
            for s in self._board.streams.values()
        ]
        return _json(Health(self._board.journal.end, streams))

    async def openapi(self, request: web.Request) -> web.StreamResponse:
        return web.json_response(openapi())

    async def entries(self, request: web.Request) -> web.StreamResponse:
        """NDJSON, one entry a line, from number `after` on, until the caller leaves.

        What had been read long ago is gone; the header says which number the first line has.
        """
        after, runner = request.query.get("after", "0"), request.query.get("runner", "false")
        if not (after.isascii() and after.isdigit()):
            return _problem(400, f"after: expected the number of an entry, found {after!r}")
        if runner not in ("true", "false"):
            return _problem(400, f"runner: expected true or false, found {runner!r}")
        with self._runner.connected() if runner == "true" else nullcontext():
            first = max(int(after), self._board.journal.first)
            headers = {"Content-Type": "application/x-ndjson", "X-Staleproof-First": str(first)}
            response = web.StreamResponse(headers=headers)
            await response.prepare(request)
            async with aclosing(self._board.journal.lines(first)) as batches:
                async for batch in batches:
                    await response.write(batch)
        return response

    async def install(self, request: web.Request) -> web.StreamResponse:
        """Replace the plan. Whatever the last one held leaves first."""
        body = await _body(request, InstallPlan)
        self._board.install(body.faults, body.namespace)
        return await self._done()

    async def step(self, request: web.Request) -> web.StreamResponse:
        """A step is about to be done: faults open and close by its number."""
        body = await _body(request, Step)
        self._board.begin_step(body.step, revision=body.revision)
        return await self._done()

    async def faults(self, request: web.Request) -> web.StreamResponse:
        schedule = self._board.schedule
        states = [FaultState(i, fault, **schedule.describe(i)) for i, fault in enumerate(schedule.faults)]
        return _json(Faults(self._board.journal.end, states))

    async def add_fault(self, request: web.Request) -> web.StreamResponse:
        """One more fault, open from now on until it is removed, released, or its seconds are over."""
        body = await _body(request, AddFault)
        index = self._board.add(body.fault)
        await self._board.settled()
        return _json(Added(self._board.journal.end, index))

    async def remove_fault(self, request: web.Request) -> web.StreamResponse:
        index, count = int(request.match_info["fault"]), len(self._board.schedule.faults)
        if index >= count:
            return _problem(404, f"there is no fault {index}; faults are numbered from 0, and there are {count}")
        self._board.remove(index)
        return await self._done()

    async def release(self, request: web.Request) -> web.StreamResponse:
        """Close every fault, and everything held leaves; or with a resource and a revision, let what is held up to there leave."""
        body = await _body(request, Release)
        if body.revision is None:
            self._board.release()
        else:
            self._board.release_upto(body.resource, body.revision)
        return await self._done()

    async def sever(self, request: web.Request) -> web.StreamResponse:
        """End the streams of a resource now; `expired` makes the controller list again."""
        body = await _body(request, SeverStreams)
        ended = self._board.sever(body.resource, body.how)
        return _json(Ended(self._board.journal.end, ended))

    async def _done(self) -> web.StreamResponse:
        await self._board.settled()
        return _json(Done(self._board.journal.end))


async def _body(request: web.Request, model: type[B]) -> B:
    return read(await request.read(), model)


def _json(body: msgspec.Struct) -> web.Response:
    return web.Response(body=msgspec.json.encode(body), content_type="application/json")


def _problem(code: int, error: str) -> web.Response:
    return web.json_response({"error": error}, status=code)
