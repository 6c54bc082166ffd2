"""Addresses: which URL is this machine's, and what can be listened on."""

import socket

import pytest

from staleproof.drive.process.address import free_port, is_loopback


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1:6443",
        "https://127.8.8.8",
        "https://[::1]:6443",
        "https://localhost:6443",
        "https://0.0.0.0:6550",
    ],
)
def test_what_is_this_machine(url: str) -> None:
    assert is_loopback(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://10.0.0.1:6443",
        "https://example.com",
        "https://localhost.example.com",
        "https://127.0.0.1.example.com",
        "https://127.0.0.1@example.com",
        "",
    ],
)
def test_what_is_another_machine(url: str) -> None:
    assert not is_loopback(url)


def test_a_free_port_can_be_bound() -> None:
    with socket.socket() as listener:
        port = free_port()
        listener.bind(("127.0.0.1", port))
        assert listener.getsockname()[1] == port
