"""What of a folder is a primary, in which order the rest is applied, and where."""

import base64
from collections.abc import Sequence
from typing import Any

import pytest

from staleproof.core.operator.dependency import CircleError
from staleproof.core.operator.group_kind import GroupKind
from staleproof.core.operator.prerequisite import (
    Documents,
    NoSuchPrimaryError,
    Placement,
    edited,
    inputs,
    lacking,
    placement,
    sort_out,
    with_payloads,
    without_payload,
)
from staleproof.core.plan.manifest import Manifest, masked_manifests
from staleproof.core.plan.step import Apply


def obj(kind: str, name: str, namespace: str = "", *, version: str = "v1", **fields: Any) -> Manifest:  # noqa: ANN401  # JSON
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": version, "kind": kind, "metadata": metadata} | fields


def widget(name: str = "w", namespace: str = "", **spec: Any) -> Manifest:  # noqa: ANN401  # JSON
    return obj("Widget", name, namespace, version="example.com/v1", spec=spec)


def gadget(name: str, **spec: Any) -> Manifest:  # noqa: ANN401  # JSON
    return obj("Gadget", name, version="example.com/v1beta1", spec=spec)


def crd(kind: str) -> Manifest:
    spec = {"group": "example.com", "names": {"kind": kind}}
    return obj("CustomResourceDefinition", kind, version="apiextensions.k8s.io/v1", spec=spec)


def names(manifests: Sequence[Manifest]) -> list[str]:
    return [f"{each['kind']}/{each['metadata']['name']}" for each in manifests]


SECRET, SPACE = obj("Secret", "db"), obj("Namespace", "demo")
WIDGET, GADGET = GroupKind("Widget", "example.com"), GroupKind("Gadget", "example.com")


def sorted_out(*samples: Manifest, crds: Sequence[Manifest] = (), named: Sequence[GroupKind] = ()) -> Documents:
    return sort_out(samples, (), crds, named)


# --- primaries


def test_what_a_definition_is_of_is_a_primary_and_the_rest_is_needed() -> None:
    found = sorted_out(SECRET, widget(), gadget("g"), SPACE, crds=[crd("Widget")])
    assert names(found.primaries) == ["Widget/w"]
    assert names(found.before) == ["Namespace/demo", "Secret/db", "Gadget/g"]


def test_definitions_may_lie_among_the_samples() -> None:
    found = sorted_out(crd("Widget"), SECRET, widget())
    assert names(found.definitions) == ["CustomResourceDefinition/Widget"]
    assert (names(found.primaries), names(found.before)) == (["Widget/w"], ["Secret/db"])


def test_the_user_has_the_last_word() -> None:
    found = sorted_out(widget(), gadget("g"), crds=[crd("Widget"), crd("Gadget")], named=[GADGET])
    assert (names(found.primaries), names(found.before)) == (["Gadget/g"], ["Widget/w"])


def test_a_kind_that_no_sample_has_is_reported_with_those_that_there_are() -> None:
    with pytest.raises(NoSuchPrimaryError, match=r"no sample is a Gadget\.example\.com; they are of the kinds Secret, Widget\.ex"):
        sorted_out(SECRET, widget(), named=[GADGET])
    assert sorted_out(named=[GADGET]) == Documents()


def test_without_a_word_accessories_are_no_primaries() -> None:
    found = sorted_out(obj("ConfigMap", "c"), obj("ReplicaSet", "r", version="apps/v1"), obj("Service", "s"), crds=[crd("Widget")])
    assert (names(found.primaries), names(found.before)) == (["ReplicaSet/r"], ["ConfigMap/c", "Service/s"])


def test_where_there_are_only_accessories_each_may_be_one() -> None:
    found = sorted_out(obj("ConfigMap", "c"), SECRET)
    assert (names(found.primaries), found.before) == (["ConfigMap/c", "Secret/db"], ())


