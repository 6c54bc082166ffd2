"""Runs for comparison that a worker announces are made by others, under the key by which the first asks for them."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from filelock import FileLock
from msgspec import structs

from staleproof.assess.learn.patience import Goals
from staleproof.assess.run.worker import SessionOptions, Task, Worker
from staleproof.assess.store.run_folder import HISTORY, PLAN, write_atomically
from staleproof.assess.trial.comparison import AGREEING, fresh
from staleproof.assess.trial.references import REFERENCES, References
from staleproof.assess.trial.wanted import Again, Came, WantedRuns
from staleproof.core.fault import HideOwnWrite
from staleproof.core.history.history import History, HistoryRole, sealed
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import Plan, Subject, encode
from staleproof.errors import OutOfTime, UsageError

from ...checks.script import Script, reference

SECRET: Manifest = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "password"}, "data": {"password": "aHVudGVyMg=="}}


def pair(script: Script) -> History:
    return script.pair().idle(1).step(2, "touch").applied("w").creates("w-2").idle(2).ends()


class Peer(Worker):
    """A worker of a run whose fault-free runs take no cluster. `made`: in which roles, and what they needed; `fails`: none can."""

    def __init__(self, folder: Path, name: str, *, before: Sequence[Manifest] = (), fails: bool = False) -> None:
        subject = Subject(command=("./bin/manager",))
        super().__init__(SessionOptions(subject=subject, worker=name, run_secret="run", before=tuple(before)), folder=folder)
        self.made: list[tuple[HistoryRole, tuple[Manifest, ...]]] = []
        self.fails = fails
        self.rerun: list[tuple[Plan, Again]] = []
        self.wanted = WantedRuns(References(self), self.again)

    def acquire(self, lock: FileLock) -> None:
        lock.acquire()

    def again(self, plan: Plan, again: Again, beside: Sequence[History] | None = None) -> Task:
        def make() -> bytes:
            if self.fails:
                raise OutOfTime
            self.rerun.append((plan, again))
            return msgspec.json.encode(Came("a touch"))

        return Task(self.key("again", plan.steps, plan.faults, plan.before, again.folder), make)

    def note(self, name: str, text: str) -> None:
        """There is no environment to say it of."""

    def watch(
        self, plan: Plan, *, role: HistoryRole = "reference", lasts: Sequence[float] = (), goals: Goals | None = None
    ) -> History:
        if self.fails:
            raise UsageError("the API server refuses it")
        self.made.append((role, plan.before))
        script = reference(len(self.made), role)
        script.plan = self.shared.keep_manifests(plan)
        history, data = sealed(pair(script))
        folder = self.shared.reference_under_way(self.named(len(self.made)))
        write_atomically(folder / HISTORY, data)
        write_atomically(folder / PLAN, encode(script.plan))
        self.shared.keep_reference(folder, history)
        return history


def trial(plan: Plan) -> tuple[Plan, History]:
    """The plan with a fault, and what came of it."""
    script = Script(HideOwnWrite(resource="configmaps"))
    script.plan = structs.replace(plan, faults=script.plan.faults)
    return script.plan, pair(script)


WORKLOAD = Script().plan


def test_a_peer_makes_what_is_asked_for_first_and_it_is_made_once(tmp_path: Path) -> None:
    asks, peer = Peer(tmp_path, "gw0"), Peer(tmp_path, "gw1")
    plan, history = trial(WORKLOAD)
    with asks.wanted.comparisons(plan, history):
        while peer.wanted.make_one():
            pass
        assert [role for role, _ in peer.made] == ["paced", "final", *["reference"] * AGREEING]
        found = References(asks).histories_for(fresh(plan), "reference", AGREEING)
    assert (len(found), asks.made) == (AGREEING, [])


def test_the_references_of_trials_that_a_worker_is_about_to_run_are_made_by_a_peer(tmp_path: Path) -> None:
    asks, peer = Peer(tmp_path, "gw0"), Peer(tmp_path, "gw1")
    plan, _ = trial(WORKLOAD)
    with asks.wanted.references([plan]):
        while peer.wanted.make_one():
            pass
    assert len(References(asks).of(plan)) == REFERENCES
    assert ([role for role, _ in peer.made], asks.made) == (["reference"] * REFERENCES, [])


def test_a_trial_is_run_again_by_a_peer_and_what_healed_it_is_known_to_the_worker_that_asks(tmp_path: Path) -> None:
    asks, peer, late = Peer(tmp_path, "gw0"), Peer(tmp_path, "gw1"), Peer(tmp_path, "gw2", fails=True)
    plan, history = trial(WORKLOAD)
    wanted = [Again(f"gw0/trials/gw0-001/rerun-{number}", (history.digest,), 5.0, number == 1) for number in (1, 2)]
    with asks.wanted.reruns(plan, wanted):
        assert not late.wanted.make_one()
        while peer.wanted.make_one():
            pass
        assert [asks.done(asks.again(plan, each)) for each in wanted] == [msgspec.json.encode(Came("a touch"))] * 2
    assert ([again for _, again in peer.rerun], asks.rerun) == (wanted, [])
    assert [made.faults for made, _ in peer.rerun] == [plan.faults] * 2


def test_a_peer_begins_a_rerun_early_and_makes_comparisons_then(tmp_path: Path) -> None:
    asks, peer = Peer(tmp_path, "gw0"), Peer(tmp_path, "gw1")
    plan, history = trial(WORKLOAD)
    again = Again("gw0/trials/gw0-001/rerun-2", (history.digest,), 0.0, heals=True)
    with asks.wanted.comparisons(plan, history, [again]):
        assert peer.wanted.make_one()
        assert (len(peer.rerun), peer.made) == (1, [])
        while peer.wanted.make_one():
            pass
        assert len(peer.made) == AGREEING + 2
    assert asks.done(asks.again(plan, again)) == msgspec.json.encode(Came("a touch"))
    assert asks.rerun == []


def test_no_rerun_is_begun_early_once_a_finding_of_the_run_was_explained(tmp_path: Path) -> None:
    asks, peer = Peer(tmp_path, "gw0"), Peer(tmp_path, "gw1")
    plan, history = trial(WORKLOAD)
    again = Again("gw0/trials/gw0-001/rerun-2", (history.digest,), 0.0, heals=True)
    with asks.wanted.comparisons(plan, history, [again]):
        asks.shared.note_explained()
        while peer.wanted.make_one():
            pass
        assert (len(peer.made), peer.rerun) == (AGREEING + 2, [])
    with asks.wanted.reruns(plan, [again]):
        assert peer.wanted.make_one(), "it is wanted now"


def test_the_second_rerun_comes_after_the_comparisons_that_take_as_long(tmp_path: Path) -> None:
    asks, peer = Peer(tmp_path, "gw0"), Peer(tmp_path, "gw1")
    plan, history = trial(WORKLOAD)
    wanted = [Again(f"gw0/trials/gw0-001/rerun-{number}", (history.digest,), 0.0, number == 2) for number in (2, 1)]
    with asks.wanted.comparisons(plan, history, wanted):
        made = []
        while peer.wanted.make_one():
            made.append((len(peer.made), len(peer.rerun)))
    assert made[:4] == [(0, 1), (1, 1), (1, 2), (2, 2)], "a re-run, the run as slow as the trial, the other re-run, the rest"


def test_what_is_not_wanted_any_more_is_not_made(tmp_path: Path) -> None:
    asks, peer = Peer(tmp_path, "gw0"), Peer(tmp_path, "gw1")
    plan, history = trial(WORKLOAD)
    with asks.wanted.comparisons(plan, history):
        assert peer.wanted.make_one()
    assert not peer.wanted.make_one()
    assert len(peer.made) == 1


def test_a_peer_gives_up_what_it_cannot_make_and_leaves_it_to_the_worker_that_asks(tmp_path: Path) -> None:
    asks, peer = Peer(tmp_path, "gw0"), Peer(tmp_path, "gw1", fails=True)
    plan, history = trial(WORKLOAD)
    with asks.wanted.comparisons(plan, history):
        assert not peer.wanted.make_one()
        assert References(asks).histories_for(fresh(plan), "reference")


@pytest.mark.parametrize("known", [(SECRET,), ()], ids=["known", "unknown"])
def test_a_payload_is_in_no_file_and_a_peer_without_it_makes_nothing(known: tuple[Manifest, ...], tmp_path: Path) -> None:
    asks, peer = Peer(tmp_path, "gw0", before=[SECRET]), Peer(tmp_path, "gw1", before=known)
    plan, history = trial(structs.replace(WORKLOAD, before=(SECRET,)))
    with asks.wanted.comparisons(plan, history):
        assert peer.wanted.make_one() is bool(known)
        files = [path.read_bytes() for path in tmp_path.rglob("*.json")]
        assert files
        assert not any(b"aHVudGVyMg" in data for data in files)
    assert [before for _, before in peer.made] == ([known] if known else [])
