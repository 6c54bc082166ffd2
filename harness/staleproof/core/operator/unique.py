"""Of what a primary says, that of which a cluster may have one only: host names, which can be made other ones, and addresses and
ports of nodes, which cannot.

Whether an operator minds, no schema says: a second primary made from the same sample shows it (`assess.learn.neighbour`).
"""

import ipaddress
import re
from collections.abc import Collection, Iterator
from typing import Any

from staleproof.core.plan.manifest import Manifest, content_of

OTHER = "-other"
"""What makes the names of a second primary others."""
_LONGEST_LABEL = 63
_HOST = re.compile(r"(\*\.)?(?=.{4,253}$)([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)+[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_NO_HOSTS = (".svc", ".local", ".yaml", ".yml", ".json", ".conf", ".sh", ".crt", ".key", ".pem", ".txt", ".k8s.io")
_NO_HOST_FIELDS = frozenset({"apiVersion", "apiGroup", "apiGroups", "group", "kind", "image", "provisioner", "controllerName"})
_CONFLICT = re.compile(r"conflict|already|taken|duplicat|in use|overlap|exists|claimed|reserved|allocated|exhausted", re.IGNORECASE)


def hosts(manifest: Manifest) -> tuple[str, ...]:
    """Texts that look like host names, each once."""
    found = (text for text in _texts(manifest) if _HOST.fullmatch(text))
    return tuple(dict.fromkeys(text for text in found if not text.endswith(_NO_HOSTS)))


def addresses(manifest: Manifest) -> tuple[str, ...]:
    """IP addresses, networks, and ranges of them, each once."""
    return tuple(dict.fromkeys(text for text in _texts(manifest) if _is_address(text)))


def node_ports(manifest: Manifest) -> tuple[str, ...]:
    """Ports that are taken on every node, each once."""
    return tuple(dict.fromkeys(map(str, _node_ports(manifest))))


def with_hosts(value: Any, hosts: Collection[str], mark: str) -> Any:  # noqa: ANN401  # JSON
    """The same with a mark in each of these host names."""
    match value:
        case str() if value in hosts:
            return marked(value, mark)
        case list():
            return [with_hosts(inner, hosts, mark) for inner in value]
        case dict():
            return {key: with_hosts(inner, hosts, mark) for key, inner in value.items()}
    return value


def marked(host: str, mark: str) -> str:
    """The host name with a mark at the end of its first label: the domain stays, of which there may be a certificate."""
    wild, star, rest = host.rpartition("*.")
    label, dot, domain = rest.partition(".")
    return f"{wild}{star}{label[: _LONGEST_LABEL - len(mark)]}{mark}{dot}{domain}"


def is_about(complaint: str, texts: Collection[str]) -> bool:
    """Whether the complaint is of a conflict, or of one of these texts."""
    return bool(_CONFLICT.search(complaint)) or any(text in complaint for text in texts)


def _texts(manifest: Manifest) -> Iterator[str]:
    return (leaf for field, leaf in _leaves(content_of(manifest)) if isinstance(leaf, str) and field not in _NO_HOST_FIELDS)


def _node_ports(manifest: Manifest) -> Iterator[int]:
    leaves = ((field.lower().removesuffix("s"), leaf) for field, leaf in _leaves(content_of(manifest)))
    return (leaf for field, leaf in leaves if type(leaf) is int and leaf and field.endswith("nodeport"))


def _leaves(value: Any, field: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401  # JSON
    """All that is neither object nor list, each with the key that it, or the list around it, is behind."""
    match value:
        case list():
            for inner in value:
                yield from _leaves(inner, field)
        case dict():
            for key, inner in value.items():
                yield from _leaves(inner, key)
        case _:
            yield field, value


def _is_address(text: str) -> bool:
    first, dash, last = (each.strip() for each in text.partition("-"))
    if dash:
        return _is_address(first) and _is_address(last)
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return not text.isdecimal()
