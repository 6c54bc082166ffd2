"""Whose a Lease is: the controller's if no other user has written it since."""

import pytest

from staleproof.core.fault.model import Verb
from staleproof.core.history.entry import Answered, Asked, Entry, RequestId
from staleproof.core.history.resource_version import Revision
from staleproof.drive.cluster.api import JSON
from staleproof.drive.cluster.leases import LEASES, Leases


def asked(verb: Verb = "update", *, number: int = 1, resource: str = LEASES, name: str = "leader", dry_run: bool = False) -> Asked:
    return Asked(
        at=1.0,
        request=RequestId(number),
        client="c",
        verb=verb,
        resource=resource,
        namespace="kube-system",
        name=name,
        dry_run=dry_run,
    )


def answered(revision: int | None = 7, *, number: int = 1, outcome: str = "ok") -> Answered:
    return Answered(at=2.0, request=number, outcome=outcome, uid="u1" if revision else "", revision=revision)  # type: ignore[arg-type]  # one of three


def lease(revision: int = 7, *, holder: str | None = "me", uid: str = "u1", name: str = "leader") -> JSON:
    spec = {} if holder is None else {"holderIdentity": holder}
    return {"metadata": {"namespace": "kube-system", "name": name, "uid": uid, "resourceVersion": str(revision)}, "spec": spec}


def seen(*entries: Entry) -> Leases:
    leases = Leases()
    for entry in entries:
        leases.see(entry)
    return leases


@pytest.mark.parametrize("verb", ["create", "update", "patch"])
def test_what_the_controller_wrote_last_is_its_own(verb: Verb) -> None:
    leases = seen(asked(verb), answered(5), asked(verb, number=2), answered(7, number=2))
    assert leases.held([lease(7), lease(7, uid="u2")]) == [lease(7)]
    assert leases.held([lease(5)]) == [], "which is not what it wrote last: that one was made by another"


def test_what_another_user_wrote_since_is_theirs() -> None:
    assert seen(asked(), answered(7)).held([lease(8)]) == []


@pytest.mark.parametrize("holder", ["", None])
def test_what_has_no_holder_needs_no_release(holder: str | None) -> None:
    assert seen(asked(), answered()).held([lease(holder=holder)]) == []


def test_a_write_without_an_answer_may_have_been_done() -> None:
    """It died in the middle of a renewal: the last answer that is known of is older than the lease."""
    before = (asked(number=1), answered(5, number=1), asked(number=2))
    for leases in (seen(*before), seen(*before, answered(None, number=2, outcome="unknown"))):
        assert leases.held([lease(8), lease(8, uid="u2", name="other")]) == [lease(8)]


def test_once_there_is_an_answer_again_it_is_certain() -> None:
    leases = seen(asked(number=1), answered(None, number=1, outcome="unknown"), asked(number=2), answered(7, number=2))
    assert leases.held([lease(7)]) == [lease(7)]
    assert leases.held([lease(8)]) == []


@pytest.mark.parametrize(
    "entries",
    [
        (),
        (asked(resource="configmaps"), answered()),
        (asked("get"), answered()),
        (asked("delete"), answered()),
        (asked(dry_run=True), answered()),
        (asked(), answered(None, outcome="fail")),
        (answered(),),
    ],
    ids=["nothing", "no lease", "read", "deleted", "dry run", "refused", "another request"],
)
def test_what_it_did_not_write_is_not_its_own(entries: tuple[Entry, ...]) -> None:
    leases = seen(*entries)
    assert not leases.known
    assert leases.held([lease()]) == []


def test_what_has_been_released_is_forgotten() -> None:
    leases = seen(asked(), answered(), asked(number=2), asked(number=3), answered(None, number=3, outcome="unknown"))
    assert leases.known
    leases.forget()
    assert not leases.known
    assert leases.held([lease()]) == []


def test_when_a_life_last_renewed_its_lease_and_how_often_it_does() -> None:
    leases = Leases()
    assert (leases.unrenewed(9.0), leases.renews_every) == (None, None)
    for number, at in enumerate((1.0, 3.0, 6.0)):
        leases.see(asked(number=number))
        leases.see(Answered(at=at, request=RequestId(number), outcome="ok", uid="u1", revision=Revision(7)))
    leases.see(asked(number=9))
    leases.see(answered(None, number=9, outcome="fail"))
    assert (leases.unrenewed(10.0), leases.renews_every) == (4.0, 3.0)
    leases.begin_life()
    assert (leases.unrenewed(10.0), leases.renews_every) == (None, None)
