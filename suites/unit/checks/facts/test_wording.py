"""How findings spell things."""

from typing import Any

import pytest
from msgspec import structs

from staleproof.checks.facts.wording import (
    call_words,
    contrasted,
    full_name,
    listing,
    of_owner,
    ordinal,
    owner_name,
    participle,
    short_name,
    shortened,
    span,
)
from staleproof.core.history.entry import Called, CallId, Committed
from staleproof.core.history.resource_version import Revision


@pytest.mark.parametrize(
    ("number", "word"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (13, "13th"), (21, "21st"), (112, "112th")]
)
def test_ordinals(number: int, word: str) -> None:
    assert ordinal(number) == word


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("Widget/w", "widget/w"),
        ("Widget/w#2", "the 2nd widget/w"),
        ("ReplicaSet of Deployment/w", "ReplicaSet of deployment/w"),
        ("Widget that is not in the trial", "Widget that is not in the trial"),
        ("", ""),
    ],
)
def test_owners_are_spelt_as_kubectl_does(label: str, name: str) -> None:
    assert owner_name(label) == name


def test_a_long_text_is_cut() -> None:
    assert shortened("x" * 70) == "x" * 70
    assert shortened("x" * 71) == "x" * 69 + "…"


@pytest.mark.parametrize(
    ("first", "second", "lines"),
    [
        (2, 4, ("2", "4")),
        ("a\nb=1\nc=1", "a\nb=2\nc=2", ("b=1", "b=2")),
        ("a", "a\nb", ("<no line>", "b")),
        ("x" * 90 + "1", "x" * 90 + "2", ("…" + "x" * 20 + "1", "…" + "x" * 20 + "2")),
        ("1" + "x" * 90, "2" + "x" * 90, ("1" + "x" * 68 + "…", "2" + "x" * 68 + "…")),
    ],
)
def test_of_two_values_the_first_line_that_differs_is_shown(first: object, second: object, lines: tuple[str, str]) -> None:
    assert contrasted(first, second) == lines


@pytest.mark.parametrize(
    ("what", "metadata", "word"),
    [
        ("ADDED", {}, "created"),
        ("MODIFIED", {}, "changed"),
        ("DELETED", {}, "deleted"),
        ("MODIFIED", {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "deleted"),
    ],
)
def test_what_became_of_an_object(what: Any, metadata: dict[str, str], word: str) -> None:  # noqa: ANN401  # a Literal
    body = {"kind": "Pod", "metadata": {"namespace": "ns", **metadata}}
    commit = Committed(at=0, resource="pods", type=what, namespace="ns", name="a", uid="u", revision=Revision(1), object=body)
    assert participle(commit) == word
    assert [full_name(commit), short_name(commit)] == ["pod/ns/a", "pod/a"]


def test_an_object_is_reported_where_it_is() -> None:
    of_cluster = Committed(
        at=0, resource="x", type="ADDED", namespace="t", name="a", uid="u", revision=Revision(1), object={"metadata": {}}
    )
    elsewhere = structs.replace(of_cluster, name="default/a", object={"metadata": {"namespace": "default"}})
    assert [full_name(of_cluster), full_name(elsewhere)] == ["x/a", "x/default/a"]


def test_of_an_owner_or_of_none() -> None:
    assert [of_owner("Widget/w"), of_owner("")] == [" of widget/w", ""]


@pytest.mark.parametrize(("verb", "text", "words"), [("PUT", "/b/w", "PUT /b/w"), ("ALTER", "alter role w", "alter role w")])
def test_a_call_as_in_a_log(verb: str, text: str, words: str) -> None:
    assert call_words(Called(at=0, call=CallId(1), system="db", verb=verb, text=text)) == words


def test_lists_and_spans() -> None:
    assert listing(["a", "b"]) == "a, b"
    assert listing(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
    assert [span([]), span([7]), span([9, 7, 8])] == ["", "7", "7\N{EN DASH}9"]
