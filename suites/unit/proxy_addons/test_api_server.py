"""What the proxy itself asks the API server, on behalf of a client."""

import ssl

import pytest

# The leaf under test.
from staleproof.proxy_addons.api_server import ApiServer, Fields, ServerAnswer, on_behalf  # noqa: TID251

from staleproof.core.history.request import parse

PODS = "/api/v1/namespaces/trial/pods"


class Answering(ApiServer):
    """One that is answered so, without a server."""

    def __init__(self, answer: ServerAnswer | None) -> None:
        super().__init__("https://none", ssl.create_default_context())
        self._answer = answer

    async def ask(self, method: str, target: str, headers: Fields, body: bytes = b"") -> ServerAnswer | None:
        assert (method, target.partition("?")[0], body) == ("GET", PODS, b"")
        self.accepted = dict(headers)["accept"]
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
    assert await Answering(answer).list_at(request, PODS, (), 7) == expected


@pytest.mark.parametrize(
    ("accepts", "expected"),
    [
        ((), "*/*"),
        (("application/json",), "application/json"),
        (
            ("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", "application/json"),
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
        ),
    ],
)
async def test_the_past_of_one_object_is_asked_for_as_the_client_asks(accepts: tuple[str, ...], expected: str) -> None:
    request = parse("GET", f"{PODS}/x")
    assert request is not None
    server = Answering(None)
    await server.list_at(request, f"{PODS}/x", [("Accept", each) for each in accepts], 7)
    assert server.accepted == expected


IMPERSONATING = [
    ("Authorization", "Bearer t"),
    ("Impersonate-User", "u"),
    ("Impersonate-Group", "one"),
    ("Impersonate-Group", "two"),
    ("Impersonate-Uid", "7"),
    ("Impersonate-Extra-Scopes", "view"),
    ("Impersonate-Extra-Scopes", "edit"),
]


def test_what_is_asked_on_behalf_of_a_client_is_asked_as_whom_it_impersonates() -> None:
    """Each group and each value of an extra field is a header of its own."""
    others = [("Host", "h"), ("Content-Type", "application/json"), ("X-Staleproof-Flow", "1")]
    assert on_behalf([*others, *IMPERSONATING]) == [(name.lower(), value) for name, value in IMPERSONATING]


def test_what_differs_replaces_what_the_client_says() -> None:
    found = on_behalf([("Accept", "a"), ("Accept", "b"), ("User-Agent", "c")], accept="application/json", content_type="text/plain")
    assert found == [("user-agent", "c"), ("accept", "application/json"), ("content-type", "text/plain")]
