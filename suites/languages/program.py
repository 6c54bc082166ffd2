"""The Widget controllers in other languages (fixtures/java-widget and its neighbours), built outside the repository and kept in the
cache folder.

It decides what identifies a program: the content of its files and how it is built. Each is built by its own language's tool, in a
copy of its folder; the copy, with what came of it, is what is kept. Only `ci/languages` builds: tests run what is there.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from staleproof.drive.process.process import Command, run_process
from staleproof.drive.programs import cache
from staleproof.drive.programs.progress import Progress, working
from staleproof.errors import SetupError

FIXTURES = Path(__file__).parents[2] / "fixtures"
QUICK_JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Options with which a JVM begins quickly: it is started again in many trials, and does not live long."""
_SHARED = "shared"  # what builds of one program have in common, beside them


@dataclass(frozen=True, slots=True)
class Language:
    """A program: its folder in fixtures, the library that it shows, what of the folder belongs to it, the tools that it takes.

    `{folder}` in `command` is where it was built, `{shared}` in `env` a folder that all builds of it share.
    """

    name: str
    library: str
    sources: tuple[str, ...]
    tools: tuple[str, ...]
    build: tuple[str, ...]
    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return FIXTURES / self.name

    @property
    def missing(self) -> list[str]:
        """Tools that are not on PATH."""
        return [tool for tool in self.tools if shutil.which(tool) is None]


JAVA = Language(
    name="java-widget",
    library="fabric8",
    sources=("pom.xml", "src/**/*"),
    tools=("mvn", "java"),
    build=("mvn", "--quiet", "--batch-mode", "package"),
    command=("java", *QUICK_JVM, "-jar", "{folder}/target/java-widget.jar"),
)
JAVASCRIPT = Language(
    name="js-widget",
    library="client-node",
    sources=("package.json", "package-lock.json", "*.js"),
    tools=("npm", "node"),
    build=("npm", "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"),
    command=("node", "{folder}/main.js"),
)
RUST = Language(
    name="rust-widget",
    library="kube-rs",
    sources=("Cargo.toml", "Cargo.lock", "src/**/*.rs"),
    tools=("cargo", "cc"),
    build=("cargo", "install", "--debug", "--locked", "--no-track", "--path", ".", "--root", "."),
    command=("{folder}/bin/rust-widget",),
    env={"CARGO_TARGET_DIR": "{shared}"},  # else a change would compile 200 crates again
)
LANGUAGES = (JAVA, JAVASCRIPT, RUST)


def digest(language: Language) -> str:
    """A hash of everything that goes into the program: its files, their names, and how it is built."""
    paths = sources(language)
    files = [(path.relative_to(language.folder).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()) for path in paths]
    return hashlib.sha256(json.dumps([files, language.build]).encode()).hexdigest()[:16]


def sources(language: Language) -> list[Path]:
    return sorted({path for pattern in language.sources for path in language.folder.glob(pattern) if path.is_file()})


def built(language: Language) -> tuple[str, ...]:
    """The command that runs it.

    Raises:
        SetupError: it has not been built since it changed, or a tool is missing.
    """
    if language.missing:
        raise SetupError(f"{language.name} takes {', '.join(language.missing)}, which is not on PATH")
    kept = _kept(language)
    if not kept.is_dir():
        raise SetupError(f"{language.name} is not built: ci/languages does it")
    return tuple(word.format(folder=kept) for word in language.command)


async def build(language: Language, progress: Progress) -> None:
    """Unless it is there.

    Raises:
        SetupError: a tool is missing, the program cannot be built, or the cache folder cannot be written.
    """
    if language.missing:
        raise SetupError(f"building {language.name} takes {', '.join(language.missing)}, which is not on PATH")
    root, kept = cache.cache_root(os.environ), _kept(language)
    async with cache.locked(root, kept.parent, progress, title=language.name):
        if not kept.is_dir():
            with working(progress, f"{language.name}: {' '.join(language.build[:2])}"):
                await _build(language, root, kept)


def _kept(language: Language) -> Path:
    return cache.cache_root(os.environ) / "languages" / language.name / digest(language)


async def _build(language: Language, root: Path, kept: Path) -> None:
    """In a scratch folder that is brought in with one rename. Older builds stay: another checkout may use them."""
    with cache.workspace(root, kept.parent) as scratch:
        made = scratch / "made"
        with cache.cache_errors(root):
            for path in sources(language):
                copy = made / path.relative_to(language.folder)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)
            kept.parent.mkdir(parents=True, exist_ok=True)
        await _run(language, made, kept.parent)
        with cache.cache_errors(root):
            made.rename(kept)


async def _run(language: Language, folder: Path, entry: Path) -> None:
    log = entry.with_name(f"{language.name}.build.log")
    log.unlink(missing_ok=True)
    env = {name: value.format(shared=entry / _SHARED) for name, value in language.env.items()}
    name = f"{language.tools[0]} ({language.name})"
    async with run_process(Command(name=name, argv=language.build, log=log, env=env, cwd=folder)) as process:
        code = await process.wait()
    if code != 0:
        raise SetupError(
            f"{language.folder} could not be built. {language.tools[0]}'s own words follow; a first build needs the network or a "
            f"mirror of its registry.\n{process.account()}"
        )
