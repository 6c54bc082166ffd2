"""Addresses: which URL is this machine's, and what can be listened on."""

import socket

import pytest

from staleproof.drive.process.address import free_port, is_loopback

pytestmark = pytest.mark.io


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("https://127.0.0.1:6443", True),
        ("https://127.8.8.8", True),
        ("https://[::1]:6443", True),
        ("https://localhost:6443", True),
        ("https://0.0.0.0:6550", True),
        ("https://10.0.0.1:6443", False),
        ("https://example.com", False),
        ("https://localhost.example.com", False),
        ("https://127.0.0.1.example.com", False),
        ("https://127.0.0.1@example.com", False),
        ("", False),
    ],
)
def test_what_is_this_machine(url: str, here: bool) -> None:  # noqa: FBT001  # a column
    assert is_loopback(url) is here


def test_a_free_port_is_none_that_a_connection_may_take() -> None:
    assert all(10240 <= free_port() < 32768 for _ in range(20))


def test_a_free_port_can_be_bound() -> None:
    with socket.socket() as listener:
        port = free_port()
        listener.bind(("127.0.0.1", port))
        assert listener.getsockname()[1] == port
