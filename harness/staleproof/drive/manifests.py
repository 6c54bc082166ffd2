"""Manifests from files and folders: CustomResourceDefinitions and samples, read, checked and applied.

Every refusal names the file and says what to do; what the API server says is passed on in its own words.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from staleproof.core.plan import Manifest
from staleproof.drive.api import Api, ApiError, ResourceType
from staleproof.drive.feed import Condition, Feed
from staleproof.drive.truth import Truth
from staleproof.errors import SetupError, UsageError

_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_CRD = "CustomResourceDefinition"
_ESTABLISHED_SECONDS = 30.0


def read(paths: Iterable[Path], option: str) -> list[Manifest]:
    """Every document of these files; a folder stands for the manifests in it, in order of name.

    Raises:
        UsageError: a path does not exist, holds no manifest, is not YAML or not a Kubernetes object.
    """
    return [manifest for path in paths for file in _files(path, option) for manifest in _documents(file, option)]


def read_crds(paths: Iterable[Path]) -> list[Manifest]:
    """CustomResourceDefinitions; UsageError when a document is something else."""
    manifests = read(paths, "--staleproof-crds")
    for manifest in manifests:
        if manifest["kind"] != _CRD:
            name = f"{manifest['kind']}/{manifest['metadata']['name']}"
            raise UsageError(
                f"--staleproof-crds: expected CustomResourceDefinitions, found {name}; a primary belongs into --staleproof-samples"
            )
    return manifests


def _files(path: Path, option: str) -> Iterator[Path]:
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix in _SUFFIXES)
        if not files:
            raise UsageError(f"{option}: the folder {path} holds no .yaml, .yml or .json file")
        yield from files
    elif path.is_file():
        yield path
    else:
        raise UsageError(f"{option}: {path} does not exist; give a manifest file or a folder of them")


def _documents(file: Path, option: str) -> Iterator[Manifest]:
    try:
        documents = list(yaml.safe_load_all(file.read_text()))
    except (yaml.YAMLError, UnicodeDecodeError) as err:
        raise UsageError(f"{option}: {file} is not YAML: {err}") from err
    found = False
    for document in documents:
        if document is None:
            continue
        yield _object(document, file, option)
        found = True
    if not found:
        raise UsageError(f"{option}: {file} is empty; expected a Kubernetes object")


def _object(document: Any, file: Path, option: str) -> Manifest:  # noqa: ANN401  # whatever YAML holds
    if isinstance(document, dict):
        missing = [key for key in ("apiVersion", "kind") if not isinstance(document.get(key), str)]
        metadata = document.get("metadata")
        if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
            missing.append("metadata.name")
        if not missing:
            return document
        raise UsageError(f"{option}: {file} is not a Kubernetes object: {', '.join(missing)} missing")
    raise UsageError(f"{option}: {file} holds a {type(document).__name__}, expected a Kubernetes object")


async def apply(manifests: Iterable[Manifest], api: Api, truth: Truth, feed: Feed) -> None:
    """Apply cluster-scoped manifests in order and wait until each new type is served and watched.

    Raises:
        UsageError: the API server rejects one; its message is passed on.
    """
    for manifest in manifests:
        kind = await resource_type(manifest, api)
        try:
            await api.apply(kind, manifest["metadata"].get("namespace", ""), manifest)
        except ApiError as err:
            raise UsageError(f"the API server rejected {name_of(manifest)}: {err.message}") from err
        if manifest["kind"] == _CRD:
            resource = f"{manifest['spec']['names']['plural']}.{manifest['spec']['group']}"
            if not await feed.until(_is_watched(resource, truth), limit_seconds=_ESTABLISHED_SECONDS):
                raise SetupError(
                    f"{name_of(manifest)} was not established within {_ESTABLISHED_SECONDS:g} s; look at its conditions"
                )


def _is_watched(resource: str, truth: Truth) -> Condition:
    return lambda now: resource in truth.resources or now + 0.05


async def resource_type(manifest: Manifest, api: Api) -> ResourceType:
    """The type of a manifest; UsageError when the API server does not know its kind."""
    kind = await api.type_of(manifest["apiVersion"], manifest["kind"])
    if kind is None:
        raise UsageError(
            f"the API server does not know {manifest['apiVersion']} {manifest['kind']} (of {name_of(manifest)}); "
            "give its CustomResourceDefinition with --staleproof-crds"
        )
    return kind


def name_of(manifest: Manifest) -> str:
    return f"{manifest['kind']}/{manifest['metadata']['name']}"
