"""How an operator is fetched and built, by where it is published: on the Go module proxy, on Maven Central, on npm, on PyPI.

It decides what is run in the end. What is built lies in one folder: beside the program, in `published`, what its publisher gives.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from staleproof.drive.programs import cache
from staleproof.drive.programs.go_program import FLAGS
from staleproof.drive.programs.progress import Progress
from staleproof.drive.programs.toolchain import ENVIRONMENT, find_go
from staleproof.errors import SetupError

from ..languages.program import QUICK_JVM
from .model import GoModule, MavenArchives, MavenLibrary, NpmPackage, Origin, PythonLibrary, PythonPackage, StagedModule

PUBLISHED = "published"
_SUITES = Path(__file__).parents[1]
_PROGRAM, _PACKAGE, _VENV = "operator", "package", "venv"
_LINES = 20
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
_INSTALL = ("install", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund")


async def build(origin: Origin, name: str, made: Path, progress: Progress) -> None:
    """Fetch it and build it in this folder, which is there and empty. SetupError when a tool is missing, or it cannot be had."""
    match origin:
        case GoModule():
            go = await find_go(cache.cache_root(os.environ), made.parent, progress, purpose=f"building {name}")
            _build_go(origin, str(go), made)
        case MavenArchives():
            _unpack(origin, made)
        case MavenLibrary(version=version, ours=ours):
            shutil.copytree(_SUITES / ours, made / PUBLISHED)
            run((_tool("mvn"), "--quiet", "--batch-mode", f"-Dlibrary.version={version}", "package"), made / PUBLISHED)
        case NpmPackage():
            _install(origin, made)
        case PythonLibrary():
            _environment(origin, made)
            shutil.copytree(_SUITES / origin.ours, made / PUBLISHED, ignore=shutil.ignore_patterns("__pycache__"))
        case PythonPackage(package=package):
            _environment(origin, made)
            (folder,) = (made / _VENV / "lib").glob(f"python3*/site-packages/{package}")
            (made / PUBLISHED).symlink_to(folder.relative_to(made))


def command(origin: Origin, kept: Path) -> tuple[str, ...]:
    """What runs it. SetupError when that needs a tool that is missing."""
    match origin:
        case GoModule():
            return (str(kept / _PROGRAM),)
        case MavenArchives(jar=jar, java=release):
            return (java(release), *QUICK_JVM, "-jar", str(kept / PUBLISHED / jar))
        case MavenLibrary(java=release):
            return (java(release), *QUICK_JVM, "-jar", str(kept / PUBLISHED / "target" / "operator.jar"))
        case NpmPackage(program=program):
            return (_tool("node"), str(kept / _PACKAGE / "node_modules" / ".bin" / program))
        case PythonLibrary(module=module, arguments=arguments):
            return (*_python(kept), module, *arguments, str(kept / PUBLISHED / "operator.py"))
        case PythonPackage(module=module, arguments=arguments):
            return (*_python(kept), module, *arguments)


# --- Go --------------------------------------------------------------------------------------------------------------------------


def _build_go(module: GoModule, go: str, made: Path) -> None:
    folder = Path(json.loads(run((go, "mod", "download", "-json", f"{module.path}@{module.version}"), made))["Dir"])
    file = made / "go.mod"
    file.write_bytes((folder / "go.mod").read_bytes())
    (made / "go.sum").write_bytes((folder / "go.sum").read_bytes())
    replaced = json.loads(run((go, "mod", "edit", "-json", str(file)), made)).get("Replace") or ()
    beside = [_apart(each["Old"]["Path"], module) for each in replaced if each["New"]["Path"].startswith(".")]
    if module.ours:  # inside the publisher's path, as the main package that it stands for, so what is internal may be used
        beside += [f"-module={module.path}/{module.main}", f"-require={module.path}@{module.version}"]
        (made / "main.go").write_bytes(source_of(module))
    if beside:
        run((go, "mod", "edit", *beside, str(file)), made)
    where, what = (made, ".") if module.ours else (folder, f"./{module.main}")
    target = str(made / _PROGRAM)
    run((go, "build", f"-modfile={file}", "-mod=mod", *FLAGS, "-o", target, what), where, ENVIRONMENT)
    (made / PUBLISHED).symlink_to(folder)


def _apart(path: str, module: GoModule) -> str:
    """What says where a module comes from that the publisher keeps beside this one."""
    return f"-replace={path}={path}@{module.beside}" if isinstance(module, StagedModule) else f"-dropreplace={path}"


def source_of(origin: Origin) -> bytes:
    """Of what is ours in it; nothing where all is the publisher's."""
    match origin:
        case GoModule(ours=ours) if ours:
            return (Path(__file__).parent / ours).read_bytes()
        case PythonLibrary(ours=ours) | MavenLibrary(ours=ours):
            return b"".join(path.read_bytes() for path in sorted((_SUITES / ours).rglob("*")) if path.is_file())
        case _:
            return b""


