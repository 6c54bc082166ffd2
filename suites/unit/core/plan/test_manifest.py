"""What a manifest names, what stands for one, and what is written of a Secret."""

import pytest

from staleproof.core.plan.manifest import Manifest, Target, digest_in, is_object, masked_manifests, target_of

SECRET: Manifest = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"password": "hunter2xyz"}}


@pytest.mark.parametrize(
    "wrong",
    [{"metadata": {}}, {"metadata": None}, {"apiVersion": 1}, {"kind": None}],
    ids=["no name", "nothing", "number", "no kind"],
)
def test_it_has_to_say_what_it_is(wrong: Manifest) -> None:
    assert is_object(SECRET)
    assert not is_object(SECRET | wrong)


def test_steps_name_it_by_what_it_is() -> None:
    assert target_of(SECRET) == Target("v1", "Secret", "s")


def test_a_digest_stands_for_it_alone() -> None:
    assert digest_in({"sha256": "abc"}) == "abc"
    assert digest_in(SECRET | {"sha256": "abc"}) == ""


def test_what_is_secret_is_not_written_and_the_rest_is() -> None:
    (secret, widget) = masked_manifests([SECRET, {"kind": "Widget", "spec": {"password": "of nobody"}}])
    assert "hunter2xyz" not in str(secret)
    assert secret["metadata"] == SECRET["metadata"]
    assert widget["spec"] == {"password": "of nobody"}
