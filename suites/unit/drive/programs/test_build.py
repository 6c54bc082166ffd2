import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import staleproof
from staleproof.drive.programs.build import copy_sources, copy_without, ensure_built, explain, link_flags, says_disk_full
from staleproof.drive.programs.kubernetes import COMPANIONS, KUBERNETES_VERSION, SERVERS
from staleproof.errors import SetupError, UsageError
from staleproof.shipped import shipped


def test_the_version_is_the_one_the_module_asks_for(tmp_path: Path) -> None:
    copy_sources(shipped("fixtures.controlplane"), tmp_path / "source")
    found = re.search(r"^\s*k8s\.io/kubernetes (v\S+)$", (tmp_path / "source" / "go.mod").read_text(), re.MULTILINE)
    assert found is not None
    assert found[1] == KUBERNETES_VERSION
    assert {path.parent.name for path in (tmp_path / "source").glob("*/main.go")} == {SERVERS.name, COMPANIONS.name}


@pytest.mark.io
def test_a_first_build_needs_the_standard_library_alone() -> None:
    """It begins while everything else is still being installed."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); import staleproof.first_build"
    subprocess.run([sys.executable, "-I", "-S", "-c", code, str(Path(staleproof.__file__).parents[1])], check=True)


def test_what_only_tests_use_is_left_out_of_a_copy_that_can_be_removed(tmp_path: Path) -> None:
    for name in ("go.mod", "pkg/a.go", "pkg/a_test.go", "pkg/test_context.go"):
        (tmp_path / "module" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "module" / name).touch(0o444)
    (tmp_path / "module" / "pkg").chmod(0o555)
    copy_without(["pkg/test_context.go"], tmp_path / "module", tmp_path / "copy")
    assert {path.name for path in (tmp_path / "copy").rglob("*")} == {"go.mod", "pkg", "a.go"}
    shutil.rmtree(tmp_path / "copy")
    (tmp_path / "module" / "pkg").chmod(0o755)


def test_the_version_is_stamped() -> None:
    flags = link_flags("v1.36.3")
    assert "-X k8s.io/component-base/version.gitVersion=v1.36.3" in flags
    assert "version.gitMajor=1 " in flags
    assert flags.endswith("version.gitMinor=36")


async def test_another_version_is_refused_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STALEPROOF_CACHE_DIR", str(tmp_path))
    with pytest.raises(UsageError, match=r"not v1\.2\.3"):
        await ensure_built(SERVERS, version="v1.2.3")
    assert list(tmp_path.iterdir()) == []


async def test_a_cache_folder_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("STALEPROOF_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.raises(SetupError, match=r"cache folder .*file/cache cannot be written.*STALEPROOF_CACHE_DIR="):
        await ensure_built(COMPANIONS)


def test_a_full_disk_and_other_failures_are_told_apart(tmp_path: Path) -> None:
    assert says_disk_full(["# k8s.io/api", "write /tmp/x: no space left on device"])
    assert not says_disk_full(["dial tcp: lookup proxy.example.com: no such host"])
    full = explain("account", tmp_path, disk_full=True)
    assert "GOCACHE" in full
    assert f"STALEPROOF_CACHE_DIR (now {tmp_path})" in full
    assert "GOPROXY" in explain("account", tmp_path, disk_full=False)
