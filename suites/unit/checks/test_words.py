"""How findings spell things."""

import pytest

from staleproof.checks.words import listing, ordinal, owner_name, plural, span


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
        ("Widget that is gone", "Widget that is gone"),
        ("", ""),
    ],
)
def test_owners_are_spelt_as_kubectl_does(label: str, name: str) -> None:
    assert owner_name(label) == name


def test_numbers_and_lists() -> None:
    assert [plural(1, "pod"), plural(0, "pod"), plural(2, "networkpolicy"), plural(3, "ingress")] == [
        "1 pod",
        "0 pods",
        "2 networkpolicies",
        "3 ingresses",
    ]
    assert listing(["a", "b"]) == "a, b"
    assert listing(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
    assert [span([]), span([7]), span([9, 7, 8])] == ["", "7", "7\N{EN DASH}9"]
