"""The ports that a group of processes listens on, and no others."""

import os
import socket
import sys
from pathlib import Path

import pytest

from staleproof.drive.process.ports import listening

pytestmark = pytest.mark.skipif(not Path("/proc/net/tcp").is_file(), reason="only Linux tells")


@pytest.mark.io
@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_a_port_counts_while_it_is_listened_on(family: socket.AddressFamily) -> None:
    host = "127.0.0.1" if family == socket.AF_INET else "::1"
    with socket.socket(family) as bound:
        bound.bind((host, 0))
        port = bound.getsockname()[1]
        assert port not in (listening(os.getpgid(0)) or ())
        bound.listen()
        assert port in (listening(os.getpgid(0)) or ())
        with socket.create_connection((host, port)) as client:
            assert client.getsockname()[1] not in (listening(os.getpgid(0)) or ())
    assert port not in (listening(os.getpgid(0)) or ())


def test_a_group_that_is_not_there_listens_on_nothing() -> None:
    assert listening(sys.maxsize >> 33) == frozenset()
