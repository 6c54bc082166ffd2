"""A history by the view of each of several programs: what is its own stays where it is, and nothing of the others is left."""

import msgspec

from staleproof.core.fault import HoldStream, RefuseWatchList, Restart
from staleproof.core.history.entry import (
    Answered,
    Asked,
    Called,
    CallId,
    Committed,
    Delivered,
    Elsewhere,
    Entry,
    Exited,
    FaultFired,
    FaultIndex,
    Metrics,
    Opened,
    RequestId,
    Started,
    StepBegan,
    Stopped,
    StreamId,
)
from staleproof.core.history.history import Header, History, Position, requests
from staleproof.core.history.programs import as_one, as_seen_by, programs_of
from staleproof.core.history.provenance import commits_of
from staleproof.core.history.resource_version import Revision
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Rest

FAULTS = (HoldStream(resource="pods", program="poller"), Restart(), RefuseWatchList())


def history(*entries: Entry, programs: tuple[str, ...] = ("poller",)) -> History:
    plan = Plan(scenario="programs", steps=(Rest(seconds=1.0),), faults=FAULTS)
    return History(Header(plan=plan, namespace="trial", programs=programs), entries)


def asked(number: int, client: str, verb: str = "update", at: float = 1.0) -> Asked:
    return Asked(at=at, request=RequestId(number), client=client, verb=verb, resource="pods", namespace="trial", name="x")


def answered(number: int, revision: int) -> Answered:
    return Answered(at=1.0, request=RequestId(number), outcome="ok", code=200, uid="u", revision=Revision(revision))


def committed(revision: int) -> Committed:
    obj = {"metadata": {"name": "x"}}
    return Committed(
        at=1.0,
        resource="pods",
        type="MODIFIED",
        object=obj,
        managers=("manager",),
        namespace="trial",
        name="x",
        uid="u",
        revision=Revision(revision),
    )


def opened(stream: int, client: str) -> Opened:
    return Opened(at=1.0, stream=StreamId(stream), client=client, resource="pods")


def delivered(stream: int) -> Delivered:
    return Delivered(at=1.0, stream=StreamId(stream), type="ADDED", revision=Revision(5))


def kept(of: History, program: str) -> list[int]:
    """The positions of what is not recorded of another program."""
    return [number for number, entry in enumerate(as_seen_by(of, program).entries) if not isinstance(entry, Elsewhere)]


def test_a_subject_of_one_program_has_one_view_and_that_is_the_history_itself() -> None:
    alone = history(Started(at=0.0, life=1), programs=())
    assert programs_of(alone) == ()
    assert as_seen_by(alone, "controller") is alone
    assert as_one(alone) is alone


def test_requests_and_streams_are_told_apart_by_their_clients() -> None:
    both = history(
        opened(1, "controller"), opened(2, "poller"), delivered(1), delivered(2),
        asked(1, "controller"), asked(2, "poller"), answered(1, 6), answered(2, 7), asked(3, "unknown"),
    )  # fmt: skip
    assert programs_of(both) == ("controller", "poller")
    assert kept(both, "controller") == [0, 2, 4, 6, 8]
    assert kept(both, "poller") == [1, 3, 5, 7]


def test_lives_and_faults_are_told_apart_by_their_programs_and_metrics_are_the_controllers() -> None:
    fired = [FaultFired(at=1.0, fault=FaultIndex(number), on="x") for number in range(3)]
    both = history(
        Started(at=0.0, life=1), Started(at=0.0, life=1, program="poller"), Stopped(at=1.0, life=1),
        Exited(at=1.0, life=1, code=2, program="poller"), Metrics(at=1.0, took=0.1), *fired,
    )  # fmt: skip
    assert kept(both, "controller") == [0, 2, 4, 6, 7]
    assert kept(both, "poller") == [1, 3, 5, 7]


def test_what_is_of_no_single_program_stays() -> None:
    call = Called(at=1.0, call=CallId(1), system="db", verb="SELECT", text="SELECT 1")
    both = history(StepBegan(at=0.0, step=1, does="rest"), call, committed(5))
    assert kept(both, "controller") == kept(both, "poller") == [0, 1, 2]


def makers(of: History, program: str) -> list[tuple[bool, tuple[str, ...]]]:
    """Of each commit, whether the program made it, and which managers it names."""
    entries = as_seen_by(of, program).entries
    commits = [(Position(n), entry) for n, entry in enumerate(entries) if isinstance(entry, Committed)]
    return [(commit.by is not None, commit.entry.managers) for commit in commits_of(commits, requests(entries))]


def test_what_another_program_has_committed_is_another_users_and_came_not_past_the_proxy() -> None:
    both = history(
        asked(1, "controller"), asked(2, "poller"), committed(6), committed(7), committed(8), answered(1, 6), answered(2, 7)
    )
    named, nameless = ("manager",), ()
    assert makers(both, "controller") == [(True, named), (False, nameless), (False, named)]
    assert makers(both, "poller") == [(False, nameless), (True, named), (False, named)]


def test_a_write_of_which_nothing_tells_what_came_of_it_may_be_the_other_programs() -> None:
    both = history(asked(1, "poller"), committed(6), Answered(at=1.0, request=RequestId(1), outcome="unknown"))
    assert makers(both, "controller") == [(False, ())]
    assert makers(both, "poller") == [(False, ("manager",))]


def test_as_one_they_began_once() -> None:
    both = history(
        Started(at=0.0, life=1), Started(at=0.0, life=1, program="poller"), StepBegan(at=0.5, step=1, does="rest"),
        Started(at=1.0, life=2, program="poller"), asked(1, "poller"),
    )  # fmt: skip
    assert [isinstance(entry, Elsewhere) for entry in as_one(both).entries] == [False, True, False, False, False]


def test_positions_and_times_stay_what_they_are() -> None:
    both = history(asked(1, "poller", at=3.5), asked(2, "controller", at=4.0))
    seen = as_seen_by(both, "controller")
    assert [entry.at for entry in seen.entries] == [3.5, 4.0]
    assert msgspec.structs.replace(seen.header, programs=("poller",)) == both.header
