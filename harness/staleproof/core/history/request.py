"""What one HTTP request asks of the Kubernetes API: verb, resource, object, parameters.

The path and the query alone decide, as in the API server's RequestInfo (apiserver pkg/endpoints/request/requestinfo.go).
Connections, bodies and answers are none of this module's business.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import parse_qsl, unquote, urlsplit

from staleproof.core.history.resource_version import Revision, revision

# /api/v1/... and /apis/<group>/<version>/..., with the deprecated watch/ prefix; group 3 is what follows.
_API_PATH = re.compile(r"/(?:api/(?P<core>[^/]+)|apis/(?P<group>[^/]+)/(?P<version>[^/]+))/(?P<rest>.+)")
_COLLECTION_VERBS = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
_OBJECT_VERBS = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "POST": "create"}
_LONG_RUNNING = frozenset({"exec", "attach", "portforward", "proxy", "log"})

_JSON = "application/json"
_WATCH_ENCODINGS = frozenset({"application/vnd.kubernetes.protobuf", "application/cbor"})
_ENCODINGS = _WATCH_ENCODINGS | {"application/yaml"}

WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
READS = frozenset({"get", "list", "watch"})
BOOKKEEPING = frozenset({"leases.coordination.k8s.io", "events", "events.events.k8s.io"})
"""Resources that a controller writes without doing any work: they never count for idle, settled or excess."""


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """One request to a resource. `resource` is spelt group-qualified, as kubectl does: `pods`, `replicasets.apps`. `program`: which
    further program of the subject it comes from; empty: it comes from the controller itself.

    `dry_run`: nothing of it is stored. `applies`: it is a server-side apply, which makes what is not there. Both as far as is
    known: what comes with a request may have more to say."""

    verb: str
    resource: str
    namespace: str
    name: str
    subresource: str
    query: dict[str, str]
    program: str = ""
    dry_run: bool = False
    applies: bool = False

    def of_program(self, program: str) -> "ApiRequest":
        """The same request as one of this program."""
        return replace(self, program=program) if program else self

    @property
    def is_write(self) -> bool:
        return self.verb in WRITES

    @property
    def is_watch(self) -> bool:
        return self.verb == "watch"

    def flag(self, name: str) -> bool:
        """Whether the query parameter is set and means yes."""
        return flag(self.query, name)

    @property
    def is_watch_list(self) -> bool:
        """KEP-3157: the initial state comes as events that end with a bookmark."""
        return self.is_watch and self.flag("sendInitialEvents")

    @property
    def start(self) -> Revision | None:
        """The revision that a plain WATCH resumes after; None when it starts with the current state."""
        return None if self.is_watch_list else revision(self.query.get("resourceVersion", ""))

    @property
    def selector(self) -> str:
        """Label and field selector in one string; empty when the request sees every object of its scope."""
        parts = (self.query.get(key, "") for key in ("labelSelector", "fieldSelector", "shardSelector"))
        return "&".join(part for part in parts if part)


def flag(query: dict[str, str], name: str) -> bool:
    """The API server's own rule: absent, "0" and "false" mean no, all else means yes (apimachinery pkg/runtime/conversion.go)."""
    value = query.get(name)
    return value is not None and value.lower() not in ("0", "false")


@lru_cache(maxsize=512)  # asked at each hook of a request; the answers are shared, and only read
def parse(method: str, target: str) -> ApiRequest | None:
    """The API request in an HTTP request line, or None when it is not about a resource (discovery, /healthz, /openapi).

    A watch of one name, which only the deprecated prefix spells, selects it by a field (apiserver pkg/endpoints/handlers/get.go,
    ListResource with forceWatch).

    >>> parse("GET", "/apis/apps/v1/namespaces/a/replicasets?watch=1").verb
    'watch'
    """
    url = urlsplit(target)
    match = _API_PATH.fullmatch(unquote(url.path))
    if match is None:
        return None
    query = dict(reversed(parse_qsl(url.query, keep_blank_values=True)))  # of a repeated parameter the first counts
    segments = match["rest"].rstrip("/").split("/")
    legacy_watch = segments[0] == "watch"
    namespace, segments = _namespace(segments[1:] if legacy_watch else segments)
    if not segments or not segments[0]:
        return None
    plural, name, *sub = [*segments, ""] if len(segments) == 1 else segments
    resource = f"{plural}.{match['group']}" if match["group"] else plural
    watching = method == "GET" and (legacy_watch or (not name and flag(query, "watch")))
    if watching and name and not query.get("fieldSelector"):
        query["fieldSelector"] = one_object(name)
    verb = "watch" if watching else (_OBJECT_VERBS if name else _COLLECTION_VERBS).get(method, "other")
    subresource = sub[0] if sub else ""  # what follows (pods/x/proxy/a/b) is not for the API server
    return ApiRequest(verb, resource, namespace, name, subresource, query, dry_run="dryRun" in query)


def one_object(name: str) -> str:
    """The field selector of one name."""
    return f"metadata.name={name}"


def _namespace(segments: list[str]) -> tuple[str, list[str]]:
    """Split the namespace off; `namespaces/x` itself and its subresources are about the namespace object."""
    if len(segments) >= 3 and segments[0] == "namespaces" and segments[2] not in ("status", "finalize"):
        return segments[1], segments[2:]
    return "", segments


def not_allowed(counts: Mapping[str, int]) -> list[str]:
    """What was asked for without the right to it, a sentence each, the commonest first."""
    commonest = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [f"asked {times} time{'' if times == 1 else 's'} to {act}: not allowed by its Role" for act, times in commonest]


def is_long_running(request: ApiRequest | None) -> bool:
    """exec, attach, port-forward, proxy and followed logs: they pass through untouched and unread."""
    return request is not None and request.subresource in _LONG_RUNNING


def json_only(accept: str, *, watch: bool = False) -> str:
    """The Accept header with other encodings turned into JSON, parameters kept, duplicates dropped.

    Clients decode by the answer's Content-Type, so this is invisible to them (client-go rest/request.go transformResponse), and
    JSON is YAML, too. Of a watch YAML stays as it is: the API server has no such stream, and answers 406. Parameters must stay:
    `;as=PartialObjectMetadata` and `;as=Table` select another document, not another encoding.
    """
    encodings = _WATCH_ENCODINGS if watch else _ENCODINGS
    return ",".join(dict.fromkeys(_in_json(clause.strip(), encodings) for clause in accept.split(",")))


def _in_json(clause: str, encodings: Collection[str]) -> str:
    kind, mark, parameters = clause.partition(";")
    return f"{_JSON}{mark}{parameters}" if kind.strip() in encodings else clause
