"""What an operator's manifests say of it: which container, with which words and rights, and what of them is applied."""

from typing import Any

import pytest

from staleproof.core.operator.installation import Installation, InstallationError, read_installation
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import Subject

NAMESPACE = "widget-system"


def made(kind: str, name: str, namespace: str = NAMESPACE, **fields: Any) -> Manifest:  # noqa: ANN401  # whatever YAML holds
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": namespace}, **fields}


def deployment(*containers: dict[str, Any], name: str = "controller", kind: str = "Deployment", **template: Any) -> Manifest:  # noqa: ANN401
    pods = {"spec": {"containers": list(containers) or [{"name": "manager"}]}, **template}
    return made(kind, name, spec={"template": pods})


def installed(*manifests: Manifest, which: str = "", image: str = "") -> Installation:
    return read_installation(manifests, which, image=image)


def applied(found: Installation) -> list[str]:
    return [f"{each['kind']}/{each['metadata']['name']}" for each in found.manifests]


# --- which container -------------------------------------------------------------------------------------------------------------

SIDECAR, MAIN = {"name": "proxy", "image": "p:1"}, {"name": "operator", "image": "o:1"}
DEFAULT: dict[str, Any] = {"metadata": {"annotations": {"kubectl.kubernetes.io/default-container": "operator"}}}


@pytest.mark.parametrize(
    ("manifests", "which", "image", "expected"),
    [
        ([deployment(MAIN)], "", "", "the container operator of Deployment/controller"),
        ([deployment(MAIN, kind="StatefulSet")], "", "", "the container operator of StatefulSet/controller"),
        ([deployment(SIDECAR, {"name": "manager"})], "", "", "the container manager of Deployment/controller"),
        ([deployment(SIDECAR, MAIN)], "", "o:1", "the container operator of Deployment/controller"),
        ([deployment(SIDECAR, MAIN, **DEFAULT)], "", "", "the container operator of Deployment/controller"),
        ([deployment(SIDECAR, MAIN)], "controller/proxy", "o:1", "the container proxy of Deployment/controller"),
        ([deployment(name="web"), deployment(MAIN)], "controller", "", "the container operator of Deployment/controller"),
    ],
)
def test_the_controllers_container(manifests: list[Manifest], which: str, image: str, expected: str) -> None:
    assert installed(*manifests, which=which, image=image).container == expected


@pytest.mark.parametrize(
    ("manifests", "which", "message"),
    [
        ([made("ConfigMap", "c")], "", "found no Deployment or StatefulSet or DaemonSet"),
        ([deployment(name="a"), deployment(name="b")], "", "which of them is the controller, Deployment/a, Deployment/b?"),
        ([deployment(name="a"), deployment(name="b")], "", "--controller-deployment=a"),
        ([deployment(name="a")], "b", "none is called 'b'; there are Deployment/a"),
        ([deployment(SIDECAR, MAIN)], "", "which container of controller is the controller, proxy, operator?"),
        ([deployment(SIDECAR, MAIN)], "", "--controller-deployment=controller/proxy"),
        ([deployment(MAIN)], "controller/x", "controller has no container 'x'; it has operator"),
        ([made("Deployment", "d", spec={})], "", "Deployment/d, or what belongs to it, is not as an API server would take it"),
    ],
)
def test_it_is_asked_for_by_name(manifests: list[Manifest], which: str, message: str) -> None:
    with pytest.raises(InstallationError) as err:
        installed(*manifests, which=which)
    assert message in str(err.value)


# --- how it is started -----------------------------------------------------------------------------------------------------------

