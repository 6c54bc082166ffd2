"""The relay's control API on loopback: entries as they happen, and what is to go wrong. Every call needs the token."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing

import msgspec
from aiohttp import web

from staleproof.core import control as api
from staleproof.core.external import SystemFaults, faults_problem

from ..control import is_token, json_response
from .systems import Systems

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def application(systems: Systems, token: str) -> web.Application:
    """The control API for these systems. `token` must not be empty: an empty one would let every client in."""

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not is_token(request, token):
            return json_response(api.Problem("wrong token"), 401)
        try:
            return await handler(request)
        except (msgspec.DecodeError, UnicodeDecodeError) as err:
            return json_response(api.Problem(f"body: {err}"), 400)
        except ConnectionError:  # the caller left before the whole answer
            return web.Response()

    calls = _Calls(systems)
    app = web.Application(middlewares=[guarded])
    app.router.add_get("/v1/healthz", calls.get_healthz)
    app.router.add_get("/v1/entries", calls.get_entries)
    app.router.add_put("/v1/faults", calls.put_faults)
    return app


class _Calls:
    def __init__(self, systems: Systems) -> None:
        self._systems = systems

    async def get_healthz(self, request: web.Request) -> web.StreamResponse:
        return json_response(api.Done(self._systems.journal.end))

    async def get_entries(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        async with aclosing(self._systems.journal.lines(self._systems.journal.first)) as batches:
            async for batch in batches:
                await response.write(batch)
        return response

    async def put_faults(self, request: web.Request) -> web.StreamResponse:
        wanted = msgspec.json.decode(await request.read(), type=SystemFaults)
        problem = faults_problem(wanted.faults)
        if wanted.system not in self._systems:
            problem = f"there is no system {wanted.system!r}"
        if problem:
            return json_response(api.Problem(problem), 400)
        self._systems.install(wanted)
        return json_response(api.Done(self._systems.journal.end))
