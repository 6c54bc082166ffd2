"""Programs that had a published bug, in one version or another, as the table of tries runs them.

CRDs, samples and manifests are those that the project published with the version that is run. A sample is the simplest that has
what a report is about, and options are those that any user of the program needs: nothing is said that leads to the bug.
"""

from dataclasses import replace

from ..operators.model import (
    MADE,
    PIECE,
    PUBLISHED,
    GoModule,
    Kustomization,
    MavenLibrary,
    Operator,
    Piece,
    PythonLibrary,
    PythonPackage,
    SparkSubmit,
    StagedModule,
)
from ..operators.table import OPERATORS


def _at(version: str, operator: Operator) -> Operator:
    assert isinstance(operator.origin, GoModule)
    return replace(operator, origin=replace(operator.origin, version=version))


def known(name: str) -> Operator:
    """The row that `ci/operators` has for it."""
    return next(operator for operator in OPERATORS if operator.name == name)


def prometheus_operator(version: str) -> Operator:
    return _at(version, known("prometheus-operator"))


def argo_rollouts(version: str) -> Operator:
    return _at(version, known("argo-rollouts"))


def rabbitmq(version: str) -> Operator:
    """The flag for its metrics is called otherwise since v1.10.0."""
    kept = known("rabbitmq-cluster-operator")
    older = replace(kept, arguments=("--metrics-addr=127.0.0.1:{metrics_port}",))
    return _at(version, kept if version == kept.origin.version else older)


def jobset(version: str) -> Operator:
    return _at(version, known("jobset"))


def cert_manager(version: str) -> Operator:
    """Of a time when its main package was part of its module."""
    kept, crds = known("cert-manager"), {f"{names[0]}.yaml": _crd(*names) for names in _CRDS}
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


def kuberay(version: str) -> Operator:
    return _at(version, known("kuberay"))


def keda(version: str) -> Operator:
    return _at(version, known("keda"))


def keda_job(version: str) -> Operator:
    """With a ScaledJob. Its Jobs run on: nothing here gives their pods a node. It would replace those that are done for ever."""
    kept = keda(version)
    return replace(
        kept,
        has="Jobs that it makes itself, under generated names, and replaces when they are to be others",
        options=(
            *(each for each in kept.options if not each.startswith(("--staleproof-samples", "--staleproof-before", _BESIDE))),
            f"--staleproof-samples={MADE}/scaledjob.yaml",
            f"{_BESIDE}=garbage-collector,namespace,job",
        ),
        made={  # a Job of its end-to-end tests, as the scaler that needs no service asks for it; the hours are ours
            "scaledjob.yaml": Piece(
                "tests/internals/pause_scaledjob/pause_scaledjob_test.go",
                "  jobTargetRef:\n",
                "  triggers:",
                "apiVersion: keda.sh/v1alpha1\nkind: ScaledJob\nmetadata: {name: cron}\nspec:\n"
                "  pollingInterval: 5\n  maxReplicaCount: 10\n  jobTargetRef:\n{piece}  triggers:\n  - type: cron\n"
                "    metadata: {timezone: Etc/UTC, start: 0 0 * * *, end: 59 23 * * *, desiredReplicas: '4'}\n",
            ),
        },
    )


_BESIDE = "--staleproof-companions"


def metallb(version: str) -> Operator:
    """With one address: where there are several Services, others wait."""
    kept = known("metallb")
    return replace(
        _at(version, kept),
        options=tuple(
            f"--staleproof-samples={MADE}/sample.yaml" if option.startswith("--staleproof-samples=") else option
            for option in kept.options
        ),
        made={  # the only Service of its sample; of its addresses, one
            "sample.yaml": Piece(
                "configsamples/deployment_l2.yaml",
                "  name: nginx\nspec:\n  ports:\n",
                "  type: LoadBalancer",
                "apiVersion: metallb.io/v1beta1\nkind: IPAddressPool\nmetadata: {name: example, namespace: metallb-system}\n"
                "spec: {addresses: [192.168.10.0/32]}\n"
                "---\napiVersion: v1\nkind: Service\nmetadata: {name: nginx}\nspec:\n  ports:\n{piece}  type: LoadBalancer\n",
            ),
        },
    )


_NAMED = "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: daemon-nginx}\n"
STEPS = Piece("examples/daemon-nginx.yaml", "generateName: daemon-nginx-\n", ':80/"]', f'{_NAMED}{PIECE}:80/"]\n')
STEP = Piece(
    "examples/daemon-nginx.yaml",
    "  - name: nginx-server\n    daemon: true\n",
    "  - name: nginx-client\n",
    f"{_NAMED}spec:\n  podGC: {{strategy: OnWorkflowCompletion, deleteDelayDuration: 0s}}\n  entrypoint: daemon-nginx-example\n"
    "  templates:\n"
    "  - name: daemon-nginx-example\n    steps: [[{name: nginx-server, template: nginx-server}]]\n"
    f"  - name: nginx-server\n    daemon: true\n{PIECE}",
)
"""Only pods of Jobs end here, so a step goes on only where it waits for its pod to be ready: two of those, and one, with which the
Workflow ends and its pod is collected."""


