"""YAML as Kubernetes reads it, where PyYAML does not."""

import pytest
import yaml

from staleproof.core.kubernetes_yaml import document, documents


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12:30", "12:30"),
        ("22:22", "22:22"),
        ("1:30.5", "1:30.5"),
        ("2030-01-01", "2030-01-01"),
        ("2030-01-01T10:00:00Z", "2030-01-01T10:00:00Z"),
        ("2030-13-45", "2030-13-45"),
        ("=", "="),
        ("0644", 420),
        ("0x10", 16),
        ("-3", -3),
        ("1.5", 1.5),
        ("yes", True),
        ("~", None),
        ("'5'", "5"),
    ],
)
def test_values_are_what_the_api_server_takes_them_for(text: str, value: object) -> None:
    found = document(f"a: {text}")["a"]
    assert (type(found), found) == (type(value), value)


def test_empty_documents_are_none() -> None:
    assert documents("---\na: 1\n---\n---\nb: 12:30\n") == [{"a": 1}, {"b": "12:30"}]


def test_no_python_object_is_made() -> None:
    with pytest.raises(yaml.YAMLError):
        document("a: !!python/object:os.system {}")
