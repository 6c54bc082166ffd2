"""A controller as its manifests install it: with their words, as its ServiceAccount, with the webhooks that it serves.

The controller is fixtures/controllers/guarded: correct, with a validating, a defaulting and a conversion webhook.
"""

import asyncio
import copy
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml
from kubernetes import client

from staleproof.assess.configuration import manifests_of
from staleproof.assess.run.worker import SessionOptions
from staleproof.assess.trial.session import Session
from staleproof.checks.verdict import Outcome
from staleproof.core.fault import AnyFault, Pause, Restart, Window
from staleproof.core.history.entry import Answered, Asked, Broke, Committed, Continued, RequestId, Started
from staleproof.core.operator.installation import read_installation
from staleproof.core.plan.manifest import Manifest, Target
from staleproof.core.plan.plan import Plan, Settle, Subject
from staleproof.core.plan.step import Apply, Patch, Step
from staleproof.drive.cluster.api import Api
from staleproof.drive.cluster.control_plane import RUNNER
from staleproof.drive.cluster.manifests import read_rendered
from staleproof.drive.trial.environment import Environment
from staleproof.drive.trial.refusals import Refusals

from .conftest import MANIFESTS, QUICK, WIDGETS, Run
from .environments import CRDS, WIDGET, of
from .proxy_client import limited
from .users import api_client

GUARDED = f"{sys.executable} -m staleproof.fixtures.controllers.guarded"
SERVING = f"{GUARDED} --webhook-port={{webhook_port}}"
OPERATOR = MANIFESTS / "guarded-operator.yaml"
ACCOUNT = "widget-system/widget-controller"
USAGE, ENVIRONMENT = 4, 11
DEFAULTED = "staleproof.dev/defaulted"
OPEN = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
CONVERSION = {
    "strategy": "Webhook",
    "webhook": {
        "conversionReviewVersions": ["v1"],
        "clientConfig": {"service": {"name": "widget-webhooks", "namespace": "widget-system", "path": "/convert"}},
    },
}


def with_two_versions() -> Manifest:
    """The definition of Widgets, which are called differently in v1beta1."""
    crd = copy.deepcopy(CRDS[0])
    crd["spec"]["versions"].append({"name": "v1beta1", "served": True, "storage": False, "schema": OPEN})
    crd["spec"]["conversion"] = CONVERSION
    return crd


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """The controller as it is installed, and not curious."""
    installation = read_installation([*read_rendered([OPERATOR], "manifests"), with_two_versions()])
    words = ("--webhook-port={webhook_port}", "--webhook-cert-dir={webhook_cert_dir}")
    subject = installation.subject(Subject(command=tuple(shlex.split(GUARDED)), arguments=words))
    manifests = tuple(manifests_of([], installation))
    root = tmp_path_factory.mktemp("staleproof")
    with Session(SessionOptions(subject=subject, manifests=manifests, root=root, reruns=0)) as running:
        yield running


def a_plan(*faults: AnyFault) -> Plan:
    target = Target(api_version="staleproof.dev/v1", kind="Widget", name="sample")
    steps: tuple[Step, ...] = (
        Apply(object=WIDGET),
        *(Patch(target=target, patch={"spec": {"replicas": count}}) for count in (5, 1)),
    )
    # a busy machine may keep it from its work
    patient = Settle(idle_seconds=1.0, quiet_seconds=1.5, limit_seconds=60.0, deadline_seconds=60.0)
    return Plan(scenario="installation", steps=steps, faults=faults, settle=patient)


def test_its_webhooks_are_asked_and_it_does_its_work(session: Session) -> None:
    result = session.trial(a_plan())
    widgets = [each.object for each in of(result.history, Committed) if each.resource == "widgets.staleproof.dev"]
    assert widgets
    assert all(widget["metadata"]["annotations"][DEFAULTED] == "true" for widget in widgets)
    assert [verdict for verdict in result.verdicts if verdict.outcome in (Outcome.FAIL, Outcome.INCONCLUSIVE)] == []
    environment = session.run.environment
    assert "system:serviceaccount:widget-system:widget-controller" in environment["rbac"]
    assert "default.widgets.staleproof.dev" in environment["webhooks"]
    assert session.run.refused == {}


