"""How messages count."""

import pytest
import yaml

from staleproof.core.wording import not_yaml, part_of, plural, some


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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\nb: [", "line 2: not YAML: "),
        ("a: \0", "not YAML: "),
    ],
)
def test_what_is_no_yaml_is_located(text: str, words: str) -> None:
    with pytest.raises(yaml.YAMLError) as caught:
        yaml.safe_load(text)
    assert not_yaml(caught.value).startswith(words)
