"""What is found in a repository, given its files."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import pytest

from staleproof.assess.learn.survey import Found, survey


def crd(kind: str) -> dict[str, Any]:
    spec = {"group": "example.com", "names": {"kind": kind, "plural": f"{kind.lower()}s"}, "versions": []}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": kind}, "spec": spec}


def thing(kind: str, group: str = "example.com") -> dict[str, Any]:
    return {"apiVersion": f"{group}/v1" if group else "v1", "kind": kind, "metadata": {"name": kind.lower()}}


def deployment(image: str) -> dict[str, Any]:
    spec = {"template": {"spec": {"containers": [{"name": "manager", "image": image}]}}}
    return {**thing("Deployment", "apps"), "spec": spec}


ROLE, KUSTOMIZATION = thing("ClusterRole", "rbac.authorization.k8s.io"), {"resources": ["a.yaml"]}
PATCH = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "a"}}


def found(files: Mapping[str, list[Any]], *programs: str, builds: bool = True) -> dict[str, tuple[str, ...]]:
    """What is found, but for what somebody has to see to."""
    return {each.name: each.texts for each in surveyed(files, *programs, builds=builds) if not each.is_open}


def surveyed(files: Mapping[str, list[Any]], *programs: str, builds: bool = True) -> list[Found]:
    return survey({PurePath(path): each for path, each in files.items()}, {PurePath(path) for path in programs}, builds=builds)


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
