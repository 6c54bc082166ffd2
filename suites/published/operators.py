"""How a published bug is tried: the project's program with the bug and without it, and what a finding of this bug is about.

Everything that is ours to say of a try stands here; a row of `bugs.yaml` says what the bug is, `found.py` what counts as finding
it. CRDs, samples and manifests are those that the project published with the version that is run. A sample is the simplest that has
what the report is about, and options are those that any user of the program needs: nothing is said that leads to the bug.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..operators.model import MADE, PIECE, GoModule, MavenLibrary, Operator, Piece, PythonLibrary
from ..operators.table import OPERATORS


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One row.

    Attributes:
        bug: its name, as in the table of bugs.
        before: the program with the bug.
        after: the program without it; None: no version without it is known, or none can be had.
        requirements: what the report describes violates one of these.
        objects: and it does so to one of these kinds, in lower case, as a finding calls them.
        another: why versions are others than those of the table of bugs, if they are.
    """

    bug: str
    before: Operator
    after: Operator | None
    requirements: tuple[str, ...]
    objects: tuple[str, ...]
    another: str = ""


def _at(version: str, operator: Operator) -> Operator:
    assert isinstance(operator.origin, GoModule)
    return replace(operator, origin=replace(operator.origin, version=version))


def _kept(name: str) -> Operator:
    """The row that `ci/operators` has for it."""
    return next(operator for operator in OPERATORS if operator.name == name)


def _prometheus_operator(version: str) -> Operator:
    return _at(version, _kept("prometheus-operator"))


def _argo_rollouts(version: str) -> Operator:
    return _at(version, _kept("argo-rollouts"))


def _rabbitmq(version: str) -> Operator:
    """The flag for its metrics is called otherwise since v1.10.0."""
    kept = _kept("rabbitmq-cluster-operator")
    older = replace(kept, arguments=("--metrics-addr=127.0.0.1:{metrics_port}",))
    return _at(version, kept if version == kept.origin.version else older)


def _jobset(version: str) -> Operator:
    return _at(version, _kept("jobset"))


def _cert_manager(version: str) -> Operator:
    """Of a time when its main package was part of its module."""
    kept, crds = _kept("cert-manager"), {f"{names[0]}.yaml": _crd(*names) for names in _CRDS}
    return replace(
        kept,
        options=(*(f"--staleproof-crds={MADE}/{name}" for name in crds), *kept.options[1:]),
        made={**kept.made, **crds},
        origin=GoModule("github.com/cert-manager/cert-manager", version, "cmd/controller"),
        arguments=(
            "--kubeconfig={kubeconfig}",
            "--metrics-listen-address=127.0.0.1:{metrics_port}",
            "--leader-elect=false",
            "--v=2",
        ),
    )


_CRDS = (
    ("certificaterequests", "cert-manager.io", "      storage: true\n"),
    ("certificates", "cert-manager.io", "      storage: true\n"),
    ("challenges", "acme.cert-manager.io", "        status: {}\n"),
    ("clusterissuers", "cert-manager.io", "      storage: true\n"),
    ("issuers", "cert-manager.io", "      storage: true\n"),
    ("orders", "acme.cert-manager.io", "      storage: true\n"),
)
"""Its definitions are published as parts of a chart, with labels that no API server takes: each kind, its group, how it ends."""


def _crd(kind: str, group: str, end: str) -> Piece:
    head = f"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {kind}.{group}}}\nspec:"
    return Piece(f"deploy/crds/crd-{kind}.yaml", "\nspec:", end, f"{head}{PIECE}{end}")


def _kuberay(version: str) -> Operator:
    return _at(version, _kept("kuberay"))


def _fabric8(version: str) -> Operator:
    return Operator(
        name="fabric8",
        home="https://github.com/fabric8io/kubernetes-client",
        library="fabric8",
        origin=MavenLibrary(version=version, ours="published/fabric8_example", java=17),
        has="Java; what there is, the stores of its informers say",
        options=_OF_OURS,
    )


def _kopf(version: str) -> Operator:
    return Operator(
        name="kopf",
        home="https://github.com/nolar/kopf",
        library="kopf",
        origin=PythonLibrary(
            name="kopf",
            version=version,
            ours="published/kopf_example",
            module="kopf",
            arguments=("run", "--standalone", "--all-namespaces"),
            needs=("kubernetes==37.0.2",),
        ),
        has="Python; handlers, whose progress is noted in the primary itself",
        options=_OF_OURS,
    )


