"""Samples as people have them: primaries beside what they need, in any version that is served, and some that nothing reacts to."""

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from staleproof.core.plan.stored import plain
from staleproof.drive.cluster.api import Api, ApiError, ResourceType
from staleproof.drive.cluster.manifests import read_crds, resource_type

from .conftest import MANIFESTS, QUICK, Done, Run, fixture_controller
from .test_bad_input import INCONCLUSIVE, USAGE, is_refused

NEEDY = f"--controller-cmd={fixture_controller('needs_secrets')}"
CRDS = f"--staleproof-crds={MANIFESTS / 'widget-crd.yaml'}"
ONE_PLAN = (*QUICK, "-k", "own-writes/idempotence")
VALUE = "hunter2xyz"
AUTHS = json.dumps({"auths": {"registry.example": {"auth": VALUE}}})


def document(name: str) -> dict[str, Any]:
    made: dict[str, Any] = yaml.safe_load((MANIFESTS / name).read_text())
    return made


def widget(name: str = "sample", *pulls: str) -> dict[str, Any]:
    """That pulls its image with these Secrets."""
    made = document("widget-content-sample.yaml")
    made["metadata"]["name"] = name
    if pulls:
        made["spec"]["template"]["spec"]["imagePullSecrets"] = [{"name": each} for each in pulls]
    return made


def secret(name: str = "pull", payload: str = AUTHS) -> dict[str, Any]:
    data = {".dockerconfigjson": base64.b64encode(payload.encode()).decode()}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name},
        "type": "kubernetes.io/dockerconfigjson",
        "data": data,
    }


def role() -> dict[str, Any]:
    kind = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}
    return {**kind, "metadata": {"name": "puller"}, "rules": []}


