"""Real controllers beside the one under test: Jobs finish, orphans are collected, and a companion that dies ends the run."""

import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from staleproof.assess.learn.companions import start_companions
from staleproof.assess.run.worker import SessionOptions
from staleproof.assess.trial.session import Session
from staleproof.checks.ends.states import final_objects
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import Committed, Delivered, Ended, Listed, Settled, StepBegan
from staleproof.core.history.history import History
from staleproof.core.history.scope import is_trials
from staleproof.core.operator.companion import ALWAYS, WITHOUT, acting_on
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.pace import longest_pause, paced
from staleproof.core.plan.plan import Plan, Settle, Subject
from staleproof.core.plan.step import Apply, Delete, Rest
from staleproof.drive.cluster.control_plane import ControlPlaneOptions
from staleproof.drive.cluster.manifests import read
from staleproof.drive.programs.kubernetes import SERVERS
from staleproof.drive.trial.environment import Environment
from staleproof.errors import SetupError, UsageError

from .conftest import KCM_ARGUMENTS, MANIFESTS
from .environments import CRDS, WIDGET, fixture, session_in, target
from .programs import command_lines

EVERYBODY = ("garbage-collector", "namespace", "scheduler", "kwok")
NAMESPACE_SECONDS = 120.0
NAMESPACE_CONTROLLER_SECONDS = 5.0
"""It waits so long before it begins to end a namespace."""
PATIENT = Settle(idle_seconds=2.0, quiet_seconds=5.0, limit_seconds=60.0, deadline_seconds=60.0)


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
        history = session.watch(Plan(scenario="own", steps=(Apply(object=sample(name)),), settle=PATIENT))
        (primary,) = ends(history, resource)
        assert primary["status"][ready] == 3
        assert {pod["status"]["phase"] for pod in ends(history, "pods")} == {"Running"}


def test_what_a_deleted_primary_owned_is_collected_within_the_trial(session: Session) -> None:
    session.use(fixture("expectations"))
    history = session.watch(Plan(scenario="own", steps=(Apply(object=WIDGET), Delete(target=target(WIDGET))), settle=PATIENT))

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


def test_the_end_of_one_trials_namespace_is_not_shown_in_the_next(session: Session, programs: Path) -> None:
    session.use(kube_controller_manager(programs, "replicaset-controller,serviceaccount-controller"))
    rest = Rest(seconds=NAMESPACE_CONTROLLER_SECONDS + 2.0)
    plan = Plan(scenario="own", steps=(Apply(object=sample("replicaset")), rest), settle=PATIENT)
    first = session.watch(plan).header.namespace
    began = time.monotonic()
    history = session.watch(plan)

    async def has_begun_to_end(environment: Environment) -> bool:
        known = environment.truth.objects.get(("namespaces", "", first))
        return known is None or "deletionTimestamp" in known["metadata"]

    assert session.call(has_begun_to_end), "there was no end that could have been shown"
    assert any(commit.resource == "pods" for _, commit in Trial(history).every(Committed)), "the controller did nothing"
    delivered = {entry.name for entry in history.entries if isinstance(entry, Delivered)}
    listed = {item.name for entry in history.entries if isinstance(entry, Listed) for item in entry.items}
    assert set(filter(is_trials, delivered | listed)) <= {history.header.namespace}  # its own may have been shown before it began
    lasted = next(entry.at for entry in history.entries if isinstance(entry, Ended))
    assert time.monotonic() - began - lasted < NAMESPACE_CONTROLLER_SECONDS, "it was waited for"


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


# --- chosen by what the controller creates


