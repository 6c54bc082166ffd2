"""Where a public operator comes from: the go command fetches its module, and it is built in the cache folder, and kept there.

It decides what identifies a build: what is fetched, and how it is compiled. A module is compiled with its own go.mod and go.sum,
less the replacements that lead to folders of its repository: those are modules of their own, and are fetched like the others.
It decides, too, how files are made of published ones: pieces of them are cut out, and charts are rendered. That is done each time.
"""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from staleproof.drive.cluster.control_plane import KUBERNETES_VERSION, Progress, cache
from staleproof.drive.cluster.control_plane.progress import working
from staleproof.drive.cluster.control_plane.toolchain import ENVIRONMENT, find_go
from staleproof.drive.cluster.go_program import FLAGS
from staleproof.errors import SetupError

from .table import PIECE, QUOTED, Chart, GoModule, Operator, Piece

_PROGRAM, _PUBLISHED, _MADE = "operator", "published", "made"
_LINES = 20
_KUBE = f"--kube-version={KUBERNETES_VERSION}"
"""A helm that is not released by its authors takes some old one."""


@dataclass(frozen=True, slots=True)
class Built:
    """A program, the folder of what is published beside its source (CRDs, manifests, samples), and that of what is made of it."""

    program: Path
    published: Path
    made: Path


async def ensure_operator(operator: Operator, progress: Progress) -> Built:
    """Fetch and build it, unless it is there, and make the files that are made of published ones.

    Raises:
        SetupError: there is no Go to be had, it (or helm) cannot be fetched or built, what is published is not as the table says,
            or the cache folder cannot be written.
    """
    built = await _ensure(operator.name, operator.module, progress)
    with cache.cache_errors(built.made):
        built.made.mkdir(exist_ok=True)
    for name, what in operator.made.items():
        text = _cut(built.published, what) if isinstance(what, Piece) else await _rendered(built.published, what, progress)
        with cache.cache_errors(built.made):
            (built.made / name).write_text(text)
    return built


async def _ensure(name: str, module: GoModule, progress: Progress) -> Built:
    root = cache.cache_root(os.environ)
    entry = root / "operators" / name
    kept = entry / digest(module)
    async with cache.locked(root, entry, progress, title=name):
        if not (kept / _PUBLISHED).is_dir():  # the go command's own cache, where it is, may have been emptied
            with cache.workspace(root, entry) as scratch, working(progress, f"{name}: fetching and building"):
                made = scratch / "made"
                go = await find_go(root, scratch, progress, purpose=f"building {name}")
                _build(module, str(go), made)
                with cache.cache_errors(root):
                    shutil.rmtree(kept, ignore_errors=True)
                    entry.mkdir(parents=True, exist_ok=True)
                    made.rename(kept)
    return Built(kept / _PROGRAM, kept / _PUBLISHED, kept / _MADE)


def _cut(published: Path, piece: Piece) -> str:
    """SetupError when there is no such piece."""
    file = published / piece.file
    text = file.read_text() if file.is_file() else ""
    _, after, rest = text.partition(piece.after)
    found, before, _ = rest.partition(piece.before)
    if not after or not before:
        raise SetupError(f"{file} has nothing between {piece.after!r} and {piece.before!r}; does the table name another version?")
    return piece.frame.replace(QUOTED, json.dumps(found)).replace(PIECE, found)


async def _rendered(published: Path, chart: Chart, progress: Progress) -> str:
    helm = await _ensure("helm", chart.helm, progress)
    folder = published / chart.folder
    argv = (str(helm.program), "template", chart.release, str(folder), "--namespace", chart.namespace, _KUBE)
    return _run(argv, published, title="helm template")


def digest(module: GoModule) -> str:
    """Of what is fetched, and how it is built."""
    return hashlib.sha256(json.dumps([astuple(module), FLAGS, ENVIRONMENT]).encode()).hexdigest()[:16]


def _build(module: GoModule, go: str, made: Path) -> None:
    made.mkdir()
    folder = Path(json.loads(_run((go, "mod", "download", "-json", f"{module.path}@{module.version}"), made))["Dir"])
    file = made / "go.mod"
    file.write_bytes((folder / "go.mod").read_bytes())
    (made / "go.sum").write_bytes((folder / "go.sum").read_bytes())
    replaced = json.loads(_run((go, "mod", "edit", "-json", str(file)), made)).get("Replace") or ()
    beside = [f"-dropreplace={each['Old']['Path']}" for each in replaced if each["New"]["Path"].startswith(".")]
    if beside:
        _run((go, "mod", "edit", *beside, str(file)), made)
    target = str(made / _PROGRAM)
    _run((go, "build", f"-modfile={file}", "-mod=mod", *FLAGS, "-o", target, f"./{module.main}"), folder, ENVIRONMENT)
    (made / _PUBLISHED).symlink_to(folder)


def _run(argv: Sequence[str], folder: Path, env: Mapping[str, str] | None = None, *, title: str = "") -> str:
    """What it prints. SetupError with its last words when it fails."""
    done = subprocess.run(argv, cwd=folder, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = "\n".join(f"  | {line}" for line in (done.stdout + done.stderr).splitlines()[-_LINES:])
        advice = "" if title else "; a first build needs the network"
        told = f"{title or f'go {argv[1]} {argv[2]}'} failed with exit code {done.returncode}{advice}"
        raise SetupError(f"{told}. It said:\n{last}")
    return done.stdout