def put(folder: Path, *documents: dict[str, Any]) -> Path:
    """Each in a file of its own, in this order."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, each in enumerate(documents):
        (folder / f"{number}.yaml").write_text(yaml.safe_dump(each))
    return folder


def plan_of(done: Done) -> dict[str, Any]:
    plan: dict[str, Any] = json.loads((done.run_folder / done.report["trials"][0]["folder"] / "plan.json").read_bytes())
    return plan


@pytest.fixture(scope="module")
def with_what_it_needs(suite: Run, tmp_path_factory: pytest.TempPathFactory) -> Done:
    """A folder of samples with a primary, its Secret and a ClusterRole, and another folder with what no sample has."""
    folder = tmp_path_factory.mktemp("given")
    samples = put(folder / "samples", widget("sample", "pull", "other"), secret(), role())
    before = put(folder / "before", secret("other"))
    return suite(NEEDY, CRDS, f"--staleproof-samples={samples}", f"--staleproof-before={before}", *ONE_PLAN, folder=folder)


@pytest.mark.live
def test_what_a_primary_needs_is_there_in_every_trial(with_what_it_needs: Done) -> None:
    done = with_what_it_needs
    assert done.code == 0, done.output
    assert done.report["trials"]
    text = "applied before the primaries in each trial: Secret/other, Secret/pull, ClusterRole/puller"
    assert text in " ".join(done.output.split())


def test_what_was_given_is_no_part_of_the_history(with_what_it_needs: Done) -> None:
    done = with_what_it_needs
    histories = [plain(path.read_bytes()) for path in done.run_folder.rglob("history.jsonl.gz")]
    assert len(histories) > 2, "fault-free runs, too"
    for data in histories:
        lines = [json.loads(line) for line in data.splitlines()]
        changed = {entry["resource"] for entry in lines if entry["entry"] == "committed"}
        assert {"widgets.staleproof.dev", "pods"} <= changed
        takes_away = any(step["do"] == "restore" for step in lines[0]["plan"]["steps"])
        assert ("secrets" in changed) is takes_away, "unless the workload takes it away and brings it back"


def test_what_was_given_is_kept_once_and_without_payload(with_what_it_needs: Done) -> None:
    done = with_what_it_needs
    digests = [each["sha256"] for each in plan_of(done)["before"]]
    kept = [json.loads(gzip.decompress((done.run_folder / f"shared/manifests/{each}.json.gz").read_bytes())) for each in digests]
    assert [(each["kind"], each["metadata"]["name"]) for each in kept] == [
        ("Secret", "other"),
        ("Secret", "pull"),
        ("ClusterRole", "puller"),
    ]
    sought = (VALUE.encode(), secret()["data"][".dockerconfigjson"].encode())
    files = [path for path in (done.folder / ".staleproof").rglob("*") if path.is_file()]
    assert not [path for path in files if any(each in plain(path.read_bytes()) for each in sought)]


@pytest.mark.live
def test_a_replay_asks_for_payloads_and_takes_them(with_what_it_needs: Done, staleproof: Run) -> None:
    """The controller reads its Secrets: with placeholders it would wait for ever."""
    done = with_what_it_needs
    trial = str(done.run_folder / done.report["trials"][0]["folder"])
    without = staleproof("replay", trial, folder=done.folder)
    assert without.code != 0, without.output
    text = " ".join(without.output.split())
    assert "Secret/other, Secret/pull: the payload is not written down" in text
    assert "give it again with --staleproof-before (or --before)" in text
    again = staleproof("replay", trial, "--before=before", "--before=samples/1.yaml", folder=done.folder)
    assert again.code == 0, again.output
    assert "the payload is not written down" not in again.output


@pytest.fixture(scope="module")
def lacking(suite: Run, tmp_path_factory: pytest.TempPathFactory) -> Done:
    samples = put(tmp_path_factory.mktemp("given") / "samples", widget("sample", "pull"))
    return suite(NEEDY, CRDS, f"--staleproof-samples={samples}", *ONE_PLAN)


@pytest.mark.live
def test_a_prerequisite_that_is_missing_is_reported_by_the_controllers_own_condition(lacking: Done) -> None:
    is_refused(
        lacking,
        USAGE,
        "the controller created nothing for Widget/sample",
        "it says: Ready is False, SecretMissing: secret pull is not there",
        "Widget/sample mentions what is not there: Secret/pull (spec.template.spec.imagePullSecrets[].name)",
        "--staleproof-before",
        "The controller's log ends:",
    )


@pytest.mark.live
def test_a_cluster_scoped_sample_that_nothing_reacts_to_is_reported_with_the_name_that_it_had(suite: Run, tmp_path: Path) -> None:
    """A controller may insist on one name."""
    crds = put(tmp_path / "crds", document("widget-crd.yaml"), document("tenant-crd.yaml"))
    done = suite(NEEDY, f"--staleproof-crds={crds}", f"--staleproof-samples={MANIFESTS / 'tenant-sample.yaml'}", *ONE_PLAN)
    is_refused(done, USAGE, "the controller did nothing for Tenant/sample", "The controller's log ends:")
    own = r"each trial has a name of its own for what is not in its namespace, and here it was Tenant/sample-[0-9a-f]{8}[;.]"
    assert re.search(own, " ".join(done.output.split()))


@pytest.mark.live
def test_a_sample_that_nothing_reacts_to_is_reported_and_left_out(suite: Run, tmp_path: Path) -> None:
    """One of its kind lacks what it needs, and the controller does not even watch the other kind that has a definition: that is
    what the primaries need."""
    crd = document("widget-crd.yaml")
    other = document("sequentialjob-crd.yaml")
    job = document("sequentialjob-sample.yaml")
    samples = put(tmp_path / "samples", job, widget("poor", "nosuch"), widget("rich"))
    crds = put(tmp_path / "crds", crd, other)
    done = suite(NEEDY, f"--staleproof-crds={crds}", f"--staleproof-samples={samples}", *ONE_PLAN)
    assert done.code == 0, done.output
    text = " ".join(done.output.split())
    assert "samples left out: the controller created nothing for Widget/poor" in text
    assert "applied before the primaries in each trial: SequentialJob/sample" in text
    assert {trial["folder"] for trial in done.report["trials"]}


@pytest.mark.live
def test_a_sample_may_be_in_a_version_that_is_not_preferred(suite: Run, tmp_path: Path) -> None:
    """v2 is preferred, and the controller works with v1."""
    crd = document("widget-crd.yaml")
    (version,) = crd["spec"]["versions"]
    crd["spec"]["versions"].append({**version, "name": "v2", "storage": False})
    files = put(tmp_path / "crds", crd)
    done = suite(
        f"--controller-cmd={fixture_controller('deterministic')}",
        f"--staleproof-crds={files}",
        f"--staleproof-samples={MANIFESTS / 'widget-sample.yaml'}",
        *ONE_PLAN,
    )
    assert done.code == 0, done.output
    (trial, *_) = done.report["trials"]
    lines = plain((done.run_folder / trial["folder"] / "history.jsonl.gz").read_bytes()).splitlines()
    entries = [json.loads(line) for line in lines]
    versions = {
        each["object"]["apiVersion"] for each in entries if each.get("resource") == "widgets.staleproof.dev" and "object" in each
    }
    assert versions == {"staleproof.dev/v2"}, "it is recorded as the API server prefers it"
    assert {step["object"]["apiVersion"] for step in plan_of(done)["steps"] if step["do"] == "apply"} == {"staleproof.dev/v1"}


def circle() -> tuple[dict[str, Any], dict[str, Any]]:
    one = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {"configMap": "two"}}
    return one, {**one, "metadata": {"name": "two"}, "data": {"configMap": "one"}}


@pytest.mark.parametrize(
    ("documents", "more", "texts"),
    [
        ((widget(), *circle()), (), ("mention one another in a circle", "ConfigMap/one → ConfigMap/two", "--staleproof-before")),
        (
            (widget(), secret()),
            ("--staleproof-primary=Gadget.staleproof.dev",),
            ("--staleproof-primary: no sample is a Gadget.staleproof.dev; they are of the kinds",),
        ),
        ((widget(),), ("--staleproof-primary=widgets",), ("expected Kind.group, as Widget.example.com, found 'widgets'",)),
        ((widget(),), ("--staleproof-before=nosuch",), ("--staleproof-before: nosuch does not exist",)),
        (
            (widget(), {**secret(), "data": {".dockerconfigjson": "no base64"}}),
            (),
            ("the API server rejected the prerequisite Secret/pull",),
        ),
        (
            (widget(), {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "g"}}),
            (),
            ("the API server does not know example.com/v1 Gadget (of Gadget/g)", "--staleproof-crds"),
        ),
    ],
    ids=["a circle", "no such primary", "no kind", "no such file", "rejected", "not known"],
)
def test_prerequisites_that_make_no_sense(
    documents: tuple[dict[str, Any], ...], more: tuple[str, ...], texts: tuple[str, ...], suite: Run, tmp_path: Path
) -> None:
    samples = put(tmp_path / "samples", *documents)
    is_refused(suite(NEEDY, CRDS, f"--staleproof-samples={samples}", *more), USAGE, *texts)


@pytest.mark.live
def test_a_controller_that_knows_a_primary_by_its_name_is_given_that_name_in_every_trial(suite: Run, staleproof: Run) -> None:
    tenants = (f"--staleproof-crds={MANIFESTS / 'tenant-crd.yaml'}", f"--staleproof-samples={MANIFESTS / 'tenant-sample.yaml'}")
    done = suite(f"--controller-cmd={fixture_controller('tenant')} lonely", *tenants, *ONE_PLAN)
    assert done.code == 0, done.output
    assert plan_of(done)["keptNames"] == ["tenants.staleproof.dev/sample"]
    trial = str(done.run_folder / done.report["trials"][0]["folder"])
    again = staleproof("replay", trial, folder=done.folder)
    assert again.code == 0, again.output


# --- samples that name one another, and kinds that another object brings --------------------------------------------------------


def given(name: str, *, samples: Path | None = None) -> tuple[str, str]:
    return (
        f"--staleproof-crds={MANIFESTS / f'{name}-crd.yaml'}",
        f"--staleproof-samples={samples or MANIFESTS / f'{name}-sample.yaml'}",
    )


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((MANIFESTS / name).read_text()))


@pytest.mark.live
def test_what_a_primary_names_is_there_though_no_field_says_its_kind(suite: Run) -> None:
    done = suite(f"--controller-cmd={fixture_controller('queued')} admitting", *given("queued"), *ONE_PLAN)
    assert done.code == 0, done.output
    text = " ".join(done.output.split())
    assert "applied before the primaries in each trial: ResourceFlavor/spot, LocalQueue/user-queue" in text
    assert "samples left out: the controller did nothing for LocalQueue/user-queue" in text


@pytest.mark.live
def test_where_a_primary_names_none_of_the_samples_the_cure_is_reported(suite: Run, tmp_path: Path) -> None:
    batch, queue, flavor = documents("queued-sample.yaml")
    batch["spec"]["queueName"] = "elsewhere"
    samples = put(tmp_path / "samples", batch, queue, flavor)
    done = suite(f"--controller-cmd={fixture_controller('queued')} admitting", *given("queued", samples=samples), *ONE_PLAN)
    is_refused(
        done,
        USAGE,
        "the controller created nothing for Batch/sample",
        "localqueue elsewhere is not there",
        "If it needs other samples (LocalQueue/user-queue, ResourceFlavor/spot), --staleproof-primary=Batch.staleproof.dev",
    )
    queue["metadata"]["name"] = "elsewhere"
    cured = put(tmp_path / "cured", batch, queue, flavor)
    named = "--staleproof-primary=Batch.staleproof.dev"
    done = suite(f"--controller-cmd={fixture_controller('queued')} admitting", *given("queued", samples=cured), named, *ONE_PLAN)
    assert done.code == 0, done.output
    text = "applied before the primaries in each trial: ResourceFlavor/spot, LocalQueue/elsewhere"
    assert text in " ".join(done.output.split())
    assert "samples left out" not in done.output


@pytest.fixture(scope="module")
def of_a_kind_that_is_brought(suite: Run) -> Done:
    return suite(f"--controller-cmd={fixture_controller('blueprint')} exact", *given("blueprint"), *ONE_PLAN)


@pytest.mark.live
def test_a_primary_may_be_of_a_kind_that_another_sample_brings(of_a_kind_that_is_brought: Done) -> None:
    done = of_a_kind_that_is_brought
    assert done.code == 0, done.output
    assert "applied before the primaries in each trial: Blueprint/webshops" in " ".join(done.output.split())
    assert {step["object"]["kind"] for step in plan_of(done)["steps"] if step["do"] == "apply"} == {"WebShop"}


@pytest.mark.live
def test_a_replay_brings_the_kind_again(of_a_kind_that_is_brought: Done, staleproof: Run) -> None:
    done = of_a_kind_that_is_brought
    again = staleproof("replay", str(done.run_folder / done.report["trials"][0]["folder"]), folder=done.folder)
    assert again.code == 0, again.output


def test_the_doctor_brings_it_and_names_the_cure(staleproof: Run, tmp_path: Path) -> None:
    blueprint = f"--crds={MANIFESTS / 'blueprint-crd.yaml'}", f"--samples={MANIFESTS / 'blueprint-sample.yaml'}"
    done = staleproof("doctor", f"--controller-cmd={fixture_controller('blueprint')} exact", *blueprint)
    assert done.code == 0, done.output
    assert "create configmaps ×3" in done.output  # noqa: RUF001  # as it is printed
    batch, _, flavor = documents("queued-sample.yaml")
    samples = put(tmp_path / "samples", batch, flavor)
    queued = f"--crds={MANIFESTS / 'queued-crd.yaml'}", f"--samples={samples}"
    done = staleproof("doctor", f"--controller-cmd={fixture_controller('queued')} admitting", *queued)
    text = " ".join(done.output.split())
    assert "If it needs other samples (ResourceFlavor/spot), --staleproof-primary=Batch.staleproof.dev" in text, text
    assert "localqueue user-queue is not there" in text


@pytest.mark.live
def test_a_kind_that_no_sample_brings_is_reported_with_what_asks_for_it(suite: Run, tmp_path: Path) -> None:
    """Another controller runs, which makes nothing of a Blueprint."""
    crds = put(tmp_path / "crds", document("widget-crd.yaml"), document("blueprint-crd.yaml"))
    samples = MANIFESTS / "blueprint-sample.yaml"
    done = suite(NEEDY, f"--staleproof-crds={crds}", f"--staleproof-samples={samples}", *ONE_PLAN)
    is_refused(
        done,
        USAGE,
        "the API server does not know shops.staleproof.dev/v1 WebShop (of WebShop/sample)",
        "30 s after Blueprint/webshops was applied",
        "--staleproof-crds",
    )


async def test_definitions_are_taken_as_kubectl_prints_them(api: Api, tmp_path: Path) -> None:
    """Out of another cluster, where something owned them."""
    (crd,) = read_crds([MANIFESTS / "blueprint-crd.yaml"])
    crd["spec"] |= {"group": "printed.example.com"}
    crd["metadata"] = {"name": "blueprints.printed.example.com"}
    kind = await resource_type(crd, api)
    await api.apply(kind, "", crd)
    printed: dict[str, Any] = {}
    while not printed.get("status", {}).get("conditions"):
        printed = await api.call("GET", kind.path("", crd["metadata"]["name"]))
    await api.delete(kind, "", crd["metadata"]["name"])
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "installer", "uid": "6a0f", "controller": True}
    printed["metadata"] |= {"ownerReferences": [owner], "finalizers": ["example.com/foreign"]}
    assert {"uid", "resourceVersion", "managedFields", "creationTimestamp"} <= printed["metadata"].keys()
    (tmp_path / "crds.yaml").write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": [printed]}))
    (definition,) = read_crds([tmp_path / "crds.yaml"])
    while await _is_there(api, kind, crd["metadata"]["name"]):
        pass
    made = await api.apply(kind, "", definition)
    assert made["metadata"]["uid"] != printed["metadata"]["uid"]
    assert not made["metadata"].keys() & {"ownerReferences", "finalizers"}
    await api.delete(kind, "", crd["metadata"]["name"])


async def _is_there(api: Api, kind: ResourceType, name: str) -> bool:
    try:
        await api.call("GET", kind.path("", name))
    except ApiError:
        return False
    return True


# --- what a cluster has one of --------------------------------------------------------------------------------------------------


def site(**spec: object) -> dict[str, Any]:
    made = document("hosted-sample.yaml")
    made["spec"] = {"copies": 2} | spec
    return made


@pytest.mark.live
def test_host_names_are_made_others_where_a_second_primary_collides(suite: Run, tmp_path: Path) -> None:
    samples = put(tmp_path / "samples", site(host="shop.example.com"))
    hosted = f"--controller-cmd={fixture_controller('hosted')} exclusive"
    done = suite(hosted, *given("hosted", samples=samples), *QUICK, "-k", "isolation")
    assert done.code in (0, INCONCLUSIVE), done.output
    text = " ".join(done.output.split())
    assert "each trial has host names of its own for shop.example.com" in text
    assert "host shop.example.com is that of" in text
    plan = plan_of(done)
    assert plan["ownHosts"] == ["shop-other.example.com", "shop.example.com"]
    assert [each["object"]["spec"]["host"] for each in plan["steps"] if each["do"] == "apply"] == [
        "shop.example.com",
        "shop-other.example.com",
    ]
    assert done.results["isolates-objects"] == "passed"


@pytest.mark.live
def test_addresses_are_reported_and_no_plan_has_two_primaries(suite: Run, tmp_path: Path) -> None:
    samples = put(tmp_path / "samples", site(address="192.0.2.7"))
    hosted = f"--controller-cmd={fixture_controller('hosted')} exclusive"
    done = suite(hosted, *given("hosted", samples=samples), *QUICK, "-k", "isolation or idempotence")
    text = " ".join(done.output.split())
    assert "a second primary collides, so no plan has two" in text
    assert "192.0.2.7 (sites.staleproof.dev/sample:" in text
    assert not [trial for trial in done.report["trials"] if "second primary" in trial["name"]]
    assert done.report["trials"]
