"""How messages count."""

from staleproof.core.wording import part_of, plural, some


def test_a_number_has_its_noun() -> None:
    assert [plural(1, "pod"), plural(0, "pod"), plural(2, "networkpolicy"), plural(3, "ingress")] == [
        "1 pod",
        "0 pods",
        "2 networkpolicies",
        "3 ingresses",
    ]


def test_of_many_names_the_first_are_said() -> None:
    assert some(["a", "b"], 2) == "a, b"
    assert some(["a", "b", "c", "d"], 2) == "a, b and 2 more"


def test_a_part_goes_before_what_has_it() -> None:
    assert [f"{part_of(part)}pods" for part in ("status", "")] == ["the status of pods", "pods"]
