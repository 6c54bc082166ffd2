"""Kinds as people name them."""

import pytest

from staleproof.core.operator.group_kind import GroupKind


@pytest.mark.parametrize("text", ["Widget.staleproof.dev", "Certificate.cert-manager.io", "Pod"])
def test_a_kind_is_read_as_it_is_shown(text: str) -> None:
    assert str(GroupKind.read(text)) == text


def test_the_version_does_not_matter() -> None:
    assert GroupKind.of({"apiVersion": "staleproof.dev/v1beta1", "kind": "Widget"}) == GroupKind.read("Widget.staleproof.dev")
    assert GroupKind.of({"apiVersion": "v1", "kind": "Secret"}) == GroupKind("Secret")


@pytest.mark.parametrize("text", ["", "widgets", "Widget.", ".staleproof.dev", "staleproof.dev/v1 Widget"])
def test_what_is_no_kind_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^Kind\.group, as Widget\.example\.com$"):
        GroupKind.read(text)
