"""Which staleproof runs: a release, or a commit."""

import subprocess
from pathlib import Path

import pytest

import staleproof
from staleproof.version import in_checkout, needed, running_version


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", "-C", str(root), *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "file").write_text("1")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


@pytest.mark.io
def test_what_is_no_checkout_has_its_version(tmp_path: Path) -> None:
    assert in_checkout("1.2.3", tmp_path) == "1.2.3"


@pytest.mark.io
def test_a_checkout_of_the_tag_has_its_version(checkout: Path) -> None:
    git(checkout, "tag", "v1.2.3")
    assert in_checkout("1.2.3", checkout) == "1.2.3"
    (checkout / "file").write_text("2")
    assert in_checkout("1.2.3", checkout).endswith(".dirty")


@pytest.mark.io
def test_any_other_checkout_is_called_by_its_commit(checkout: Path) -> None:
    git(checkout, "tag", "v1.2.2")
    commit = subprocess.run(
        ["git", "-C", str(checkout), "rev-parse", "--short=9", "HEAD"], capture_output=True, text=True, check=True
    )
    assert in_checkout("1.2.3", checkout) == f"1.2.3+g{commit.stdout.strip()}"


@pytest.mark.io
def test_a_checkout_that_git_cannot_read_is_no_release(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: nowhere")
    assert in_checkout("1.2.3", tmp_path) == "1.2.3+checkout"


@pytest.mark.io
def test_what_runs_is_called_by_our_version() -> None:
    assert running_version().startswith(staleproof.__version__)


def test_the_versions_of_all_that_is_needed_are_known() -> None:
    found = needed()
    assert {"python", "mitmproxy", "hypothesis", "msgspec", "cryptography"} <= found.keys(), "those that packages need, too"
    assert not {"ruff", "mypy"} & found.keys(), "what only developers need is not among them"
