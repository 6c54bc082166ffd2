# ruff: noqa: E501  # a table: one row a line
"""What a contract-respecting kube-apiserver, etcd and network could have shown a client, row by row, and request by request.

`legal`: they could have produced exactly what this client observes. `hostile`: none could, so a finding proves nothing about the
controller. `documented`: the documents allow it, but no kube-apiserver was ever seen to do it, nor does its source: a controller
that stumbles over it has no trouble in any cluster, so a finding is a note on robustness and is never scored. The judgement is
about one client's observations: the same disturbance may be legal for one form of request and hostile for another, so some faults
ask here before they act.

Sources: API concepts = kubernetes.io, Kubernetes API Concepts; paths are of k8s.io/apiserver (as:), k8s.io/apimachinery (am:) and
k8s.io/client-go (cg:).
"""

from dataclasses import dataclass
from typing import Literal

from staleproof.core.history.request import ApiRequest

Contract = Literal["legal", "hostile"]
"""What a plan may hold; what is only documented may stand in any plan."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `number` is a stable identifier; `done` says whether kube-apiserver (v1.36) does it, or what else does;
    `why` what the contract is, `source` where it is written."""

    number: str
    disturbance: str
    contract: Literal[Contract, "documented"]
    done: str
    why: str
    source: str

    def __str__(self) -> str:
        return f"legality row {self.number}: {self.disturbance} is {self.contract}: {self.why} ({self.source})"


