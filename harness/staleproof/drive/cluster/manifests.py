"""Manifests from files and folders: CustomResourceDefinitions and samples, read, checked and applied.

They are taken as people write them, and as `kubectl get -o yaml` prints them: what the API server gave an object is left out.
Every refusal names the file and says what to do; the API server's answers are passed on in its own words.
"""

import hashlib
import json
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import yaml

from staleproof.core.kubernetes_yaml import documents
from staleproof.core.operator.group_kind import GroupKind
from staleproof.core.plan.manifest import Manifest, as_asked_for
from staleproof.core.times import ESTABLISHED_SECONDS
from staleproof.core.wording import not_yaml
from staleproof.drive.cluster.api import Api, ApiError, ResourceType
from staleproof.drive.cluster.truth import Truth
from staleproof.errors import SetupError, UsageError

_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_CRD = "CustomResourceDefinition"
_BUILDERS = (("kustomize", "build"), ("kubectl", "kustomize"))
_KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_KUSTOMIZE_GROUP = "kustomize.config.k8s.io"  # Flux has a kind Kustomization too, which is a primary like any other
_LONGEST_BEGINNING, _DIGITS = 58, 5
"""Of a name that is made."""
_GIVE_A_SCHEMA = (
    "; each version needs a schema, if only {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}, which "
    "lets everything pass"
)


def read(paths: Iterable[Path], option: str) -> list[Manifest]:
    """Every document of these files; a folder stands for the manifests in it and below it, in order of path.

    What only kustomize uses is passed over: Kustomizations, its configuration, and in folders patches of CustomResourceDefinitions.

    Raises:
        UsageError: a path does not exist, cannot be read, holds no manifest, is not YAML or not a Kubernetes object.
    """
    return [manifest for path in paths for manifest in _manifests(path, option)]


def read_crds(paths: Iterable[Path], option: str = "--staleproof-crds") -> list[Manifest]:
    """CustomResourceDefinitions; UsageError when a document is something else."""
    manifests = read(paths, option)
    for manifest in manifests:
        if manifest["kind"] != _CRD:
            raise UsageError(
                f"{option}: expected CustomResourceDefinitions, found {name_of(manifest)}; "
                "a primary belongs into the option for samples (--staleproof-samples, or --samples)"
            )
    return manifests


def read_rendered(paths: Iterable[Path], option: str) -> list[Manifest]:
    """As `read`, but a folder that is a kustomization is built.

    Raises:
        UsageError: as in `read`; or it cannot be built, because it is wrong or there is no program for it.
    """
    found: list[Manifest] = []
    for path in paths:
        is_kustomization = any((path / name).is_file() for name in _KUSTOMIZATIONS)
        found += _built(path, option) if is_kustomization else _manifests(path, option)
    return found


