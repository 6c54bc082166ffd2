"""Real controllers beside the one under test: Jobs finish, orphans are collected, and a companion that dies ends the run."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from staleproof.assess import Session, SessionOptions
from staleproof.checks.facts.baseline import final_objects
from staleproof.checks.trial import Trial
from staleproof.core.entry import Committed, Settled
from staleproof.core.history import History
from staleproof.core.pace import longest_pause, paced
from staleproof.core.plan import Apply, Delete, Manifest, Plan, Settle, Subject
from staleproof.drive.cluster.control_plane import ControlPlaneOptions
from staleproof.drive.cluster.manifests import read
from staleproof.drive.trial.environment import Environment
from staleproof.errors import SetupError, UsageError

from .conftest import KCM_ARGUMENTS, MANIFESTS
from .environment_stage import CRDS, WIDGET, fixture, session_in, target
from .programs import command_lines

EVERYBODY = ("garbage-collector", "namespace", "scheduler", "kwok")
NAMESPACE_SECONDS = 30.0
PATIENT = Settle(quiet_seconds=5.0, deadline_seconds=60.0)


@pytest.fixture(scope="module")
def session(go: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """One control plane with all companions, of which kwok and the scheduler are built with Go; each test names its controller."""
    with session_in(tmp_path_factory, manifests=tuple(CRDS), companions=EVERYBODY) as running:
        yield running


def kube_controller_manager(programs: Path, controllers: str) -> Subject:
    flags = KCM_ARGUMENTS.replace("replicaset-controller", controllers).split()
    return Subject(command=(str(programs / "kube-controller-manager"), "--kubeconfig={kubeconfig}", *flags))


def sample(name: str) -> Manifest:
    return read([MANIFESTS / f"{name}-sample.yaml"], "sample")[0]


def ends(history: History, resource: str) -> list[Manifest]:
    return [obj for found, obj in final_objects(Trial(history)) if found == resource]


def test_a_trial_waits_for_a_job_whose_pods_kwok_finishes(session: Session, programs: Path) -> None:
    """The job controller looks at finished pods only once a second. Its pace is learnt, as that of every controller."""
    session.use(kube_controller_manager(programs, "job-controller"))
    patient = session.watch(Plan(scenario="own", steps=(Apply(object=sample("job")),), settle=PATIENT))
    pause = longest_pause(patient)
    assert pause > Settle().quiet_seconds

    history = session.watch(Plan(scenario="own", steps=(Apply(object=sample("job")),), settle=paced(pause, resync=False)))
    settled = next(index for index, entry in enumerate(history.entries) if isinstance(entry, Settled) and entry.ok)
    (job,) = [obj for found, obj in final_objects(Trial(history), until=settled) if found == "jobs.batch"]
    assert job["status"]["succeeded"] == 6
    assert {condition["type"] for condition in job["status"]["conditions"] if condition["status"] == "True"} >= {"Complete"}
    assert [pod["status"]["phase"] for pod in ends(history, "pods")] == ["Succeeded"] * 6
    assert history.header.environment["companions"] == "garbage-collector, namespace, scheduler, kwok"


def test_pods_of_a_daemonset_and_a_deployment_run_on_kwoks_nodes(session: Session, programs: Path) -> None:
    session.use(kube_controller_manager(programs, "daemonset-controller,deployment-controller,replicaset-controller"))
    for name, resource, ready in (
        ("daemonset", "daemonsets.apps", "numberReady"),
        ("deployment", "deployments.apps", "readyReplicas"),
    ):
        history = session.watch(Plan(scenario="own", steps=(Apply(object=sample(name)),)))
        (primary,) = ends(history, resource)
        assert primary["status"][ready] == 3
        assert {pod["status"]["phase"] for pod in ends(history, "pods")} == {"Running"}


def test_what_a_deleted_primary_owned_is_collected_within_the_trial(session: Session) -> None:
    session.use(fixture("expectations"))
    history = session.watch(Plan(scenario="own", steps=(Apply(object=WIDGET), Delete(target=target(WIDGET)))))

    pods = [entry for entry in history.entries if isinstance(entry, Committed) and entry.resource == "pods"]
    assert len({entry.uid for entry in pods if entry.type == "ADDED"}) == 3
    assert len({entry.uid for entry in pods if entry.type == "DELETED"}) == 3
    assert not ends(history, "pods")

    async def is_gone(environment: Environment) -> bool:
        key = ("namespaces", "", history.header.namespace)
        return await environment.bus.until(
            lambda now: key not in environment.truth.objects or now + 0.1, limit_seconds=NAMESPACE_SECONDS
        )

    assert session.call(is_gone), "the namespace of a trial that is over was not finished"


def test_a_companion_that_exits_ends_the_run(tmp_path: Path) -> None:
    subject = fixture("expectations")
    crds = tuple(CRDS)
    plan = Plan(scenario="own", steps=(Apply(object=WIDGET),))
    with Session(SessionOptions(subject=subject, manifests=crds, companions=("namespace",), root=tmp_path)) as session:
        session.watch(plan)
        os.kill(session.call(_companion), signal.SIGKILL)
        with pytest.raises(SetupError, match=r"(?s)the companion kube-controller-manager exited with code 137.*Caches are synced"):
            session.watch(plan)


async def _companion(environment: Environment) -> int:
    """The pid of kube-controller-manager, by the kubeconfig that only companions of this environment are given."""
    named = f"--kubeconfig={environment.private / 'companions.kubeconfig'}".encode()
    (pid,) = [pid for pid, argv in command_lines().items() if named in argv and argv[0].endswith(b"kube-controller-manager")]
    return pid


def test_companions_are_refused_for_an_existing_cluster(session: Session, tmp_path: Path) -> None:
    session.plane.write_kubeconfig(tmp_path / "kubeconfig")
    options = SessionOptions(
        subject=session.options.subject,
        control_plane=ControlPlaneOptions(provider="existing", kubeconfig=tmp_path / "kubeconfig"),
        companions=("namespace",),
        root=tmp_path,
    )
    with pytest.raises(UsageError, match="--staleproof-companions: the cluster that you gave has controllers of its own"):
        Session(options).__enter__()
