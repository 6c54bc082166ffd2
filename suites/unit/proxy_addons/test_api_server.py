"""What the proxy itself asks the API server, on behalf of a client."""

import ssl
from collections.abc import Mapping

import pytest

# The leaf under test.
from staleproof.proxy_addons.api_server import ApiServer, ServerAnswer  # noqa: TID251

from staleproof.core.history.request import parse

PODS = "/api/v1/namespaces/trial/pods"


class Answering(ApiServer):
    """One that is answered so, without a server."""

    def __init__(self, answer: ServerAnswer | None) -> None:
        super().__init__("https://none", ssl.create_default_context())
        self._answer = answer

    async def ask(self, method: str, target: str, headers: Mapping[str, str], body: bytes = b"") -> ServerAnswer | None:
        assert (method, target.partition("?")[0], body) == ("GET", PODS, b"")
        return self._answer


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (ServerAnswer(200, b'{"kind":"PodList","items":null}'), b'{"kind":"PodList","items":null}'),
        (ServerAnswer(410, b'{"kind":"Status"}'), None),
        (ServerAnswer(200, b"k8s\x00"), None),
        (None, None),
    ],
)
async def test_the_past_is_a_list_that_can_be_read(answer: ServerAnswer | None, expected: bytes | None) -> None:
    request = parse("GET", PODS)
    assert request is not None
    assert await Answering(answer).list_at(request, PODS, {}, 7) == expected