# --- Maven -----------------------------------------------------------------------------------------------------------------------


def _unpack(origin: MavenArchives, made: Path) -> None:
    """Each archive into its folder, less the only folder that it may hold."""
    maven = _tool("mvn")
    for folder, coordinates in origin.archives.items():
        fetched = made / "fetched" / folder
        run((maven, "--quiet", "--batch-mode", _COPY, f"-Dartifact={coordinates}", f"-DoutputDirectory={fetched}"), made)
        (archive,) = fetched.iterdir()
        unpacked = made / "unpacked" / folder
        shutil.unpack_archive(archive, unpacked, filter="data")
        inside = list(unpacked.iterdir())
        only = inside[0] if len(inside) == 1 and inside[0].is_dir() else unpacked
        (made / PUBLISHED).mkdir(exist_ok=True)
        only.rename(made / PUBLISHED / folder)
    shutil.rmtree(made / "fetched")
    shutil.rmtree(made / "unpacked")


def java(release: int) -> str:
    """A Java that is new enough: JAVA_HOME's, that of PATH, or one of those that Debian keeps. SetupError when there is none."""
    found = []
    for each in _javas():
        number = _release(each)
        if number >= release:
            return each
        found.append(f"{each} is {number or 'of an unknown release'}")
    reasons = "; ".join(found) or "none was found"
    raise SetupError(f"Java {release} or newer is needed: {reasons}. Install it, or name it in JAVA_HOME, and try again.")


def _javas() -> Iterator[str]:
    home = os.environ.get("JAVA_HOME")
    yield from [str(Path(home, "bin", "java"))] if home else []
    yield from filter(None, [shutil.which("java")])
    yield from sorted(map(str, Path("/usr/lib/jvm").glob("*/bin/java")))


def _release(program: str) -> int:
    """`21` of what `java -version` says; 0 when it says nothing."""
    try:
        said = subprocess.run([program, "-version"], capture_output=True, text=True, check=False).stderr
    except OSError:
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found[1]) if found else 0


# --- npm -------------------------------------------------------------------------------------------------------------------------


def _install(origin: NpmPackage, made: Path) -> None:
    folder = made / _PACKAGE
    folder.mkdir()
    wants = {"private": True, "dependencies": {origin.name: origin.version}, "overrides": dict(origin.overrides)}
    (folder / "package.json").write_text(json.dumps(wants))
    run((_tool("npm"), *_INSTALL), folder)
    (made / PUBLISHED).symlink_to(Path(_PACKAGE, "node_modules", origin.name))


# --- Python ----------------------------------------------------------------------------------------------------------------------


def _environment(wanted: PythonLibrary | PythonPackage, made: Path) -> None:
    """Its own virtual environment; nothing in it that is used has a path of its own, so it can be moved."""
    run((sys.executable, "-m", "venv", str(made / _VENV)), made)
    wants = (f"{wanted.name}=={wanted.version}", *wanted.needs)
    run((*_python(made), "pip", "install", "--quiet", "--disable-pip-version-check", *wants), made)


def _python(folder: Path) -> tuple[str, str]:
    """What runs a module in that environment."""
    return str(folder / _VENV / "bin" / "python"), "-m"


# --- all of them -----------------------------------------------------------------------------------------------------------------


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise SetupError(f"{name} is not on PATH; install it and try again.")
    return found


def run(argv: Sequence[str], folder: Path, env: Mapping[str, str] | None = None, *, title: str = "") -> str:
    """What it prints. SetupError with its last words when it fails."""
    done = subprocess.run(argv, cwd=folder, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = "\n".join(f"  | {line}" for line in (done.stdout + done.stderr).splitlines()[-_LINES:])
        advice = "" if title else "; a first build needs the network"
        failure = f"{title or ' '.join((Path(argv[0]).name, *argv[1:3]))} failed with exit code {done.returncode}{advice}"
        raise SetupError(f"{failure}. It said:\n{last}")
    return done.stdout