def argo_workflows(version: str, sample: Piece) -> Operator:
    return Operator(
        name="argo-workflows",
        library="client-go informers of its own, which it writes to",
        origin=GoModule("github.com/argoproj/argo-workflows/v3", version, "cmd/workflow-controller"),
        has="a workflow: Pods that it makes one after the other, and notes in the status of one object",
        arguments=("--kubeconfig={kubeconfig}", "--namespace=argo", "--executor-image=quay.io/argoproj/argoexec:latest"),
        options=(
            f"--controller-manifests={MADE}/install.yaml",
            f"--controller-manifests={MADE}/configmap.yaml",
            "--controller-deployment=workflow-controller",
            "--controller-env=LEADER_ELECTION_DISABLE=true",
            "--controller-env=DEFAULT_REQUEUE_TIME=100ms",  # it sleeps for ten seconds after each sync of a Workflow
            f"--staleproof-crds={PUBLISHED}/manifests/base/crds/full",
            f"--staleproof-samples={MADE}/sample.yaml",
            "--staleproof-companions=auto",
        ),
        made={
            "install.yaml": Kustomization("manifests/cluster-install"),
            "configmap.yaml": Piece(  # no metrics, whose port would be the same for all; no registry is asked what an image runs
                "manifests/base/workflow-controller/workflow-controller-configmap.yaml",
                "apiVersion: ",
                "metadata:",
                "apiVersion: {piece}metadata: {name: workflow-controller-configmap, namespace: argo}\n"
                "data:\n  metricsConfig: |\n    enabled: false\n  images: |\n    nginx:1.13: {cmd: [nginx]}\n",
            ),
            "sample.yaml": sample,
        },
    )


def dask_kubernetes(version: str) -> Operator:
    """What was published of its chart cannot be rendered, so it may do everything."""
    kept = known("dask-kubernetes")
    assert isinstance(kept.origin, PythonPackage)
    without = tuple(option for option in kept.options if not option.startswith("--controller-manifests="))
    return replace(kept, options=without, made={}, origin=replace(kept.origin, version=version))


def job_controller(version: str) -> Operator:
    """As docs/kube-controller-manager.md has it, but for what the pods of its sample are to do: Kubernetes' own Job, with three
    completions, as one that is done after its first pod has nothing to count."""
    return Operator(
        name="kube-controller-manager",
        home="https://github.com/kubernetes/kubernetes",
        library="client-go informers of its own",
        origin=StagedModule("k8s.io/kubernetes", version, "cmd/kube-controller-manager", beside=version.replace("v1.", "v0.", 1)),
        has="Kubernetes' own: Jobs, whose Pods it makes itself and keeps by a finalizer until they are counted",
        arguments=(
            "--kubeconfig={kubeconfig}",
            "--controllers=job-controller",
            "--leader-elect=false",
            "--use-service-account-credentials=false",
            "--kube-api-qps=1000",
            "--kube-api-burst=2000",
            "--bind-address=127.0.0.1",
            "--secure-port={metrics_port}",
            "--authorization-always-allow-paths=/metrics",
            "--authentication-skip-lookup=true",
        ),
        options=(
            "--controller-metrics=https://127.0.0.1:{metrics_port}/metrics",
            f"--staleproof-samples={MADE}/sample.yaml",
            "--staleproof-companions=auto",
        ),
        made={
            "sample.yaml": Piece(
                "test/fixtures/doc-yaml/user-guide/job.yaml",
                "spec:\n",
                "      restartPolicy: Never",
                "apiVersion: batch/v1\nkind: Job\nmetadata: {name: pi}\nspec:\n  completions: 3\n"
                f"{PIECE}      restartPolicy: Never\n",
            ),
        },
    )


def kruise(version: str) -> Operator:
    return Operator(
        name="kruise",
        library="controller-runtime, and expectations of its own",
        origin=GoModule("github.com/openkruise/kruise", version, "."),
        has="workloads: Pods that it makes itself, under drawn names, and counts by expectations; it sets up its own webhooks",
        arguments=(
            "--metrics-addr=127.0.0.1:{metrics_port}",
            "--health-probe-addr=0",
            "--enable-leader-election=false",
            "--enable-pprof=false",
        ),
        options=(
            f"--controller-manifests={MADE}/default.yaml",
            "--controller-deployment=kruise-controller-manager",
            "--controller-env=WEBHOOK_HOST=127.0.0.1",
            "--controller-env=WEBHOOK_PORT={webhook_port}",
            "--controller-env=WEBHOOK_CERT_DIR={webhook_cert_dir}",
            f"--staleproof-samples={PUBLISHED}/config/samples/apps_v1alpha1_cloneset.yaml",
            "--staleproof-companions=auto",
        ),
        made={"default.yaml": Kustomization("config/default")},
    )