def test_a_definition_that_is_not_whole_is_for_the_api_server_to_refuse() -> None:
    broken = obj("CustomResourceDefinition", "x", version="apiextensions.k8s.io/v1")
    assert names(sorted_out(widget(), crds=[broken]).definitions) == ["CustomResourceDefinition/x"]


def test_what_no_sample_has_comes_before_what_samples_bring() -> None:
    found = sort_out([widget(), SECRET], [[gadget("g"), SPACE], [obj("ConfigMap", "c"), SECRET]], [crd("Widget")], ())
    assert names(found.before) == ["Namespace/demo", "Gadget/g", "Secret/db", "ConfigMap/c"], "each once"


def test_a_circle_can_be_broken_by_the_order_of_files() -> None:
    one, two = widget("one", gadgetRef={"name": "two"}), gadget("two", widgetRef={"name": "one"})
    assert names(sort_out([SECRET], [[two], [one]], (), ()).before) == ["Gadget/two", "Widget/one"]
    with pytest.raises(CircleError):
        sort_out([SECRET], [[two, one]], (), ())


# --- kinds that another object brings


BLUEPRINT = obj("Blueprint", "gadgets", version="acme.dev/v1", spec={"names": {"kind": "Gadget"}})
BLUEPRINTS = {**crd("Blueprint"), "spec": {"group": "acme.dev", "names": {"kind": "Blueprint"}}}


def test_what_is_of_a_kind_that_another_object_brings_is_the_primary() -> None:
    """With the CustomResourceDefinition of the other object, and without: its operator may bring that itself."""
    for definitions in ([BLUEPRINTS], []):
        found = sorted_out(SECRET, gadget("g"), BLUEPRINT, crds=definitions)
        assert (names(found.primaries), names(found.before)) == (["Gadget/g"], ["Secret/db", "Blueprint/gadgets"])
    found = sort_out([gadget("g")], [[BLUEPRINT]], [BLUEPRINTS], ())
    assert (names(found.primaries), names(found.before)) == (["Gadget/g"], ["Blueprint/gadgets"])


def test_what_is_about_such_a_kind_is_needed_too() -> None:
    """A Composition says what is made of what it refers to, and nothing refers to it."""
    composition = obj("Composition", "c", version="acme.dev/v1", spec={"compositeTypeRef": {"kind": "Gadget"}})
    compositions = {**crd("Composition"), "spec": {"group": "acme.dev", "names": {"kind": "Composition"}}}
    found = sorted_out(composition, gadget("g"), BLUEPRINT, crds=[BLUEPRINTS, compositions])
    assert (names(found.primaries), names(found.before)) == (["Gadget/g"], ["Composition/c", "Blueprint/gadgets"])
    assert names(sorted_out(composition, gadget("g"), crds=[compositions]).primaries) == ["Composition/c"], (
        "nothing brings a Gadget"
    )
    named = sorted_out(composition, gadget("g"), BLUEPRINT, crds=[BLUEPRINTS], named=[GroupKind("Blueprint", "acme.dev")])
    assert names(named.before) == ["Composition/c"]


def test_others_that_are_defined_are_primaries_beside_it() -> None:
    found = sorted_out(widget(), gadget("g"), BLUEPRINT, crds=[BLUEPRINTS, crd("Widget")])
    assert (names(found.primaries), names(found.before)) == (["Widget/w", "Gadget/g"], ["Blueprint/gadgets"])


def test_what_brings_a_kind_is_a_primary_when_nothing_is_of_that_kind_or_the_user_says_so() -> None:
    assert names(sorted_out(BLUEPRINT, crds=[BLUEPRINTS]).primaries) == ["Blueprint/gadgets"]
    assert names(sorted_out(BLUEPRINT, gadget("g"), crds=[BLUEPRINTS, crd("Gadget")]).primaries) == [
        "Blueprint/gadgets",
        "Gadget/g",
    ]
    found = sorted_out(BLUEPRINT, SECRET, gadget("g"), crds=[BLUEPRINTS], named=[GroupKind("Blueprint", "acme.dev")])
    assert (names(found.primaries), names(found.before)) == (["Blueprint/gadgets"], ["Secret/db"]), "a Gadget cannot be there first"


