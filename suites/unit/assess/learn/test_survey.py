"""What is found in a repository, given its files."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import pytest

from staleproof.assess.learn.survey import Found, Repository, survey


def crd(kind: str, group: str = "example.com") -> dict[str, Any]:
    spec = {"group": group, "names": {"kind": kind, "plural": f"{kind.lower()}s"}, "versions": []}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": kind}, "spec": spec}


def thing(kind: str, group: str = "example.com") -> dict[str, Any]:
    return {"apiVersion": f"{group}/v1" if group else "v1", "kind": kind, "metadata": {"name": kind.lower()}}


def deployment(image: str) -> dict[str, Any]:
    spec = {"template": {"spec": {"containers": [{"name": "manager", "image": image}]}}}
    return {**thing("Deployment", "apps"), "spec": spec}


ROLE, KUSTOMIZATION = thing("ClusterRole", "rbac.authorization.k8s.io"), {"resources": ["a.yaml"]}
PATCH = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "a"}}


def found(files: Mapping[str, list[Any]], *programs: str, builds: bool = True) -> dict[str, tuple[str, ...]]:
    """What is found, but for what the user has to see to."""
    return {each.name: each.texts for each in surveyed(files, *programs, builds=builds) if not each.is_open}


def surveyed(files: Mapping[str, list[Any]], *programs: str, builds: bool = True, sources: tuple[str, ...] = ()) -> list[Found]:
    by_path = {PurePath(path): each for path, each in files.items()}
    return survey(Repository(by_path, {PurePath(path) for path in programs}, builds, {}, sources))


KUBEBUILDER = {
    "config/crd/bases/a.yaml": [crd("A")],
    "config/crd/kustomization.yaml": [KUSTOMIZATION],
    "config/crd/patches/a.yaml": [PATCH],
    "config/default/kustomization.yaml": [KUSTOMIZATION],
    "config/samples/a.yaml": [thing("A"), thing("Secret", "")],
    "config/samples/kustomization.yaml": [KUSTOMIZATION],
    "charts/op/crds/a.yaml": [crd("A")],
    "test/e2e/crd/a.yaml": [crd("A"), crd("B")],
}


def test_as_kubebuilder_lays_it_out() -> None:
    expected = {"crds": ("config/crd/bases",), "samples": ("config/samples",)}
    assert found(KUBEBUILDER, "bin/manager") == expected | {
        "controller_cmd": ("./bin/manager",),
        "controller_manifests": ("config/default",),
    }
    assert found(KUBEBUILDER, "cmd/main.go", builds=False) == expected
    opened = {each.name: each.why for each in surveyed(KUBEBUILDER, "cmd/main.go", builds=False) if each.is_open}
    assert "make build" in opened["controller_cmd"]
    assert "install kustomize or kubectl" in opened["controller_manifests"]


@pytest.mark.parametrize(
    ("image", "named"), [("example.com/m:v1", {"controller_image": ("example.com/m:v1",)}), ("controller:latest", {})]
)
def test_a_manifest_that_installs_it_names_its_image(image: str, named: dict[str, tuple[str, ...]]) -> None:
    """It brings its definitions itself."""
    files = {"dist/install.yaml": [crd("A"), deployment(image), ROLE], "examples/a.yaml": [thing("A")]}
    expected = {"controller_manifests": ("dist/install.yaml",), "samples": ("examples",)}
    assert found({**files, "web.yaml": [deployment("w")]}) == named | expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, {}),
        ({"a.yaml": [thing("A")]}, {}),
        ({"crds/a.yaml": [crd("A")], "crds/b.yaml": [thing("Role")]}, {"crds": ("crds/a.yaml",)}),
        ({"crds/a.yaml": [crd("A")], "crds/b.yaml": []}, {"crds": ("crds/a.yaml",)}),
        ({"a.yaml": [crd("A")], "b.yaml": [crd("B")]}, {"crds": ("a.yaml", "b.yaml")}),
        ({"x/a.yaml": [crd("A")], "y/b.yaml": [crd("A"), crd("B")]}, {"crds": ("y",)}),
        ({"testdata/a.yaml": [crd("A")]}, {}),
        (
            {"crds/a.yaml": [crd("A")], "docs/a.yaml": [thing("A")], "x/samples/a.yaml": [thing("A")]},
            {"crds": ("crds",), "samples": ("x/samples",)},
        ),
    ],
)
def test_folders_and_files(files: dict[str, list[Any]], expected: dict[str, tuple[str, ...]]) -> None:
    """A folder is given whole only if all that is in it may be there."""
    assert found(files) == expected


THEIRS = "cert-manager.io"
BOTH = {
    "config/crd/bases/a.yaml": [crd("A")],
    "config/crd/external/issuer.yaml": [crd("Issuer", THEIRS), crd("Certificate", THEIRS)],
    "config/samples/a.yaml": [thing("A"), thing("Secret", "")],
    "config/samples/b.yaml": [thing("A", "elsewhere.example.com")],
    "examples/issuer/issuer.yaml": [thing("Issuer", THEIRS)],
}
OWN = ("// +groupName=example.com",)


def test_only_the_projects_own_kinds_are_ticked() -> None:
    """What is another's is left to people; a folder of samples with a kind that nothing defines is not given whole."""
    found = surveyed(BOTH, sources=OWN)
    ticked = {each.name: each.texts for each in found if not each.is_open}
    assert ticked == {"crds": ("config/crd/bases",), "samples": ("config/samples/a.yaml",)}
    (opened,) = [each for each in found if each.is_open]
    assert (opened.name, opened.texts) == ("crds", ("config/crd/external",))
    assert opened.why == "defines Certificate, Issuer of another project: add it to crds if the controller watches that"


