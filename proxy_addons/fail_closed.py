"""A hook that fails must not let its flow through: mitmproxy would log the exception and forward the request all the same."""

from collections.abc import Iterator
from contextlib import contextmanager

from mitmproxy import http


@contextmanager
def kills_on_error(flow: http.HTTPFlow) -> Iterator[None]:
    """Kill the flow and raise on: mitmproxy logs it as an error, and the process stops because of that."""
    try:
        yield
    except BaseException:
        if flow.killable:
            flow.kill()
        raise


def readable(message: http.Message) -> bytes:
    """The body, unpacked where possible: one that cannot be unpacked is passed on all the same, and must not stop us."""
    try:
        return message.get_content(strict=True) or b""
    except (ValueError, TypeError):  # mitmproxy tries Python's codecs too, and those raise what they like
        return message.raw_content or b""
