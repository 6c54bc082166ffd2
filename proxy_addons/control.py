"""The control API: a small HTTP server on loopback with which the runner (or a suite in any language) drives the faults.

Every call needs the token. Commands take effect before they are answered; one whose caller leaves before that may not. There are
the calls that `staleproof.core.engine.routes` documents; what each of them does is said here.
"""

import hmac
from collections.abc import Awaitable, Callable
from contextlib import aclosing, nullcontext
from typing import Any

import msgspec
from aiohttp import web

from staleproof.core import control as api
from staleproof.core.engine.routes import ROUTES, Route, openapi
from staleproof.core.plan.plan import PlanError

from .proxy_state import ProxyState
from .runner import Runner

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def application(state: ProxyState, token: str, runner: Runner) -> web.Application:
    """The control API for one proxy. `token` must not be empty: an empty one would let every client in."""

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not is_token(request, token):
            refused = json_response(api.Problem("wrong token; send the proxy's control token as a bearer token"), 401)
            refused.headers["WWW-Authenticate"] = "Bearer"
            return refused
        try:
            return await handler(request)
        except _Refused as err:
            return json_response(api.Problem(str(err)), err.code)
        except (PlanError, msgspec.DecodeError, UnicodeDecodeError) as err:
            return json_response(api.Problem(f"body: {err}"), 400)
        except web.HTTPException as err:
            why = f"{request.method} {request.path}: {err.reason}; GET /v1/openapi.json lists what there is"
            return json_response(api.Problem(why), err.status)
        except ConnectionError:  # the caller left before the whole answer; aiohttp would log an error, which stops the process
            return web.Response()

    calls = _Calls(state, runner)
    app = web.Application(middlewares=[guarded])
    for route in ROUTES:
        path = route.path.replace("{fault}", "{fault:[0-9]+}")
        register = getattr(app.router, f"add_{route.method}")
        register(path, _handler(route, getattr(calls, route.name)))
    return app


def _handler(route: Route, call: Callable[..., Awaitable[Any]]) -> Handler:
    """What is needed to answer this route: a call that is given the body or the request, and returns what to say."""

    async def answer(request: web.Request) -> web.StreamResponse:
        given = request if route.body is None else api.read(await request.read(), route.body)
        said = await call(given)
        return said if isinstance(said, web.StreamResponse) else json_response(said)

    return answer


class _Refused(Exception):
    """A parameter makes no sense; nothing was changed."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code = code


class _Calls:
    """One method for each route, called as it is."""

    def __init__(self, state: ProxyState, runner: Runner) -> None:
        self._state, self._runner = state, runner

    async def get_healthz(self, request: web.Request) -> api.Health:
        return api.Health(self._state.journal.end, [stream.watch.state for stream in self._state.streams.values()])

    async def get_openapi(self, request: web.Request) -> dict[str, Any]:
        return openapi()

    async def get_entries(self, request: web.Request) -> web.StreamResponse:
        after, runner = request.query.get("after", "0"), request.query.get("runner", "false")
        if not (after.isascii() and after.isdigit()):
            raise _Refused(400, f"after: expected the number of an entry, found {after!r}")
        if runner not in ("true", "false"):
            raise _Refused(400, f"runner: expected true or false, found {runner!r}")
        with self._runner.connected() if runner == "true" else nullcontext():
            first = max(int(after), self._state.journal.first)
            headers = {"Content-Type": "application/x-ndjson", "X-Staleproof-First": str(first)}
            response = web.StreamResponse(headers=headers)
            await response.prepare(request)
            async with aclosing(self._state.journal.lines(first)) as batches:
                async for batch in batches:
                    await response.write(batch)
        return response

    async def put_plan(self, body: api.InstallPlan) -> api.Done:
        self._state.install(body.faults, body.namespace)
        return await self._done()

    async def post_step(self, body: api.Step) -> api.Done:
        self._state.begin_step(body.step, revision=body.revision)
        return await self._done()

    async def get_faults(self, request: web.Request) -> api.Faults:
        return api.Faults(self._state.journal.end, self._state.schedule.states())

    async def post_faults(self, body: api.AddFault) -> api.Added:
        added = self._state.add(body.fault)
        await self._state.settled()
        return api.Added(self._state.journal.end, added.number)

    async def delete_faults(self, request: web.Request) -> api.Done:
        number, count = int(request.match_info["fault"]), len(self._state.schedule)
        if number >= count:
            raise _Refused(404, f"there is no fault {number}; faults are numbered from 0, and there are {count}")
        self._state.remove(number)
        return await self._done()

    async def post_release(self, body: api.Release) -> api.Done:
        if body.revision is None:
            self._state.release()
        else:
            self._state.release_upto(body.resource, body.revision)
        return await self._done()

    async def post_sever(self, body: api.SeverStreams) -> api.Severed:
        ended = self._state.sever(body.resource, body.how)
        return api.Severed(self._state.journal.end, ended)

    async def _done(self) -> api.Done:
        await self._state.settled()
        return api.Done(self._state.journal.end)


def is_token(request: web.Request, token: str) -> bool:
    """Whether the caller has sent this bearer token."""
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode("utf-8", "surrogateescape"), token.encode())


def json_response(body: object, code: int = 200) -> web.Response:
    """What is said to a caller."""
    return web.Response(body=msgspec.json.encode(body), status=code, content_type="application/json")
