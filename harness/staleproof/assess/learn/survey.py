"""What an operator's repository holds that a run needs, decided from what is in its files: `staleproof init` writes it down.

Divergence from Kubernetes: templates (Helm) are no manifests here, and a kustomization is taken for one that can be built.
"""

import shlex
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from staleproof.assess.learn.own_groups import own_groups, owned_in
from staleproof.core.operator.group_kind import GroupKind

Documents = Sequence[Any]
Files = Mapping[PurePath, Documents]
Kinds = Collection[tuple[str, str]]
"""Each with its group before it."""
_CRD = "CustomResourceDefinition"
_WORKLOADS, _RIGHTS = frozenset({"Deployment", "StatefulSet", "DaemonSet"}), frozenset({"ClusterRole", "Role"})
_TESTS = frozenset({"test", "tests", "testdata", "e2e", "fixtures", "hack", "vendor"})
_SAMPLES = ("samples", "sample", "examples", "example")
_KUSTOMIZATION = PurePath("config/default/kustomization.yaml")
_MANAGERS = (PurePath("bin/manager"),)
_PLACEHOLDER = "controller:latest"
"""What kubebuilder writes where the image will be."""


@dataclass(frozen=True, slots=True)
class Repository:
    """What is in it.

    Attributes:
        files: those that are YAML, with their objects, none where they hold something else.
        programs: files that can be run, and sources that a program is built from.
        builds: there is a program that builds kustomizations.
        project: what is in kubebuilder's file PROJECT; empty without one.
        sources: the text of each source file, read when it is asked for.
        handlers: Python files with handlers of kopf.
    """

    files: Files
    programs: Collection[PurePath] = ()
    builds: bool = True
    project: Mapping[str, Any] = field(default_factory=dict)
    sources: Iterable[str] = ()
    handlers: Sequence[PurePath] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """The value of an option, and what is there, in words. With `is_open` the user has to see to it first."""

    name: str
    texts: tuple[str, ...]
    why: str
    is_open: bool = False


def survey(repository: Repository) -> list[Found]:
    """What is found. Definitions of other projects are told apart, and samples are those of the project's own kinds."""
    mine = {path: documents for path, documents in repository.files.items() if not _TESTS & set(path.parts[:-1])}
    defined = {path: kinds for path, documents in mine.items() if (kinds := set(_defined(documents)))}
    every = {kind for each in defined.values() for kind in each}
    roles = [each for documents in mine.values() for each in documents if _is_right(each)]
    groups = own_groups({group for group, _ in every}, repository.project, repository.sources, roles)
    own = {kind for kind in every if groups is None or kind[0] in groups}
    found = [*_manifests(mine, {group for group, _ in own}, builds=repository.builds)]
    found += _kinds(mine, defined, own, is_sure=groups is not None)
    return [*_controller(repository, mine, found), *found]


def _kinds(files: Files, defined: Mapping[PurePath, Kinds], own: Kinds, *, is_sure: bool) -> Iterator[Found]:
    """The definitions and the samples of the project's own kinds; of the others', the definitions."""
    pure = {path: kinds for path, kinds in defined.items() if all(each.get("kind") == _CRD for each in files[path])}
    mine = {path: set(kinds) & set(own) for path, kinds in pure.items() if set(kinds) & set(own)}
    foreign = {path: kinds for path, kinds in pure.items() if path not in mine}
    crds = _folder(mine, _crds_first)
    why = "defines {}" if is_sure else "defines {}, of several projects: leave in what is yours"
    yield from _of(
        "crds", crds, files, lambda each: set(_defined([each])) <= set(own) and each.get("kind") == _CRD, why, is_sure=is_sure
    )
    theirs = "defines {} of another project: add it to crds if the controller watches that"
    yield from _of("crds", _folder(foreign, _crds_first), files, lambda each: each.get("kind") == _CRD, theirs, is_sure=False)
    made = {path: found for path, documents in files.items() if (found := {_kind(each) for each in documents} & set(own))}
    samples = _folder(made, _samples_first)
    yield from _of("samples", samples, files, lambda each: _is_object(each) and _is_served(_kind(each), own), "holds {}")
    if any(_kind(each) in kinds - set(own) for kinds in map(set, defined.values()) for path in samples for each in files[path]):
        named = {GroupKind(kind, group) for kinds in samples.values() for group, kind in kinds}
        yield Found("primary", tuple(sorted(map(str, named))), "among samples of other projects' kinds, too")


