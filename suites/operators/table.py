"""Which public operators are run, and with what: everything about them that is ours to say.

It decides nothing about how they are built (`source.py`) or run (`run.py`). CRDs, samples and manifests are the operators' own, as
published with the version that is named; paths are inside of what is published.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

PUBLISHED, MADE = "{published}", "{made}"
"""What stands in a row for the folder of the published files, and for that of the files which are made of them."""
PIECE, QUOTED = "{piece}", "{quoted}"
"""What stands in a frame for a piece of a published file: as it is, and as a text of JSON, which YAML takes, too."""


@dataclass(frozen=True, slots=True)
class GoModule:
    """A main package of a module on the Go module proxy."""

    path: str
    version: str
    main: str


@dataclass(frozen=True, slots=True)
class Piece:
    """What is between two marks in a published file, where they are there first; in a frame, if it needs one."""

    file: str
    after: str
    before: str
    frame: str = PIECE


@dataclass(frozen=True, slots=True)
class Chart:
    """What `helm template` makes of a published folder; this is where helm comes from."""

    folder: str
    release: str
    namespace: str
    helm: GoModule = GoModule("helm.sh/helm/v3", "v3.22.0", "cmd/helm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """One row.

    Attributes:
        library: the client library, or what is built on it.
        has: what of the kinds of operators that there are it stands for.
        arguments: of its command line, besides those that its own manifests give.
        options: of `pytest`, besides the command: where its CRDs, samples and manifests are, and what else it needs.
        made: the files that are made of published ones, by their names.
    """

    name: str
    library: str
    module: GoModule
    has: str
    arguments: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    made: Mapping[str, Piece | Chart] = field(default_factory=dict)


OPERATORS: Sequence[Operator] = (
    Operator(
        name="prometheus-operator",
        library="client-go informers of its own",
        module=GoModule("github.com/prometheus-operator/prometheus-operator", "v0.85.0", "cmd/operator"),
        has="StatefulSets with PersistentVolumeClaims, a cluster-scoped prerequisite, RBAC from its manifests",
        arguments=("--web.listen-address=127.0.0.1:{metrics_port}",),
        options=(
            "--controller-manifests={published}/bundle.yaml",
            "--staleproof-samples={published}/example/storage",
            "--staleproof-companions=auto",
        ),
    ),
    Operator(
        name="argo-rollouts",
        library="client-go informers of its own",
        module=GoModule("github.com/argoproj/argo-rollouts", "v1.8.3", "cmd/rollouts-controller"),
        has="prerequisites (Services), children that are ReplicaSets",
        arguments=("--kubeconfig={kubeconfig}", "--leader-elect=false", "--metricsport={metrics_port}", "--healthzPort=0"),
        options=(
            "--staleproof-crds={published}/manifests/crds",
            "--staleproof-samples={published}/examples/rollout-bluegreen.yaml",
            "--staleproof-companions=auto",
        ),
    ),
    Operator(
        name="trust-manager",
        library="controller-runtime",
        module=GoModule("github.com/cert-manager/trust-manager", "v0.25.0", "cmd/trust-manager"),
        has="a cluster-scoped primary, children in every namespace, a validating webhook, RBAC from its chart, a prerequisite",
        arguments=(
            "--kubeconfig={kubeconfig}",
            "--leader-elect=false",
            "--metrics-port={metrics_port}",
            "--readiness-probe-port=0",
            "--webhook-port={webhook_port}",
            f"--default-package-location={MADE}/package.json",
        ),
        options=(
            f"--controller-manifests={MADE}/chart.yaml",
            f"--staleproof-samples={MADE}/default-cas.yaml",
            f"--staleproof-samples={MADE}/formats.yaml",
            f"--staleproof-before={MADE}/my-ca.yaml",
            "--staleproof-companions=auto",
        ),
        made={
            "chart.yaml": Chart("deploy/charts/trust-manager", "trust-manager", "cert-manager"),
            "default-cas.yaml": Piece("README.md", "```yaml\n", "```"),
            "formats.yaml": Piece("design/20241124-rename-bunde-to-clusterbundle.md", "```yaml\n", "```"),
            "package.json": Piece(
                "test/dummy/certificates.go",
                "TestCertificate1 = `",
                "`",
                '{"name": "dummy", "version": "1", "bundle": {quoted}}',
            ),
            "my-ca.yaml": Piece(
                "test/dummy/certificates.go",
                "TestCertificate2 = `",
                "`",
                "{apiVersion: v1, kind: ConfigMap, metadata: {name: my-ca, namespace: cert-manager}, data: {ca.crt: {quoted}}}",
            ),
        },
    ),
)