@pytest.mark.parametrize(
    ("fault", "back"),
    [
        (Restart(window=Window(from_step=2, until_step=3)), Started),
        (Restart(stays_down=True, window=Window(from_step=2, until_step=3)), Started),
        (Pause(window=Window(from_step=2, until_step=3)), Continued),
    ],
    ids=["a restart", "an outage", "a pause"],
)
def test_a_step_waits_for_its_webhook(fault: AnyFault, back: type[Any], session: Session) -> None:
    """What users do cannot be done without the controller, so it is back before the step is over."""
    result = session.trial(a_plan(fault))
    history = result.history
    assert of(history, Broke) == []
    assert [planned.outcome for planned in result.faults] == ["fired"]
    grown = next(each.at for each in of(history, Committed) if each.object.get("spec", {}).get("replicas") == 5)
    assert any(each.at <= grown for each in of(history, back) if each.at > 0)
    assert [verdict for verdict in result.verdicts if verdict.outcome in (Outcome.FAIL, Outcome.INCONCLUSIVE)] == []


def test_a_right_to_one_object_is_not_taken_for_no_right(session: Session, tmp_path: Path) -> None:
    """What is refused for another reason, as by a quota, is not put down to the Role."""
    session.ready()
    session.plane.write_kubeconfig(tmp_path / "kubeconfig", user=RUNNER)
    rule = client.V1PolicyRule(verbs=["delete"], api_groups=[""], resources=["secrets"], resource_names=["mine"])
    namespace, _, account = ACCOUNT.partition("/")
    subject = client.RbacV1Subject(kind="ServiceAccount", name=account, namespace=namespace)
    named = client.V1ObjectMeta(name="its-secret")
    with api_client(tmp_path / "kubeconfig") as api:
        rbac = client.RbacAuthorizationV1Api(api)
        rbac.create_namespaced_role("default", client.V1Role(metadata=named, rules=[rule]))
        refers = client.V1RoleRef(api_group="rbac.authorization.k8s.io", kind="Role", name="its-secret")
        rbac.create_namespaced_role_binding("default", client.V1RoleBinding(metadata=named, role_ref=refers, subjects=[subject]))

    async def until_known(environment: Environment) -> None:
        async with limited():
            while await refused(environment.api, "mine", "theirs", "mine") != {"delete secrets": 1}:
                await asyncio.sleep(0.1)  # the API server has yet to hear of the Role

    session.call(until_known)


async def refused(api: Api, *names: str) -> dict[str, int]:
    """What is reported of a controller that may not delete Secrets of these names, whatever the reason."""
    refusals = Refusals(ACCOUNT)
    for number, name in enumerate(names, 1):
        request = RequestId(number)
        refusals.see(Asked(at=1.0, request=request, client="c", verb="delete", resource="secrets", namespace="default", name=name))
        refusals.see(Answered(at=1.0, request=request, code=403, outcome="fail"))
    await refusals.missing_rights(api)
    return dict(refusals.counts)


def test_it_converts_between_versions(session: Session, tmp_path: Path) -> None:
    session.ready()
    session.plane.write_kubeconfig(tmp_path / "kubeconfig", user=RUNNER)
    old = {**copy.deepcopy(WIDGET), "apiVersion": "staleproof.dev/v1beta1"}
    old["spec"]["size"] = old["spec"].pop("replicas")
    with api_client(tmp_path / "kubeconfig") as api:
        widgets = client.CustomObjectsApi(api)
        widgets.create_namespaced_custom_object("staleproof.dev", "v1beta1", "default", "widgets", old)
        try:
            found: Any = widgets.get_namespaced_custom_object("staleproof.dev", "v1", "default", "widgets", "sample")
            assert (found["spec"]["replicas"], "size" in found["spec"]) == (old["spec"]["size"], False)
        finally:
            widgets.delete_namespaced_custom_object("staleproof.dev", "v1", "default", "widgets", "sample")


# --- bad input -------------------------------------------------------------------------------------------------------------------


def without_rule(resource: str) -> Callable[[list[Manifest]], None]:
    def change(manifests: list[Manifest]) -> None:
        (role,) = [each for each in manifests if each["kind"] == "ClusterRole"]
        for rule in role["rules"]:
            rule["resources"] = [each for each in rule["resources"] if each != resource]

    return change