# --- what one primary lacks


def test_what_is_mentioned_and_not_there_is_reported() -> None:
    primary = widget("w", secretName="db", template={"envFrom": [{"configMapRef": {"name": "c"}}], "ownerRef": {"name": "x"}})
    assert [(each.kind, each.name, each.path) for each in lacking(primary, ())] == [
        ("Secret", "db", "spec.secretName"),
        ("ConfigMap", "c", "spec.template.envFrom[].configMapRef.name"),
    ]
    assert [each.name for each in lacking(primary, (SECRET,))] == ["c"]


# --- where they are


def where(primary: Manifest, *before: Manifest, is_nowhere: bool = False) -> list[str]:
    there = placement([Apply(object=primary)], before, "trial", is_nowhere=is_nowhere)
    return [there.of(each, namespaced=each["kind"] != "Namespace") for each in before]


def test_what_a_primary_names_where_it_is_may_go_and_come_back() -> None:
    primary = widget(namespace="mine", secretName="s", serviceRef={"name": "web"}, issuerRef={"name": "i"}, configMap="far")
    given = [
        obj("Secret", "s", "mine"),
        obj("Secret", "nobody-names-it", "mine"),
        obj("ConfigMap", "far", "another"),
        obj("Service", "web"),
        obj("Issuer", "i", "mine", version="example.com/v1"),
        obj("Issuer", "another", "mine", version="example.com/v1"),
    ]
    assert [each["metadata"]["name"] for each in inputs(primary, given)] == ["s", "web", "i"]


def test_a_config_map_may_be_another_that_is_as_good() -> None:
    def both(**data: str) -> list[Manifest]:
        return [each.get("data", {}) for each in edited({**obj("ConfigMap", "c"), "data": data})]

    assert both(mode="fast", connections="9") == [{"connections": "10"}, {"connections": "9"}]
    assert both(file="a: 1\n") == [{"file": "a: 1\n\n"}, {"file": "a: 1\n"}]
    assert both(mode="fast") == [{}, {}], "it is unknown what else there is"
    assert edited({**obj("Secret", "s"), "data": {"n": "9"}}) == ({}, {})


def test_what_says_that_it_never_changes_is_not_changed() -> None:
    fixed = obj("ConfigMap", "c", data={"n": "9"}, immutable=True)
    assert edited(fixed) == ({}, {})
    assert edited(fixed | {"immutable": False}) != ({}, {})


def test_what_is_where_the_primary_is_goes_into_the_trials_namespace() -> None:
    assert where(widget(), SECRET, obj("Secret", "a", "default"), obj("Secret", "b", "demo")) == ["trial"] * 3
    assert where(widget(namespace="demo"), SECRET, obj("Secret", "b", "demo")) == ["trial"] * 2


def test_what_is_said_to_be_elsewhere_stays_there() -> None:
    assert where(widget(namespace="demo"), obj("Secret", "a", "default"), obj("Secret", "b", "system")) == ["default", "system"]
    mentioned = widget(source={"name": "b", "namespace": "system"})
    assert where(mentioned, obj("Secret", "a", "demo"), obj("Secret", "b", "system")) == ["trial", "system"]


def test_what_is_in_a_namespace_that_is_given_stays_there() -> None:
    system = obj("Namespace", "system")
    assert where(widget(), system, obj("Secret", "a", "demo"), obj("Pool", "b", "system")) == ["", "trial", "system"]


