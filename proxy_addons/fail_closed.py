"""A hook that fails must not let its flow through: mitmproxy would log the exception and forward the request as if nothing were."""

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from mitmproxy import http

P = ParamSpec("P")
R = TypeVar("R")


def kills_flow_on_error(hook: Callable[P, R]) -> Callable[P, R]:
    """Kill the flow and raise on: mitmproxy logs it as an error, and the process stops because of that."""

    def kill(args: tuple[object, ...]) -> None:
        flow = args[1]
        if isinstance(flow, http.HTTPFlow) and flow.killable:
            flow.kill()

    @functools.wraps(hook)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return hook(*args, **kwargs)
        except BaseException:
            kill(args)
            raise

    @functools.wraps(hook)
    async def guarded_async(*args: P.args, **kwargs: P.kwargs) -> object:
        try:
            return await cast("object", hook(*args, **kwargs))  # type: ignore[misc]  # a coroutine function, as asked above
        except BaseException:
            kill(args)
            raise

    return cast("Callable[P, R]", guarded_async) if inspect.iscoroutinefunction(hook) else guarded


def readable(message: http.Message) -> bytes:
    """The body, unpacked where that can be done: what cannot is passed on all the same, and must not stop us."""
    try:
        return message.get_content(strict=True) or b""
    except (ValueError, TypeError):  # mitmproxy tries Python's codecs too, and those raise what they like
        return message.raw_content or b""
