"""In which order documents are applied, and which others a primary needs."""

from collections.abc import Sequence
from typing import Any

import pytest

from staleproof.core.operator.dependency import CircleError, in_order, is_accessory, needed
from staleproof.core.plan.manifest import Manifest


def obj(kind: str, name: str, namespace: str = "", *, version: str = "v1", **fields: Any) -> Manifest:  # noqa: ANN401  # JSON
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": version, "kind": kind, "metadata": metadata} | fields


def widget(name: str = "w", namespace: str = "", **spec: Any) -> Manifest:  # noqa: ANN401  # JSON
    return obj("Widget", name, namespace, version="example.com/v1", spec=spec)


def gadget(name: str, **spec: Any) -> Manifest:  # noqa: ANN401  # JSON
    return obj("Gadget", name, version="example.com/v1beta1", spec=spec)


def names(manifests: Sequence[Manifest]) -> list[str]:
    return [f"{each['kind']}/{each['metadata']['name']}" for each in manifests]


SECRET = obj("Secret", "db")


def test_what_workloads_need_is_no_primary() -> None:
    assert is_accessory(SECRET)
    assert not is_accessory(widget())


# --- order


def test_kinds_come_in_the_order_in_which_they_are_installed() -> None:
    kinds = ["Namespace", "ServiceAccount", "Secret", "ConfigMap", "Role", "RoleBinding", "Service", "Widget"]
    assert [each["kind"] for each in in_order([obj(kind, "x") for kind in reversed(kinds)])] == kinds


def test_what_mentions_another_comes_behind_it() -> None:
    leaf, middle, root = widget("leaf", gadgetRef={"name": "middle"}), gadget("middle", widgetRef={"name": "root"}), widget("root")
    assert names(in_order([leaf, middle, root])) == ["Widget/root", "Gadget/middle", "Widget/leaf"]


def test_kinds_that_are_installed_first_may_mention_later_ones() -> None:
    account = obj("ServiceAccount", "s", secrets=[{"name": "token"}])
    token = obj("Secret", "token", serviceAccountName="s")
    assert names(in_order([token, account])) == ["ServiceAccount/s", "Secret/token"]


def test_a_circle_is_reported_and_can_be_broken_by_the_order_of_files() -> None:
    one, two = widget("one", gadgetRef={"name": "two"}), gadget("two", widgetRef={"name": "one"})
    with pytest.raises(CircleError, match=r"in a circle: (Widget/one → Gadget/two → Widget/one|Gadget/two → .*); give each"):
        in_order([one, two])


def test_a_circle_of_what_only_seems_to_be_needed_gives_way() -> None:
    """Chance first: what a field suggests is surer than a word that happens to be a name."""
    flavor, queue = gadget("spot", tier="q"), obj("LocalQueue", "q", version="example.com/v1", spec={"flavors": ["spot"]})
    stated, perhaps = widget("one", gadgetRef={"name": "two"}), gadget("two", size="one")
    resource_flavor = {**flavor, "kind": "ResourceFlavor"}
    assert (
        names(in_order([queue, resource_flavor]))
        == names(in_order([resource_flavor, queue]))
        == ["ResourceFlavor/spot", "LocalQueue/q"]
    )
    assert names(in_order([stated, perhaps])) == ["Gadget/two", "Widget/one"]
    one, other = widget("one", tier="two"), widget("two", tier="one")
    assert names(in_order([one, other])) == ["Widget/one", "Widget/two"], "neither is surer"


def test_what_is_of_a_kind_that_another_document_brings_comes_behind_it() -> None:
    blueprint = obj("Blueprint", "b", version="acme.dev/v1", spec={"names": {"kind": "Gadget"}})
    assert names(in_order([gadget("g"), blueprint])) == ["Blueprint/b", "Gadget/g"]


# --- what one primary needs


def test_other_primaries_that_it_mentions_come_before_it() -> None:
    primary, other = widget("w", gadgetRef={"name": "g"}), gadget("g", widgetRef={"name": "root"})
    root, stranger = widget("root"), gadget("stranger")
    primaries = [stranger, primary, other, root]
    assert names(needed(primary, (SECRET,), primaries)) == ["Secret/db", "Widget/root", "Gadget/g"]
    assert names(needed(root, (SECRET,), primaries)) == ["Secret/db"]


def test_nothing_takes_the_place_of_the_primary() -> None:
    assert needed(widget("w"), (widget("w", size=2), SECRET), ()) == (SECRET,)


def test_primaries_that_mention_one_another_have_no_order() -> None:
    primary = widget("w", gadgetRef={"name": "a"})
    one, two = gadget("a", gadgetRef={"name": "b"}), gadget("b", gadgetRef={"name": "a"})
    with pytest.raises(CircleError, match="in a circle: Gadget/"):
        needed(primary, (), [one, two])


def trio(name: str = "b", **spec: Any) -> tuple[Manifest, Manifest, Manifest]:  # noqa: ANN401  # JSON
    batch = obj("Batch", name, version="acme.example.com/v1", spec={"queueName": "q", "replicas": 1} | spec)
    queue = obj("LocalQueue", "q", version="acme.example.com/v1", spec={"resourceGroups": [{"flavors": [{"name": "spot"}]}]})
    return batch, queue, obj("ResourceFlavor", "spot", version="acme.example.com/v1")


def test_what_its_fields_suggest_comes_before_it_too() -> None:
    batch, queue, flavor = trio()
    primaries = [gadget("stranger"), batch, queue, flavor]
    assert names(needed(batch, (), primaries)) == ["ResourceFlavor/spot", "LocalQueue/q"]
    assert names(needed(queue, (), primaries)) == ["ResourceFlavor/spot"]
    assert needed(flavor, (), primaries) == ()


def test_so_does_what_its_labels_name() -> None:
    _, queue, flavor = trio()
    job = obj("Job", "j", version="batch/v1")
    job["metadata"]["labels"] = {"acme.example.com/queue-name": "q"}
    assert names(needed(job, (), [queue, flavor])) == ["ResourceFlavor/spot", "LocalQueue/q"]


def test_a_word_may_be_a_name_but_its_own_is_chance() -> None:
    """Samples are often called the same, and accessories as whatever they belong to."""
    level = gadget("gold")
    assert names(needed(widget("w", tier="gold"), (), [level])) == ["Gadget/gold"]
    assert needed(widget("gold", title="gold"), (), [level]) == ()
    assert needed(widget("w", tier="gold"), (), [obj("Service", "gold")]) == ()
    assert needed(widget("w", tier="gold"), (), [level, obj("Medal", "gold", version="example.com/v1")]) == (), "which of them?"
    batch, queue, flavor = trio("q")
    assert names(needed(batch, (), [queue, flavor])) == ["ResourceFlavor/spot", "LocalQueue/q"], "a field suggests it"


def test_an_object_that_is_needed_more_surely_does_not_need_the_other() -> None:
    shop, level = widget("w", tier="gold"), gadget("gold", widgetRef={"name": "w"})
    assert needed(shop, (), [level]) == ()
    assert names(needed(level, (), [shop])) == ["Widget/w"]
