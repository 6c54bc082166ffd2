"""`staleproof init`: staleproof.yaml, from what is in the repository and from what is given."""

import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePath
from typing import Any

import click
import yaml
from rich.console import Console
from rich.text import Text

from staleproof.assess.learn.own_groups import SOURCES
from staleproof.assess.learn.survey import Found, Repository, survey
from staleproof.assess.store.run_folder import write_atomically
from staleproof.cli.option import SUBJECT, given_in, takes
from staleproof.core.kubernetes_yaml import documents
from staleproof.errors import UsageError
from staleproof.settings import Given, parse
from staleproof.settings_file import NAME, written

_SUFFIXES = (".yaml", ".yml")
_PASSED_OVER = frozenset({"vendor", "node_modules", "target", "third_party", "site-packages", "__pycache__"})
_MOST_FILES, _MOST_BYTES = 5000, 2_000_000
_KOPF = "@kopf.on."
_SOURCES, _PROJECT = ("main.go", "cmd/main.go"), "PROJECT"
_HEAD = "# Options of staleproof (docs/configuration.md). `staleproof schema config` prints the JSON Schema of this file.\n"
_WANTED = {
    "controller_cmd": "the controller: controller-cmd: ./bin/manager, or python operator.py, or kopf run -A operator.py; "
    "or controller-image: registry.example.com/acme/operator:v1",
    "crds": "CustomResourceDefinitions: crds: [config/crd]",
    "samples": "samples of primaries: samples: [config/samples]",
}


@click.command()
@takes(*(name for name in SUBJECT if name != "config"), "crds", "samples", "primary", "before")
@click.option("--force", is_flag=True, help=f"Write over the {NAME} that is there.")
def init(*, force: bool, **options: Any) -> int:  # noqa: ANN401  # click's
    """Write staleproof.yaml from what is found in this folder (CustomResourceDefinitions, samples, manifests, the program), and
    with the options that are given. `staleproof doctor` tells whether that is all."""
    path, console = Path(NAME), Console()
    if path.exists() and not force:
        raise UsageError(f"{NAME} is there already; change it, or write over it with --force")
    said = given_in(options)
    parse(said)
    builds = any(shutil.which(name) for name in ("kustomize", "kubectl"))
    here = Path()
    repository = Repository(
        dict(_files(here)),
        _programs(),
        builds=builds,
        project=_project(here),
        sources=(text for _, text in _sources(here, SOURCES)),
        handlers=[path for path, text in _sources(here, (".py",)) if _KOPF in text],
    )
    found = [each for each in survey(repository) if not _is_said(each.name, said)]
    if not found and not said:
        raise UsageError(
            f"there is nothing to write into {NAME}: no CustomResourceDefinitions, samples, manifests or program of a controller "
            f"were found in {here.resolve()}. Run this at the root of the operator's repository, or say what there is, as "
            "--controller-cmd=… --crds=… --samples=…"
        )
    given = {each.name: Given(each.texts, each.name) for each in found if not each.is_open} | said
    missing = [text for name, text in _WANTED.items() if not _is_said(name, given)]
    comments = [f"# {each.name.replace('_', '-')}: {' '.join(each.texts)}  # {each.why}\n" for each in found if each.is_open]
    comments += [f"# not found: {text}\n" for text in missing]
    write_atomically(path, "".join([_HEAD, written(given), *comments]).encode())
    _tell(console, found, missing)
    return 0


def _is_said(name: str, said: dict[str, Given]) -> bool:
    controller = {"controller_cmd", "controller_image"}
    return bool((controller if name in controller else {name}) & said.keys())


def _tell(console: Console, found: list[Found], missing: list[str]) -> None:
    for each in found:
        line = Text(f"{'?' if each.is_open else '✓'} ", style="yellow" if each.is_open else "green")
        console.print(line.append(f"{each.name.replace('_', '-')}: {', '.join(each.texts)} {each.why}"), soft_wrap=True)
    for text in missing:
        console.print(Text(f"? not found, to be written by you: {text}", style="yellow"), soft_wrap=True)
    console.print(f"{NAME} is written; `staleproof doctor` tells whether a run can work with it", highlight=False, soft_wrap=True)


def _files(root: Path) -> Iterator[tuple[PurePath, list[Any]]]:
    """The YAML files below a folder with their objects, in order; without any, if there is something else in them."""
    for path in _paths(root, _SUFFIXES):
        try:
            objects = documents(path.read_text())
        except (OSError, ValueError, yaml.YAMLError):
            objects = []
        yield PurePath(path), objects if all(isinstance(each, dict) for each in objects) else []


def _project(root: Path) -> dict[str, Any]:
    """What kubebuilder wrote down of the project; empty where it did not."""
    try:
        found = yaml.safe_load((root / _PROJECT).read_text())
    except (OSError, ValueError, yaml.YAMLError):
        return {}
    return found if isinstance(found, dict) else {}


def _sources(root: Path, suffixes: Collection[str]) -> Iterator[tuple[PurePath, str]]:
    """Each source file with its text, one after the other."""
    for path in _paths(root, suffixes):
        with suppress(OSError):
            yield PurePath(path), path.read_text(errors="replace")


def _paths(root: Path, suffixes: Collection[str]) -> Iterator[Path]:
    """The files with these endings, in order, but for very large ones, and not more than one would read."""
    return islice(_below(root, suffixes), _MOST_FILES)


def _below(root: Path, suffixes: Collection[str]) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not _is_others(Path(folder), name))
        for path in (Path(folder) / name for name in sorted(names)):
            if path.suffix in suffixes and path.is_file() and path.stat().st_size <= _MOST_BYTES:
                yield path.relative_to(root)


def _is_others(folder: Path, name: str) -> bool:
    """Whether a folder holds what is no part of the project: dependencies, a virtual environment, tools' own files."""
    return name in _PASSED_OVER or name.startswith(".") or (folder / name / "pyvenv.cfg").is_file()


def _programs() -> set[PurePath]:
    """Files that can be run, and sources that a program is built from."""
    built = {PurePath(path) for path in Path("bin").glob("*") if path.is_file() and os.access(path, os.X_OK)}
    return built | {PurePath(name) for name in _SOURCES if Path(name).is_file()}