def _controller(repository: Repository, files: Files, found: Sequence[Found]) -> Iterator[Found]:
    programs, handlers = repository.programs, [path for path in repository.handlers if not _TESTS & set(path.parts[:-1])]
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
    elif handlers:
        has = "has handlers" if len(handlers) == 1 else "have handlers: leave in what starts the operator"
        yield Found("controller_cmd", (shlex.join(["kopf", "run", "-A", *map(str, handlers)]),), has, is_open=len(handlers) > 1)


def _images(documents: Documents) -> Iterator[str]:
    for each in documents:
        containers = _at(each, "spec", "template", "spec", "containers") if each.get("kind") in _WORKLOADS else None
        if isinstance(containers, list):
            yield from (image for container in containers if isinstance(image := _at(container, "image"), str))


def _manifests(files: Files, groups: Collection[str], *, builds: bool) -> Iterator[Found]:
    """What installs it: a file with a workload and its rights, before all one whose Roles let it write the status of its own kinds;
    or else kubebuilder's kustomization."""

    def rank(path: PurePath) -> tuple[object, ...]:
        return not any(group in groups for each in files[path] if _is_right(each) for group in owned_in(each)), *_short(path)

    installers = [path for path, documents in files.items() if _installs({str(each.get("kind")) for each in documents})]
    if installers:
        yield Found("controller_manifests", (str(min(installers, key=rank)),), "has a workload and its Roles")
    elif _KUSTOMIZATION in files:
        why = "is a kustomization" if builds else "is a kustomization; install kustomize or kubectl, which build it"
        yield Found("controller_manifests", (str(_KUSTOMIZATION.parent),), why, is_open=not builds)


def _installs(kinds: Collection[str]) -> bool:
    return bool(_WORKLOADS & set(kinds) and _RIGHTS & set(kinds))


def _is_right(document: Mapping[str, Any]) -> bool:
    return document.get("kind") in _RIGHTS


def _of(
    name: str, chosen: Mapping[PurePath, Kinds], files: Files, is_fit: Callable[[Any], bool], why: str, *, is_sure: bool = True
) -> Iterator[Found]:
    """The folder of these files if all that is in it and below it may be there; else the files."""
    if not chosen:
        return
    kinds = ", ".join(sorted({kind for each in chosen.values() for _, kind in each}))
    folder = next(iter(chosen)).parent
    inside = [documents for path, documents in files.items() if path.is_relative_to(folder)]
    all_fit = folder != PurePath() and all(inside) and all(is_fit(e) for each in inside for e in each if not _is_kustomize(e))
    texts = (str(folder),) if all_fit else tuple(map(str, sorted(chosen)))
    yield Found(name, texts, why.format(kinds), is_open=not is_sure)


def _folder(files: Mapping[PurePath, Kinds], first: Callable[[PurePath], object]) -> dict[PurePath, Kinds]:
    """Of the files those in the folder that most likely is meant: it has the most kinds, then as `first` says."""
    folders: dict[PurePath, dict[PurePath, Kinds]] = defaultdict(dict)
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


def _is_served(kind: tuple[str, str], own: Kinds) -> bool:
    """Whether the API server knows the kind by itself, or by the project's definitions."""
    group, _ = kind
    return kind in own or "." not in group or group.endswith(".k8s.io")


def _is_kustomize(document: Mapping[str, Any]) -> bool:
    return "kind" not in document or str(document.get("apiVersion")).startswith("kustomize.config.k8s.io")
