"""A copy of this tree that tests are run from, with an environment of its own whose `staleproof` is the copy's and no other.

The editable install of `.venv` leads to the original, package by package: the folders that lie elsewhere are found by a finder that
names them by their full paths. So the copy has an environment that takes the libraries from there, but not that finder, and the
folders lie where they are installed: inside the package.
"""

import json
import os
import shutil
import signal
import subprocess
import sysconfig
import time
import tomllib
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from staleproof.drive.programs.cache import cache_root
from staleproof.errors import SetupError

LIMIT_SECONDS = 300.0
"""For the tests of one error, which take a minute at most, unless the machine has much else to do. One that makes a test wait for
ever is not found by it."""
_GRACE_SECONDS = 20.0
_LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", ".staleproof", "*.egg-info", "node_modules"
)
_AS_IN_CHECK = {"STALEPROOF_COMPANIONS": "none", "STALEPROOF_CONTROLLERS": "few", "TESTCONTAINERS_RYUK_DISABLED": "true"}
_ELSEWHERE = ("PYTHONPATH", "PYTHONHOME", "PYTHONPYCACHEPREFIX", "VIRTUAL_ENV", "PYTEST_ADDOPTS")
"""Variables that lead to another tree, or into another cache."""
_CHOSEN = "not slow and not live and not power and not crds and not languages"
"""The markers of the tests that `ci/check` runs."""
_EXAMPLES = "--hypothesis-profile=quick"
"""As many as `ci/check` tries; only conftest.py of the unit tests knows them."""
_TAIL = 40
_FOUND = "import importlib, sys; print(*(importlib.import_module(name).__file__ for name in sys.argv[1:]), sep='\\n')"


@dataclass(frozen=True, slots=True)
class Tried:
    """What the tests said: the first that failed; empty when all passed."""

    failed: str
    seconds: float


@dataclass(slots=True)
class Copy:
    """A tree in which errors can be planted, one at a time."""

    root: Path
    _stamp: int = field(default_factory=lambda: int(time.time()))

    @contextmanager
    def planted(self, file: str, old: str, new: str) -> Iterator[None]:
        """With the text in this file replaced, which must be there once. It is as before when the block is left."""
        path = self.root / file
        before = path.read_text()
        if (count := before.count(old)) != 1:
            raise SetupError(f"{file}: expected {old!r} once, found it {count} times; mend the list of errors")
        self._write(path, before.replace(old, new))
        try:
            yield
        finally:
            self._write(path, before)

    def test(self, tests: Sequence[str], *, limit_seconds: float = LIMIT_SECONDS) -> Tried:
        """Run these tests until one fails. SetupError when they cannot be run, or take too long."""
        failures = self.root / ".pytest_cache" / "v" / "cache" / "lastfailed"
        failures.unlink(missing_ok=True)
        log = self.root / "planted.log"
        began = time.monotonic()
        examples = [_EXAMPLES] if all(test.startswith("suites/unit/") for test in tests) else []
        code = self._run(["-m", "pytest", "-q", "-x", "-m", _CHOSEN, *examples, *tests], log, limit_seconds)
        seconds = time.monotonic() - began
        failed = next(iter(json.loads(failures.read_bytes())), "") if failures.exists() else ""
        if code not in (0, 1) or bool(failed) != (code == 1):
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-_TAIL:])
            raise SetupError(f"pytest ended with code {code} in {self.root}:\n{tail}")
        return Tried(failed, seconds)

    def check(self, packages: Sequence[str]) -> None:
        """SetupError when any of these packages would be imported from elsewhere."""
        argv: list[str | Path] = [self.python, "-c", _FOUND, *packages]
        done = subprocess.run(argv, cwd="/", env=self.environment, capture_output=True, text=True, check=False)
        files = done.stdout.split()
        if done.returncode or not all(Path(file).resolve().is_relative_to(self.root) for file in files):
            raise SetupError(f"the tests would not try the copy in {self.root}: {' '.join(files)} {done.stderr.strip()}")

    @property
    def python(self) -> Path:
        return self.root / ".venv" / "bin" / "python"

    @property
    def environment(self) -> dict[str, str]:
        """The variables that its programs get."""
        return {name: value for name, value in os.environ.items() if name not in _ELSEWHERE} | _AS_IN_CHECK

    def _write(self, path: Path, text: str) -> None:
        """Python takes a file for unchanged that has the same size and was written in the same second."""
        path.write_text(text)
        self._stamp += 1
        os.utime(path, (self._stamp, self._stamp))

    def _run(self, arguments: Sequence[str], log: Path, limit_seconds: float) -> int:
        with log.open("wb") as output:
            child = subprocess.Popen(
                [self.python, *arguments],
                cwd=self.root,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
            try:
                return child.wait(limit_seconds)
            except subprocess.TimeoutExpired:
                raise SetupError(f"the tests were not over after {limit_seconds:g} s") from None
            finally:
                _end(child)


@contextmanager
def copied(root: Path, folder: Path) -> Iterator[Copy]:
    """A copy of the tree in a new folder, as it is now, whether it was committed or not. SetupError when the copy's own packages
    are not what is imported there."""
    folder = folder.resolve() / "tree"
    shutil.copytree(root, folder, symlinks=True, ignore=_LEFT_OUT)
    places: dict[str, str] = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]["package-dir"]
    main = folder / places["staleproof"]
    for package, place in places.items():
        if package != "staleproof":
            (main / package.removeprefix("staleproof.")).symlink_to(folder / place, target_is_directory=True)
    venv.EnvBuilder(symlinks=True).create(folder / ".venv")
    libraries = dict.fromkeys(sysconfig.get_path(kind) for kind in ("purelib", "platlib"))
    own = sysconfig.get_path("purelib", vars={"base": str(folder / ".venv")})
    (Path(own) / "copy.pth").write_text("\n".join([str(main.parent), *libraries]) + "\n")
    made = Copy(folder)
    try:
        made.check(list(places))
        yield made
    finally:
        # Where the proxy keeps what was compiled (`drive.proxy.launch`): it is not needed again.
        shutil.rmtree(cache_root(os.environ) / "bytecode" / folder.parent.relative_to("/"), ignore_errors=True)


def _end(child: subprocess.Popen[bytes]) -> None:
    """In order, if it still runs: so what it has started is stopped, too."""
    if child.poll() is None:
        child.send_signal(signal.SIGINT)
        try:
            child.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
