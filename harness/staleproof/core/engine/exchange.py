"""A request of a client on its way, and the entries about it: what it asked for, the answer, and what reached the client."""

from dataclasses import dataclass, field, replace

from staleproof.core.engine.answer import outcome_of, read_answer, read_dry_run, read_preconditions, read_revision
from staleproof.core.engine.planned_fault import FaultRef
from staleproof.core.history.entry import Answered, Asked, FaultIndex, Listed, Refused, RequestId
from staleproof.core.history.provenance import EVICTION
from staleproof.core.history.request import ApiRequest

_APPLY = "application/apply-patch+"


@dataclass(slots=True)
class Exchange:
    """One request and its answer. `number` is 0 for a WATCH, whose answer is a stream.

    Attributes:
        fault: number of the fault that answered it or lost its answer.
        executed: what we know of its execution then.
        client_status: code and reason that the client got in place of the API server's answer; code 0 means no answer.
        counted: what faults have counted this request as.
    """

    number: RequestId
    request: ApiRequest
    client: str
    fault: FaultIndex | None = None
    executed: bool | None = None
    client_status: tuple[int, str] | None = None
    counted: dict[FaultRef, int] = field(default_factory=dict)

    def __str__(self) -> str:
        request = self.request
        where = "/".join(part for part in (request.namespace, request.name) if part)
        what = f"{request.resource}/{request.subresource}" if request.subresource else request.resource
        return f"{request.verb} {what} {where}".rstrip()

    def asked(self, body: bytes, now: float) -> Asked:
        request = self.request
        uid, revision = _preconditions(request, body)
        return Asked(
            at=now,
            request=self.number,
            client=self.client,
            verb=request.verb,
            resource=request.resource,
            namespace=request.namespace,
            name=request.name,
            subresource=request.subresource,
            selector=request.selector,
            version=request.query.get("resourceVersion", ""),
            precondition_uid=uid,
            precondition_revision=revision,
            dry_run=with_content(request, "", body).dry_run,
        )

    def answered(self, code: int, body: bytes, now: float, *, retry_after: bool) -> Answered | Listed:
        """The API server (or a fault) answered so; the client got this, or what a fault made of it."""
        answer = read_answer(body)
        lost = self.executed is True
        code, reason = self.client_status if lost and self.client_status else (code, answer.reason)
        outcome = "unknown" if lost else outcome_of(code, retry_after=retry_after)
        if outcome == "ok" and self.request.verb == "list":
            return Listed(
                at=now,
                request=self.number,
                client=self.client,
                resource=self.request.resource,
                namespace=self.request.namespace,
                selector=self.request.selector,
                revision=answer.revision,
                items=answer.items,
                more=answer.more,
                fault=self.fault,
            )
        return Answered(
            at=now,
            request=self.number,
            outcome=outcome,
            code=code,
            reason="" if outcome == "ok" else reason,
            namespace=answer.namespace,
            name=answer.name,
            uid=answer.uid,
            revision=answer.revision,
            items=answer.items,
            fault=self.fault,
            executed=self.executed,
        )

    def broken(self, why: str, now: float) -> Answered:
        """The connection broke: whether a write was executed, the controller cannot know."""
        return Answered(at=now, request=self.number, outcome="unknown", reason=why, fault=self.fault, executed=self.executed)

    def refused(self, now: float) -> Refused:
        """A WATCH got an answer that is no stream."""
        code, reason = self.client_status or (0, "")
        return Refused(
            at=now,
            client=self.client,
            resource=self.request.resource,
            namespace=self.request.namespace,
            start=self.request.query.get("resourceVersion", ""),
            watch_list=self.request.is_watch_list,
            code=code,
            reason=reason,
            fault=self.fault,
        )


def _preconditions(request: ApiRequest, body: bytes) -> tuple[str, str]:
    """uid and resourceVersion without which a write is refused."""
    evicts = request.subresource == EVICTION
    if evicts or request.verb == "delete":
        return read_preconditions(body, evicts=evicts)
    return "", read_revision(body) if request.verb in ("update", "patch") else ""


def with_content(request: ApiRequest, content_type: str, body: bytes) -> ApiRequest:
    """The request as it is understood once what comes with it has been read.

    A patch is a server-side apply by its content type alone, `application/apply-patch+yaml` or `+cbor`: other patches may name a
    field manager, too (apiserver pkg/endpoints/handlers/patch.go).

    The DeleteOptions of a delete are what its body says, and what its query says only if it has none (apiserver
    pkg/endpoints/handlers/delete.go, DeleteResource and DeleteCollection). An eviction is a dry run if either says so (kubernetes
    pkg/registry/core/pod/storage/eviction.go, propagateDryRun).
    """
    if request.verb == "patch":
        return replace(request, applies=content_type.startswith(_APPLY))
    if not body:
        return request
    if request.verb in ("delete", "deletecollection"):
        return replace(request, dry_run=read_dry_run(body))
    if request.subresource == EVICTION:
        return replace(request, dry_run=request.dry_run or read_dry_run(body, evicts=True))
    return request
