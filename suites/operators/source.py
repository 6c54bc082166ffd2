"""A public operator, built and kept in the cache folder, with the files that are made of what its publisher gives.

It decides what identifies a build, and how files are made of published ones: pieces of them are cut out, charts and kustomizations
are rendered. That is done each time.
"""

import hashlib
import json
import os
import shlex
import shutil
from dataclasses import astuple, dataclass
from pathlib import Path

from staleproof.drive.programs import cache
from staleproof.drive.programs.go_program import FLAGS
from staleproof.drive.programs.kubernetes import KUBERNETES_VERSION
from staleproof.drive.programs.progress import Progress, working
from staleproof.drive.programs.toolchain import ENVIRONMENT
from staleproof.errors import SetupError

from ..languages.program import QUICK_JVM
from .model import (
    PIECE,
    QUOTED,
    Chart,
    GoModule,
    Kustomization,
    Made,
    MavenLibrary,
    Operator,
    Origin,
    Piece,
    PythonLibrary,
    SparkSubmit,
)
from .origins import PUBLISHED, build, command, java, run, source_of

_MADE = "made"
_KUBE = f"--kube-version={KUBERNETES_VERSION}"
"""A helm that is not released by its authors takes some old one."""
_SUBMIT = """\
#!/bin/sh
# Of its arguments, the first two say which API server.
export SPARK_HOME={home} JAVA_HOME={java} JAVA_TOOL_OPTIONS={quick}
shift 2
exec "$SPARK_HOME/bin/spark-submit" --master "k8s://$(sed -n 's/^ *server: *//p' "$KUBECONFIG")" "$@"
"""
_PROGRAM = 0o755


@dataclass(frozen=True, slots=True)
class Built:
    """What runs it, the folder of what is published with it (CRDs, manifests, samples), and that of what is made of it."""

    command: tuple[str, ...]
    published: Path
    made: Path


async def ensure_operator(operator: Operator, progress: Progress) -> Built:
    """Fetch and build it, unless it is there, and make the files that are made of published ones.

    Raises:
        SetupError: a tool is missing, it (or helm, or kustomize) cannot be fetched or built, what is published is not as the table
            says, or the cache folder cannot be written.
    """
    kept = await _ensure(operator.name, operator.origin, progress)
    built = Built(command(operator.origin, kept), kept / PUBLISHED, kept / _MADE)
    with cache.cache_errors(built.made):
        built.made.mkdir(exist_ok=True)
    for name, what in operator.made.items():
        text = await _text(built.published, what, progress)
        with cache.cache_errors(built.made):
            (built.made / name).parent.mkdir(parents=True, exist_ok=True)
            (built.made / name).write_text(text)
            if isinstance(what, SparkSubmit):
                (built.made / name).chmod(_PROGRAM)
    return built


async def _ensure(name: str, origin: Origin, progress: Progress) -> Path:
    """The folder in which it is kept."""
    root = cache.cache_root(os.environ)
    entry = root / "operators" / name
    kept = entry / digest(origin)
    async with cache.locked(root, entry, progress, title=name):
        if not (kept / PUBLISHED).is_dir():  # the go command's own cache, where it is, may have been emptied
            with cache.workspace(root, entry) as scratch, working(progress, f"{name}: fetching and building"):
                made = scratch / "made"
                made.mkdir()
                await build(origin, name, made, progress)
                with cache.cache_errors(root):
                    shutil.rmtree(kept, ignore_errors=True)
                    entry.mkdir(parents=True, exist_ok=True)
                    made.rename(kept)
    return kept


def digest(origin: Origin) -> str:
    """Of what is fetched, and how it is built."""
    build = [FLAGS, ENVIRONMENT] if isinstance(origin, GoModule) else [type(origin).__name__]
    how = [*build, source_of(origin).decode()] if isinstance(origin, GoModule | MavenLibrary | PythonLibrary) else build
    return hashlib.sha256(json.dumps([astuple(origin), *how]).encode()).hexdigest()[:16]


# --- files that are made of published ones ---------------------------------------------------------------------------------------


async def _text(published: Path, what: Made, progress: Progress) -> str:
    match what:
        case Piece():
            return _cut(published, what)
        case Chart(folder=folder, release=release, namespace=namespace, helm=helm):
            kept = await _ensure("helm", helm, progress)
            words = ("template", release, str(published / folder), "--namespace", namespace, _KUBE)
            return run((*command(helm, kept), *words), published, title="helm template")
        case Kustomization(folder=folder, kustomize=kustomize):
            kept = await _ensure("kustomize", kustomize, progress)
            return run((*command(kustomize, kept), "build", str(published / folder)), published, title="kustomize build")
        case SparkSubmit(spark=spark, java=release):
            kept = await _ensure(spark.name, spark, progress)
            folders = {"home": kept / PUBLISHED, "java": Path(java(release)).parents[1]}
            quoted = {name: shlex.quote(str(folder)) for name, folder in folders.items()}
            return _SUBMIT.format(**quoted, quick=shlex.quote(" ".join(QUICK_JVM)))


def _cut(published: Path, piece: Piece) -> str:
    """SetupError when there is no such piece."""
    file = published / piece.file
    text = file.read_text() if file.is_file() else ""
    _, after, rest = text.partition(piece.after)
    found, before, _ = rest.partition(piece.before)
    if not after or not before:
        raise SetupError(f"{file} has nothing between {piece.after!r} and {piece.before!r}; does the table name another version?")
    return piece.frame.replace(QUOTED, json.dumps(found)).replace(PIECE, found)
