"""Manifests from files and folders: every document, in order, and every refusal names the file and what to do."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from staleproof.drive.cluster.manifests import name_of, read, read_crds, read_rendered
from staleproof.errors import UsageError

CRD = "CustomResourceDefinition"


def document(name: str, kind: str = "Widget") -> str:
    return f"apiVersion: example.com/v1\nkind: {kind}\nmetadata:\n  name: {name}\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def put(files: Mapping[str, str]) -> None:
    for path, content in files.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(content)


def names(*paths: str) -> list[str]:
    return [manifest["metadata"]["name"] for manifest in read((Path(path) for path in paths), "--samples")]


def test_a_folder_is_read_in_order_of_path() -> None:
    put({file: document(file) for file in ("b.yaml", "a.yml", "10.yaml", "9.yaml")})
    put({"c.json": json.dumps(DOCUMENT | {"metadata": {"name": "c.json"}}), "inner/e.yaml": document("e")})
    put({"README.md": "# not a manifest", "d.yaml.bak": "not a manifest: [", ".git/f.yaml": "not a manifest: ["})
    assert names(".") == ["10.yaml", "9.yaml", "a.yml", "b.yaml", "c.json", "e"]


DOCUMENT = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"replicas": 3}}


def test_paths_are_read_in_the_order_given() -> None:
    put({"folder/b.yaml": document("b"), "z.yaml": document("z"), "a.yaml": document("a")})
    assert names("z.yaml", "folder", "a.yaml") == ["z", "b", "a"]


def test_a_file_that_is_named_may_be_called_anything() -> None:
    put({"manifest": document("w")})
    assert names("manifest") == ["w"]


def test_every_document_of_a_file_is_read_and_empty_ones_are_none() -> None:
    put({"all.yaml": f"---\n# a comment\n---\n{document('a')}---\n{document('b')}---\n"})
    assert names("all.yaml") == ["a", "b"]


def test_the_items_of_a_list_are_read_each_for_itself() -> None:
    """What `kubectl get -o yaml` prints."""
    listed = {"apiVersion": "v1", "kind": "List", "items": [DOCUMENT, DOCUMENT | {"metadata": {"name": "v"}}]}
    put({"all.yaml": f"{json.dumps(listed)}\n---\n{document('a')}"})
    assert names("all.yaml") == ["w", "v", "a"]
    put({"none.yaml": "apiVersion: v1\nkind: List\nitems: []\n", "odd.yaml": "apiVersion: v1\nkind: List\nitems: [1]\n"})
    with pytest.raises(UsageError, match=r"none\.yaml is not a Kubernetes object: metadata\.name missing"):
        names("none.yaml")
    with pytest.raises(UsageError, match=r"odd\.yaml holds a int, expected a Kubernetes object"):
        names("odd.yaml")


def test_the_items_of_a_list_of_one_kind_need_not_say_what_they_are() -> None:
    """What `kubectl get --raw` prints."""
    items = [{"metadata": {"name": "w", "uid": "1", "resourceVersion": "7"}, "spec": {"replicas": 3}}]
    put({"raw.json": json.dumps({"apiVersion": "example.com/v1", "kind": "WidgetList", "metadata": {}, "items": items})})
    assert read([Path("raw.json")], "--samples") == [DOCUMENT]
    own = {"apiVersion": "example.com/v1", "kind": "AllowList", "metadata": {"name": "a"}, "items": ["x"]}
    put({"own.json": json.dumps(own)})
    assert read([Path("own.json")], "--samples") == [own], "a kind may be called so"


def test_what_the_api_server_gave_is_left_out() -> None:
    put({"all.yaml": f"{document('a')}  uid: '1'\n  resourceVersion: '7'\n  managedFields: []\nstatus: {{x: 1}}\n"})
    (found,) = read([Path("all.yaml")], "--samples")
    assert found == {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}}


def test_a_lone_equals_sign_is_a_text() -> None:
    put({"a.yaml": document("a") + "spec:\n  enum:\n  - =\n  - '!='\n"})
    (found,) = read([Path("a.yaml")], "--samples")
    assert found["spec"] == {"enum": ["=", "!="]}


def test_a_time_of_day_and_a_date_are_texts() -> None:
    put({"a.yaml": document("a") + "spec: {window: 12:30, until: 2030-01-01}\n"})
    (found,) = read([Path("a.yaml")], "--samples")
    assert found["spec"] == {"window": "12:30", "until": "2030-01-01"}


def test_of_a_name_that_is_to_be_generated_one_is_made_that_is_always_the_same() -> None:
    runs = [document("w").replace("name: w", "generateName: hello-") + f"spec: {{number: {number}}}\n" for number in (1, 2)]
    put({"runs.yaml": "---\n".join(runs), "w.yaml": document("w")})
    first, second, plain = names("runs.yaml", "w.yaml")
    assert (first[:6], second[:6], plain) == ("hello-", "hello-", "w")
    assert first != second
    assert names("runs.yaml") == [first, second]
    assert "generateName" not in read([Path("runs.yaml")], "--samples")[0]["metadata"]


def test_a_name_that_is_made_is_short_enough() -> None:
    put({"w.yaml": document("w").replace("name: w", f"generateName: {'w' * 70}")})
    assert [len(name) for name in names("w.yaml")] == [63]


def test_json_is_read_whatever_it_holds() -> None:
    put({"w.json": json.dumps(DOCUMENT, indent=2)})
    assert read([Path("w.json")], "--samples") == [DOCUMENT]


def test_no_path_is_no_manifest() -> None:
    assert read([], "--samples") == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a: [", ": not YAML: "),
        ("a: {{ .Values.name }}\n", ": not YAML: "),
        ("a: &x\nb: *y\n", ": not YAML: "),
        ("a: !!python/object:os.system {}\n", ": not YAML: "),
        ("", "is empty; expected a Kubernetes object"),
        ("---\n# nothing\n---\n", "is empty; expected a Kubernetes object"),
        ("- a\n- b\n", "holds a list, expected a Kubernetes object"),
        ("just words", "holds a str, expected a Kubernetes object"),
        ("42", "holds a int, expected a Kubernetes object"),
        ("a: 1\n", "is not a Kubernetes object: apiVersion, kind, metadata.name missing"),
        (document("w").replace("kind: Widget\n", ""), "is not a Kubernetes object: kind missing"),
        (document("w").replace("example.com/v1", "1"), "is not a Kubernetes object: apiVersion missing"),
        ("apiVersion: v1\nkind: Pod\nmetadata: w\n", "is not a Kubernetes object: metadata.name missing"),
        ("apiVersion: v1\nkind: Pod\nmetadata:\n  generateName: 5\n", "is not a Kubernetes object: metadata.name missing"),
        ("apiVersion: v1\nkind: Pod\nmetadata:\n  name: 5\n", "is not a Kubernetes object: metadata.name missing"),
        (f"{document('w')}---\n- a\n", "holds a list, expected a Kubernetes object"),
        (b"\xff\xfe\x00", ": not YAML"),
    ],
)
def test_what_is_no_manifest_is_refused_by_option_and_file(content: str | bytes, message: str) -> None:
    Path("mine.yaml").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UsageError) as caught:
        names("mine.yaml")
    assert str(caught.value).startswith("--samples: mine.yaml")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nosuch.yaml", "nosuch.yaml does not exist; give a manifest file or a folder of them"),
        ("notes", "the folder notes holds no .yaml, .yml or .json file"),
        ("/proc/self/mem", "cannot read /proc/self/mem: Input/output error"),
        ("kustomize", "kustomize holds only what kustomize needs; expected Kubernetes objects"),
        ("config/samples/kustomization.yaml", "kustomization.yaml holds only what kustomize needs; expected Kubernetes objects"),
        ("config/samples/all.yaml", "all.yaml holds only what kustomize needs; expected Kubernetes objects"),
    ],
)
def test_a_path_without_manifests_is_refused(path: str, message: str) -> None:
    put(SCAFFOLDED | dict.fromkeys(("notes/notes.txt", "kustomize/kustomization.yml"), "# nothing yet\n"))
    with pytest.raises(UsageError) as caught:
        names(path)
    assert str(caught.value).startswith("--samples: ")
    assert message in str(caught.value)


@pytest.mark.parametrize("option", ["--crds", "--staleproof-crds"])
def test_custom_resource_definitions_are_nothing_else(option: str) -> None:
    put({"crd.yaml": document("widgets.example.com", CRD), "w.yaml": document("w")})
    assert [name_of(manifest) for manifest in read_crds([Path("crd.yaml")], option)] == [f"{CRD}/widgets.example.com"]
    with pytest.raises(UsageError) as caught:
        read_crds([Path("crd.yaml"), Path("w.yaml")], option)
    assert str(caught.value) == (
        f"{option}: expected CustomResourceDefinitions, found Widget/w; "
        "a primary belongs into the option for samples (--staleproof-samples, or --samples)"
    )


# --- what kubebuilder makes ----------------------------------------------------------------------------------------------------

WHOLE = "spec:\n  group: example.com\n  names: {plural: widgets, kind: Widget}\n"
PATCH = "spec:\n  conversion: {strategy: Webhook}\n"
SCAFFOLDED = {
    "config/crd/kustomization.yaml": "resources:\n- bases/example.com_widgets.yaml\n",
    "config/crd/kustomizeconfig.yaml": "nameReference:\n- kind: Service\n  version: v1\n",
    "config/crd/bases/example.com_widgets.yaml": document("widgets.example.com", CRD) + WHOLE,
    "config/crd/bases/example.com_gadgets.yaml": document("gadgets.example.com", CRD) + WHOLE,
    "config/crd/patches/webhook_in_widgets.yaml": document("widgets.example.com", CRD) + PATCH,
    "config/crd/patches/cainjection_in_widgets.yaml": document("widgets.example.com", CRD),
    "config/samples/kustomization.yaml": "## Append samples\nresources:\n- v1_widget.yaml\n",
    "config/samples/all.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: []\n",
    "config/samples/v1_widget.yaml": document("w"),
}


def test_what_is_for_kustomize_is_passed_over() -> None:
    put(SCAFFOLDED)
    found = [manifest["metadata"]["name"] for manifest in read_crds([Path("config/crd")])]
    assert found == ["gadgets.example.com", "widgets.example.com"]
    assert names("config/samples") == ["w"]
    assert len(read_crds([Path("config/crd/patches/cainjection_in_widgets.yaml")])) == 1, "one that is named is no patch"


def test_other_kustomizations_and_other_files_are_read() -> None:
    """Flux has a kind of that name; and a manifest without a kind is a mistake unless the file is kustomize's."""
    put({"flux.yaml": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: f}\n"})
    put({"kustom-widget.yaml": document("w")})
    assert names(".") == ["f", "w"]
    put({"other.yaml": "resources: []\n"})
    with pytest.raises(UsageError, match=r"other\.yaml is not a Kubernetes object"):
        names(".")


# --- kustomizations --------------------------------------------------------------------------------------------------------------


def test_a_kustomization_needs_a_program_that_builds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    put({"config/kustomization.yaml": "resources: [a.yaml]\n", "config/a.yaml": document("a")})
    monkeypatch.setenv("PATH", str(Path.cwd()))
    with pytest.raises(UsageError, match=r"config is a kustomization, and neither kustomize nor kubectl is on the PATH"):
        read_rendered([Path("config")], "--controller-manifests")


def test_a_folder_that_is_none_is_read_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    put({"config/b.yaml": document("b"), "config/below/kustomization.yaml": "resources: [c.yaml]\n", "a.yaml": document("a")})
    monkeypatch.setenv("PATH", str(Path.cwd()))
    found = read_rendered([Path("a.yaml"), Path("config")], "--controller-manifests")
    assert [manifest["metadata"]["name"] for manifest in found] == ["a", "b"]


@pytest.mark.io
@pytest.mark.skipif(not (shutil.which("kustomize") or shutil.which("kubectl")), reason="neither kustomize nor kubectl is there")
def test_a_kustomization_is_built() -> None:
    put({"config/kustomization.yaml": "namePrefix: my-\nresources: [a.yaml]\n", "config/a.yaml": document("a")})
    put({"x.yaml": document("x")})
    found = read_rendered([Path("config"), Path("x.yaml")], "--controller-manifests")
    assert [manifest["metadata"]["name"] for manifest in found] == ["my-a", "x"]
    put({"config/kustomization.yaml": "resources: [gone.yaml]\n"})
    with pytest.raises(UsageError, match=r"cannot build config: (.|\n)*gone.yaml"):
        read_rendered([Path("config")], "--controller-manifests")
