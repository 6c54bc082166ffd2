"""The artefact folder holds no secrets: neither the controller's variables, nor the workload's Secrets, nor our own keys."""

import base64
import contextlib
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from staleproof.core.plan.stored import plain
from staleproof.drive.process.private import sweep
from staleproof.report.html.page import unpacked

from .conftest import MANIFESTS, QUICK, WIDGETS, Done, Run, fixture_controller

pytestmark = pytest.mark.usefixtures("own_plane")

VALUE = "hunter2xyz"
CONTROLLER = f"--controller-cmd={fixture_controller('expectations')}"
LIMIT_SECONDS = 300


def holding(folder: Path, *values: str) -> list[str]:
    """The files below .staleproof that contain one of the values, as it is or in base64, compressed or not, or in the data of a
    page."""
    sought = [form for value in values for form in (value.encode(), base64.b64encode(value.encode()))]
    files = [path for path in (folder / ".staleproof").rglob("*") if path.is_file()]
    assert files
    return [str(path) for path in files if any(form in content(path) for form in sought)]


def content(path: Path) -> bytes:
    """What a file says: of a page the data, too, which its markup has compressed in base64, and the files in these."""
    data = plain(path.read_bytes())
    if path.suffix != ".html":
        return data
    packed = data.partition(b'id="data">')[2].partition(b"</script>")[0]
    page = unpacked(packed.decode())
    drawn = [found.drawn for found in page.findings] + [question.drawn for question in page.questions]
    files = [each.attachment.data for each in drawn if each and each.attachment and each.attachment.data]
    return data + gzip.decompress(base64.b64decode(packed)) + b"".join(map(plain, files))


def environment(**more: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "DB_PASSWORD"} | more


@pytest.fixture(scope="module")
def given_a_variable(suite: Run) -> Done:
    return suite(CONTROLLER, *WIDGETS, "--controller-env", f"DB_PASSWORD={VALUE}", *QUICK, "-k", "hide-creates", env=environment())


@pytest.mark.live
def test_the_controllers_variables_are_not_written(given_a_variable: Done) -> None:
    done = given_a_variable
    assert done.code == 0, done.output
    assert holding(done.folder, VALUE) == []
    assert VALUE not in done.output
    plan = json.loads((done.run_folder / done.report["trials"][0]["folder"] / "plan.json").read_bytes())
    assert plan["controller"]["env"] == {"DB_PASSWORD": "$DB_PASSWORD"}
    assert "DB_PASSWORD=$DB_PASSWORD" in done.report["reproduce"]


@pytest.mark.live
def test_a_replay_asks_for_what_was_not_written(given_a_variable: Done, staleproof: Run) -> None:
    trial = str(given_a_variable.run_folder / given_a_variable.report["trials"][0]["folder"])
    done = staleproof("replay", trial, env=environment())
    assert done.code == 11, done.output
    assert "set DB_PASSWORD and run again" in " ".join(done.output.split())
    done = staleproof("replay", trial, env=environment(DB_PASSWORD=VALUE))
    assert done.code == 0, done.output
    assert holding(done.folder, VALUE) == []


def test_the_workloads_secrets_are_not_written(staleproof: Run, tmp_path: Path) -> None:
    """The plan that is written can be run again: kube-apiserver accepts the placeholders, for image pull secrets too."""
    widget = yaml.safe_load((MANIFESTS / "widget-sample.yaml").read_text())
    kind = {"apiVersion": "v1", "kind": "Secret"}
    registry = json.dumps({"auths": {"registry.example": {"auth": VALUE}}})
    coded = base64.b64encode(registry.encode()).decode()
    steps = [
        {"do": "apply", "object": {**kind, "metadata": {"name": "database"}, "stringData": {"password": VALUE}}},
        {
            "do": "apply",
            "object": {
                **kind,
                "metadata": {"name": "pull"},
                "type": "kubernetes.io/dockerconfigjson",
                "data": {".dockerconfigjson": coded},
            },
        },
        {"do": "apply", "object": widget},
        {
            "do": "patch",
            "target": {**kind, "name": "database"},
            "patch": {"data": {"password": base64.b64encode(b"swordfish99").decode()}},
        },
    ]
    crds = list(yaml.safe_load_all((MANIFESTS / "widget-crd.yaml").read_text()))
    faults = [{"fault": "Sever", "resource": "*", "window": {"fromStep": 4}}]  # or nothing would be put to the test
    about = {"apiVersion": "staleproof.dev/v1alpha1", "kind": "Plan", "scenario": "secrets"}
    plan = {**about, "manifests": crds, "steps": steps, "faults": faults}
    path = tmp_path / "given.json"
    path.write_text(json.dumps(plan))
    for _ in range(2):
        done = staleproof("run", str(path), CONTROLLER)
        assert done.code == 0, done.output
        assert holding(done.folder, VALUE, "swordfish99", coded) == []
        path = done.run_folder / done.report["trials"][0]["folder"] / "plan.json"


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """The folder of a run that is killed in the middle of its trials."""
    command = [sys.executable, "-m", "staleproof", "run", CONTROLLER, *(word.replace("staleproof-", "") for word in WIDGETS)]
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    env = environment(TMPDIR=str(temporary), XDG_RUNTIME_DIR=str(temporary))
    running = subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + LIMIT_SECONDS
        while not list(tmp_path.glob(".staleproof/runs/*/shared/references/*/history.jsonl")):
            assert running.poll() is None, "it ended before it could be killed"
            assert time.monotonic() < deadline, "no trial began"
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(timeout=0.05)
    finally:
        running.send_signal(signal.SIGKILL)
        running.wait()
    return tmp_path


def test_a_killed_run_leaves_no_key_in_its_folder(killed: Path) -> None:
    files = [path for path in (killed / ".staleproof").rglob("*") if path.is_file() and not path.is_symlink()]
    kept = {path.suffix for path in files} | {path.name for path in files}
    assert not kept & {".kubeconfig", ".pem", ".key", ".csv", ".crt", "config.json", "tokens.csv"}
    assert not [path for path in files if b"PRIVATE KEY" in path.read_bytes()]
    temporary = killed / "tmp"
    assert list(temporary.glob("staleproof-*")), "they lie elsewhere"
    deadline = time.monotonic() + LIMIT_SECONDS
    while list(temporary.glob("staleproof-*")):  # etcd outlives the harness by a moment, and writes
        assert time.monotonic() < deadline, "the next run does not remove them"
        sweep(temporary)
