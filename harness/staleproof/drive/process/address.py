"""Addresses of this machine: whether a URL leads to it, which port is free, and whether we may listen somewhere."""

import contextlib
import errno
import ipaddress
import secrets
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from staleproof.errors import SetupError, UsageError

LOOPBACK = "127.0.0.1"
_NOT_TAKEN, _TRIES = range(10240, 32768), 50
"""Below what Linux, macOS and Windows take for connections (`net.ipv4.ip_local_port_range` begins at 32768)."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How clients reach a server of ours: the address that it listens on, and the one that they connect to, which is another where
    an engine translates addresses."""

    listen: str = LOOPBACK
    host: str = LOOPBACK


NEARBY = Reach()
"""Programs of this machine."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where something listens; port 0 takes a free one."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can connect."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def is_loopback(url: str) -> bool:
    """Whether a URL leads to this machine. Names are not resolved: what they mean may change after the check."""
    host = urlsplit(url).hostname or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified  # k3d writes 0.0.0.0, which connects to this machine


def free_port() -> int:
    """A port that is free now, and that no system takes for a connection of its own: a controller that is started again needs the
    port that it had. Another program may take it before we do, so the user of it must be ready to try again."""
    for port in secrets.SystemRandom().sample(_NOT_TAKEN, _TRIES):
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind((LOOPBACK, port))
            return port
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def parse_address(text: str, option: str) -> Address:
    """HOST:PORT, with an IPv6 address in brackets. UsageError when the text is something else."""
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") if host.startswith("[") else host
    if not colon or not host or not (port.isascii() and port.isdigit()) or int(port) > 65535 or (":" in host and "[" not in text):
        raise UsageError(f"{option}: expected HOST:PORT, for example 127.0.0.1:0 or [::1]:8443, found {text!r}")
    return Address(host, int(port))


def require_free(wanted: Address, option: str) -> None:
    """Check now that we can listen there: the program that is to listen would notice later and say so less clearly.

    Raises:
        UsageError: this machine has no such address, or we may not listen there.
        SetupError: another program listens there.
    """
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(wanted.host, wanted.port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(where)
            probe.listen()
    except OSError as err:
        problem = f"{option}: cannot listen on {wanted.host}:{wanted.port}"
        if err.errno == errno.EADDRINUSE:
            raise SetupError(f"{problem}: another program does; end it, or take another port (0 takes a free one)") from err
        raise UsageError(f"{problem}: {err.strerror}; name an address of this machine") from err