@pytest.fixture(scope="module")
def chooser(go: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A control plane without companions, as yet."""
    with session_in(tmp_path_factory, manifests=tuple(CRDS), chooses_companions=True) as running:
        yield running


def test_a_stateful_set_gets_pods_that_are_ready_and_claims_that_are_bound(chooser: Session) -> None:
    chooser.use(fixture("stored_widget", "careful"))
    assert chooser.options.companions == ()
    start_companions(chooser, [(WIDGET, ())])
    running = {"statefulset", "persistentvolume-binder", "provisioner", "scheduler", "kwok", "garbage-collector", "namespace"}
    assert running < set(chooser.options.companions)
    note = chooser.run.environment["companions for Widget/sample"]
    assert re.search(r"ready in \d+\.\d s; .* took \d+\.\d s without them and \d+\.\d s with them", note)

    history = chooser.watch(Plan(scenario="own", steps=(Apply(object=WIDGET),), settle=PATIENT))
    (made,) = ends(history, "statefulsets.apps")
    assert made["status"]["readyReplicas"] == 3
    assert [claim["status"]["phase"] for claim in ends(history, "persistentvolumeclaims")] == ["Bound"] * 3
    assert chooser.call(_no_volumes), "volumes stay whose claims are gone"


async def _no_volumes(environment: Environment) -> bool:
    return await environment.bus.until(
        lambda now: not any(key[0] == "persistentvolumes" for key in environment.truth.objects), limit_seconds=NAMESPACE_SECONDS
    )


@pytest.mark.live
def test_the_controller_of_a_kind_gets_no_rival(chooser: Session, programs: Path) -> None:
    chooser.use(kube_controller_manager(programs, "deployment-controller,replicaset-controller"))
    start_companions(chooser, [(sample("deployment"), ())])
    assert not {"deployment", "replicaset"} & set(chooser.options.companions)
    chooser.use(kube_controller_manager(programs, "deployment-controller"))
    start_companions(chooser, [(sample("deployment"), ())])
    assert "replicaset" in chooser.options.companions


def test_a_namespace_has_its_account_before_the_first_step_and_secrets_get_tokens(chooser: Session) -> None:
    chooser.use(fixture("expectations"))
    chooser.accompany(acting_on({"serviceaccounts"}))
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "operand"}}
    metadata = {"name": "operand-token", "annotations": {"kubernetes.io/service-account.name": "operand"}}
    secret = {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token", "metadata": metadata}
    history = chooser.watch(Plan(scenario="own", steps=(Apply(object=account), Apply(object=secret)), settle=PATIENT))

    (token,) = ends(history, "secrets")
    assert {"token", "ca.crt", "namespace"} <= token["data"].keys()
    first = next(index for index, entry in enumerate(history.entries) if isinstance(entry, StepBegan))
    given = {"default", "kube-root-ca.crt"}
    late = [entry.name for entry in history.entries[first:] if isinstance(entry, Committed) and entry.type == "ADDED"]
    assert not given & set(late)

    async def there(environment: Environment) -> set[str]:
        name = "staleproof-accounts"
        await environment.create_namespace(name)
        return {key[2] for key in environment.truth.live(name)}

    assert given <= chooser.call(there)


@pytest.mark.live
def test_a_run_goes_on_without_what_cannot_be_built(tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nowhere to get the modules from; etcd and kube-apiserver are there."""
    monkeypatch.setenv("STALEPROOF_CACHE_DIR", str(tmp_path / "cache"))
    entry = tmp_path / "cache" / "control-plane" / programs.name
    entry.mkdir(parents=True)
    for name in (SERVERS.name, SERVERS.digest, *SERVERS.programs):
        (entry / name).symlink_to(programs / name)
    for name, value in {"GOPROXY": "off", "GOFLAGS": "-modcacherw", "GOMODCACHE": str(tmp_path / "modules")}.items():
        monkeypatch.setenv(name, value)
    options = SessionOptions(subject=fixture("expectations"), manifests=tuple(CRDS), chooses_companions=True, root=tmp_path)
    with Session(options) as session:
        session.accompany(acting_on({"pods"}))
        assert session.options.companions == ()
        note = session.run.environment[WITHOUT]
        assert note.startswith("garbage-collector, kwok, namespace, scheduler, which cannot be built here: building ")
        assert session.trial(Plan(scenario="own", steps=(Apply(object=WIDGET),))).plan.companions == ()


@pytest.mark.live
def test_every_cluster_has_those_that_always_run(tmp_path: Path) -> None:
    """Also where what the controller creates is not known yet."""
    options = SessionOptions(subject=fixture("expectations"), manifests=tuple(CRDS), chooses_companions=True, root=tmp_path)
    with Session(options) as session:
        assert session.trial(Plan(scenario="own", steps=(Apply(object=WIDGET),))).plan.companions == ALWAYS


def test_an_existing_cluster_is_left_as_it_is(session: Session, tmp_path: Path) -> None:
    session.plane.write_kubeconfig(tmp_path / "kubeconfig")
    options = SessionOptions(
        subject=fixture("expectations"),
        control_plane=ControlPlaneOptions(provider="existing", kubeconfig=tmp_path / "kubeconfig"),
        chooses_companions=True,
        root=tmp_path,
    )
    with Session(options) as guest:
        start_companions(guest, [(WIDGET, ())])
        guest.accompany(("job",))
        assert guest.options.companions == ()
        assert "companions" not in guest.run.environment
