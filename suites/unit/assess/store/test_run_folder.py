"""The folder of a run: found again by what a person has at hand; what is shared in it is done and kept once."""

from pathlib import Path

import pytest
from filelock import Timeout
from msgspec import structs

from staleproof.assess.store.run_folder import (
    RunFolder,
    export_name,
    find_history,
    named_artefacts,
    new_run_folder,
    write_atomically,
)
from staleproof.core.fault import Restart
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import Plan, encode
from staleproof.core.plan.step import Rest
from staleproof.core.plan.stored import DIGEST_LENGTH
from staleproof.errors import SetupError, UsageError

CRD: Manifest = {"kind": "CustomResourceDefinition", "spec": {"description": "long " * 1000}}
PLAN = Plan(scenario="mine", steps=(Rest(seconds=1.0),), manifests=(CRD,))


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock")


def test_each_run_has_its_folder_and_the_latest_is_pointed_at(tmp_path: Path) -> None:
    first, second = new_run_folder(tmp_path), new_run_folder(tmp_path)
    new_run_folder(tmp_path, reports=False)
    assert first != second
    assert (tmp_path / "latest").resolve() == second


def test_an_artefact_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot make a run folder in .*/file: Not a directory; name an artefact folder"):
        new_run_folder(tmp_path / "file")


def test_what_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SetupError, match=r"cannot write .*: File exists; is the disk full or the folder write-protected"):
        write_atomically(tmp_path / "file" / "report.json", b"")


def test_manifests_are_kept_once_for_all_plans(tmp_path: Path) -> None:
    run, other = RunFolder(tmp_path), RunFolder(tmp_path)
    kept = run.keep_manifests(PLAN)
    [file] = files(tmp_path)
    assert other.keep_manifests(PLAN) == kept
    assert files(tmp_path) == [file]
    assert (tmp_path / file).stat().st_size < len(str(CRD)) / 10
    assert other.with_manifests(kept) == PLAN


def test_the_logs_of_fault_free_runs_are_found(tmp_path: Path) -> None:
    plans = (PLAN, structs.replace(PLAN, faults=(Restart(),)), structs.replace(PLAN, title="without a log"))
    for number, plan in enumerate(plans):
        folder = tmp_path / "shared" / "references" / (str(number) * DIGEST_LENGTH)
        folder.mkdir(parents=True)
        (folder / "plan.json").write_bytes(encode(plan))
        if number < 2:
            (folder / "controller.log").write_text(f"said {number}\nand more")
            (folder / "other.log").write_text("another program")
        (folder / "proxy.log").write_text("ours")
    assert RunFolder(tmp_path).logs_without_faults("proxy.log") == [["said 0", "and more", "another program"]]


# --- work that is done once ------------------------------------------------------------------------------------------------------


def test_work_is_done_once_for_each_key(tmp_path: Path) -> None:
    inputs: list[bytes] = []

    def make(said: bytes) -> bytes:
        inputs.append(said)
        return said

    for run in (RunFolder(tmp_path), RunFolder(tmp_path)):
        assert run.once("a", lambda: make(b"1")) == b"1"
        assert run.once("b", lambda: make(b"2")) == b"2"
    assert inputs == [b"1", b"2"]


def test_workers_take_turns(tmp_path: Path) -> None:
    with RunFolder(tmp_path).turn("start"):
        with RunFolder(tmp_path).turn("other"):
            pass
        with pytest.raises(Timeout):
            RunFolder(tmp_path).turn("start").acquire(timeout=0)
    with RunFolder(tmp_path).turn("start"):
        pass


def test_what_came_to_nothing_is_tried_again(tmp_path: Path) -> None:
    def fails() -> bytes:
        raise UsageError("the controller created nothing")

    run = RunFolder(tmp_path)
    assert run.once("a", lambda: None) is None
    with pytest.raises(UsageError, match="created nothing"):
        run.once("a", fails)
    assert files(tmp_path) == []
    assert run.once("a", lambda: b"1") == b"1"


# --- finding a history again -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "found"),
    [
        (["history.jsonl.gz"], "history.jsonl.gz"),
        (["history.jsonl"], "history.jsonl"),  # of a run that was killed
        (["history.jsonl", "history.jsonl.gz"], "history.jsonl.gz"),
    ],
)
@pytest.mark.parametrize("worker", ["", "gw0"])
def test_a_trial_is_found_by_folder_and_name(left: list[str], found: str, worker: str, tmp_path: Path) -> None:
    folder = tmp_path / "latest" / worker / "trials" / "gw0-001"
    folder.mkdir(parents=True)
    for name in left:
        (folder / name).write_bytes(b"")
    for text in (str(folder), "gw0-001", str(folder / found)):
        assert find_history(text, tmp_path) == folder / found


@pytest.mark.parametrize("text", ["nosuch", "../001", "*"])
def test_what_is_no_trial_is_taken_for_a_file(text: str, tmp_path: Path) -> None:
    (tmp_path / "latest" / "trials" / "001").mkdir(parents=True)
    assert find_history(text, tmp_path) == Path(text)


def test_what_cannot_be_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read 'xxx.*: File name too long"):
        find_history("x" * 5000, tmp_path)


def test_an_export_is_called_after_run_and_trial(tmp_path: Path) -> None:
    path = tmp_path / "20260101T000000Z-abcd" / "gw0" / "trials" / "gw0-001" / "history.jsonl.gz"
    path.parent.mkdir(parents=True)
    assert export_name(path) == "gw0-001.jsonl.gz"
    RunFolder(path.parents[3]).keep_manifests(PLAN)
    assert export_name(path) == "20260101T000000Z-abcd-gw0-001.jsonl.gz"


def test_the_longest_wait_is_known_to_all_workers_by_controller(tmp_path: Path) -> None:
    RunFolder(tmp_path).keep_wait("one", "first", 40.0)
    RunFolder(tmp_path).keep_wait("one", "second", 12.5)
    RunFolder(tmp_path).keep_wait("another", "third", 90.0)
    assert RunFolder(tmp_path).longest_wait("one") == 40.0
    assert RunFolder(tmp_path).longest_wait("none") == 0.0


def test_troubles_are_known_to_all_workers_by_controller(tmp_path: Path) -> None:
    RunFolder(tmp_path).keep_trouble("one", "a", "it exits")
    RunFolder(tmp_path).keep_trouble("one", "b", "")
    RunFolder(tmp_path).keep_trouble("other", "a", "it never settles")
    assert RunFolder(tmp_path).troubles("one") == ["it exits", ""]
    assert RunFolder(tmp_path).troubles("none") == []


def test_all_workers_know_that_a_finding_was_explained(tmp_path: Path) -> None:
    assert not RunFolder(tmp_path).has_explained
    RunFolder(tmp_path).note_explained()
    assert RunFolder(tmp_path).has_explained


def test_a_command_has_to_name_no_folder_but_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert named_artefacts(new_run_folder(Path(".staleproof"))) == ""
    assert named_artefacts(new_run_folder(Path("build/staleproof")) / "gw0" / "trials" / "001") == "build/staleproof"
    assert named_artefacts(new_run_folder(tmp_path / ".staleproof")) == ""
    monkeypatch.chdir("build")
    assert named_artefacts(tmp_path / ".staleproof" / "runs" / "x") == str(tmp_path / ".staleproof")
    assert named_artefacts(Path("trials/001")) == ""
