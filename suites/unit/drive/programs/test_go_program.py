import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from staleproof.drive.programs.go_program import GoProgram, content_hash, ensure_go_program
from staleproof.drive.programs.progress import Silent
from staleproof.errors import SetupError, UsageError
from staleproof.progress import ProgressLines

pytestmark = pytest.mark.io

needs_go = pytest.mark.skipif(shutil.which("go") is None, reason="no Go on PATH")


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STALEPROOF_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "module"
    folder.mkdir()
    (folder / "go.mod").write_text("module example.com/hello\n\ngo 1.26\n")
    says(folder, "hello")
    return folder


def says(module: Path, word: str) -> None:
    (module / "main.go").write_text(f'package main\n\nfunc main() {{ println("{word}") }}\n')


async def build(module: Path) -> Path:
    return await ensure_go_program(GoProgram("hello", module), Silent())


def output(program: Path) -> str:
    return subprocess.run([str(program)], capture_output=True, text=True, check=True).stderr  # where println writes


@needs_go
async def test_a_module_is_compiled_once_until_it_changes(module: Path) -> None:
    first = await build(module)
    assert output(first) == "hello\n"
    made = first.stat()
    assert (await build(module), first.stat()) == (first, made)
    says(module, "good-bye")
    assert output(await build(module)) == "good-bye\n"
    assert output(first) == "hello\n"


@needs_go
async def test_go_says_itself_what_does_not_compile(module: Path) -> None:
    (module / "main.go").write_text("package main\n\nfunc main() { nothing() }\n")
    with pytest.raises(SetupError, match=r"could not be compiled(.|\n)*undefined: nothing"):
        await build(module)


def test_a_program_is_known_by_what_its_files_are_called_and_say(module: Path) -> None:
    before = content_hash(module)
    (module / "README").write_text("not part of the program")
    assert content_hash(module) == before
    (module / "main.go").rename(module / "hello.go")
    renamed = content_hash(module)
    says(module, "hello")
    assert len({before, renamed, content_hash(module)}) == 3


async def test_a_folder_without_a_module_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"expected a Go module in .*, found no go\.mod there"):
        await build(tmp_path)


@needs_go
async def test_one_program_is_built_at_a_time(module: Path, tmp_path: Path) -> None:
    """Both compile the same packages, so the second has less to do when the first is done."""
    other = tmp_path / "other"
    shutil.copytree(module, other)
    says(other, "other")
    lines: list[str] = []
    both = (ensure_go_program(GoProgram(each.name, each), ProgressLines(lines.append)) for each in (module, other))
    assert [output(program) for program in await asyncio.gather(*both)] == ["hello\n", "other\n"]
    assert [line for line in lines if "waiting" in line] == ["other: another process is building it already; waiting for that"]
