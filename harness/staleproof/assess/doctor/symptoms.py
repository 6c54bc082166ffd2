"""What operators say, or are answered, when they cannot work here: each symptom with its cause and with what cures it, as a table.

A row is one cause. It has a sign for each way in which the runtimes and frameworks of several languages show it: a line of the
controller's log, or an answer of the API server in words. A name in angle brackets in a cause or cure is what the group of that
name matched.

Divergence from Kubernetes: the words are those of today's libraries. What is not in the table is shown and not explained.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from staleproof.assess.doctor.symptom import Explanation, Sign, Source, Symptom


def _log(pattern: str, example: str) -> Sign:
    return Sign("log", re.compile(pattern, re.IGNORECASE), example)


def _answer(pattern: str, example: str) -> Sign:
    return Sign("answer", re.compile(pattern), example)


_ABSENT = r"(?:no such file|NoSuchFile|FileNotFound|does not exist|not found)"
_PAIR = r"[\"'\s:](?P<path>/[^\s\"',:]+\.(?:crt|key|pem|p12|jks))"
_PATH = r"[\"'\s:](?P<path>/[^\s\"',:]+)"
_MOUNTED = "/var/run/secrets/kubernetes.io/serviceaccount"
_VARIABLE = r"(?P<name>[A-Z][A-Z0-9]*_[A-Z0-9_]+)"

_UNNAMED = "something"
"""Where a sign does not say which: the line itself says more."""

SYMPTOMS = (
    Symptom(
        "it was built for another machine",
        "build it for this one, or give it as --controller-image",
        (
            _log(r"exec format error|cannot execute binary", "exec /manager: exec format error"),
            _log(r"GLIBC_[\d.]+' not found", "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found"),
        ),
    ),
    Symptom(
        "it looks for what is mounted into every pod, and a program is in none",
        "let it use KUBECONFIG or --kubeconfig={kubeconfig}; its namespace is a variable of its own "
        "(--controller-env=POD_NAMESPACE=default) or a flag. A container (--controller-image) has those files",
        (
            _log(f"{_MOUNTED}/", f"open {_MOUNTED}/namespace: no such file or directory"),
            _log(
                "unable to load in-cluster configuration|KUBERNETES_SERVICE_HOST",
                "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined",
            ),
            _log(
                "Service host/port is not set", "kubernetes.config.config_exception.ConfigException: Service host/port is not set."
            ),
            _log(
                "InferConfigError|in_cluster: ReadEnv",
                "Error: failed to infer config: in_cluster: ReadEnvironmentVariable(NotPresent)",
            ),
        ),
    ),
    Symptom(
        "it asks an API server that it knows by default, and not that of its kubeconfig",
        "let it use KUBECONFIG, or --kubeconfig={kubeconfig}",
        (
            _log(
                r"(?:localhost|127\.0\.0\.1|\[::1\]):(?:8080|443|6443)\b.*connection refused",
                'Get "http://localhost:8080/api?timeout=32s": dial tcp 127.0.0.1:8080: connect: connection refused',
            ),
            _log(
                "no configuration has been provided",
                "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER",
            ),
        ),
    ),
    Symptom(
        "it does not show the API server the credentials of its kubeconfig",
        "let it use the whole kubeconfig (KUBECONFIG, or {kubeconfig}), not its server alone",
        (
            _log(
                "the server has asked for the client to provide credentials",
                "error: the server has asked for the client to provide credentials",
            ),
            _answer(r": 401\b", "list pods: 401 Unauthorized"),
        ),
    ),
    Symptom(
        "it does not trust the CA that its kubeconfig names",
        "let it use the whole kubeconfig (KUBECONFIG, or {kubeconfig}), its certificate-authority included",
        (
            _log(
                "x509: certificate signed by unknown authority",
                "tls: failed to verify certificate: x509: certificate signed by unknown authority",
            ),
            _log(
                "CERTIFICATE_VERIFY_FAILED",
                "ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed",
            ),
            _log("PKIX path building failed", "javax.net.ssl.SSLHandshakeException: PKIX path building failed"),
        ),
    ),
    Symptom(
        "it insists on TLS to PostgreSQL, and staleproof reads statements on their way, so the server has none",
        "take the URL as it is in the controller's variable (`external: {env: …}`): it says sslmode=disable. A flag, a variable "
        "such as PGSSLMODE, or code that says sslmode=require goes before it: leave that out, or say disable there, too",
        (
            _log(
                "server does not support SSL, but SSL was required",
                'psycopg.OperationalError: connection to server at "127.0.0.1", port 5432 failed: server does not support SSL, but '
                "SSL was required",
            ),
            _log("pq: SSL is not enabled on the server", "pq: SSL is not enabled on the server"),
            _log(
                "server refused TLS connection",
                "failed to connect to `user=controller database=postgres`: 127.0.0.1:5432: server refused TLS connection",
            ),
            _log(
                "The server does not support SSL|rejected SSL upgrade",
                "org.postgresql.util.PSQLException: The server does not support SSL.",
            ),
        ),
    ),
    Symptom(
        "it finds no certificate for its webhooks (or metrics): no volume is mounted here",
        "{webhook_cert_dir} is a folder with a pair that is made for each run: give it to the flag or variable for that folder "
        "(kubebuilder's: --webhook-cert-path={webhook_cert_dir}), or, where controller-runtime looks by itself, say "
        "--controller-env=TMPDIR={webhook_cert_dir}. With --controller-manifests its webhooks are called, too. "
        "kubebuilder's projects do without them with --controller-env=ENABLE_WEBHOOKS=false",
        (
            _log(f"{_PAIR}.*{_ABSENT}", "open /tmp/k8s-webhook-server/serving-certs/tls.crt: no such file or directory"),
            _log(f"{_ABSENT}.*?{_PAIR}", "java.nio.file.NoSuchFileException: /deployments/certs/tls.crt"),
            _log(
                r"load_cert_chain|unable to (?:read|load) (?:the )?(?:tls |webhook |serving )*(?:certificate|cert|key)",
                "tls.load_cert_chain(Path(folder, 'tls.crt'), Path(folder, 'tls.key'))",
            ),
        ),
    ),
    Symptom(
        "it does not know in which namespace its Lease is to be, because it is in no pod",
        "--controller-args=--leader-elect=false, or its flag for the namespace of the Lease (--leader-election-namespace=default)",
        (
            _log(
                "unable to find leader election namespace",
                "unable to find leader election namespace: not running in-cluster, please specify LeaderElectionNamespace",
            ),
        ),
    ),
    Symptom(
        "its Lease is to be in the namespace <namespace>, which is not there, so it waits for ever to be the leader",
        "--controller-args=--leader-elect=false, or a namespace that is there (its flag for that, or "
        "--controller-env=POD_NAMESPACE=default). --controller-manifests makes the one that it is installed in",
        (
            _log(
                r"(?:leader|lease|lock).*namespaces? \\?\"(?P<namespace>[^\"\\]+)\\?\" not found",
                'error initially creating lease lock: namespaces "widget-system" not found',
            ),
            _answer(
                r"create leases\.coordination\.k8s\.io in (?P<namespace>\S+): 404\b",
                "create leases.coordination.k8s.io in widget-system: 404 NotFound",
            ),
        ),
    ),
    Symptom(
        "it writes into the namespace <namespace>, which is not there",
        "--controller-manifests makes the one that it is installed in; give others as Namespaces with --before, or name one that "
        "is there with its own option (--controller-env=POD_NAMESPACE=default)",
        (
            _log(
                r"namespaces? \\?\"(?P<namespace>[^\"\\]+)\\?\" not found",
                'configmaps is not created: namespaces "widget-system" not found',
            ),
            _answer(r"create \S+ in (?P<namespace>\S+): 404\b", "create configmaps in widget-system: 404 NotFound"),
        ),
    ),
    Symptom(
        "the API server does not know <kind>, which it watches or writes",
        "give the CustomResourceDefinition with --crds, another project's, too, or turn off what needs it with its own option",
        (
            _log(
                r"no matches for (?:kind )?\\?\"?(?P<kind>[\w.-]+)\\?\"? in (?:version|group) ",
                'no matches for kind "Issuer" in version "cert-manager.io/v1"',
            ),
            _log(
                r"no matches for (?P<kind>[\w.-]+/v\w+)",
                "unable to retrieve the complete list of server APIs: no matches for cert-manager.io/v1, Resource=",
            ),
            _log(
                r"failed to (?:list|watch) \*?(?P<kind>[\w.]+)[:,].*could not find the requested resource",
                "failed to list *v1.Widget: the server could not find the requested resource (get widgets.example.com)",
            ),
            _log(r"(?P<kind>[\w.-]+)'? v\w+ CRD was not found", "'widgets.example.com' v1 CRD was not found on the cluster"),
            _log(
                r"Unresolved resources cannot be served \(try creating their CRDs\): \{?(?P<kind>.*?)\}?$",
                "Unresolved resources cannot be served (try creating their CRDs): Selector(group='a.io', any_name='webs')",
            ),
            _log(r"404 page not found|ApiError: NotFound \(ErrorResponse", "watcher error: ApiError: 404 page not found"),
            _answer(r"(?:list|watch) (?P<kind>[\w.-]+)(?: in \S+)?: 404\b", "list widgets.example.com: 404 NotFound"),
        ),
    ),
    Symptom(
        "a watch that it waits for does not begin: its CustomResourceDefinition is missing, or the right to list and watch",
        "give all CustomResourceDefinitions with --crds; the check RBAC names what it may not do",
        (
            _log(
                "waiting for cache to be synced|caches? to sync|should be installed before calling Start",
                "if kind is a CRD, it should be installed before calling Start",
            ),
        ),
    ),
    Symptom(
        "<account> may not <verb> <resource>",
        "add it to its Role in what --controller-manifests gives, or see that the Role is bound to it",
        (
            _log(
                r"User \\?\"system:serviceaccount:(?P<account>[\w.:-]+)\\?\" cannot (?P<verb>\w+) resource "
                r"\\?\"(?P<resource>[\w.-]+)",
                'secrets is forbidden: User "system:serviceaccount:widget-system:manager" cannot list resource "secrets"',
            ),
        ),
    ),
    Symptom(
        "a port that it listens on is taken, by another program or by the controller of another worker (-n)",
        "give it a free one: {metrics_port} and {webhook_port} stand for one each, and 0 turns many off "
        "(--metrics-bind-address=127.0.0.1:{metrics_port} --health-probe-bind-address=0); with one that cannot be chosen, "
        "leave out -n",
        (
            _log(r"address (?:is )?already in use", "listen tcp :8080: bind: address already in use"),
            _log(r"AddrInUse|BindException|EADDRINUSE|seems to be in use", "Error: Os { code: 98, kind: AddrInUse }"),
        ),
    ),
    Symptom(
        "it takes the variable <name>, which is not set",
        "--controller-env=<name>=VALUE, or --controller-manifests, which has it",
        (
            _log(
                rf"(?-i:\b{_VARIABLE}\b).{{0,40}}(?:must (?:not )?be|not set|unset|required|not defined|empty|missing|not found)",
                "WATCH_NAMESPACE must be set",
            ),
            _log(rf"(?:environment variable|env var|KeyError:)\s*['\"`]?(?-i:{_VARIABLE})", "KeyError: 'POD_NAMESPACE'"),
        ),
    ),
    Symptom(
        "it does not know the flag <flag>",
        "its flags are those of --controller-cmd and --controller-args, or else of what --controller-manifests installs: are they "
        "those of this version?",
        (
            _log(r"flag provided but not defined: (?P<flag>-\S+)", "flag provided but not defined: -metrics-addr"),
            _log(r"unknown (?:shorthand )?(?:flag|option)s?:? '?(?P<flag>-[\w-]+)", "Error: unknown flag: --leader-elect"),
            _log(r"unrecognized arguments: (?P<flag>\S+)", "error: unrecognized arguments: --leader-elect"),
            _log(r"unexpected argument '(?P<flag>[^']+)'", "error: unexpected argument '--leader-elect' found"),
        ),
    ),
    Symptom(
        "it reads <path>, which a volume brings in a cluster, and none is mounted here",
        "give it a path on this machine with its own flag (--controller-args) or variable (--controller-env)",
        (
            _log(rf"(?:open|stat|lstat|read) (?P<path>/\S+): {_ABSENT}", "open /etc/widget/config.yaml: no such file or directory"),
            _log(
                f"(?:No such file or directory|NoSuchFileException|FileNotFoundException).*?{_PATH}",
                "FileNotFoundError: [Errno 2] No such file or directory: '/etc/widget/config.yaml'",
            ),
        ),
    ),
    Symptom(
        "what it writes lacks a value, which the sample may have to say, or a webhook of its own fills in",
        "--controller-manifests, so that its webhooks are called, or a sample that says it",
        (
            _log(
                r"is invalid:.*(?:Required value|Unsupported value: \\?\"\\?\")",
                'Widget.example.com "w" is invalid: spec.strategy: Unsupported value: "": supported values: "automatic"',
            ),
        ),
    ),
    Symptom(
        "it runs commands in pods, or reads their logs, and there is no kubelet here",
        "turn that off with an option of its own. Companions give pods a Node and let them become ready, but no program runs in "
        "them: what waits for an answer from inside is not done here",
        (
            _log(r"does not have a host assigned", "pod x-0 does not have a host assigned"),
            _log(
                r"error dialing backend|upgrade request required|container not found \(",
                "error dialing backend: dial tcp 10.0.0.1:10250: i/o timeout",
            ),
        ),
    ),
    Symptom(
        "it calls <host>, and no name or address of a cluster leads anywhere here: no program runs in a pod",
        "give it another address with its own option, such as that of a program of yours that stands for it, or turn that part off",
        (
            _log(
                r"lookup (?P<host>[\w.-]+)(?: on \S+)?: (?:no such host|server misbehaving|i/o timeout|Temporary failure)",
                "dial tcp: lookup web.default.svc on 127.0.0.53:53: no such host",
            ),
            _log(
                r"dial tcp (?P<host>(?!127\.)[\d.]+:\d+): (?:i/o timeout|connect: (?:no route|network is|connection refused))",
                "dial tcp 10.96.0.17:80: connect: network is unreachable",
            ),
            _log(r"UnknownHostException: (?P<host>[\w.-]+)", "java.net.UnknownHostException: web.default.svc"),
            _log(r"getaddrinfo (?:ENOTFOUND|EAI_AGAIN) (?P<host>[\w.-]+)", "Error: getaddrinfo ENOTFOUND web.default.svc"),
            _log(
                r"host='(?P<host>[\w.-]+)'.*(?:Name or service not known|name resolution|getaddrinfo failed)",
                "HTTPConnectionPool(host='web.default.svc', port=80): Max retries exceeded: Name or service not known",
            ),
            _log(
                r"(?P<host>[\w.-]*)\.svc(?:\.cluster\.local)?\b.*(?:failed to lookup address|name resolution)",
                "error sending request for url (http://web.default.svc/): failed to lookup address information",
            ),
        ),
    ),
    Symptom(
        "its handler <handler> fails, and is tried again only after a while (60 s unless it says otherwise), or never",
        "the lines of its log before that say why: is the sample complete?",
        (
            _log(
                r"Handler '(?P<handler>[^']+)' failed (?:with an exception|temporarily|permanently)",
                "Handler 'create_fn' failed with an exception and will try again in 60 seconds: no quorum",
            ),
            _log(
                r"Exhausted retries for (?:scope )?(?P<handler>.+?)\.?$",
                "Exhausted retries for scope ResourceID{name='w', namespace='default'}.",
            ),
        ),
    ),
)


def explained(lines: Iterable[str], source: Source = "log") -> list[Explanation]:
    """What lines mean, each cause once, in their order, with all that they name. The first row that knows a line explains it."""
    found: dict[Symptom, list[Mapping[str, str]]] = {}
    for line in lines:
        match _first_sign(line, source):
            case symptom, named:
                found.setdefault(symptom, []).append(named)
    return [_explanation(symptom, named) for symptom, named in found.items()]


@lru_cache(maxsize=4096)  # the same lines are asked about by several checks
def _first_sign(line: str, source: Source) -> tuple[Symptom, Mapping[str, str]] | None:
    """The first row that knows the line, and what its sign names."""
    for symptom in SYMPTOMS:
        for sign in symptom.signs:
            match = sign.pattern.search(line) if sign.source == source else None
            if match is not None:
                return symptom, match.groupdict(default="")
    return None


def _explanation(symptom: Symptom, named: Sequence[Mapping[str, str]]) -> Explanation:
    """Of a row, with all that its signs named in place of the names in it."""

    def filled(text: str) -> str:
        return re.sub(r"<(\w+)>", lambda match: _joined(each.get(match[1], "") for each in named) or _UNNAMED, text)

    return Explanation(filled(symptom.cause), filled(symptom.cure))


def _joined(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(filter(None, names)))


def table() -> str:
    """The symptoms as a Markdown table."""
    rows = ["| in the log, or as an answer | cause | what helps |", "|---|---|---|"]
    for symptom in SYMPTOMS:
        signs = "<br>".join(f"`{_plain(sign.example)}`{' (answer)' * (sign.source == 'answer')}" for sign in symptom.signs)
        rows.append(f"| {signs} | {_in_words(symptom.cause)} | {_in_words(symptom.cure)} |")
    return "\n".join(rows)


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("`", "'")


def _in_words(text: str) -> str:
    """Names in angle brackets would be taken for HTML."""
    return re.sub(r"<(\w+)>", lambda match: match[1].upper(), _plain(text))


DOCTOR = {"symptoms": table}
"""What is printed into the page about the doctor, as `staleproof.report.documentation` does it."""
