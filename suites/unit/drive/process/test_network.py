"""Which address of this machine leads to us from a container, on each kind of engine."""

from typing import Any

import pytest

from staleproof.drive.process.address import LOOPBACK, NEARBY, Reach
from staleproof.drive.process.network import THIS_MACHINE, Engine, address_in, engine_of, network_of
from staleproof.errors import SetupError, UsageError

DOCKER, PODMAN = Engine(), Engine(is_podman=True)
ROOTLESS_DOCKER, ROOTLESS_PODMAN = Engine(is_rootless=True), Engine(is_podman=True, is_rootless=True)
DESKTOP = Engine(is_desktop=True)
SUBNETS = {"bridge": ["fd00::/64", "172.17.0.0/16"], "ours": ["172.20.0.0/16"], "elsewhere": ["10.9.0.0/16"]}
OURS = {"172.17.0.0/16": "172.17.0.1", "172.20.0.0/16": "172.20.0.1"}


def reach(engine: Engine, wanted: str = "") -> tuple[str, Reach, bool]:
    found = network_of(engine, wanted, SUBNETS.__getitem__, lambda subnet: OURS.get(subnet, ""))
    return found.name, found.reach, found.is_private


@pytest.mark.parametrize(
    ("engine", "wanted", "found"),
    [
        (DOCKER, "", ("bridge", Reach("172.17.0.1", "172.17.0.1"), True)),
        (DOCKER, "bridge", ("bridge", Reach("172.17.0.1", "172.17.0.1"), True)),
        (DOCKER, "ours", ("ours", Reach("172.20.0.1", "172.20.0.1"), True)),
        (DOCKER, "host", ("host", NEARBY, False)),
        (ROOTLESS_DOCKER, "", ("bridge", Reach(LOOPBACK, "10.0.2.2"), True)),
        (ROOTLESS_DOCKER, "elsewhere", ("elsewhere", Reach(LOOPBACK, "10.0.2.2"), True)),
        (DESKTOP, "", ("bridge", Reach(LOOPBACK, "host.docker.internal"), True)),
        (DESKTOP, "host", ("host", NEARBY, False)),
        (PODMAN, "", ("host", NEARBY, False)),
        (PODMAN, "bridge", ("bridge", Reach("172.17.0.1", "172.17.0.1"), True)),
        (ROOTLESS_PODMAN, "", ("host", NEARBY, False)),
    ],
)
def test_how_a_container_gets_here(engine: Engine, wanted: str, found: tuple[str, Reach, bool]) -> None:
    assert reach(engine, wanted) == found


@pytest.mark.parametrize(
    ("engine", "wanted", "error", "message"),
    [
        (DOCKER, "elsewhere", SetupError, "no address in the network 'elsewhere'.*another machine's.*host does without"),
        (ROOTLESS_PODMAN, "elsewhere", SetupError, "without root it is not this machine's"),
        (ROOTLESS_DOCKER, "host", UsageError, "the host network of rootless Docker is not this machine's; leave"),
    ],
)
def test_where_it_cannot(engine: Engine, wanted: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        reach(engine, wanted)


def test_what_may_be_in_the_way_is_known() -> None:
    def obstacle(engine: Engine) -> str:
        return network_of(engine, "", SUBNETS.__getitem__, lambda subnet: OURS.get(subnet, "")).obstacle

    assert "firewall" in obstacle(DOCKER)
    assert "DISABLE_HOST_LOOPBACK=false" in obstacle(ROOTLESS_DOCKER)
    assert THIS_MACHINE.obstacle == ""


@pytest.mark.parametrize(
    ("info", "version", "engine"),
    [
        ({"SecurityOptions": ["name=seccomp,profile=default"]}, {"Components": [{"Name": "Engine"}]}, DOCKER),
        ({"SecurityOptions": ["name=seccomp,profile=builtin", "name=rootless"]}, {}, ROOTLESS_DOCKER),
        ({"SecurityOptions": None, "OperatingSystem": "Docker Desktop"}, {"Components": None}, DESKTOP),
        ({}, {"Components": [{"Name": "Podman Engine"}, {"Name": "Conmon"}]}, PODMAN),
        ({"SecurityOptions": ["name=rootless"]}, {"Components": [{"Name": "Podman Engine"}]}, ROOTLESS_PODMAN),
    ],
)
def test_what_an_engine_says_of_itself(info: dict[str, Any], version: dict[str, Any], engine: Engine) -> None:
    assert engine_of(info, version) == engine


@pytest.mark.parametrize(
    ("subnet", "address"),
    [
        ("127.0.0.0/8", "127.0.0.1"),
        ("192.0.2.128/30", ""),  # no host has an address of the documentation's (RFC 5737)
        ("fd00::/64", ""),
        ("", ""),
    ],
)
def test_our_address_in_a_network(subnet: str, address: str) -> None:
    assert address_in(subnet) == address
