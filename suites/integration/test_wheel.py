"""The wheel holds everything that a user needs and nothing else, and it works without the repository."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "harness", "proxy_addons", "suites", "fixtures")
LIMIT_SECONDS = 300
Run = Callable[..., str]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy: setuptools builds in the tree, and would pack what an earlier build has left there."""
    tree, made = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("wheel")
    leftovers = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tree / name, ignore=leftovers)
        else:
            shutil.copy(source, tree / name)
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(made))
    command = [sys.executable, "-m", "pip", "wheel", *options, str(tree)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    (found,) = made.iterdir()
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, unpacked: that is how a pure wheel is installed."""
    folder = tmp_path_factory.mktemp("site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture
def run(installed: Path, tmp_path: Path) -> Run:
    """`python ARGUMENTS` in an empty folder, with the unpacked wheel before everything that is installed."""
    strange = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "STALEPROOF_"))}

    def python(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env={**strange, "PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return python


def test_it_is_for_every_platform(wheel: Path) -> None:
    assert re.fullmatch(r"staleproof-[0-9][^-]*-py3-none-any\.whl", wheel.name)


def test_nothing_but_the_package_is_at_the_top(installed: Path) -> None:
    top = {path.name for path in installed.iterdir()}
    assert {name for name in top if not name.endswith(".dist-info")} == {"staleproof"}
    assert len(top) == 2


def test_every_module_of_the_package_is_in_it(installed: Path) -> None:
    source = {path.relative_to(ROOT / "harness") for path in (ROOT / "harness" / "staleproof").rglob("*.py")}
    assert [str(path) for path in sorted(source) if not (installed / path).is_file()] == []


@pytest.mark.parametrize(
    ("folder", "target", "patterns"),
    [
        ("fixtures/manifests", "fixtures/manifests", ["*.yaml"]),
        ("fixtures/controlplane", "fixtures/controlplane", ["go.mod", "go.sum"]),
        ("fixtures/controlplane/servers", "fixtures/controlplane/servers", ["*.go"]),
        ("fixtures/controlplane/companions", "fixtures/controlplane/companions", ["*.go", "stages.yaml"]),
        ("fixtures/controllers", "fixtures/controllers", ["*.py"]),
        ("fixtures/external", "fixtures/external", ["*.py"]),
        ("proxy_addons", "proxy_addons", ["*.py"]),
        ("proxy_addons/external", "proxy_addons/external", ["*.py"]),
        ("suites/conformance", "suites/conformance", ["*.py"]),
        ("harness/staleproof", ".", ["py.typed"]),
    ],
)
def test_files_loaded_at_run_time_are_in_it(folder: str, target: str, patterns: list[str], installed: Path) -> None:
    for pattern in patterns:
        wanted = sorted((ROOT / folder).glob(pattern))
        assert wanted, pattern
        for path in wanted:
            assert (installed / "staleproof" / target / path.name).read_bytes() == path.read_bytes()


def test_what_is_only_for_the_repository_is_not_in_it(installed: Path) -> None:
    suites = {path.name for path in (installed / "staleproof" / "suites").iterdir()}
    assert suites == {"__init__.py", "conformance"}
    fixtures = {path.name for path in (installed / "staleproof" / "fixtures").iterdir()}
    assert fixtures == {"__init__.py", "controllers", "controlplane", "external", "manifests"}
    assert [str(path) for path in installed.rglob("*.jsonl")] == []


def test_it_is_the_wheel_that_is_imported(installed: Path, run: Run) -> None:
    code = "import staleproof, staleproof.plugin, staleproof.proxy_addons; print(staleproof.__file__)"
    assert Path(run("-c", code).strip()) == installed / "staleproof" / "__init__.py"


def test_the_conformance_suite_is_collected_from_anywhere(run: Run) -> None:
    shown = run(
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:asyncio",
        "--pyargs",
        "staleproof.suites.conformance",
        "--collect-only",
        "-q",
    )
    collected = set(re.findall(r"(test_\w+)\.py::(test_\w+)", shown))
    assert collected == {
        (path.stem, node.name)
        for path in (ROOT / "suites" / "conformance").glob("test_*.py")
        if path.stem != "test_replay"  # means nothing without something to replay
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def test_the_plugin_comes_from_the_wheel(run: Run) -> None:
    """To name a controller is enough: the suite that comes with the plugin is collected."""
    shown = run("-m", "pytest", "-p", "no:cacheprovider", "-p", "no:asyncio", "--controller-cmd=x", "--collect-only", "--verbose")
    assert "staleproof: --controller-cmd=x (command line)" in shown
    assert "test_scenarios.py" in shown
    assert str(ROOT) not in shown.replace(sys.prefix, "")


def test_it_offers_the_command_and_the_plugin(installed: Path) -> None:
    (offered,) = installed.glob("*.dist-info/entry_points.txt")
    assert offered.read_text().split("\n") == [
        "[console_scripts]",
        "staleproof = staleproof.cli:main",
        "",
        "[pytest11]",
        "staleproof = staleproof.plugin",
        "",
    ]


def test_the_command_works(run: Run) -> None:
    assert json.loads(run("-m", "staleproof", "schema", "plan"))["$defs"]["Plan"]["title"] == "Plan"
    assert run("-m", "staleproof", "--version").startswith("staleproof, version ")