STARTED = {
    "name": "manager",
    "command": ["/manager", "--leader-elect"],
    "args": ["--zap-level", "info", "--metrics-bind-address=:8443", "--ns=$(POD_NAMESPACE)"],
    "env": [{"name": "POD_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}],
}


@pytest.mark.parametrize(
    ("given", "command", "arguments"),
    [
        (
            Subject(image="o:1"),
            ("/manager", "--leader-elect"),
            ("--zap-level", "info", "--metrics-bind-address=:8443", "--ns=widget-system"),
        ),
        (Subject(image="o:1", arguments=("--mine",)), ("/manager", "--leader-elect"), ("--mine",)),
        (
            Subject(command=("./m", "-metrics-bind-address", "0")),
            ("./m", "-metrics-bind-address", "0"),
            ("--leader-elect", "--zap-level", "info", "--ns=widget-system"),
        ),
        (
            Subject(command=("./m", "--leader-elect=false", "--zap-level=debug")),
            ("./m", "--leader-elect=false", "--zap-level=debug"),
            ("--metrics-bind-address=:8443", "--ns=widget-system"),
        ),
        (Subject(command=("./m",), env={"POD_NAMESPACE": "x"}, arguments=("-a",)), ("./m",), ("-a",)),
    ],
)
def test_its_words_are_the_manifests_unless_the_user_says_others(
    given: Subject, command: tuple[str, ...], arguments: tuple[str, ...]
) -> None:
    subject = installed(deployment(STARTED)).subject(given)
    assert (subject.command, subject.arguments) == (command, arguments)


def test_variables_of_secrets_are_not_written_down_and_the_users_win() -> None:
    container = {
        "name": "manager",
        "env": [
            {"name": "LEVEL", "value": "info"},
            {"name": "MINE", "value": "theirs"},
            {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "token"}}},
            {"name": "ELSEWHERE", "valueFrom": {"secretKeyRef": {"name": "t", "key": "k"}}},
        ],
    }
    found = installed(deployment(container), made("Secret", "s", stringData={"token": "hunter2"}))
    with pytest.raises(InstallationError, match=r"ELSEWHERE \(key k of Secret/t\); give each with --controller-env"):
        found.subject(Subject(command=("./m",)))
    subject = found.subject(Subject(command=("./m",), env={"MINE": "mine", "ELSEWHERE": "x"}))
    assert subject.declared == {"LEVEL": "info"}
    assert subject.env == {"TOKEN": "hunter2", "MINE": "mine", "ELSEWHERE": "x"}


# --- its identity, and what is applied -------------------------------------------------------------------------------------------


def test_without_roles_nothing_is_known_of_its_rights() -> None:
    assert installed(deployment()).service_account == ""
    role = {"kind": "Role", "apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "r"}}
    assert installed(deployment(), role).service_account == f"{NAMESPACE}/default"
    named = deployment()
    named["spec"]["template"]["spec"]["serviceAccountName"] = "robot"
    assert installed(named, role).subject(Subject(command=("m",))).service_account == f"{NAMESPACE}/robot"


def test_a_deployment_without_a_namespace_is_where_its_account_is_granted_something() -> None:
    nowhere = deployment()
    del nowhere["metadata"]["namespace"]
    subjects = [{"kind": "User", "name": "default"}, {"kind": "ServiceAccount", "name": "default", "namespace": "released"}]
    binding = {"apiVersion": "v1", "kind": "ClusterRoleBinding", "metadata": {"name": "b"}, "subjects": subjects}
    assert installed(nowhere, binding).service_account == "released/default"
    assert applied(installed(nowhere)) == ["ServiceAccount/default"]


def test_what_means_something_without_pods_is_applied_in_an_order_in_which_it_can_be() -> None:
    found = installed(
        {"apiVersion": "v1", "kind": "RoleBinding", "metadata": {"name": "b"}},
        made("ConfigMap", "c", namespace="other"),
        made("NetworkPolicy", "n"),
        deployment(),
        made("CustomResourceDefinition", "d", namespace="", spec={}),
        made("Service", "s"),
    )
    assert applied(found) == [
        "Namespace/other",
        "Namespace/widget-system",
        "ServiceAccount/default",
        "CustomResourceDefinition/d",
        "ConfigMap/c",
        "RoleBinding/b",
    ]
    assert found.manifests[-1]["metadata"] == {"name": "b", "namespace": NAMESPACE}
    assert found.passed_over == ("NetworkPolicy", "Service")


def test_what_is_there_is_not_made_again() -> None:
    account = made("ServiceAccount", "default", automountServiceAccountToken=False)
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": {"a": "b"}}}
    assert list(installed(deployment(), account, namespace).manifests) == [namespace, account]


def test_a_role_that_aggregates_has_the_rules_of_those_it_selects() -> None:
    def role(name: str, *verbs: str, **metadata: Any) -> Manifest:  # noqa: ANN401
        rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": list(verbs)}]
        return {"apiVersion": "v1", "kind": "ClusterRole", "metadata": {"name": name, **metadata}, "rules": rules}

    aggregate = {**role("whole"), "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"part": "yes"}}, {}]}, "rules": []}
    found = installed(deployment(), aggregate, role("a", "get", labels={"part": "yes"}), role("b", "list"))
    rules = next(each["rules"] for each in found.manifests if each["metadata"]["name"] == "whole")
    assert [rule["verbs"] for rule in rules] == [["get"]]