def test_where_nothing_tells_whose_they_are_none_is_ticked() -> None:
    (crds,) = [each for each in surveyed(BOTH) if each.name == "crds"]
    assert crds.is_open
    assert "of several projects" in crds.why


def test_one_file_with_samples_of_both_names_the_primaries() -> None:
    files = {**BOTH, "config/samples/a.yaml": [thing("A"), thing("Issuer", THEIRS)]}
    (primary,) = [each for each in surveyed(files, sources=OWN) if each.name == "primary"]
    assert (primary.texts, primary.is_open) == (("A.example.com",), False)


def test_what_installs_the_controller_may_write_the_status_of_its_kinds() -> None:
    rules = [{"apiGroups": ["example.com"], "resources": ["as/status"], "verbs": ["update"]}]
    web, manager = [deployment("w"), ROLE], [deployment("m"), {**ROLE, "rules": rules}]
    files = {"a.yaml": web, "deploy/install.yaml": manager, "crds/a.yaml": [crd("A")]}
    assert found(files)["controller_manifests"] == ("deploy/install.yaml",)


@pytest.mark.parametrize(
    "odd",
    [
        {"spec": {"template": {"spec": None}}},
        {"spec": {"template": {"spec": {"containers": {"name": "manager"}}}}},
        {"spec": {"template": {"spec": {"containers": ["manager", {"name": "manager"}]}}}},
        {"spec": {"template": "manager"}, "metadata": "manager"},
        {"kind": "CustomResourceDefinition", "spec": {"group": "example.com", "names": "widgets"}},
    ],
)
def test_a_document_that_is_unlike_its_kind_hides_nothing_else(odd: dict[str, Any]) -> None:
    install = [{**thing("Deployment", "apps"), **odd}, deployment("example.com/manager:v1"), ROLE]
    assert found({"install.yaml": install, "crds/a.yaml": [crd("A")], "odd/a.yaml": [odd]}) == {
        "controller_image": ("example.com/manager:v1",),
        "controller_manifests": ("install.yaml",),
        "crds": ("crds",),
    }
