"""Records the demo and a run with workers, at two widths, with and without colour, into docs/terminal."""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from .picture import svg
from .recording import record

_ROOT = Path(__file__).parents[2]
_FOLDER = _ROOT / "docs" / "terminal"
_BIN = _ROOT / ".venv" / "bin"
_MANIFESTS = _ROOT / "fixtures" / "manifests"
_CRD, _SAMPLE = "widget-crd.yaml", "widget-sample.yaml"
_RUN = (
    "pytest",
    "-n2",
    "--controller-cmd=python -m fixtures.controllers.naive",
    f"--staleproof-crds={_CRD}",
    f"--staleproof-samples={_SAMPLE}",
    "--staleproof-profile=smoke",
    "--hypothesis-seed=1",
    "-pno:cacheprovider",
    "-pno:asyncio",
)
COMMANDS: Mapping[str, tuple[str, ...]] = MappingProxyType({"demo": ("staleproof", "demo"), "run": _RUN})
WIDTHS = (100, 80)


def main() -> int:
    parser = argparse.ArgumentParser(prog="ci/recordings", description=__doc__)
    parser.add_argument("--only", choices=COMMANDS, help="one of the commands")
    parser.add_argument("--width", type=int, choices=WIDTHS, help="at one width")
    parser.add_argument("-k", default="", help="a part of the suite, as pytest's -k")
    given = parser.parse_args()
    _FOLDER.mkdir(exist_ok=True)
    for name, command in COMMANDS.items():
        for columns in (each for each in WIDTHS if given.width in (None, each)):
            if given.only in (None, name):
                _record_both(name, (*command, "-k", given.k) if given.k and name == "run" else command, columns)
    return 0


def _record_both(name: str, command: tuple[str, ...], columns: int) -> None:
    """With and without colour."""
    for suffix, more in (("", {}), ("-plain", {"NO_COLOR": "1"})):
        with tempfile.TemporaryDirectory(prefix="staleproof-recording-") as folder:
            for each in (_CRD, _SAMPLE):  # beside it, so that no picture has a path of this machine
                shutil.copy(_MANIFESTS / each, folder)
            made = record(command, columns, _environ(more), folder)
        path = _FOLDER / f"{name}-{columns}{suffix}.svg"
        path.write_text(svg(made, command[0] if name == "run" else " ".join(command)))
        sys.stderr.write(f"{path.relative_to(_ROOT)}: exit code {made.exit_code}, {path.stat().st_size / 1000:.0f} kB\n")


def _environ(more: Mapping[str, str]) -> dict[str, str]:
    """A terminal's, and nothing that would change what is shown."""
    mine = {"PATH": f"{_BIN}:{os.environ['PATH']}", "TERM": "xterm-256color", "PYTHONPATH": str(_ROOT), "LANG": "C.UTF-8"}
    kept = {name: os.environ[name] for name in ("HOME", "XDG_CACHE_HOME", "STALEPROOF_CACHE_DIR", "TMPDIR") if name in os.environ}
    return kept | mine | dict(more)


if __name__ == "__main__":
    sys.exit(main())
