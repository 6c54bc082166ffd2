"""Entries for the tests that fold them: one controller `c`, one stream, one object `x` of the trial, unless said otherwise."""

from staleproof.core.history.entry import (
    Answered,
    Asked,
    Committed,
    Delivered,
    Entry,
    EventType,
    FaultIndex,
    RequestId,
    RequestOutcome,
    StreamId,
)
from staleproof.core.history.resource_version import Revision

NAMESPACE = "trial"


def asked(at: float, verb: str = "create", resource: str = "pods", namespace: str = NAMESPACE, *, dry_run: bool = False) -> Asked:
    """Its request has the number of the whole second."""
    return Asked(at=at, request=RequestId(int(at)), client="c", verb=verb, resource=resource, namespace=namespace, dry_run=dry_run)


def answered(at: float, request: int) -> Answered:
    return Answered(at=at, request=RequestId(request), outcome="ok", code=201)


def committed(at: float, revision: int = 1, namespace: str = NAMESPACE, resource: str = "pods") -> Committed:
    return Committed(
        at=at,
        resource=resource,
        type="ADDED",
        namespace=namespace,
        name="x",
        uid="u",
        revision=Revision(revision),
        object={"metadata": {}},
    )


def wrote(
    at: float, revision: int, *, outcome: RequestOutcome = "ok", code: int = 200, fault: FaultIndex | None = None
) -> list[Entry]:
    """It updates x, and is answered half a second later with this revision. What a fault answers was not executed."""
    request, executed = RequestId(int(at)), None if fault is None else False
    answer = Answered(
        at=at + 0.5,
        request=request,
        outcome=outcome,
        code=code,
        name="x",
        uid="u",
        revision=Revision(revision),
        fault=fault,
        executed=executed,
    )
    return [Asked(at=at, request=request, client="c", verb="update", resource="pods", namespace=NAMESPACE, name="x"), answer]


def changed(at: float, revision: int, **status: object) -> Committed:
    """x has this status now."""
    obj = {"metadata": {}, "status": status}
    return Committed(
        at=at, resource="pods", type="MODIFIED", namespace=NAMESPACE, name="x", uid="u", revision=Revision(revision), object=obj
    )


def delivered(at: float, revision: int | None = 1, type_: EventType = "ADDED", namespace: str = NAMESPACE) -> Delivered:
    shown = None if revision is None else Revision(revision)
    return Delivered(at=at, stream=StreamId(1), type=type_, namespace=namespace, name="x", uid="u", revision=shown)
