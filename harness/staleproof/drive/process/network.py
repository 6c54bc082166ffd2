"""The network of a container: by which address a program in it reaches what listens here, and where that must listen.

It decides what a network is good for on which engine. Nothing is opened to other machines: a server of ours listens on loopback,
or on the address that this machine has in the container's own network.
"""

import ipaddress
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from docker.errors import NotFound  # type: ignore[import-untyped]
from testcontainers.core.docker_client import DockerClient

from staleproof.drive.process.address import LOOPBACK, NEARBY, Reach
from staleproof.drive.process.images import engine_errors
from staleproof.errors import SetupError, UsageError

BRIDGE, HOST = "bridge", "host"
OPTION = "--controller-network"
_ROOTLESS_GATEWAY = "10.0.2.2"  # slirp4netns and pasta below RootlessKit
_DESKTOP_HOST = "host.docker.internal"
_OPEN_LOOPBACK = (
    "Rootless Docker keeps its containers from this machine's loopback unless it is started with "
    "DOCKERD_ROOTLESS_ROOTLESSKIT_DISABLE_HOST_LOOPBACK=false in its environment."
)
_PODMANS = "Podman brings it up with its first container, and without root it is not this machine's"
_FIREWALL = f"Does a firewall of this machine drop what comes from containers? {OPTION} {HOST} needs none of it."


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """What decides how its containers get here."""

    is_podman: bool = False
    is_rootless: bool = False
    is_desktop: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A network that a container may be in.

    Attributes:
        name: the engine's.
        reach: how a program in it reaches us.
        is_private: it has ports of its own, and those that we want to reach must be published.
        obstacle: what may keep it from reaching us, and what helps; empty when nothing is known.
    """

    name: str
    reach: Reach = NEARBY
    is_private: bool = True
    obstacle: str = ""


THIS_MACHINE = Network(name=HOST, is_private=False)


def find_network(client: DockerClient, wanted: str) -> Network:
    """The network that is `wanted`; empty: one whose containers have ports of their own, if that leads here. Blocks.

    Raises:
        UsageError: the engine has no such network, or it is of another kind.
        SetupError: nothing leads here from it, or the engine fails.
    """
    with engine_errors("asking what engine it is"):
        engine = engine_of(client.client.info(), client.client.version())
    return network_of(engine, wanted, lambda name: _subnets(client, name), address_in)


def engine_of(info: Mapping[str, Any], version: Mapping[str, Any]) -> Engine:
    """What an engine says of itself."""
    components = [str(each.get("Name", "")) for each in version.get("Components") or ()]
    return Engine(
        is_podman=any("Podman" in name for name in components),
        is_rootless=any("rootless" in str(each) for each in info.get("SecurityOptions") or ()),
        is_desktop=str(info.get("OperatingSystem", "")) == "Docker Desktop",
    )


def network_of(engine: Engine, wanted: str, subnets_of: Callable[[str], list[str]], address_in: Callable[[str], str]) -> Network:
    """How a container in the wanted network gets here. The subnets of a network, and our address in one (empty: none), are asked
    for only where they matter. Raises what `find_network` raises."""
    if engine.is_rootless and not engine.is_podman:
        if wanted == HOST:
            raise UsageError(f"{OPTION}: the host network of rootless Docker is not this machine's; leave {OPTION} out.")
        return Network(name=wanted or BRIDGE, reach=Reach(LOOPBACK, _ROOTLESS_GATEWAY), obstacle=_OPEN_LOOPBACK)
    if wanted == HOST or (engine.is_podman and not wanted):
        return THIS_MACHINE
    if engine.is_desktop:
        return Network(name=wanted or BRIDGE, reach=Reach(LOOPBACK, _DESKTOP_HOST))
    name = wanted or BRIDGE
    ours = next(filter(None, map(address_in, subnets_of(name))), "")
    if not ours:
        why = _PODMANS if engine.is_podman else "is it another machine's?"
        raise SetupError(f"{OPTION}: this machine has no address in the network {name!r} ({why}); {HOST} does without one.")
    return Network(name=name, reach=Reach(ours, ours), obstacle=_FIREWALL)


def address_in(subnet: str) -> str:
    """The address that this machine has in an IPv4 network; empty if it has none. Nothing is sent."""
    try:
        network = ipaddress.IPv4Network(subnet)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((str(network.network_address + 1), 9))
            ours: str = probe.getsockname()[0]
    except (ValueError, OSError):  # ValueError: IPv6
        return ""
    return ours if ipaddress.ip_address(ours) in network else ""


def _subnets(client: DockerClient, name: str) -> list[str]:
    with engine_errors(f"looking at the network {name!r}"), suppress(NotFound):
        found: dict[str, Any] = client.client.api.inspect_network(name)
        if found.get("Driver") != "bridge":
            raise UsageError(
                f"{OPTION}: expected {HOST}, or a network of the kind bridge; {name!r} is one of the kind {found.get('Driver')!r}."
            )
        return [str(each["Subnet"]) for each in (found.get("IPAM") or {}).get("Config") or () if each.get("Subnet")]
    raise UsageError(f"{OPTION}: the engine has no network {name!r}; `docker network ls` shows what there is. Or use {HOST}.")
