"""Companions by name: what is accepted, and what is said of what is not."""

import pytest

from staleproof.core.operator.companion import (
    ACTS,
    ALWAYS,
    NAMES,
    CompanionError,
    acting_on,
    companion_names,
    controllers_flag,
    union,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        (" , ", ()),
        ("kwok", ("kwok",)),
        ("garbage-collector,namespace", ("garbage-collector", "namespace")),
        ("garbage-collector-controller, namespace-controller", ("garbage-collector", "namespace")),
        ("job,job-controller,job", ("job",)),
        ("scheduler,kwok", ("scheduler", "kwok")),
        ("auto", ("auto",)),
        ("auto, disruption", ("auto", "disruption")),
        ("none", ()),
    ],
)
def test_names_are_taken_short_or_as_kube_controller_manager_has_them(text: str, expected: tuple[str, ...]) -> None:
    assert companion_names(text) == expected


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_name_is_its_own(name: str) -> None:
    assert companion_names(name) == (name,)


def test_an_unknown_one_is_refused_with_a_proposal() -> None:
    with pytest.raises(CompanionError, match=r"no companion 'garbagecollector' \(did you mean 'garbage-collector'\?\); there are "):
        companion_names("kwok,garbagecollector")


def test_nothing_is_proposed_for_what_is_like_nothing() -> None:
    with pytest.raises(CompanionError, match=r"no companion 'xyz'; there are "):
        companion_names("xyz")


@pytest.mark.parametrize("text", ["none,job", "auto,none"])
def test_none_stands_alone(text: str) -> None:
    with pytest.raises(CompanionError, match="'none' stands alone; leave it out, or the others"):
        companion_names(text)


def test_only_kube_controller_managers_go_into_its_flag() -> None:
    assert controllers_flag(("kwok", "job", "scheduler", "namespace")) == "job-controller,namespace-controller"
    assert controllers_flag(("kwok",)) == ""


@pytest.mark.parametrize(
    ("created", "expected"),
    [
        (set(), set()),
        ({"configmaps", "widgets.example.com"}, set()),
        ({"pods"}, {"scheduler", "kwok"}),
        ({"deployments.apps"}, {"deployment", "replicaset", "scheduler", "kwok"}),
        ({"cronjobs.batch"}, {"cronjob", "job", "ttl-after-finished", "scheduler", "kwok"}),
        ({"nodes"}, {"kwok", "node-lifecycle"}),
        ({"services", "configmaps"}, {"endpointslice", "endpoints"}),
        ({"serviceaccounts"}, {"serviceaccount", "serviceaccount-token", "root-ca-certificate-publisher"}),
        (
            {"statefulsets.apps"},
            {
                "statefulset",
                "scheduler",
                "kwok",
                "persistentvolume-binder",
                "persistentvolume-protection",
                "persistentvolumeclaim-protection",
                "provisioner",
            },
        ),
    ],
)
def test_what_is_created_has_the_companions_of_a_real_cluster(created: set[str], expected: set[str]) -> None:
    assert set(acting_on(created)) == {*ALWAYS, *expected}


def test_no_companion_does_what_the_controller_does_itself() -> None:
    """The Deployment controller and the ReplicaSet controller are under test: the pods alone need another user."""
    created = {"replicasets.apps", "pods"}
    owned = {("replicasets.apps", "deployments.apps"), ("pods", "replicasets.apps")}
    assert set(acting_on(created, owned)) == {*ALWAYS, "scheduler", "kwok"}
    assert "replicaset" in acting_on(created, {("configmaps", "replicasets.apps")})


def test_only_companions_that_there_are_act() -> None:
    assert {name for act in ACTS.values() for name in act.names} < NAMES
    assert {made for act in ACTS.values() for made in act.makes} - {"endpointslices.discovery.k8s.io"} <= ACTS.keys()


def test_the_order_of_questions_makes_no_difference() -> None:
    assert union(("namespace", "job"), {"kwok", "job"}) == union({"kwok"}, ("job", "namespace")) == ("job", "kwok", "namespace")