_OF_OURS = (
    "--staleproof-crds={published}/crd.yaml",
    "--staleproof-samples={published}/sample.yaml",
    "--staleproof-companions=auto",
)
"""Of an operator of ours on a library: its folder has both files."""


TRIES: Sequence[Try] = (
    Try(
        bug="argoproj/argo-rollouts#4044",
        before=_argo_rollouts("v1.7.2"),
        after=_argo_rollouts("v1.8.3"),
        requirements=("converges-after-catch-up", "no-lost-update", "no-time-travel", "settles"),
        objects=("replicaset", "rollout"),
    ),
    Try(
        bug="argoproj/argo-rollouts#4073",
        before=_argo_rollouts("v1.9.2"),
        after=_argo_rollouts("v1.10.0"),
        requirements=("converges-after-catch-up", "recovers-in-bounded-time", "backs-off", "no-lost-update"),
        objects=("rollout",),
    ),
    Try(
        bug="cert-manager/cert-manager#4956",
        before=_cert_manager("v1.8.0"),
        after=_kept("cert-manager"),
        requirements=("no-duplicate-create", "survives-restart", "survives-lost-answer"),
        objects=("certificaterequest",),
        another="v1.20.3 stands for v1.13.0, whose main package is published nowhere",
    ),
    Try(
        bug="fabric8io/kubernetes-client#2994",
        before=_fabric8("5.3.0"),
        after=_fabric8("5.3.1"),
        requirements=("survives-expiry", "survives-stream-loss", "tolerates-coalescing", "converges-after-catch-up"),
        objects=("configmap", "greeting"),
    ),
    Try(
        bug="kubernetes-sigs/jobset#1167",
        before=_jobset("v0.11.0"),
        after=_jobset("v0.11.1"),
        requirements=("name-reuse", "no-delete-of-unseen", "converges-after-catch-up"),
        objects=("job", "jobset"),
    ),
    Try(
        bug="kubernetes-sigs/jobset#1194",
        before=_jobset("v0.11.1"),
        after=_jobset("v0.12.0"),
        requirements=("backs-off", "converges-after-catch-up"),
        objects=("jobset",),
    ),
    Try(
        bug="nolar/kopf#698",
        before=_kopf("1.43.0"),
        after=_kopf("1.44.0"),
        requirements=("survives-stream-loss", "converges-after-catch-up", "recovers-in-bounded-time"),
        objects=("pod", "kopfexample"),
    ),
    Try(
        bug="nolar/kopf#729",
        before=_kopf("1.41.0"),
        after=_kopf("1.42.0"),
        requirements=("no-duplicate-create", "no-time-travel", "survives-lost-answer"),
        objects=("pod",),
    ),
    Try(
        bug="prometheus-operator/prometheus-operator#4504",
        before=_prometheus_operator("v0.53.1"),
        after=_prometheus_operator("v0.55.0"),
        requirements=("no-excess-delete", "no-delete-of-unseen", "survives-restart", "settles", "name-reuse"),
        objects=("statefulset",),
        another="v0.55.0 stands for v0.54.0, which the module proxy does not give",
    ),
    Try(
        bug="rabbitmq/cluster-operator#648",
        before=_rabbitmq("v1.6.0"),
        after=_rabbitmq("v1.8.0"),
        requirements=("no-delete-of-unseen", "name-reuse"),
        objects=("statefulset",),
    ),
    Try(
        bug="rabbitmq/cluster-operator#653",
        before=_rabbitmq("v1.6.0"),
        after=_rabbitmq("v1.8.0"),
        requirements=("no-time-travel", "no-excess-delete", "survives-restart"),
        objects=("statefulset",),
    ),
    Try(
        bug="rabbitmq/cluster-operator#782",
        before=_rabbitmq("v1.8.0"),
        after=_rabbitmq("v1.10.0"),
        requirements=("survives-restart", "converges-after-catch-up"),
        objects=("persistentvolumeclaim",),
    ),
    Try(
        bug="ray-project/kuberay#715",
        before=_kuberay("v1.2.2"),
        after=_kuberay("v1.3.0"),
        requirements=("no-duplicate-create", "no-excess-delete"),
        objects=("pod",),
    ),
)
"""In the order of their names."""
