"""What an operator's repository holds that a run needs, decided from what is in its files: `staleproof init` writes it down.

Divergence from Kubernetes: templates (Helm) are no manifests here, and a kustomization is taken for one that can be built.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

Documents = Sequence[Any]
_CRD = "CustomResourceDefinition"
_WORKLOADS, _RIGHTS = frozenset({"Deployment", "StatefulSet", "DaemonSet"}), frozenset({"ClusterRole", "Role"})
_TESTS = frozenset({"test", "tests", "testdata", "e2e", "fixtures", "hack", "vendor"})
_SAMPLES = ("samples", "sample", "examples", "example")
_KUSTOMIZATION = PurePath("config/default/kustomization.yaml")
_MANAGERS = (PurePath("bin/manager"),)
_PLACEHOLDER = "controller:latest"
"""What kubebuilder writes where the image will be."""


@dataclass(frozen=True, slots=True)
class Found:
    """The value of an option, and what is there, in words. With `is_open` somebody has to see to it first."""

    name: str
    texts: tuple[str, ...]
    why: str
    is_open: bool = False


def survey(files: Mapping[PurePath, Documents], programs: Collection[PurePath], *, builds: bool) -> list[Found]:
    """What is found. `files`: those that are YAML, with their objects, none where they hold something else; `programs`: files that
    can be run; `builds`: there is a program that builds kustomizations."""
    mine = {path: documents for path, documents in files.items() if not _TESTS & set(path.parts[:-1])}
    defined = {path: kinds for path, documents in mine.items() if (kinds := set(_defined(documents)))}
    kinds = {kind for each in defined.values() for kind in each}
    made = {path: own for path, documents in mine.items() if (own := {_kind(each) for each in documents} & kinds)}
    pure = {path: kinds for path, kinds in defined.items() if all(each.get("kind") == _CRD for each in mine[path])}
    crds, samples = _folder(pure, _crds_first), _folder(made, _samples_first)
    found = [*_manifests(mine, builds=builds), *_of("crds", crds, mine, lambda each: each.get("kind") == _CRD, "defines")]
    found += _of("samples", samples, mine, _is_object, "holds")
    return [*_controller(programs, mine, found), *found]


def _controller(programs: Collection[PurePath], files: Mapping[PurePath, Documents], found: Sequence[Found]) -> Iterator[Found]:
    program = next((path for path in _MANAGERS if path in programs), None)
    if program is not None:
        yield Found("controller_cmd", (f"./{program}",), "is there, and finds the API server by KUBECONFIG")
        return
    installed = [PurePath(text) for each in found if each.name == "controller_manifests" for text in each.texts]
    images = [image for path in installed for image in _images(files.get(path, ()))]
    if len(images) == 1 and images[0] != _PLACEHOLDER:
        yield Found("controller_image", (images[0],), f"is what {installed[0]} installs")
    elif PurePath("cmd/main.go") in programs or PurePath("main.go") in programs:
        yield Found("controller_cmd", ("./bin/manager",), "is what `make build` makes in kubebuilder's repositories", is_open=True)


def _images(documents: Documents) -> Iterator[str]:
    for each in documents:
        containers = _at(each, "spec", "template", "spec", "containers") if each.get("kind") in _WORKLOADS else None
        if isinstance(containers, list):
            yield from (image for container in containers if isinstance(image := _at(container, "image"), str))


def _manifests(files: Mapping[PurePath, Documents], *, builds: bool) -> Iterator[Found]:
    """What installs it: a file with a workload and its rights, or else kubebuilder's kustomization."""
    whole = [path for path, documents in files.items() if _installs({str(each.get("kind")) for each in documents})]
    if whole:
        yield Found("controller_manifests", (str(min(whole, key=_short)),), "has a workload and its Roles")
    elif _KUSTOMIZATION in files:
        why = "is a kustomization" if builds else "is a kustomization; install kustomize or kubectl, which build it"
        yield Found("controller_manifests", (str(_KUSTOMIZATION.parent),), why, is_open=not builds)


def _installs(kinds: Collection[str]) -> bool:
    return bool(_WORKLOADS & set(kinds) and _RIGHTS & set(kinds))


def _of(
    name: str,
    chosen: Mapping[PurePath, Collection[tuple[str, str]]],
    files: Mapping[PurePath, Documents],
    is_fit: Callable[[Any], bool],
    does: str,
) -> Iterator[Found]:
    """The folder of these files if all that is in it and below it may be there; else the files."""
    if not chosen:
        return
    kinds = ", ".join(sorted({kind for each in chosen.values() for _, kind in each}))
    folder = next(iter(chosen)).parent
    inside = [documents for path, documents in files.items() if path.is_relative_to(folder)]
    is_whole = folder != PurePath() and all(inside) and all(is_fit(e) for each in inside for e in each if not _is_kustomize(e))
    texts = (str(folder),) if is_whole else tuple(map(str, sorted(chosen)))
    yield Found(name, texts, f"{does} {kinds}")


def _folder(
    files: Mapping[PurePath, Collection[tuple[str, str]]], first: Callable[[PurePath], object]
) -> dict[PurePath, Collection[tuple[str, str]]]:
    """Of the files those in the folder that most likely is meant: it has the most kinds, then as `first` says."""
    folders: dict[PurePath, dict[PurePath, Collection[tuple[str, str]]]] = defaultdict(dict)
    for path, kinds in files.items():
        folders[path.parent][path] = kinds

    def rank(folder: PurePath) -> tuple[object, ...]:
        return (first(folder), -len({kind for each in folders[folder].values() for kind in each}), _short(folder))

    return folders[min(folders, key=rank)] if folders else {}


def _crds_first(folder: PurePath) -> bool:
    """kubebuilder's before any other."""
    return folder.parts[:2] != ("config", "crd")


def _samples_first(folder: PurePath) -> int:
    return next((rank for rank, name in enumerate(_SAMPLES) if name in folder.parts), len(_SAMPLES))


def _short(path: PurePath) -> tuple[int, str]:
    return len(path.parts), str(path)


def _defined(documents: Documents) -> Iterator[tuple[str, str]]:
    """Group and kind of each definition that is whole."""
    for each in documents:
        group, kind = _at(each, "spec", "group"), _at(each, "spec", "names", "kind")
        if each.get("kind") == _CRD and group and kind:
            yield str(group), str(kind)


def _at(value: object, *path: str) -> object:
    """What is there in a document that may be anything; None where nothing is."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _kind(document: Mapping[str, Any]) -> tuple[str, str]:
    return str(document.get("apiVersion")).rpartition("/")[0], str(document.get("kind"))


def _is_object(document: Mapping[str, Any]) -> bool:
    return bool(document.get("apiVersion") and document.get("kind") and _at(document, "metadata", "name"))


def _is_kustomize(document: Mapping[str, Any]) -> bool:
    return "kind" not in document or str(document.get("apiVersion")).startswith("kustomize.config.k8s.io")
