"""Which public operators are run, and with what: everything about them that is ours to say.

It decides nothing about how they are built (`origins.py`), kept (`source.py`) or run (`run.py`). CRDs, samples and manifests are
the operators' own, as published with the version that is named; paths are inside of what is published.
"""

from collections.abc import Sequence

from .model import MADE, PIECE, PUBLISHED, Chart, GoModule, Kustomization, MavenArchives, NpmPackage, Operator, Piece, PythonPackage

OPERATORS: Sequence[Operator] = (
    Operator(
        name="prometheus-operator",
        library="client-go informers of its own",
        origin=GoModule("github.com/prometheus-operator/prometheus-operator", "v0.85.0", "cmd/operator"),
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
        origin=GoModule("github.com/argoproj/argo-rollouts", "v1.8.3", "cmd/rollouts-controller"),
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
        origin=GoModule("github.com/cert-manager/trust-manager", "v0.25.0", "cmd/trust-manager"),
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
    Operator(
        name="cert-manager",
        library="client-go informers of its own",
        origin=GoModule("github.com/cert-manager/cert-manager", "v1.20.3", "cmd/controller", ours="cert_manager.go"),
        has="many controllers that work on one Certificate, a primary that another needs, Secrets that no one owns, cached in part",
        arguments=(
            "--kubeconfig={kubeconfig}",
            "--metrics-listen-address=127.0.0.1:{metrics_port}",
            "--feature-gates=StableCertificateRequestName=true",
            "--v=2",
        ),
        options=(
            "--staleproof-crds={published}/deploy/crds",
            f"--staleproof-samples={MADE}/sample.yaml",
            "--staleproof-companions=auto",
        ),
        made={
            "sample.yaml": Piece(  # an Issuer and one of the two Certificates that use it
                "test/fixtures/cert-manager-resources.yaml",
                "limitations under the License.\n",
                "---\napiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata:\n  name: test2",
            ),
        },
    ),
    Operator(
        name="debezium-operator",
        home="https://github.com/debezium/debezium-operator",
        library="java-operator-sdk (Quarkus) on fabric8",
        origin=MavenArchives(
            version="3.3.0.Final",
            archives={
                "app": "io.debezium:debezium-operator-dist:3.3.0.Final:tar.gz",
                "chart": "io.debezium:debezium-operator-dist:3.3.0.Final:tar.gz:helm-chart",
                "bundle": "io.debezium:debezium-operator-dist:3.3.0.Final:tar.gz:olm-bundle",
            },
            jar="app/quarkus-run.jar",
            java=21,
        ),
        has="Java; dependents of a workflow, RBAC from its chart",
        options=(
            "--staleproof-crds={published}/chart/crds",
            f"--controller-manifests={MADE}/chart.yaml",
            f"--staleproof-samples={MADE}/sample.yaml",
            "--controller-env=QUARKUS_HTTP_PORT={metrics_port}",
            "--staleproof-companions=auto",
        ),
        made={
            "chart.yaml": Chart("chart", "debezium-operator", "debezium"),
            "sample.yaml": Piece(
                "bundle/manifests/debezium-operator.v3.3.0-final.clusterserviceversion.yaml",
                "alm-examples: |\n      [\n",
                "\n      ]\n",
            ),
        },
    ),
    Operator(
        name="mustachetemplate",
        home="https://github.com/razee-io/MustacheTemplate",
        library="watches of its own in JavaScript",
        origin=NpmPackage(
            name="@razee/mustachetemplate",
            version="4.0.3",
            program="mustachetemplate",
            overrides={"@razee/razeedeploy-core": "1.3.24", "@razee/kubernetes-util": "1.1.20"},
        ),
        has="JavaScript; watches without a list and without a resourceVersion, children of any kind that it does not watch",
        options=(
            f"--staleproof-crds={MADE}/crd.yaml",
            f"--staleproof-samples={MADE}/sample.yaml",
            "--staleproof-before={published}/test/example/hello-cm.yaml",
            "--staleproof-before={published}/test/example/alternate-greeting-cm.yaml",
            "--controller-env=CRD_WATCH_TIMEOUT_SECONDS=5",
            "--staleproof-companions=auto",
        ),
        made={
            "crd.yaml": Piece(
                "kubernetes/MustacheTemplate/resource.yaml",
                "optional: true\n  - apiVersion: apiextensions.k8s.io/v1",
                "                status:\n",
                f"apiVersion: v1\nkind: List\nitems:\n  - apiVersion: apiextensions.k8s.io/v1{PIECE}"
                "                status: {type: object, x-kubernetes-preserve-unknown-fields: true}\n",
            ),
            "sample.yaml": Piece(  # less the namespace of its child: each trial has one of its own
                "test/example/hello-mtp.yaml",
                "---\n",
                "      namespace: default\n    data:",
                f'{PIECE}    data:\n      result: "{{{{greeting}}}}, {{{{name}}}}!"\n',
            ),
        },
    ),
    Operator(
        name="opentelemetry-operator",
        library="controller-runtime",
        origin=GoModule("github.com/open-telemetry/opentelemetry-operator", "v0.140.0", "."),
        has="defaulting, validating and converting webhooks, samples in two versions, RBAC from its kustomization",
        arguments=(
            "--metrics-addr=127.0.0.1:{metrics_port}",
            "--health-probe-addr=0",
            "--enable-leader-election=false",
            "--webhook-port={webhook_port}",
        ),
        options=(
            f"--controller-manifests={MADE}/default.yaml",
            "--staleproof-samples={published}/config/samples/core_v1beta1_opentelemetrycollector.yaml",
            "--staleproof-companions=auto",
        ),
        made={"default.yaml": Kustomization("config/default")},
    ),
    Operator(
        name="cloud-on-k8s",
        library="controller-runtime",
        origin=GoModule("github.com/elastic/cloud-on-k8s/v3", "v3.5.0", "cmd"),
        has="StatefulSets, Services and Secrets of its own certificates, validating webhooks, RBAC from its chart",
        arguments=(
            "manager",
            f"--config={PUBLISHED}/config/eck.yaml",
            "--enable-webhook",
            "--manage-webhook-certs=false",
            "--webhook-cert-dir={webhook_cert_dir}",
            "--webhook-port={webhook_port}",
            "--metrics-port={metrics_port}",
            "--enable-leader-election=false",
            "--disable-telemetry",
            "--operator-namespace=elastic-system",
        ),
        options=(
            "--staleproof-crds={published}/config/crds/v1/all-crds.yaml",
            f"--controller-manifests={MADE}/chart.yaml",
            "--staleproof-samples={published}/config/samples/logstash/logstash.yaml",
            "--staleproof-companions=auto",
        ),
        made={"chart.yaml": Chart("deploy/eck-operator", "elastic-operator", "elastic-system")},
    ),
    Operator(
        name="jaeger-operator",
        library="controller-runtime",
        origin=GoModule("github.com/jaegertracing/jaeger-operator", "v1.65.0", "."),
        has="watches none of its children, polls, writes its primary whole; webhooks of others' Deployments",
        arguments=(
            "start",
            "--metrics-host=127.0.0.1",
            "--metrics-port={metrics_port}",
            "--health-probe-bind-address=0",
            "--webhook-bind-port={webhook_port}",
            "--leader-elect=false",
        ),
        options=(
            f"--controller-manifests={MADE}/default.yaml",
            "--controller-deployment=jaeger-operator/jaeger-operator",
            "--staleproof-samples={published}/examples/simplest.yaml",
            "--staleproof-companions=auto",
        ),
        made={"default.yaml": Kustomization("config/default")},
    ),
    Operator(
        name="contour",
        library="controller-runtime caches, and a handler of its own",
        origin=GoModule("github.com/projectcontour/contour", "v1.33.8", "cmd/contour"),
        has="makes no objects, only a proxy configuration and a status; host names that are unique, prerequisites that it watches",
        arguments=(
            "serve",
            "--kubeconfig={kubeconfig}",
            "--insecure",
            "--disable-leader-election",
            "--xds-address=127.0.0.1",
            "--xds-port={webhook_port}",
            "--http-address=127.0.0.1",
            "--http-port={metrics_port}",
            "--health-address=127.0.0.1",
            "--health-port={metrics_port}",
            "--debug-http-port=0",
        ),
        options=(
            "--staleproof-crds={published}/examples/contour/01-crds.yaml",
            "--staleproof-samples={published}/examples/example-workload/httpproxy/03-routes/httpproxy-multiple-paths.yaml",
            "--staleproof-before={published}/examples/example-workload/httpproxy/00-common/01-services.yaml",
            "--staleproof-companions=auto",
        ),
    ),
    Operator(
        name="lws",
        library="controller-runtime",
        origin=GoModule("sigs.k8s.io/lws", "v0.7.0", "cmd"),
        has="Pods that make StatefulSets, and are made by them; a webhook of Pods, without which nothing is right",
        arguments=(
            f"--config={MADE}/config.yaml",
            "--metrics-bind-address=127.0.0.1:{metrics_port}",
            "--health-probe-bind-address=0",
        ),
        options=(
            f"--controller-manifests={MADE}/default.yaml",
            "--staleproof-samples={published}/docs/examples/sample/lws.yaml",
            "--staleproof-companions=auto",
        ),
        made={
            "default.yaml": Kustomization("config/default"),
            "config.yaml": Piece(
                "config/manager/controller_manager_config.yaml",
                "apiVersion: ",
                "leaderElection:",
                "apiVersion: {piece}leaderElection: {leaderElect: false}\ninternalCertManagement: {enable: false}\n"
                "webhook: {port: {webhook_port}, certDir: '{webhook_cert_dir}'}\n",
            ),
        },
    ),
    Operator(
        name="metallb",
        library="controller-runtime",
        origin=GoModule("go.universe.tf/metallb", "v0.15.2", "controller"),
        has="a load balancer: its primaries are Services, which it gives addresses of a pool, and it creates nothing",
        arguments=(
            "--namespace=metallb-system",
            "--port={metrics_port}",
            "--webhook-mode=disabled",
            "--disable-cert-rotation",
        ),
        options=(
            "--staleproof-crds={published}/config/crd/bases",
            "--staleproof-samples={published}/configsamples/deployment_l2.yaml",
            "--staleproof-primary=Service",
            "--staleproof-before={published}/config/native/ns.yaml",
            "--staleproof-companions=auto",
        ),
    ),
    Operator(
        name="karpenter",
        library="controller-runtime",
        origin=GoModule("sigs.k8s.io/karpenter", "v1.8.0", "kwok"),
        has="a provisioner of Nodes; everything that it has is cluster-scoped",
        arguments=(
            "--metrics-port={metrics_port}",
            "--health-probe-port={webhook_port}",
            "--feature-gates=StaticCapacity=true",
            "--log-level=debug",
        ),
        options=(
            "--staleproof-crds={published}/kwok/charts/crds",
            "--staleproof-crds={published}/kwok/apis/crds",
            f"--staleproof-samples={MADE}/sample.yaml",
            "--staleproof-before={published}/test/pkg/environment/common/default_kowknodeclass.yaml",
            "--controller-env=DISABLE_LEADER_ELECTION=true",
            "--staleproof-companions=auto",
        ),
        made={
            "sample.yaml": Piece(  # with replicas: it is asked for Nodes, and need not be shown Pods that have none
                "test/pkg/environment/common/default_nodepool.yaml",
                " template:\n",
                "     nodeClassRef:",
                "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\n"
                "spec:\n replicas: 3\n limits: {nodes: 10}\n template:\n{piece}"
                "       - {key: node.kubernetes.io/instance-type, operator: In, values: [c-2x-amd64-linux]}\n"
                "     nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}\n",
            ),
        },
    ),
    Operator(
        name="dask-kubernetes",
        home="https://github.com/dask/dask-kubernetes",
        library="kopf, and kr8s beside it",
        origin=PythonPackage(
            name="dask-kubernetes",
            version="2026.3.0",
            package="dask_kubernetes",
            module="kopf",
            arguments=("run", "--all-namespaces", "--standalone", "-m", "dask_kubernetes.operator.controller"),
        ),
        has="Python; primaries that make primaries of other kinds, Deployments and Pods of one name each, daemons and timers",
        options=(
            f"--controller-manifests={MADE}/chart.yaml",
            "--staleproof-crds={published}/operator/deployment/helm/dask-kubernetes-operator/crds",
            "--staleproof-samples={published}/operator/controller/tests/resources/simplecluster.yaml",
            "--staleproof-companions=auto",
        ),
        arguments=("--liveness=http://127.0.0.1:{metrics_port}/healthz",),
        made={"chart.yaml": Chart("operator/deployment/helm/dask-kubernetes-operator", "dask", "dask-operator")},
    ),
    Operator(
        name="argo-cd-applicationset",
        library="controller-runtime",
        origin=GoModule("github.com/argoproj/argo-cd/v3", "v3.1.9", "cmd"),
        has="GitOps: Applications that it makes of a template, in one namespace only; RBAC and configuration from its manifests",
        arguments=(
            "--metrics-addr=127.0.0.1:{metrics_port}",
            "--probe-addr=0",
            "--webhook-addr=127.0.0.1:{webhook_port}",
        ),
        options=(
            "--controller-manifests={published}/manifests/install.yaml",
            "--controller-deployment=argocd-applicationset-controller",
            "--controller-env=ARGOCD_BINARY_NAME=argocd-applicationset-controller",
            "--staleproof-samples={published}/applicationset/examples/list-generator/list-example.yaml",
            f"--staleproof-before={MADE}/secret.yaml",
            f"--staleproof-before={MADE}/project.yaml",
            "--staleproof-companions=auto",
        ),
        made={  # what Argo CD's own API server puts there: a key, and the project that samples name
            "secret.yaml": Piece(
                "docs/operator-manual/argocd-secret.yaml",
                "apiVersion: ",
                "type: Opaque",
                "apiVersion: {piece}stringData: {server.secretkey: something}\n",
            ),
            "project.yaml": Piece(
                "docs/operator-manual/project.yaml",
                "\nspec:\n",
                "  # Deny all cluster-scoped",
                "apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: default, namespace: argocd}\nspec:\n{piece}",
            ),
        },
    ),
    Operator(
        name="tekton-pipeline",
        library="knative's informers and queues on client-go",
        origin=GoModule("github.com/tektoncd/pipeline", "v1.6.0", "cmd/controller"),
        has="a workflow: PipelineRuns that make TaskRuns that make Pods, and are over in the end",
        arguments=(
            "-kubeconfig={kubeconfig}",
            "-disable-ha",
        ),
        options=(
            "--controller-manifests={published}/config",
            "--controller-deployment=tekton-pipelines-controller",
            "--staleproof-samples={published}/examples/v1/pipelineruns/pipelinerun-with-pipelinespec.yaml",
            "--staleproof-primary=PipelineRun.tekton.dev",
            "--controller-env=PROBES_PORT={metrics_port}",
            "--controller-env=METRICS_PROMETHEUS_PORT={webhook_port}",
            "--staleproof-companions=auto",
        ),
    ),
    Operator(
        name="cloudnative-pg",
        library="controller-runtime",
        origin=GoModule("github.com/cloudnative-pg/cloudnative-pg", "v1.27.0", "cmd/manager"),
        has="a database: Pods, Jobs and PersistentVolumeClaims that it makes itself; webhooks; it asks its Pods how they are",
        arguments=(
            "controller",
            "--leader-elect=false",
            "--metrics-bind-address=127.0.0.1:{metrics_port}",
            "--webhook-port={webhook_port}",
        ),
        options=(
            "--controller-manifests={published}/releases/cnpg-1.27.0.yaml",
            "--controller-env=WEBHOOK_CERT_DIR={webhook_cert_dir}",
            "--staleproof-samples={published}/docs/src/samples/cluster-example.yaml",
            "--staleproof-companions=auto",
        ),
        copies=("operator/manager_amd64",),  # which its Pods run, too
    ),
    Operator(
        name="jobset",
        library="controller-runtime",
        origin=GoModule("sigs.k8s.io/jobset", "v0.12.0", "."),
        has="a batch workload: Jobs that it makes anew, defaulting and validating webhooks, a configuration file",
        arguments=(
            f"--config={MADE}/config.yaml",
            "--metrics-bind-address=127.0.0.1:{metrics_port}",
            "--health-probe-bind-address=0",
        ),
        options=(
            "--staleproof-crds={published}/config/components/crd/bases",
            f"--controller-manifests={MADE}/chart.yaml",
            f"--staleproof-samples={MADE}/sample.yaml",
            "--staleproof-companions=auto",
        ),
        made={
            "chart.yaml": Chart("charts/jobset", "jobset", "jobset-system"),
            "config.yaml": Piece(
                "config/components/manager/controller_manager_config.yaml",
                "apiVersion: ",
                "leaderElection:",
                "apiVersion: {piece}leaderElection: {leaderElect: false}\ninternalCertManagement: {enable: false}\n"
                "webhook: {port: {webhook_port}, certDir: '{webhook_cert_dir}'}\n",
            ),
            "sample.yaml": Piece(
                "keps/104-StartupPolicy/README.md", "```yaml\napiVersion: jobset", "```", "apiVersion: jobset{piece}"
            ),
        },
    ),
    Operator(
        name="rabbitmq-cluster-operator",
        library="controller-runtime",
        origin=GoModule("github.com/rabbitmq/cluster-operator", "v1.10.0", "."),
        has="a message broker: a StatefulSet with PersistentVolumeClaims, which it resizes, and a finalizer",
        arguments=("--metrics-bind-address=127.0.0.1:{metrics_port}",),
        options=(
            "--staleproof-crds={published}/config/crd/bases",
            "--controller-env=KUBE_CONFIG={kubeconfig}",
            "--controller-env=OPERATOR_NAMESPACE=default",
            "--controller-env=LEASE_DURATION=5",  # it always asks for a lock, and a killed one's is kept in a ConfigMap
            "--controller-env=RENEW_DEADLINE=4",
            "--controller-env=RETRY_PERIOD=1",
            "--staleproof-samples={published}/docs/examples/production-ready/rabbitmq.yaml",
            "--staleproof-before={published}/docs/examples/production-ready/ssd-gke.yaml",
            "--staleproof-companions=auto",
        ),
    ),
    Operator(
        name="kuberay",
        library="controller-runtime",
        origin=GoModule("github.com/ray-project/kuberay/ray-operator", "v1.5.0", "."),
        has="clusters of Pods that it makes itself, under generated names",
        arguments=(
            "--metrics-addr=127.0.0.1:{metrics_port}",
            "--health-probe-bind-address=0",
            "--enable-leader-election=false",
        ),
        options=(
            "--staleproof-crds={published}/config/crd/bases",
            "--staleproof-samples={published}/config/samples/ray-cluster.sample.yaml",
            "--staleproof-companions=auto",
        ),
    ),
    Operator(
        name="training-operator",
        library="controller-runtime, and expectations of its own",
        origin=GoModule("github.com/kubeflow/training-operator", "v1.7.0", "cmd/training-operator.v1"),
        has="jobs of many frameworks: Pods and Services that it makes itself, and counts by expectations",
        arguments=("--metrics-bind-address=127.0.0.1:{metrics_port}", "--health-probe-bind-address=0"),
        options=(
            f"--controller-manifests={MADE}/standalone.yaml",
            "--staleproof-samples={published}/examples/pytorch/simple.yaml",
            "--staleproof-companions=auto",
        ),
        made={"standalone.yaml": Kustomization("manifests/overlays/standalone")},
    ),
    Operator(
        name="solr-operator",
        library="controller-runtime",
        origin=GoModule("github.com/apache/solr-operator", "v0.9.1", "."),
        has="a search engine: a StatefulSet, claims that a finalizer deletes, a primary of another operator that it makes",
        arguments=(
            "--metrics-bind-address=127.0.0.1:{metrics_port}",
            "--health-probe-bind-address=0",
            "--leader-elect=false",
        ),
        options=(
            "--staleproof-crds={published}/config/crd/bases",
            "--staleproof-crds={published}/config/dependencies/zookeeper_cluster_crd.yaml",
            "--staleproof-samples={published}/example/test_solrcloud.yaml",
            "--staleproof-companions=auto",
        ),
    ),
    Operator(
        name="spark-operator",
        library="controller-runtime",
        origin=GoModule("github.com/kubeflow/spark-operator/v2", "v2.3.0", "cmd/operator"),
        has="a server that is a single Pod under a fixed name, with a ConfigMap and a Service; Pods that it caches by a label",
        arguments=(
            "controller",
            "start",
            "--metrics-bind-address=127.0.0.1:{metrics_port}",
            "--health-probe-bind-address=0",
        ),
        options=(
            "--staleproof-crds={published}/config/crd/bases",
            "--staleproof-samples={published}/examples/sparkconnect/spark-connect.yaml",
            "--staleproof-before={published}/config/rbac/spark-application-rbac.yaml",
            "--controller-env=KUBERNETES_SERVICE_HOST=127.0.0.1",  # which it tells its Pods
            "--controller-env=KUBERNETES_SERVICE_PORT=443",
            "--staleproof-companions=auto",
        ),
    ),
    Operator(
        name="keda",
        library="controller-runtime",
        origin=GoModule("github.com/kedacore/keda/v2", "v2.21.0", "cmd/operator"),
        has="makes HorizontalPodAutoscalers for others' Deployments, polls what they scale by, a finalizer",
        arguments=(
            "--metrics-bind-address=127.0.0.1:{metrics_port}",
            "--metrics-service-bind-address=127.0.0.1:{webhook_port}",
            "--health-probe-bind-address=0",
            "--cert-dir={webhook_cert_dir}",
        ),
        options=(
            "--staleproof-crds={published}/config/crd/bases",
            f"--staleproof-samples={MADE}/scaledobject.yaml",
            f"--staleproof-before={MADE}/deployment.yaml",
            "--controller-env=WATCH_NAMESPACE=",
            "--controller-env=KEDA_CLUSTER_OBJECT_NAMESPACE=default",
            "--staleproof-companions=auto",
        ),
        made={  # what its end-to-end test of the scaler that needs no service makes; the hours are ours
            "scaledobject.yaml": Piece(
                "tests/scalers/cron/cron_test.go",
                "scaleTargetRef:\n    name: {{.DeploymentName}}\n",
                "  triggers:",
                "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: cron}\nspec:\n"
                "  scaleTargetRef: {name: nginx}\n{piece}  triggers:\n  - type: cron\n"
                "    metadata: {timezone: Etc/UTC, start: 0 0 * * *, end: 59 23 * * *, desiredReplicas: '4'}\n",
            ),
            "deployment.yaml": Piece(
                "tests/scalers/cron/cron_test.go",
                "      containers:\n",
                "`",
                "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: nginx}\nspec:\n  replicas: 1\n"
                "  selector: {matchLabels: {pod: nginx}}\n  template:\n    metadata: {labels: {pod: nginx}}\n"
                "    spec:\n      containers:\n{piece}",
            ),
        },
    ),
    Operator(
        name="external-secrets",
        library="controller-runtime",
        origin=GoModule("github.com/external-secrets/external-secrets", "v0.16.2", "."),
        has="Secrets that it fills from elsewhere, and caches by a label; a cluster-scoped store that a finalizer keeps",
        arguments=("--metrics-addr=127.0.0.1:{metrics_port}",),
        options=(
            "--staleproof-crds={published}/config/crds/bases",
            "--staleproof-samples={published}/docs/snippets/fake-provider-es.yaml",
            "--staleproof-before={published}/docs/snippets/fake-provider-store.yaml",
            "--staleproof-companions=auto",
        ),
    ),
    Operator(
        name="postgres-operator",
        library="client-go informers and queues of its own",
        origin=GoModule("github.com/zalando/postgres-operator", "v1.14.0", "cmd"),
        has="a database without owner references: it deletes by name what it made, and waits for its Pods inside a sync",
        arguments=("-kubeconfig={kubeconfig}", "-outofcluster", "-nodatabaseaccess", "-noteamsapi"),
        options=(
            "--staleproof-crds={published}/manifests/postgresql.crd.yaml",
            f"--controller-manifests={MADE}/configmap.yaml",
            "--controller-manifests={published}/manifests/operator-service-account-rbac.yaml",
            "--controller-manifests={published}/manifests/postgres-operator.yaml",
            "--controller-env=OPERATOR_NAMESPACE=default",
            "--staleproof-samples={published}/manifests/minimal-postgres-manifest.yaml",
            "--staleproof-companions=auto",
        ),
        made={  # shorter waits for what Patroni does, and a free port
            "configmap.yaml": Piece(
                "manifests/configmap.yaml",
                "  aws_region: ",
                "  docker_image: ",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: postgres-operator, namespace: default}\ndata:\n"
                "  api_port: '0'\n  watched_namespace: '*'\n  workers: '8'\n  enable_teams_api: 'false'\n"
                "  enable_database_access: 'false'\n  resource_check_interval: 1s\n  resource_check_timeout: 4s\n"
                "  pod_label_wait_timeout: 1s\n  pod_deletion_wait_timeout: 4s\n  enable_crd_registration: 'false'\n"
                "  aws_region: {piece}",
            ),
        },
    ),
    Operator(
        name="crossplane",
        library="controller-runtime, and caches of its own that it starts and stops",
        origin=GoModule("github.com/crossplane/crossplane/v2", "v2.0.2", "cmd/crossplane"),
        has="cluster-scoped primaries, of whose states it keeps numbered records; it starts and stops controllers while it runs",
        arguments=(
            "core",
            "start",
            "--metrics-port={metrics_port}",
            "--health-probe-port={webhook_port}",
            "--enable-webhooks=false",
            "--tls-client-certs-dir={webhook_cert_dir}",
        ),
        options=(
            "--staleproof-crds={published}/cluster/crds",
            "--staleproof-samples={published}/test/e2e/manifests/apiextensions/composition/basic-namespaced/setup/definition.yaml",
            "--staleproof-samples={published}/test/e2e/manifests/apiextensions/composition/basic-namespaced/setup/composition.yaml",
            "--staleproof-companions=auto",
        ),
    ),
    Operator(
        name="mpi-operator",
        library="client-go informers and queues of its own",
        origin=GoModule("github.com/kubeflow/mpi-operator", "v0.6.0", "cmd/mpi-operator"),
        has="a batch workload: Pods and a Job of fixed names, a Secret with a key drawn by chance; it always asks for a lock",
        arguments=("-alsologtostderr", "-lock-namespace=default"),  # and port 8080, which is compiled in: one worker
        options=(
            "--staleproof-crds={published}/manifests/base/kubeflow.org_mpijobs.yaml",
            "--staleproof-samples={published}/examples/v2beta1/pi/pi.yaml",
            "--staleproof-companions=auto",
        ),
    ),
)