_ROWS = (
    Row("1", "delaying one watch stream, bookmarks in the same order", "legal", "yes: a watch cache lags", "watch delay is unbounded", "etcd API guarantees; KEP-5647, Motivation"),
    Row("2", "delaying all streams", "legal", "yes: all watch caches of a server lag", "watch delay is unbounded", "etcd API guarantees; KEP-5647, Motivation"),
    Row("3", "different delays for different resources", "legal", "yes: each resource has a watch cache of its own", "there is no order between resource types", "KEP-2340; KEP-5504; kubernetes#112684"),
    Row("4", "different delays for two watches of one resource", "legal", "yes: each watcher has a buffer of its own", "watchers are independent", "as:pkg/storage/cacher/cacher.go"),
    Row("5", "delaying the answer to a write", "legal", "the network does", "there is no order between a write's answer and its watch event", "two connections"),
    Row("6", "ending a stream cleanly at any time", "legal", "yes: each watch has a time limit, and slow watchers are ended", "time-outs, slow watchers and shutdown end streams", "as:pkg/endpoints/handlers/watch.go"),
    Row("7", "a reset, a truncated chunk, a refused connection", "legal", "yes, and so does the network", "networks and restarts do this", "as:pkg/server/filters/goaway.go"),
    Row("8", "a half-open connection: no bytes, no close", "legal", "the network does", "partitions do this", "am:pkg/util/net/http.go, kubernetes#87615"),
    Row("9", "coalescing by an end of the stream and a relist", "legal", "yes: rows 6 and 11", "the contract is level-triggered", "kubernetes#46173; client-go, OnDelete"),
    Row("10", "skipping an intermediate change inside a live stream", "hostile", "no", "watch events are for all changes after the given resource version", "API concepts, Semantics for watch"),
    Row("11", "410 as an ERROR event for a WATCH of a given resourceVersion, at its beginning or later", "legal", "yes: at its beginning from the watch cache, later without one", "how much history is kept is the server's choice", "API concepts, 410 Gone responses; as:pkg/storage/cacher/watch_cache.go, getAllEventsSinceLocked; as:pkg/storage/etcd3/errors.go"),
    Row("11b", "410 as the HTTP answer to a WATCH", "documented", "no: only the documents allow it", "API concepts speak of the status code; the server says that errors of a watch must be events", "API concepts, 410 Gone responses; as:pkg/storage/cacher/cacher.go, Watch"),
    Row("11c", "410 as the HTTP answer to a LIST of exactly one resourceVersion, of a page of it, or of a continue token", "legal", "yes: once etcd has compacted it", "how much history is kept is the server's choice", "API concepts, 410 Gone responses; as:pkg/storage/etcd3/errors.go"),
    Row("11d", "410 as the HTTP answer to a LIST that any newer state satisfies", "documented", "no: only the documents allow it", "a newer state is always there, and the server answers with it, or with 504", "API concepts, 410 Gone responses; as:pkg/storage/cacher/delegator.go, as:pkg/storage/etcd3/store.go, GetList"),
    Row("12", "410 for a LIST without resourceVersion", "hostile", "no", "a consistent read needs no history", "am:pkg/apis/meta/v1/types.go, Continue"),
    Row("13", "dropping one event and going on", "hostile", "no", "a watch misses no update", "etcd API guarantees, Reliable; API concepts, Efficient detection of changes"),
    Row("14", "dropping an ordinary bookmark", "legal", "yes: a watcher whose buffer is full gets none", "bookmarks are sent at the server's discretion", "am:pkg/apis/meta/v1/types.go, AllowWatchBookmarks"),
    Row("15", "dropping the bookmark that ends the initial events, then sending live events", "hostile", "no", "once all such events have been sent, that bookmark will be sent", "am:pkg/apis/meta/v1/types.go, SendInitialEvents"),
    Row("15b", "stalling the initial events, then closing", "legal", "the network does", "no live event passes first", "cg:tools/cache/reflector.go"),
    Row("16", "delaying a bookmark with its stream", "legal", "yes: row 1", "watch delay is unbounded", "etcd API guarantees"),
    Row("17", "delivering a bookmark after newer events", "hostile", "no", "resource versions would go back", "as:pkg/storage/cacher/cache_watcher.go"),
    Row("18", "an extra bookmark at the last delivered revision", "legal", "yes: about once a minute, and at the end of a watch", "everything up to it has been delivered", "API concepts, Watch bookmarks"),
    Row("19", "repeating an event in a stream", "hostile", "no", "an event never appears twice", "as:pkg/storage/cacher/cache_watcher.go"),
    Row("20", "reordering two events of one object", "hostile", "no", "events are ordered by revision", "etcd API guarantees, Ordered"),
    Row("21", "reordering events of different objects in a live stream", "hostile", "no", "a resumption would skip events", "kubernetes#49745; cg:tools/cache/reflector.go"),
    Row("22", "splitting or merging chunks", "legal", "the network does", "transport", "RFC 9112"),
    Row("23", "answering a read of resourceVersion n with an older state", "hostile", "no", "not older than n, or exactly n", "API concepts, Resource versions; KEP-2523"),
    Row("24", "a consistent past snapshot for a LIST or WATCH with resourceVersion 0", "legal", "yes: several servers, one of which lags", "data may be at a much older resource version than the client has seen", "API concepts, Semantics for get and list (Any); kubernetes#59848"),
    Row("24b", "the same for a WATCH without resourceVersion that asks for the state (no sendInitialEvents)", "legal", "yes, though the documents promise the most recent", "it is served from the watch cache, as with resourceVersion 0", "as:pkg/storage/cacher/watch_cache.go, getAllEventsSinceLocked; kubernetes#123935"),
    Row("25", "an old answer to a consistent read", "hostile", "no", "without resourceVersion a read is a quorum read", "API concepts, Most recent; KEP-2340; KEP-3157"),
    Row("26", "refusing every WatchList of a server", "legal", "yes: 422 without the feature, an ERROR event with an old etcd", "the feature may be off, or etcd too old", "as:pkg/storage/cacher/cacher.go; cg:tools/cache/reflector.go"),
    Row("26b", "refusing WatchList for some resources only", "hostile", "no", "one server has the feature or has it not", "KEP-3157"),
    Row("27", "a list that mixes objects of different times", "hostile", "no", "a list is one snapshot", "am:pkg/apis/meta/v1/types.go, Limit"),
    Row("28", "429 with Retry-After in place of executing", "legal", "yes: priority and fairness, and while a watch cache begins", "priority and fairness, initialisation, shutdown", "as:pkg/server/filters/priority-and-fairness.go; KEP-4568"),
    Row("29", "500, 503, 504 or a cut connection in place of executing", "legal", "yes, and so does the network", "overload, shutdown, network", "as:pkg/server/filters/waitgroup.go"),
    Row("30", "executing a write and losing the answer", "legal", "yes: its own time-out, or etcd's", "the server may still be processing the request after a 504", "as:pkg/server/filters/timeout.go; am:pkg/api/errors/errors.go"),
    Row("31", "executing a write and answering with Retry-After", "hostile", "no", "Retry-After is sent only for what was not executed, and clients repeat it", "cg:rest/with_retry.go"),
    Row("32", "409 without a competing write", "hostile", "no", "the claim is false; Compete makes a real one", "API concepts, Resource versions"),
    Row("32b", "another user's write to the same object just before the controller's", "legal", "another user does", "any user may write at any time, and the 409 that follows is true", "API concepts, Resource versions"),
    Row("33", "401 or 403 for a while", "legal", "yes: its caches of both", "authentication and authorisation are cached", "another subject than staleness"),
    Row("34", "changed content, objects from nowhere", "hostile", "no", "a server shows what was stored", "API concepts"),
    Row("35", "a stream that outlives its timeoutSeconds", "legal", "the network does", "held events are late, nothing else", "am:pkg/apis/meta/v1/types.go, TimeoutSeconds"),
    Row("36", "a call to another system that is rejected, late, or executed and not answered", "legal", "it is not its business", "the Kubernetes API promises nothing about other systems", "two connections"),
    Row("37", "a notification of another system that is lost, late, or comes twice", "legal", "it is not its business", "the Kubernetes API promises nothing about other systems", "PostgreSQL, NOTIFY: a session that does not listen at that moment never hears of it"),
)  # fmt: skip

ROWS = {row.number: row for row in _ROWS}


def past_is_hostile(request: ApiRequest) -> str | None:
    """The number of the row that forbids answering this read from an older snapshot; None when the request allows any."""
    version, match = request.query.get("resourceVersion", ""), request.query.get("resourceVersionMatch", "")
    if request.query.get("continue"):
        return "27"
    if version not in ("", "0"):
        return "23"
    if version == "0" and match in ("", "NotOlderThan"):
        return None
    if request.is_watch and not request.is_watch_list and not is_start_only(request):
        return None  # row 24b
    return "25"


def row_against_expiry(request: ApiRequest) -> str | None:
    """The number of the row that forbids answering this LIST or WATCH with 410, or says that it is only documented; None when only
    history can answer it."""
    version, match = request.query.get("resourceVersion", ""), request.query.get("resourceVersionMatch", "")
    if request.query.get("continue"):
        return None
    if version in ("", "0"):
        return "12"
    is_exact = request.verb != "list" or match == "Exact" or (not match and request.query.get("limit", "0") != "0")
    return None if is_exact else "11d"


def is_start_only(request: ApiRequest) -> bool:
    """Whether it says sendInitialEvents=false: the server's present state is only where the events begin."""
    return request.is_watch and "sendInitialEvents" in request.query and not request.flag("sendInitialEvents")
