"""What the controllers that are never silent do when their work is done, as the proxy records it.

That they do their work is tested with the others (`test_fixture_controllers`).
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from staleproof.assess.learn.observe import observe
from staleproof.assess.trial.session import Session
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import Committed, Opened
from staleproof.core.history.history import Request
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Apply, Rest
from staleproof.drive.cluster.manifests import read
from staleproof.drive.trial.environment import Environment

from .environments import CRDS, MANIFESTS, fixture, session_in

WIDGETS = "widgets.staleproof.dev"
(SAMPLE,) = read([MANIFESTS / "widget-content-sample.yaml"], "sample")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with session_in(tmp_path_factory, manifests=CRDS) as running:
        yield running


def watch(session: Session, name: str, seconds: float) -> Trial:
    """The sample is applied, and then nothing happens for so many seconds."""
    session.use(fixture("sleepless", name))
    return Trial(session.watch(Plan(scenario="own", steps=(Apply(object=SAMPLE), Rest(seconds=seconds)))))


def reported(trial: Trial) -> Committed:
    """The controller's first report that all pods are there."""
    return next(
        commit
        for _, commit in trial.every(Committed)
        if commit.resource == WIDGETS and commit.object.get("status", {}).get("replicas") == SAMPLE["spec"]["replicas"]
    )


def done(trial: Trial) -> float:
    """When the controller had reported for the first time that all pods are there."""
    return reported(trial).at


def later(trial: Trial) -> list[Request]:
    """The controller's writes after that, all of which must have succeeded."""
    found = [request for request in trial.work if request.asked.at > done(trial)]
    assert all(request.succeeded for request in found)
    return found


def times_in_status(trial: Trial, kind: str, field: str) -> list[str]:
    """The values that a condition's field has had, in order."""
    conditions = [
        condition
        for _, commit in trial.every(Committed)
        if commit.resource == WIDGETS
        for condition in commit.object.get("status", {}).get("conditions", ())
        if condition["type"] == kind
    ]
    return list(dict.fromkeys(condition[field] for condition in conditions))


def test_restless_updates_four_children_and_its_status_every_five_seconds_and_changes_nothing(session: Session) -> None:
    trial = watch(session, "restless", 20.0)
    writes = [(each.asked.verb, each.asked.resource, each.asked.subresource) for each in later(trial)]
    status = ("update", WIDGETS, "status")  # the last write of a poll
    polls = writes.count(status) - 1
    assert polls >= 1
    complete = writes[writes.index(status) + 1 : len(writes) - writes[::-1].index(status)]
    assert Counter(complete) == {("update", "pods", ""): 3 * polls, ("update", "configmaps", ""): polls, status: polls}
    last = reported(trial).revision  # commits of other resources come on other connections, and perhaps later
    before = {commit.revision for _, commit in trial.every(Committed) if commit.revision <= last}
    assert {request.answer.revision for request in later(trial) if request.answer} <= before
    updates = [request.asked.at for request in later(trial) if request.asked.resource == WIDGETS]
    assert all(next_ - this >= 5.0 for this, next_ in pairwise(updates))


def test_heartbeat_writes_a_time_every_two_seconds(session: Session) -> None:
    trial = watch(session, "heartbeat", 12.0)
    assert {(each.asked.verb, each.asked.resource, each.asked.subresource) for each in later(trial)} == {
        ("update", WIDGETS, "status")
    }
    assert len(times_in_status(trial, "Alive", "lastHeartbeatTime")) >= 3
    beats = [each.asked.at for each in later(trial)]
    assert all(next_ - this >= 2.0 for this, next_ in pairwise(beats))


def test_hopeless_looks_again_ever_more_rarely(session: Session) -> None:
    trial = watch(session, "hopeless", 16.0)
    looks = [each.asked.at for each in later(trial) if each.asked.subresource == "status"]
    assert len(looks) == len(later(trial)) >= 3
    pauses = [next_ - this for this, next_ in pairwise(looks)]
    assert all(pause > 1.5 * 2**number for number, pause in enumerate(pauses))  # of at least 2 s, 4 s, 8 s
    assert len(times_in_status(trial, "Running", "lastProbeTime")) >= 3


def test_deliberate_takes_its_time_and_opens_two_watches_when_it_needs_them(session: Session) -> None:
    trial = watch(session, "deliberate", 10.0)
    creates = [request.asked for request in trial.work if request.asked.verb == "create"]
    assert len({create.resource for create in creates}) == 9
    assert done(trial) - min(create.at for create in creates) > 1.5  # it pauses for two seconds from its first change on
    assert not later(trial)
    assert [entry.resource for _, entry in trial.every(Opened, since=trial.steps[0].began)] == [
        "networkpolicies.networking.k8s.io",
        "poddisruptionbudgets.policy",
    ]
    assert session.call(leads)


async def leads(environment: Environment) -> bool:
    """Whether it renews its Lease, which lasts four seconds."""

    def lease() -> Any:  # noqa: ANN401  (JSON)
        return environment.truth.objects["leases.coordination.k8s.io", "default", "widget-controller"]["spec"]

    first = lease()
    is_renewed = await environment.bus.until(
        lambda now: lease()["renewTime"] != first["renewTime"] or now + 0.1, limit_seconds=60.0
    )
    return is_renewed and bool(first["leaseDurationSeconds"] == 4 and lease()["holderIdentity"] == first["holderIdentity"])


@pytest.mark.live
def test_a_pod_too_many_without_any_fault_is_reported_and_what_is_right_is_not(session: Session) -> None:
    session.use(fixture("mutants", "one_too_many"))
    assert observe(session, SAMPLE).keeps_more.startswith("5 pods where spec.replicas was 4")
    session.use(fixture("deterministic"))
    assert observe(session, SAMPLE).keeps_more == ""
