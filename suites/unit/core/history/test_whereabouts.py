"""In which namespace a controller looks for its primaries."""

import pytest

from staleproof.core.history.entry import Asked, Entry, Opened, RequestId, StreamId
from staleproof.core.history.whereabouts import Whereabouts

W = "widgets.staleproof.dev"
THERE = ("default", "kube-system", "x-system")


def watch(namespace: str = "", resource: str = W, selector: str = "") -> Opened:
    return Opened(at=0.0, stream=StreamId(1), client="c", resource=resource, namespace=namespace, selector=selector)


def asks(verb: str, namespace: str = "", resource: str = W, name: str = "") -> Asked:
    return Asked(at=0.0, request=RequestId(1), client="c", verb=verb, resource=resource, namespace=namespace, name=name)


@pytest.mark.parametrize(
    ("seen", "only"),
    [
        ([watch("x-system")], "x-system"),
        ([asks("list", "x-system")], "x-system"),
        ([watch(selector="metadata.namespace=x-system")], "x-system"),
        ([watch(selector="app=a&metadata.namespace=x-system")], "x-system"),
        ([watch("x-system"), watch("a-system")], "a-system"),
        ([watch()], ""),
        ([watch(selector="metadata.namespace!=kube-system")], ""),
        ([watch("x-system"), watch()], ""),
        ([watch("x-system"), watch("staleproof-0123abcd")], ""),
        ([watch(each) for each in THERE], ""),
        ([watch("x-system", "secrets")], ""),
        ([asks("get", "x-system", name="w"), asks("create", "x-system")], ""),
        ([], ""),
    ],
)
def test_one_that_looks_into_one_namespace_is_bound_to_it(seen: list[Entry], only: str) -> None:
    whereabouts = Whereabouts()
    for entry in seen:
        whereabouts.see(entry)
    assert whereabouts.only(W, [*THERE, "staleproof-89abcdef"]) == only


@pytest.mark.parametrize(("entry", "known"), [(watch(), True), (asks("list"), True), (watch("", "secrets"), False)])
def test_whether_it_has_looked_for_them_at_all(entry: Entry, known: bool) -> None:  # noqa: FBT001
    whereabouts = Whereabouts()
    whereabouts.see(entry)
    assert whereabouts.knows(W) == known


def test_of_another_controller_nothing_is_known() -> None:
    whereabouts = Whereabouts()
    whereabouts.see(watch("x-system"))
    whereabouts.forget()
    assert not whereabouts.knows(W)
    assert whereabouts.only(W, THERE) == ""