def unbound(manifests: list[Manifest]) -> None:
    manifests[:] = [each for each in manifests if each["kind"] != "ClusterRoleBinding"]


def another_deployment(manifests: list[Manifest]) -> None:
    manifests.append({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {}})


def short_timeouts(manifests: list[Manifest]) -> None:
    for each in manifests:
        for hook in each.get("webhooks", ()):
            hook["timeoutSeconds"] = 1


def unchanged(manifests: list[Manifest]) -> None:
    pass


@dataclass(frozen=True)
class Wrong:
    """What is wrong, and what is said about it."""

    shown: tuple[str, ...]
    change: Callable[[list[Manifest]], None] = unchanged
    command: str = SERVING
    replicas: int = 3
    code: int = USAGE


WRONG = {
    "a Role too narrow to start": Wrong(
        (f"does not start as ServiceAccount {ACCOUNT}", "to list widgets.staleproof.dev: not allowed by its Role"),
        unbound,
    ),
    "a Role too narrow to work": Wrong(
        ("did nothing for Widget/sample", "to list configmaps: not allowed by its Role"), without_rule("configmaps")
    ),
    "two Deployments": Wrong(
        ("Deployment/widget-controller, Deployment/web?", "--controller-deployment=widget-controller"), another_deployment
    ),
    "a sample that is denied": Wrong(("validate.widgets.staleproof.dev", "spec.replicas: 51 are more than 50"), replicas=51),
    "no answer": Wrong(
        ("failed calling webhook", "Is it the controller's own webhook, and does it serve it?"),
        short_timeouts,
        f"{SERVING} --silent",
        code=ENVIRONMENT,
    ),
    "another certificate": Wrong(
        ("failed to verify certificate", "does the controller read tls.crt and tls.key in {webhook_cert_dir}?"),
        command=f"{SERVING} --webhook-cert-dir=.",
        code=ENVIRONMENT,
    ),
}


@pytest.mark.live
@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_what_is_wrong_with_it_is_reported(wrong: Wrong, suite: Run, tmp_path: Path) -> None:
    manifests = list(yaml.safe_load_all(OPERATOR.read_text()))
    wrong.change(manifests)
    (tmp_path / "operator.yaml").write_text(yaml.safe_dump_all(manifests))
    (tmp_path / "sample.yaml").write_text(yaml.safe_dump({**WIDGET, "spec": {**WIDGET["spec"], "replicas": wrong.replicas}}))
    a_strangers_certificate(tmp_path)
    given = (f"--controller-manifests={tmp_path / 'operator.yaml'}", f"--staleproof-samples={tmp_path / 'sample.yaml'}")
    done = suite(f"--controller-cmd={wrong.command}", *given, WIDGETS[0], *QUICK, folder=tmp_path)
    assert done.code == wrong.code, done.output
    assert "Traceback" not in done.output
    plain = " ".join(done.output.split())
    assert [text for text in wrong.shown if text not in plain] == []


def a_strangers_certificate(folder: Path) -> None:
    issued = trustme.CA().issue_cert("127.0.0.1")
    issued.cert_chain_pems[0].write_to_path(folder / "tls.crt")
    issued.private_key_pem.write_to_path(folder / "tls.key")


@pytest.mark.live
def test_what_it_may_not_do_is_reported_at_the_end(suite: Run) -> None:
    """Its manifests make it curious."""
    done = suite(f"--controller-cmd={SERVING}", f"--controller-manifests={OPERATOR}", *WIDGETS, *QUICK, "-k", "idempotence")
    assert done.code == 0, done.output
    assert done.report["refused"].keys() == {"list secrets"}
    assert f"asked {done.report['refused']['list secrets']} times to list secrets: not allowed by its Role" in done.output


@pytest.mark.live
def test_without_manifests_nothing_is_checked(suite: Run) -> None:
    done = suite(f"--controller-cmd={GUARDED} --curious", *WIDGETS, *QUICK, "-k", "idempotence")
    assert done.code == 0, done.output
    assert done.report["refused"] == {}
    assert "RBAC was not checked: the controller may do everything" in " ".join(done.output.split())
