import asyncio
from pathlib import Path

import pytest

from staleproof.drive.programs.cache import cache_root, locked, workspace
from staleproof.drive.programs.progress import Silent
from staleproof.progress import ProgressLines


def test_the_variable_chooses_the_root_and_empty_means_the_users(tmp_path: Path) -> None:
    assert cache_root({"STALEPROOF_CACHE_DIR": str(tmp_path)}) == tmp_path
    assert cache_root({"STALEPROOF_CACHE_DIR": "", "XDG_CACHE_HOME": str(tmp_path)}) == tmp_path / "staleproof"
    assert cache_root({}) == Path.home() / ".cache" / "staleproof"


def test_what_a_killed_build_left_goes_first(tmp_path: Path) -> None:
    left = tmp_path / ".work-entry" / "made" / "half"
    left.parent.mkdir(parents=True)
    left.write_text("half a binary")
    with workspace(tmp_path, tmp_path / "control-plane" / "entry") as scratch:
        assert list(scratch.iterdir()) == []
    assert list(tmp_path.iterdir()) == []


async def test_one_holds_the_lock_and_the_next_says_that_it_waits(tmp_path: Path) -> None:
    lines: list[str] = []

    async def waits() -> None:
        async with locked(tmp_path, tmp_path / "entry", ProgressLines(lines.append), title="second"):
            lines.append("has it")

    async with asyncio.TaskGroup() as group, locked(tmp_path, tmp_path / "entry", Silent(), title="first"):
        group.create_task(waits())
        async with asyncio.timeout(10):
            while not lines:
                await asyncio.sleep(0.01)
        lines.append("gives it back")
    assert lines == ["second: another process is building it already; waiting for that", "gives it back", "has it"]


@pytest.mark.parametrize("name", ["file", "file/cache"])
async def test_a_lock_that_cannot_be_had_is_reported(tmp_path: Path, name: str) -> None:
    from staleproof.errors import SetupError

    (tmp_path / "file").write_text("")
    with pytest.raises(SetupError, match=r"cache folder .* cannot be written"):
        async with locked(tmp_path / name, tmp_path / name / "entry", Silent(), title=""):
            pass
