"""What a cluster may have one of only, as far as texts look like it."""

from typing import Any

import pytest

from staleproof.core.operator.unique import addresses, hosts, is_about, marked, node_ports, with_hosts


def obj(**spec: Any) -> dict[str, Any]:  # noqa: ANN401  # JSON
    return {"apiVersion": "acme.example.com/v1", "kind": "Site", "metadata": {"name": "shop.example.com"}, "spec": spec}


def test_host_names_are_found_wherever_they_are_each_once() -> None:
    tls = [{"hosts": ["shop.example.com", "*.shop.example.com"]}]
    assert hosts(obj(host="shop.example.com", tls=tls, www="www.example.co.uk")) == (
        "shop.example.com",
        "*.shop.example.com",
        "www.example.co.uk",
    )


@pytest.mark.parametrize(
    "text",
    [
        "shop",
        "1.2.3",
        "v1.2",
        "registry.example.com/shop:1",
        "a@example.com",
        "db.shop.svc",
        "db.shop.svc.cluster.local",
        "app.yaml",
        "A.B",
    ],
)
def test_what_only_has_a_dot_is_none(text: str) -> None:
    assert hosts(obj(text=text)) == ()
    assert hosts(obj(image="example.com", apiGroup="acme.example.com", provisioner="csi.example.com")) == ()


def test_addresses_are_those_of_hosts_networks_and_ranges() -> None:
    pools = ["192.0.2.1", "192.0.2.0/24", "192.0.2.10-192.0.2.20", "2001:db8::/32"]
    assert addresses(obj(pools=pools, port="8080", version="1.2.3", range="a-b", count=7)) == tuple(pools)


def test_ports_of_nodes_are_numbers_in_fields_that_say_so() -> None:
    ports = [{"port": 80, "nodePort": 30080}, {"port": 81, "nodePort": 0}]
    assert node_ports(obj(ports=ports, nodePorts=[30081], httpsNodePort=30080, useNodePort=True, replicas=3)) == ("30080", "30081")
    assert node_ports(obj(nodePort="30080", nodePorts={"min": 30000})) == ()


def test_a_mark_stays_within_the_domain_and_within_a_label() -> None:
    assert marked("shop.example.com", "-x") == "shop-x.example.com"
    assert marked("*.shop.example.com", "-x") == "*.shop-x.example.com"
    assert marked(f"{'a' * 63}.example.com", "-x") == f"{'a' * 61}-x.example.com"


def test_only_these_host_names_get_one() -> None:
    value = {"host": "a.example.com", "rules": [{"host": "a.example.com"}, {"host": "b.example.com", "port": 80}]}
    assert with_hosts(value, ("a.example.com",), "-x") == {
        "host": "a-x.example.com",
        "rules": [{"host": "a-x.example.com"}, {"host": "b.example.com", "port": 80}],
    }


@pytest.mark.parametrize("said", ["HostTaken: sorry", "already exists", "it is that of a.example.com", "pool overlaps"])
def test_a_complaint_about_a_conflict_or_about_the_text_is_heard(said: str) -> None:
    assert is_about(said, ("a.example.com",))
    assert not is_about("Ready is False, Progressing", ("a.example.com",))
