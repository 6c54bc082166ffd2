"""How a published bug is tried: the program with the bug and without it, and what a finding of this bug is about.

A row of `bugs.yaml` says what the bug is, `operators.py` how a program is run, `found.py` what counts as finding it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..operators.model import Operator
from .operators import (
    STEP,
    STEPS,
    argo_rollouts,
    argo_workflows,
    cert_manager,
    cluster_api,
    dask_kubernetes,
    fabric8,
    job_controller,
    jobset,
    keda,
    keda_job,
    known,
    kopf,
    kruise,
    kuberay,
    metallb,
    prometheus_operator,
    rabbitmq,
    spark_operator,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One row.

    Attributes:
        bug: its name, as in the table of bugs.
        before: the program with the bug.
        after: the program without it; None: no version without it is known, or none can be had.
        requirements: what the report describes violates one of these, by its words.
        objects: and it does so to one of these kinds, in lower case, as a finding calls them.
        another: why versions are others than those of the table of bugs, if they are.
    """

    bug: str
    before: Operator
    after: Operator | None
    requirements: tuple[str, ...]
    objects: tuple[str, ...]
    another: str = ""


TRIES: Sequence[Try] = (
    Try(
        bug="argoproj/argo-rollouts#4044",
        before=argo_rollouts("v1.7.2"),
        after=argo_rollouts("v1.8.3"),
        requirements=("converges-after-catch-up", "no-lost-update", "no-time-travel", "settles"),
        objects=("replicaset", "rollout"),
    ),
    Try(
        bug="argoproj/argo-rollouts#4073",
        before=argo_rollouts("v1.9.2"),
        after=argo_rollouts("v1.10.0"),
        requirements=("converges-after-catch-up", "recovers-in-bounded-time", "backs-off", "no-lost-update"),
        objects=("rollout",),
    ),
    Try(
        bug="argoproj/argo-workflows#13986",
        before=argo_workflows("v3.6.2", STEPS),
        after=argo_workflows("v3.7.9", STEPS),
        requirements=("no-duplicate-create", "no-time-travel"),
        objects=("pod",),
    ),
    Try(
        bug="argoproj/argo-workflows#16294",
        before=argo_workflows("v3.7.9", STEP),
        after=argo_workflows("v3.7.16", STEP),
        requirements=("no-time-travel", "no-duplicate-create"),
        objects=("pod", "workflow"),
    ),
    Try(
        bug="cert-manager/cert-manager#4956",
        before=cert_manager("v1.8.0"),
        after=known("cert-manager"),
        requirements=("no-duplicate-create", "survives-restart", "survives-lost-answer"),
        objects=("certificaterequest",),
        another="v1.20.3 stands for v1.13.0, whose main package is published nowhere",
    ),
    Try(
        bug="dask/dask-kubernetes#773",
        before=dask_kubernetes("2023.7.2"),
        after=dask_kubernetes("2023.7.3"),
        requirements=("no-duplicate-create", "tolerates-skew"),
        objects=("deployment",),
    ),
    Try(
        bug="fabric8io/kubernetes-client#2994",
        before=fabric8("5.3.0"),
        after=fabric8("5.3.1"),
        requirements=("survives-expiry", "survives-stream-loss", "tolerates-coalescing", "converges-after-catch-up"),
        objects=("configmap", "greeting"),
    ),
    Try(
        bug="kedacore/keda#5656",
        before=keda_job("v2.14.0"),
        after=keda_job("v2.14.1"),
        requirements=("survives-restart", "no-excess-delete"),
        objects=("job",),
    ),
    Try(
        bug="kedacore/keda#8124",
        before=keda("v2.20.2"),
        after=keda("v2.21.0"),
        requirements=("name-reuse", "converges-after-catch-up", "backs-off"),
        objects=("horizontalpodautoscaler", "scaledobject"),
    ),
    Try(
        bug="kubeflow/spark-operator#2788",
        before=spark_operator("v2.3.0", "4.0.0"),
        after=None,
        requirements=("survives-restart", "converges-after-catch-up"),
        objects=("pod", "sparkapplication"),
    ),
    Try(
        bug="kubernetes-sigs/cluster-api#13649",
        before=cluster_api("v1.13.2", ".", "config/default"),
        after=cluster_api("v1.14.0", "core", "core/config/default"),
        requirements=("no-duplicate-create",),
        objects=("machineset",),
    ),
    Try(
        bug="kubernetes-sigs/jobset#1167",
        before=jobset("v0.11.0"),
        after=jobset("v0.11.1"),
        requirements=("name-reuse", "no-delete-of-unseen", "converges-after-catch-up"),
        objects=("job", "jobset"),
    ),
    Try(
        bug="kubernetes-sigs/jobset#1194",
        before=jobset("v0.11.1"),
        after=jobset("v0.12.0"),
        requirements=("backs-off", "converges-after-catch-up"),
        objects=("jobset",),
    ),
    Try(
        bug="kubernetes/kubernetes#137210",
        before=job_controller("v1.35.0"),
        after=job_controller("v1.36.0"),
        requirements=("no-duplicate-create",),
        objects=("pod",),
    ),
    Try(
        bug="metallb/metallb#2443",
        before=metallb("v0.13.12"),
        after=metallb("v0.14.5"),
        requirements=("waits-for-initial-sync", "survives-restart", "no-time-travel"),
        objects=("service",),
        another="v0.14.5 stands for v0.14.2, which the module proxy does not give",
    ),
    Try(
        bug="nolar/kopf#698",
        before=kopf("1.43.0"),
        after=kopf("1.44.0"),
        requirements=("survives-stream-loss", "converges-after-catch-up", "recovers-in-bounded-time"),
        objects=("pod", "kopfexample"),
    ),
    Try(
        bug="nolar/kopf#729",
        before=kopf("1.41.0"),
        after=kopf("1.42.0"),
        requirements=("no-duplicate-create", "no-time-travel", "survives-lost-answer"),
        objects=("pod",),
    ),
    Try(
        bug="openkruise/kruise#1765",
        before=kruise("v1.5.0"),
        after=kruise("v1.8.0"),
        requirements=("tolerates-coalescing", "converges-after-catch-up", "recovers-in-bounded-time"),
        objects=("pod", "cloneset"),
    ),
    Try(
        bug="prometheus-operator/prometheus-operator#4504",
        before=prometheus_operator("v0.53.1"),
        after=prometheus_operator("v0.55.0"),
        requirements=("no-excess-delete", "no-delete-of-unseen", "survives-restart", "settles", "name-reuse"),
        objects=("statefulset",),
        another="v0.55.0 stands for v0.54.0, which the module proxy does not give",
    ),
    Try(
        bug="rabbitmq/cluster-operator#648",
        before=rabbitmq("v1.6.0"),
        after=rabbitmq("v1.8.0"),
        requirements=("no-delete-of-unseen", "name-reuse"),
        objects=("statefulset",),
    ),
    Try(
        bug="rabbitmq/cluster-operator#653",
        before=rabbitmq("v1.6.0"),
        after=rabbitmq("v1.8.0"),
        requirements=("no-time-travel", "no-excess-delete", "survives-restart"),
        objects=("statefulset",),
    ),
    Try(
        bug="rabbitmq/cluster-operator#782",
        before=rabbitmq("v1.8.0"),
        after=rabbitmq("v1.10.0"),
        requirements=("survives-restart", "converges-after-catch-up"),
        objects=("persistentvolumeclaim",),
    ),
    Try(
        bug="ray-project/kuberay#715",
        before=kuberay("v1.2.2"),
        after=kuberay("v1.3.0"),
        requirements=("no-duplicate-create", "no-excess-delete"),
        objects=("pod",),
    ),
)
"""In the order of their names."""
