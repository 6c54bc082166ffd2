"""What was there before a trial is told by its content."""

import pytest

from staleproof.core.history.given import content_of
from staleproof.core.plan.manifest import Manifest


def service(namespace: str, *, revision: str = "1", **selector: str) -> Manifest:
    metadata = {"name": "web", "namespace": namespace, "uid": namespace, "resourceVersion": revision}
    return {"kind": "Service", "metadata": metadata, "spec": {"selector": selector, "host": f"web.{namespace}.svc"}}


@pytest.mark.parametrize(
    ("other", "is_alike"),
    [
        (service("a", revision="2", app="web"), True),
        (service("a", app="web", hash="5f"), False),
        (service("a"), False),
    ],
)
def test_what_was_changed_back_is_as_it_was(other: Manifest, *, is_alike: bool) -> None:
    assert (content_of(other, "a") == content_of(service("a", app="web"), "a")) is is_alike


def test_each_run_has_a_namespace_of_its_own() -> None:
    assert content_of(service("a", app="web"), "a") == content_of(service("b", app="web"), "b")