def cluster_api(version: str, main: str, config: str) -> Operator:
    """The infrastructure is another project's: definitions of ours stand for its own, and nothing builds it."""
    return Operator(
        name="cluster-api",
        library="controller-runtime",
        origin=StagedModule("sigs.k8s.io/cluster-api", version, main, beside=version),
        has="MachineSets that a MachineDeployment makes, and Machines that they make; it waits until its cache shows what it made",
        arguments=(
            "--leader-elect=false",
            "--diagnostics-address=127.0.0.1:{metrics_port}",
            "--insecure-diagnostics=true",
            "--health-addr=",
            "--feature-gates=MachinePool=true",
            "--webhook-port={webhook_port}",
            "--webhook-cert-dir={webhook_cert_dir}",
        ),
        options=(
            f"--controller-manifests={MADE}/default.yaml",
            "--controller-env=POD_UID=3b0a1f0e-3f0c-4d57-9d55-c5a3d0a0b9a4",
            f"--staleproof-crds={MADE}/template.yaml",
            f"--staleproof-samples={MADE}/sample.yaml",
            "--staleproof-primary=MachineDeployment.cluster.x-k8s.io",
            "--staleproof-companions=auto",
        ),
        made={
            "default.yaml": Kustomization(config),
            "template.yaml": Piece(
                "docs/book/src/tasks/bootstrap/microk8s-bootstrap.md",
                "kind: MachineDeployment",
                "metadata:",
                "\n---\n".join(_INFRASTRUCTURE),
            ),
            "sample.yaml": Piece(  # less where its machines get their bootstrap data from
                "docs/book/src/tasks/bootstrap/microk8s-bootstrap.md",
                "kind: MachineDeployment\nmetadata:\n  name: capi-aws-md-0\n  namespace: default\n",
                "        configRef:",
                "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: capi-aws}\n"
                "spec:\n  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AWSCluster, name: capi-aws}\n"
                "---\napiVersion: infrastructure.cluster.x-k8s.io/v1beta2\nkind: AWSCluster\nmetadata: {name: capi-aws}\n"
                "---\napiVersion: infrastructure.cluster.x-k8s.io/v1beta2\nkind: AWSMachineTemplate\n"
                "metadata: {name: capi-aws-md-0}\nspec: {template: {spec: {}}}\n"
                "---\napiVersion: cluster.x-k8s.io/v1beta2\nkind: MachineDeployment\nmetadata: {name: capi-aws-md-0}\n{piece}"
                "        dataSecretName: capi-aws-md-0\n      infrastructureRef:\n"
                "        {apiGroup: infrastructure.cluster.x-k8s.io, kind: AWSMachineTemplate, name: capi-aws-md-0}\n",
            ),
        },
    )


def _infrastructure(kind: str) -> str:
    """A definition of that kind that says nothing of what is in it."""
    plural = f"{kind.lower()}s"
    return (
        f"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
        f"metadata: {{name: {plural}.infrastructure.cluster.x-k8s.io, labels: {{cluster.x-k8s.io/v1beta2: v1beta2}}}}\n"
        f"spec:\n  group: infrastructure.cluster.x-k8s.io\n  names: {{kind: {kind}, plural: {plural}}}\n  scope: Namespaced\n"
        "  versions:\n  - name: v1beta2\n    served: true\n    storage: true\n    subresources: {status: {}}\n"
        "    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}\n"
    )


_INFRASTRUCTURE = tuple(map(_infrastructure, ("AWSCluster", "AWSMachine", "AWSMachineTemplate")))


def spark_operator(version: str, spark: str) -> Operator:
    """With an application, which a Spark of its image submits."""
    kept = known("spark-operator")
    samples = "--staleproof-samples={published}/examples"
    return replace(
        _at(version, kept),
        has="an application that a program submits, which it runs for each: a server that is a single Pod under a fixed name",
        options=(
            *(option for option in kept.options if not option.startswith(samples)),
            f"{samples}/spark-pi.yaml",
            f"--controller-env=SPARK_HOME={MADE}/spark",
        ),
        made={
            "spark/bin/spark-submit": SparkSubmit(
                PythonPackage(name="pyspark", version=spark, package="pyspark", module="pyspark"), java=17
            ),
        },
    )


def fabric8(version: str) -> Operator:
    return Operator(
        name="fabric8",
        home="https://github.com/fabric8io/kubernetes-client",
        library="fabric8",
        origin=MavenLibrary(version=version, ours="published/fabric8_example", java=17),
        has="Java; what there is, the stores of its informers say",
        options=_OF_OURS,
    )


def kopf(version: str) -> Operator:
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
