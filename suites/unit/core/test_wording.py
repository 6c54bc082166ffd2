"""How messages count."""

from staleproof.core.wording import plural


def test_a_number_has_its_noun() -> None:
    assert [plural(1, "pod"), plural(0, "pod"), plural(2, "networkpolicy"), plural(3, "ingress")] == [
        "1 pod",
        "0 pods",
        "2 networkpolicies",
        "3 ingresses",
    ]
