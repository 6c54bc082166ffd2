"""A hook that fails must not let its flow through: mitmproxy would log the exception and forward the request as if nothing were."""

import functools
from collections.abc import Callable
from typing import TypeVar

from mitmproxy import http

T = TypeVar("T")


def kills_flow_on_error(hook: Callable[[T, http.HTTPFlow], None]) -> Callable[[T, http.HTTPFlow], None]:
    """Kill the flow and raise on: mitmproxy logs it as an error, and the process stops because of that."""

    @functools.wraps(hook)
    def guarded(self: T, flow: http.HTTPFlow) -> None:
        try:
            hook(self, flow)
        except BaseException:
            flow.kill()
            raise

    return guarded
