"""Manifests from files and folders: every document, in order, and every refusal names the file and what to do."""

import json
from pathlib import Path

import pytest

from staleproof.drive.manifests import name_of, read, read_crds
from staleproof.errors import UsageError

CRD = "CustomResourceDefinition"


def document(name: str, kind: str = "Widget") -> str:
    return f"apiVersion: example.com/v1\nkind: {kind}\nmetadata:\n  name: {name}\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(*paths: str) -> list[str]:
    return [manifest["metadata"]["name"] for manifest in read((Path(path) for path in paths), "--samples")]


def test_a_folder_is_read_in_order_of_name(here: Path) -> None:
    for file in ("b.yaml", "a.yml", "c.json", "10.yaml", "9.yaml"):
        content = document(file) if not file.endswith("json") else json.dumps(DOCUMENT | {"metadata": {"name": file}})
        (here / file).write_text(content)
    (here / "README.md").write_text("# not a manifest")
    (here / "d.yaml.bak").write_text("not a manifest: [")
    (here / "inner").mkdir()
    (here / "inner" / "e.yaml").write_text(document("e"))
    assert names(".") == ["10.yaml", "9.yaml", "a.yml", "b.yaml", "c.json"]


DOCUMENT = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"replicas": 3}}


def test_paths_are_read_in_the_order_given(here: Path) -> None:
    (here / "folder").mkdir()
    (here / "folder" / "b.yaml").write_text(document("b"))
    (here / "z.yaml").write_text(document("z"))
    (here / "a.yaml").write_text(document("a"))
    assert names("z.yaml", "folder", "a.yaml") == ["z", "b", "a"]


def test_a_file_that_is_named_may_be_called_anything(here: Path) -> None:
    (here / "manifest").write_text(document("w"))
    assert names("manifest") == ["w"]


def test_every_document_of_a_file_is_read_and_empty_ones_are_none(here: Path) -> None:
    (here / "all.yaml").write_text(f"---\n# a comment\n---\n{document('a')}---\n{document('b')}---\n")
    assert names("all.yaml") == ["a", "b"]


def test_json_is_read_whatever_it_holds(here: Path) -> None:
    (here / "w.json").write_text(json.dumps(DOCUMENT, indent=2))
    assert read([Path("w.json")], "--samples") == [DOCUMENT]


def test_no_path_is_no_manifest() -> None:
    assert read([], "--samples") == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("a: [", "is not YAML: "),
        ("a: {{ .Values.name }}\n", "is not YAML: "),
        ("a: &x\nb: *y\n", "is not YAML: "),
        ("a: !!python/object:os.system {}\n", "is not YAML: "),
        ("", "is empty; expected a Kubernetes object"),
        ("---\n# nothing\n---\n", "is empty; expected a Kubernetes object"),
        ("- a\n- b\n", "holds a list, expected a Kubernetes object"),
        ("just words", "holds a str, expected a Kubernetes object"),
        ("42", "holds a int, expected a Kubernetes object"),
        ("a: 1\n", "is not a Kubernetes object: apiVersion, kind, metadata.name missing"),
        (document("w").replace("kind: Widget\n", ""), "is not a Kubernetes object: kind missing"),
        (document("w").replace("example.com/v1", "1"), "is not a Kubernetes object: apiVersion missing"),
        ("apiVersion: v1\nkind: Pod\nmetadata: w\n", "is not a Kubernetes object: metadata.name missing"),
        ("apiVersion: v1\nkind: Pod\nmetadata:\n  generateName: w-\n", "is not a Kubernetes object: metadata.name missing"),
        ("apiVersion: v1\nkind: Pod\nmetadata:\n  name: 5\n", "is not a Kubernetes object: metadata.name missing"),
        (f"{document('w')}---\n- a\n", "holds a list, expected a Kubernetes object"),
    ],
)
def test_what_is_no_manifest_is_refused_by_option_and_file(content: str, told: str, here: Path) -> None:
    (here / "mine.yaml").write_text(content)
    with pytest.raises(UsageError) as caught:
        names("mine.yaml")
    assert str(caught.value).startswith("--samples: mine.yaml ")
    assert told in str(caught.value)


def test_bytes_that_are_no_text_are_refused(here: Path) -> None:
    (here / "mine.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"--samples: mine\.yaml is not YAML"):
        names("mine.yaml")


def test_what_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError, match=r"--samples: nosuch\.yaml does not exist; give a manifest file or a folder of them"):
        names("nosuch.yaml")


def test_a_folder_without_manifests_is_refused(here: Path) -> None:
    (here / "folder").mkdir()
    (here / "folder" / "notes.txt").write_text("x")
    with pytest.raises(UsageError, match=r"--samples: the folder folder holds no \.yaml, \.yml or \.json file"):
        names("folder")


def test_custom_resource_definitions_are_nothing_else(here: Path) -> None:
    (here / "crd.yaml").write_text(document("widgets.example.com", CRD))
    (here / "w.yaml").write_text(document("w"))
    assert [name_of(manifest) for manifest in read_crds([Path("crd.yaml")])] == [f"{CRD}/widgets.example.com"]
    with pytest.raises(UsageError) as caught:
        read_crds([Path("crd.yaml"), Path("w.yaml")])
    assert str(caught.value) == (
        "--staleproof-crds: expected CustomResourceDefinitions, found Widget/w; a primary belongs into --staleproof-samples"
    )