def _built(path: Path, option: str) -> list[Manifest]:
    """What `kustomize build` makes of a folder."""
    command = next((words for words in _BUILDERS if shutil.which(words[0])), None)
    if command is None:
        raise UsageError(
            f"{option}: {path} is a kustomization, and neither kustomize nor kubectl is on the PATH to build it; install one, or "
            "build it elsewhere (`kustomize build`) and give the file"
        )
    done = subprocess.run([*command, str(path)], capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        reason = done.stderr.strip() or f"exit code {done.returncode}"
        raise UsageError(f"{option}: {' '.join(command)} cannot build {path}: {reason}")
    return [_object(each, path, option) for each in chain.from_iterable(map(_items, documents(done.stdout)))]


def _manifests(path: Path, option: str) -> list[Manifest]:
    if not path.exists():
        raise UsageError(f"{option}: {path} does not exist; give a manifest file or a folder of them")
    is_folder = path.is_dir()
    files = [path]
    if is_folder:  # what is hidden in it is not meant for us
        there = (file for file in path.rglob("*") if file.suffix in _SUFFIXES and file.is_file())
        files = sorted(file for file in there if not any(part.startswith(".") for part in file.relative_to(path).parts))
    if not files:
        raise UsageError(f"{option}: the folder {path} holds no .yaml, .yml or .json file")
    found = [manifest for file in files for manifest in _documents(file, option) if not (is_folder and _is_patch(manifest))]
    if not found:
        raise UsageError(f"{option}: {path} holds only what kustomize needs; expected Kubernetes objects")
    return found


def _is_patch(manifest: Manifest) -> bool:
    """Whether it only changes a CustomResourceDefinition that is elsewhere (kubebuilder's config/crd/patches)."""
    spec = manifest.get("spec") or {}
    return manifest["kind"] == _CRD and isinstance(spec, dict) and not spec.keys() & {"group", "names", "versions"}


def _documents(file: Path, option: str) -> Iterator[Manifest]:
    """Its objects, without what is kustomize's."""
    try:
        found = documents(file.read_text())
    except (yaml.YAMLError, UnicodeDecodeError) as err:
        raise UsageError(f"{option}: {file}: {not_yaml(err)}") from err
    except OSError as err:
        raise UsageError(f"{option}: cannot read {file}: {err.strerror or err}; give a manifest file or a folder of them") from err
    if not found and not _is_kustomize(None, file):
        raise UsageError(f"{option}: {file} is empty; expected a Kubernetes object")
    for each in chain.from_iterable(map(_items, found)):
        if not _is_kustomize(each, file):
            yield _object(each, file, option)


def _items(document: Any) -> list[Any]:  # noqa: ANN401  # whatever YAML holds
    """What is in a v1 List, as `kubectl get -o yaml` prints one, or in a list of one kind, as the API server answers with, whose
    items need not say what they are; any other document is alone."""
    said = document if isinstance(document, dict) else {}
    kind, version, items = str(said.get("kind")), said.get("apiVersion"), said.get("items")
    if not kind.endswith("List") or not isinstance(items, list) or not items or "name" in (said.get("metadata") or {}):
        return [document]
    if (version, kind) == ("v1", "List"):
        return items
    head = {"apiVersion": version, "kind": kind.removesuffix("List")}
    return [head | each if isinstance(each, dict) else each for each in items]


def _is_kustomize(document: Any, file: Path) -> bool:  # noqa: ANN401  # whatever YAML holds
    """What says that it is kustomize's; kustomization.yaml and kustomizeconfig.yaml need not say anything."""
    said = document if isinstance(document, dict) else {}
    if "kind" not in said:
        return file.name.startswith("kustom") and (document is None or bool(said))
    group = str(said.get("apiVersion") or _KUSTOMIZE_GROUP).partition("/")[0]
    return group == _KUSTOMIZE_GROUP and (said["kind"] == "Kustomization" or "apiVersion" in said)


def _object(document: Any, file: Path, option: str) -> Manifest:  # noqa: ANN401  # whatever YAML holds
    if isinstance(document, dict):
        missing = [key for key in ("apiVersion", "kind") if not isinstance(document.get(key), str)]
        document = _named(document)
        metadata = document.get("metadata")
        if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
            missing.append("metadata.name")
        if not missing:
            return as_asked_for(document)
        raise UsageError(f"{option}: {file} is not a Kubernetes object: {', '.join(missing)} missing")
    raise UsageError(f"{option}: {file} holds a {type(document).__name__}, expected a Kubernetes object")


def _named(document: dict[str, Any]) -> dict[str, Any]:
    """With a name, where it has only the beginning of one (`generateName`): as the API server makes one, but always the same."""
    metadata = document.get("metadata")
    begins = metadata.get("generateName") if isinstance(metadata, dict) and "name" not in metadata else None
    if not isinstance(metadata, dict) or not isinstance(begins, str):
        return document
    kept = {key: value for key, value in metadata.items() if key != "generateName"}
    digest = hashlib.sha256(json.dumps(document, sort_keys=True, default=str).encode()).hexdigest()
    return document | {"metadata": {"name": f"{begins[:_LONGEST_BEGINNING]}{digest[:_DIGITS]}", **kept}}


async def apply(manifests: Iterable[Manifest], api: Api, truth: Truth) -> None:
    """Apply cluster-scoped manifests in order and wait until each new type is served and watched.

    Raises:
        UsageError: the API server rejects one; its message is passed on.
        SetupError: a CustomResourceDefinition is not established in time.
    """
    for manifest in manifests:
        kind = await resource_type(manifest, api)
        try:
            await api.apply(kind, manifest["metadata"].get("namespace", ""), manifest)
        except ApiError as err:
            advice = _GIVE_A_SCHEMA if "openAPIV3Schema: Required value" in err.message else ""
            raise UsageError(f"the API server rejected {name_of(manifest)}: {err.message}{advice}") from err
        if manifest["kind"] == _CRD:
            resource = f"{manifest['spec']['names']['plural']}.{manifest['spec']['group']}"
            if not await truth.watches(resource, limit_seconds=ESTABLISHED_SECONDS):
                raise SetupError(
                    f"{name_of(manifest)} was not established within {ESTABLISHED_SECONDS:g} s; look at its conditions"
                )


async def resource_type(manifest: Manifest, api: Api) -> ResourceType:
    """The resource type of a manifest, in the version that it is written in; UsageError when the API server does not serve that."""
    kind = await api.type_of(manifest["apiVersion"], manifest["kind"])
    if kind is not None:
        return kind
    served = await api.served(manifest["apiVersion"].rpartition("/")[0], manifest["kind"])
    if served:
        raise UsageError(
            f"{name_of(manifest)} is written in {manifest['apiVersion']}, which the API server does not serve; "
            f"give it in {' or '.join(served)}"
        )
    raise UsageError(
        f"the API server does not know {manifest['apiVersion']} {manifest['kind']} (of {name_of(manifest)}); "
        "give its CustomResourceDefinition with the option for them (--staleproof-crds, or --crds). If the controller makes that "
        "because of another object, give that object with the option for prerequisites (--staleproof-before, or --before), or name "
        f"the primary (--staleproof-primary={GroupKind.of(manifest)}, or --primary), which makes all others prerequisites"
    )


def name_of(manifest: Manifest) -> str:
    return f"{manifest['kind']}/{manifest['metadata']['name']}"
