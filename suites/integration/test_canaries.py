"""Secrets that a controller, a webhook and the API server show wherever they can are in no file of a run, in no format of its
report, and nowhere on the terminal."""

import base64
import gzip
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from staleproof.core.plan.stored import plain
from staleproof.report.formats import FORMATS

from .conftest import MANIFESTS, QUICK, WIDGETS, Done, Run, fixture_controller

pytestmark = [pytest.mark.usefixtures("own_plane"), pytest.mark.live]

VARIABLE = "canary-of-a-variable"
CANARIES = {
    "a variable": VARIABLE,
    "a Secret": 'canary of a Secret: "quoted" & <b>',
    "the first line of a Secret": "canary in the first line of a key",
    "the second line of a Secret": "canary in the second line of a key",
    "a password in a document": "canary of a registry",
    "a Secret that is refused": "canary of what is refused",
    "an annotation": "canary of an annotation",
}
USAGE = 4


def secret(name: str, **data: str) -> dict[str, Any]:
    last = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps({"stringData": {"x": CANARIES["an annotation"]}})}
    about = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "annotations": last}}
    return {**about, "stringData": {**data, "annotated": CANARIES["an annotation"]}}


def installed(folder: Path) -> Path:
    """The operator's manifests, with rights and a webhook for Secrets."""
    manifests = list(yaml.safe_load_all((MANIFESTS / "guarded-operator.yaml").read_text()))
    for manifest in manifests:
        if manifest["kind"] == "ClusterRole":
            manifest["rules"].append({"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list", "watch"]})
        if manifest["kind"] == "ValidatingWebhookConfiguration":
            (hook,) = manifest["webhooks"]
            hook["rules"].append({**hook["rules"][0], "apiGroups": [""], "resources": ["secrets"]})
        if manifest["kind"] == "Deployment":
            (container,) = manifest["spec"]["template"]["spec"]["containers"]
            container["args"].remove("--curious")
    path = folder / "operator.yaml"
    path.write_text(yaml.safe_dump_all(each for each in manifests if each["kind"] != "MutatingWebhookConfiguration"))
    return path


def given(folder: Path, *secrets: dict[str, Any]) -> list[str]:
    before = folder / "before.yaml"
    before.write_text(yaml.safe_dump_all(secrets))
    serving = "--webhook-port={webhook_port} --webhook-cert-dir={webhook_cert_dir}"
    return [
        f"--controller-cmd={fixture_controller('indiscreet')} {serving}",
        f"--controller-manifests={installed(folder)}",
        "--controller-env",
        f"DB_PASSWORD={VARIABLE}",
        f"--staleproof-before={before}",
        *WIDGETS,
        *QUICK,
        "--staleproof-shrink-seconds=0",
        "-k",
        "own-writes/hide-creates",
    ]


def spellings(canary: str) -> set[bytes]:
    """As it is, in base64 at each of the places of three bytes, and as JSON, Python, XML and a shell quote it."""
    data = canary.encode()
    coded = {base64.b64encode(b"\0" * place + data)[4 if place else 0 : -4] for place in range(3)}
    quoted = {json.dumps(canary)[1:-1].encode(), repr(canary)[1:-1].encode()}
    return {data, base64.b64encode(data), *quoted, canary.replace("&", "&amp;").replace("<", "&lt;").encode(), *coded}


def bytes_of(path: Path) -> bytes:
    """Every byte of a file, and of what it has compressed in it, as a page has its data."""
    data = plain(path.read_bytes())
    inner = [gzip.decompress(base64.b64decode(packed)) for packed in re.findall(rb"H4sI[A-Za-z0-9+/]{40,}={0,2}", data)]
    return b"".join((data, *inner))


def holding(done: Done) -> list[str]:
    """Which files have which canary, and which of them the terminal shows."""
    paths = [path for path in done.folder.rglob("*") if path.is_file() and not path.is_symlink()]
    files = {str(path.relative_to(done.folder)): bytes_of(path) for path in paths} | {"the terminal": done.output.encode()}
    assert len(files) > 1
    sought = {what: spellings(canary) for what, canary in CANARIES.items()}
    return [
        f"{name} has {what}" for name, data in files.items() for what, each in sought.items() if any(form in data for form in each)
    ]


@pytest.fixture(scope="module")
def indiscreet(suite: Run, tmp_path_factory: pytest.TempPathFactory) -> Done:
    """A run with a finding, reported in every format, of a controller that shows everything."""
    folder = tmp_path_factory.mktemp("indiscreet")
    registry = json.dumps({"auths": {"registry.example": {"auth": CANARIES["a password in a document"]}}})
    key = f"{CANARIES['the first line of a Secret']}\n{CANARIES['the second line of a Secret']}\n"
    own = secret("database", password=CANARIES["a Secret"], key=key, config=registry)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    return suite(
        *given(folder, own),
        f"--staleproof-report={','.join(FORMATS)}",
        env={**environment, "GITHUB_STEP_SUMMARY": "summary"},
    )


def test_the_controller_logs_all_that_it_knows(indiscreet: Done) -> None:
    """Or the other tests show nothing."""
    assert indiscreet.code == 1, indiscreet.output
    log = (indiscreet.run_folder / "controller.log").read_text()
    for about in ("token: ", "variables: ", "secret ", "asked about "):
        lines = [line for line in log.splitlines() if about in line]
        assert any("<token>" in line for line in lines), about


def test_no_file_and_no_format_has_a_secret(indiscreet: Done) -> None:
    for each in FORMATS.values():
        assert (indiscreet.run_folder / each.file).is_file(), each.file
    assert (indiscreet.folder / "summary").stat().st_size > 0
    assert holding(indiscreet) == []


def test_a_message_of_a_webhook_that_quotes_a_secret_is_masked(suite: Run, tmp_path: Path) -> None:
    done = suite(*given(tmp_path, secret("database", refused=CANARIES["a Secret that is refused"])))
    assert done.code == USAGE, done.output
    assert "is no good password" in done.output
    assert holding(done) == []
