"""How findings spell things."""

from typing import Any, get_args

import msgspec
import pytest

from staleproof.checks.story.phrases import effect_of, listing, ordinal, owner_name, plural, span
from staleproof.core.fault import AnyFault, HoldStream, LoseAnswer, PastSnapshot, Reject, Skew


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


@pytest.mark.parametrize("kind", get_args(AnyFault), ids=lambda kind: kind.__name__)
def test_every_fault_has_an_effect_in_words(kind: type[AnyFault]) -> None:
    written: dict[str, Any] = {"fault": kind.__struct_config__.tag, "resource": "pods"}
    if "by_seconds" in kind.__struct_fields__:
        written["bySeconds"] = {"pods": 1.0} if kind is Skew else 1.0
    told = effect_of(msgspec.convert(written, AnyFault))
    assert told
    assert "{" not in told


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (HoldStream(resource="pods"), "its pods stream was held"),
        (PastSnapshot(), "reads of everything with resourceVersion 0 were answered from the past"),
        (Reject(resource="pods", code=503), "requests about pods were answered 503 and not executed"),
        (Reject(resource="*", code=0), "requests about everything were cut off and not executed"),
        (LoseAnswer(resource="pods"), "answers about pods were lost, the requests executed"),
        (LoseAnswer(resource="pods", code=504), "answers about pods were lost and told as 504, the requests executed"),
    ],
)
def test_what_a_fault_does_in_words(fault: AnyFault, words: str) -> None:
    assert effect_of(fault) == words


def test_what_is_done_to_everything_has_words_of_its_own() -> None:
    assert effect_of(HoldStream(resource="*")) == "all its streams were held"
    assert effect_of(PastSnapshot(resource="*")) == "reads of everything with resourceVersion 0 were answered from the past"