def test_what_a_primary_without_a_namespace_needs_is_where_it_is_said_to_be() -> None:
    source = widget(source={"name": "b"})  # in which namespace, only the controller knows
    given = SECRET, obj("Secret", "a", "default"), obj("Secret", "b", "system")
    assert where(source, *given, is_nowhere=True) == ["trial", "trial", "system"]
    assert where(source, *given) == ["trial"] * 3, "a primary that has one, and does not say which, is where they are"


def test_what_is_cluster_scoped_has_no_namespace() -> None:
    assert where(widget(), SPACE) == [""]


def test_what_an_object_says_of_things_that_moved_follows_them() -> None:
    account = obj("ServiceAccount", "runner", "demo")
    subjects = [{"kind": "ServiceAccount", "name": each, "namespace": "demo"} for each in ("runner", "stranger")]
    binding = obj("RoleBinding", "b", "demo", subjects=subjects)
    there = placement([Apply(object=widget(namespace="demo"))], (account, binding), "trial")
    put = there.put(binding)
    assert put["metadata"] == {"name": "b"}
    assert [each["namespace"] for each in put["subjects"]] == ["trial", "demo"]
    assert subjects[0]["namespace"] == "demo", "the user's own is left alone"
    assert list(put) == list(binding)


def test_a_primary_has_its_name_of_the_trial_wherever_it_is_meant() -> None:
    primary = obj("Tenant", "a", uses={"kind": "Tenant", "name": "a"}, other={"kind": "Role", "name": "a"}, plain={"name": "a"})
    there = placement([Apply(object=primary)], (), "trial", {("Tenant", "a"): "a-x"})
    put = there.put(primary)
    assert put["metadata"] == {"name": "a-x"}
    assert [put[each]["name"] for each in ("uses", "other", "plain")] == ["a-x", "a", "a"]


def test_a_patch_follows_them_too() -> None:
    there = Placement("trial", names=frozenset({"db"}))
    assert there.moved({"ref": {"name": "db", "namespace": "default"}}) == {"ref": {"name": "db", "namespace": "trial"}}
    assert there.moved({"ref": {"name": "db", "namespace": "demo"}, "gone": None}) == {
        "ref": {"name": "db", "namespace": "demo"},
        "gone": None,
    }


def test_host_names_of_which_there_is_one_are_made_the_trials_own() -> None:
    there = Placement("trial", hosts=frozenset({"a.example.com"}), mark="-x")
    put = there.put(widget(host="a.example.com", mirror="b.example.com"))
    assert put["spec"] == {"host": "a-x.example.com", "mirror": "b.example.com"}
    assert there.moved({"spec": {"hosts": ["a.example.com"]}}) == {"spec": {"hosts": ["a-x.example.com"]}}


# --- what was not written down


def test_a_secret_gets_its_payload_back_from_the_one_that_is_given_again() -> None:
    secret = obj("Secret", "db", data={"password": base64.b64encode(b"hunter2xyz").decode()})
    plain = obj("Secret", "plain", stringData={"a": "b"})
    written = masked_manifests([SPACE, secret, plain])
    assert without_payload(written) == ["Secret/db", "Secret/plain"]
    assert with_payloads(written, [widget(), secret]) == (SPACE, secret, written[2])
    assert without_payload(with_payloads(written, [secret, plain])) == []


def test_secrets_of_one_name_in_two_namespaces_get_their_own_payloads_back() -> None:
    given = tuple(obj("Secret", "ca", each, stringData={"key": f"secret-of-{each}"}) for each in ("system", "app"))
    written = masked_manifests(given)
    assert without_payload(written) == ["Secret/ca", "Secret/ca"]
    assert with_payloads(written, given) == given
    assert without_payload(with_payloads(written, given[:1])) == ["Secret/ca"]


def test_a_secret_that_has_its_payload_is_left_alone() -> None:
    secret, other = obj("Secret", "db", stringData={"a": "b"}), obj("Secret", "db", stringData={"a": "c"})
    assert with_payloads([secret, SECRET], [other]) == (secret, SECRET)
