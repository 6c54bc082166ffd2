"""Private folders: closed to all other users, gone in the end, and those of dead runs gone with the next."""

import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from staleproof.drive.process.private import is_dead, large_root, private_folder, small_root, sweep, write_private
from staleproof.drive.process.reaper import born, here
from staleproof.errors import SetupError

pytestmark = pytest.mark.io

HELD = """
import sys, pathlib
from staleproof.drive.process.private import private_folder

with private_folder("test", root=pathlib.Path(sys.argv[1])) as folder:
    (folder / "key").write_text("secret")
    print(folder, flush=True)
    sys.stdin.read()
"""


def test_it_is_ours_alone_and_goes(tmp_path: Path) -> None:
    with private_folder("test", root=tmp_path) as folder:
        assert folder.parent == tmp_path
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "inner").mkdir()
        (folder / "inner" / "key").write_text("secret")
        with private_folder("test", root=tmp_path) as another:
            assert {folder, another} == set(tmp_path.iterdir()), "two of one run live together"
    assert list(tmp_path.iterdir()) == []


def test_it_goes_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="x"), private_folder("test", root=tmp_path):
        raise ValueError("x")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def held(tmp_path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", HELD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_what_a_killed_run_left_goes_with_the_next(held: subprocess.Popen[str], tmp_path: Path) -> None:
    assert held.stdout is not None
    folder = Path(held.stdout.readline().strip())
    sweep(tmp_path)
    assert (folder / "key").exists(), "its run is alive"
    held.send_signal(signal.SIGKILL)
    held.wait()
    assert (folder / "key").exists(), "no run could remove it"
    with private_folder("test", root=tmp_path) as ours:
        assert list(tmp_path.iterdir()) == [ours]
    held.communicate()


def test_nothing_else_is_swept(held: subprocess.Popen[str], tmp_path: Path) -> None:
    assert held.stdout is not None
    folder = Path(held.stdout.readline().strip())
    held.send_signal(signal.SIGKILL)
    held.communicate()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").touch()
    link = tmp_path / f"{folder.name}-link"
    link.symlink_to(elsewhere)
    file = tmp_path / f"{folder.name}-file"
    file.touch()
    other = tmp_path / "staleproof-cache"
    other.mkdir()
    sweep(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([elsewhere, link, file, other])
    assert (elsewhere / "precious").exists()
    sweep(tmp_path / "nosuch")


def test_only_a_dead_run_of_this_very_machine_is_dead(tmp_path: Path) -> None:
    with private_folder("test", root=tmp_path) as folder:
        name = folder.name
    assert not is_dead(name, here(), born)
    assert is_dead(name, here(), lambda pid: ""), "no such process"
    assert is_dead(name, here(), lambda pid: "1"), "the process id was used again"
    assert not is_dead(name, "another host", lambda pid: "")
    assert not is_dead("staleproof-cache", here(), lambda pid: "")


def test_a_file_that_all_could_read_is_private_once_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    for content in (b"first", b"second"):
        write_private(path, content)
        assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (content, 0o600)
        path.chmod(0o644)


def test_where_it_lies(tmp_path: Path) -> None:
    assert small_root({"XDG_RUNTIME_DIR": str(tmp_path)}) == tmp_path
    for environ in ({"XDG_RUNTIME_DIR": str(tmp_path / "nosuch")}, {"XDG_RUNTIME_DIR": "relative"}, {}):
        assert small_root(environ) == large_root()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_the_runtime_folder_of_another_user_is_not_taken(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    shutil.chown(theirs, 65534, 65534)
    assert small_root({"XDG_RUNTIME_DIR": str(theirs)}) == large_root()


def test_one_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"cannot make a private folder in .*nosuch: No such file or directory; set TMPDIR"):
        private_folder("test", root=tmp_path / "nosuch").__enter__()
