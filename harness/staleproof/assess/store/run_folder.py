"""The folder of a run: where things are in it, and what its trials and its workers share.

    trials/NAME/                        plan.json, history.jsonl.gz, logs; of an xdist worker below a folder of its own
    shared/manifests/DIGEST.json.gz     a manifest of plans, or what a workload needs, once
    shared/references/DIGEST/           a fault-free run, with the same files as a trial
    shared/once/KEY.json                what came of work that is done once for all workers; KEY.lock is held by the worker at it
    shared/wanted/KEY.json              work that a worker will ask for, so that any other does it first
    shared/waits/KEY/NAME.txt           how long each trial waits for what is missing, or for a retry, by controller: what its runs
                                        showed
    shared/built/DIGEST/WORKER.txt      for how many seconds each worker waited for something that was built first
    shared/turns/NAME.lock              held by the worker whose turn it is
    shared/stopped                      the run is to stop
    shared/explained                    a finding turned out to be none when its trial was compared
    shared/troubles/KEY/KEY.txt         why the fault-free runs of a workload cannot be used, by controller; empty: they can

A file comes into being whole or not at all, and what is named by its digest is compared with it whenever it is read. A lock belongs
to a process and goes with it, however it ends.
"""

import contextlib
import datetime
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from filelock import FileLock
from msgspec import structs

from staleproof.core.history.history import History, HistoryError, decode, encode
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.plan import decode as decode_plan
from staleproof.core.plan.stored import DIGEST_LENGTH, attached, compressed, detached, digest, is_detached, plain
from staleproof.errors import SetupError, UsageError
from staleproof.settings import ARTEFACTS
from staleproof.settings_file import near

PLAN, HISTORY = "plan.json", "history.jsonl.gz"
_GROWING = "history.jsonl"
_SHARED = "shared"
_INSTEAD = "or take what `staleproof export` makes of a trial, which needs no run folder"
_RUNS = "runs"
_EXPECTED = "give a history, the folder of a trial, or the name of a trial in the latest run"
Acquire = Callable[[FileLock], object]


class RunFolder:
    """The folder of one run, be it under way or over."""

    def __init__(self, path: Path) -> None:
        self.path, self._shared = path, path / _SHARED

    def keep_manifests(self, plan: Plan) -> Plan:
        """Keep the plan's manifests and prerequisites; the plan with their digests, which can be written and not be run."""
        kept, manifests = detached(plan)
        for name, data in manifests.items():
            path = self._manifest(name)
            if not path.exists():
                write_atomically(path, compressed(data))
        return kept

    def with_manifests(self, plan: Plan) -> Plan:
        """The plan with its manifests and prerequisites. UsageError when one is missing or damaged."""
        return attached(plan, lambda name: _read(self._manifest(name), name))

    def reference_under_way(self, name: str) -> Path:
        """Where a fault-free run is recorded, under a name that is the run's own, until it is kept."""
        return self._shared / "references" / name

    def keep_reference(self, under_way: Path, history: History) -> None:
        """Keep a fault-free run that is over."""
        under_way.rename(self._reference(history.digest))

    def reference(self, name: str) -> History:
        """The fault-free run of this digest. UsageError when it is missing or damaged."""
        path = self._reference(name) / HISTORY
        return decoded(path, _read(path, name))

    def references(self) -> list[str]:
        """The digests of all fault-free runs that are kept so far."""
        return sorted(path.name for path in (self._shared / "references").glob("*") if len(path.name) == DIGEST_LENGTH)

    def reference_plan(self, name: str) -> Plan:
        """The plan of the fault-free run of this digest."""
        return decode_plan((self._reference(name) / PLAN).read_bytes())

    def logs_without_faults(self, besides: str) -> list[list[str]]:
        """The lines of all logs of each fault-free run, but for the log of this name."""
        calm = [self._reference(each) for each in self.references() if not self.reference_plan(each).faults]
        logs = [sorted(each for each in folder.glob("*.log") if each.name != besides) for folder in calm]
        return [[line for log in each for line in log.read_text(errors="replace").splitlines()] for each in logs if each]

    def once(self, key: str, make: Callable[[], bytes | None], acquire: Acquire = FileLock.acquire) -> bytes | None:
        """What came of the work with this key: the first to come does it, the others wait for it, and the next of them takes it
        over when the worker at it has died. None: it came to nothing that could be kept.

        `acquire` waits for a lock, and raises when the run is over.
        """
        path = self.outcome(key)
        if path.exists():
            return path.read_bytes()
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path.with_suffix(".lock"), thread_local=False)
        try:
            acquire(lock)
            if path.exists():
                return path.read_bytes()
            made = make()
            if made is not None:
                write_atomically(path, made)
            return made
        finally:
            lock.release()

    def turn(self, name: str) -> FileLock:
        """A lock that the workers take one after the other."""
        path = self._shared / "turns" / f"{name}.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(path, thread_local=False)

    def outcome(self, key: str) -> Path:
        """Where it stands what came of the work with this key."""
        return self._shared / "once" / f"{key}.json"

    def want(self, key: str, data: bytes) -> None:
        """Let other workers know that the work with this key will be asked for, and how to do it."""
        write_atomically(self._wanted(key), data)

    def withdraw(self, key: str) -> None:
        """It is not wanted any more."""
        self._wanted(key).unlink(missing_ok=True)

    def wanted(self) -> Mapping[str, bytes]:
        """How to do what is wanted and has no outcome yet, by key."""
        found: dict[str, bytes] = {}
        for path in (self._shared / "wanted").glob("*.json"):
            with contextlib.suppress(FileNotFoundError):  # withdrawn just now
                found |= {} if self.outcome(path.stem).exists() else {path.stem: path.read_bytes()}
        return found

    def keep_trouble(self, of: str, workload: str, trouble: str) -> None:
        """Keep why the fault-free runs of a workload cannot be used; empty: they can. `of`: the controller."""
        write_atomically(self._shared / "troubles" / of / f"{workload}.txt", trouble.encode())

    def troubles(self, of: str) -> list[str]:
        """What was kept so far of this controller."""
        return [path.read_text() for path in sorted((self._shared / "troubles" / of).glob("*.txt"))]

    def keep_wait(self, of: str, name: str, seconds: float) -> None:
        """Keep how long is to be waited in each trial, as the run of this name shows. `of`: the controller, and for what."""
        if seconds > self.longest_wait(of):
            write_atomically(self._shared / "waits" / of / f"{name}.txt", str(seconds).encode())

    def longest_wait(self, of: str) -> float:
        """The longest that was kept so far of this; 0: none was."""
        return max((float(path.read_text()) for path in (self._shared / "waits" / of).glob("*.txt")), default=0.0)

    def note_built(self, what: str, seconds: float, *, by: str) -> None:
        """Keep how long a worker had to wait until this was built, which is once on a machine."""
        write_atomically(
            self._shared / "built" / digest(what.encode())[:DIGEST_LENGTH] / f"{by or 'alone'}.txt", str(seconds).encode()
        )

    def built_seconds(self) -> float:
        """How long the run had to wait for what was built: its workers wait for the same, beside one another."""
        built = self._shared / "built"
        return sum(max((float(path.read_text()) for path in each.glob("*.txt")), default=0.0) for each in built.glob("*"))

    def stop(self) -> None:
        """Let no worker begin anything more, and break off what it is at."""
        write_atomically(self._stopped, b"")

    @property
    def is_stopped(self) -> bool:
        """Whether the run is to stop."""
        return self._stopped.exists()

    def note_explained(self) -> None:
        """Keep that a finding turned out to be none when its trial was compared."""
        write_atomically(self._shared / "explained", b"")

    @property
    def has_explained(self) -> bool:
        """Whether any finding of the run turned out to be none when its trial was compared."""
        return (self._shared / "explained").exists()

    def trial(self, name: str) -> Path | None:
        """The folder of the trial of this name, if there is one."""
        folders = (self.path / "trials" / name, *self.path.glob(f"*/trials/{name}")) if name.replace("-", "").isalnum() else ()
        return next((folder for folder in folders if folder.is_dir()), None)

    @property
    def _stopped(self) -> Path:
        return self._shared / "stopped"

    def _wanted(self, key: str) -> Path:
        return self._shared / "wanted" / f"{key}.json"

    def _manifest(self, name: str) -> Path:
        return self._shared / "manifests" / f"{name}.json.gz"

    def _reference(self, name: str) -> Path:
        return self._shared / "references" / name


def acquired_now(lock: FileLock) -> None:
    """Take a lock that is free. Timeout when it is held."""
    lock.acquire(blocking=False)


def new_run_folder(root: Path, *, reports: bool = True) -> Path:
    """A new run folder `runs/<utc>-<id>` in the artefact folder, with `latest` pointing at it if there will be a report in it.
    UsageError when nothing can be made in the artefact folder."""
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    folder = root / _RUNS / f"{stamp}-{secrets.token_hex(2)}"
    latest = root / "latest"
    try:
        folder.mkdir(parents=True)
        if reports:
            latest.unlink(missing_ok=True)
            latest.symlink_to(folder.relative_to(root))
    except OSError as err:
        raise UsageError(
            f"cannot make a run folder in {root.absolute()}: {err.strerror or err}; name an artefact folder that can be written "
            "(--staleproof-dir), or work in one that can"
        ) from err
    return folder.resolve()


def named_artefacts(folder: Path) -> str:
    """The artefact folder of what lies in this run folder, where a command has to name it; empty: it looks there anyway."""
    runs = next((each for each in (folder, *folder.parents) if each.name == _RUNS), None)
    root = near(runs.parent.absolute()) if runs is not None else ARTEFACTS
    return str(root) if root != ARTEFACTS else ""


def find_history(text: str, root: Path) -> Path:
    """The file that a person means: a history, the folder of a trial, or the name of a trial in the latest run. UsageError when
    there is none."""
    named = Path(text)
    try:
        folder = named if named.is_dir() else RunFolder(root / "latest").trial(text)
        found = next((folder / name for name in (HISTORY, _GROWING) if (folder / name).is_file()), None) if folder else named
    except OSError as err:
        raise UsageError(f"cannot read {text[:100]!r}: {err.strerror or err}") from err
    if found is None and folder and (folder / PLAN).is_file():
        raise UsageError(
            f"{folder} has a plan and no history: with --staleproof-keep=findings those of trials that pass are not kept. "
            f"`staleproof replay {text}` runs the plan again"
        )
    if found is None:
        raise UsageError(f"cannot read {folder}: there is no {HISTORY} in it; {_EXPECTED}")
    return found


def read_history(path: Path) -> History:
    """A stored history with its references. UsageError when it cannot be read, or what it names is missing or damaged."""
    try:
        found = decoded(path, path.read_bytes())
    except OSError as err:
        raise UsageError(f"cannot read {path}: {err.strerror}; {_EXPECTED}") from err
    if not found.header.references:
        return found
    run = _run_folder_of(path)
    return replace(found, references=tuple(run.reference(name) for name in found.header.references))


def with_manifests(plan: Plan, path: Path) -> Plan:
    """A plan that was read from this file, with its manifests and prerequisites. UsageError when one is missing or damaged."""
    return _run_folder_of(path).with_manifests(plan) if is_detached(plan) else plan


def with_needs(history: History, path: Path) -> History:
    """A history that was read from this file, with the manifests and prerequisites of its plan. UsageError as `with_manifests`."""
    return replace(history, header=structs.replace(history.header, plan=with_manifests(history.header.plan, path)))


def exported(path: Path) -> bytes:
    """A stored history in one file with all that judging it and running its plan again need. UsageError when some of it is missing
    or damaged."""
    return compressed(encode(with_needs(read_history(path), path)))


def export_name(path: Path) -> str:
    """What the exported file of this history is called: the run and the trial."""
    trial, run = path.resolve().parent, run_above(path)
    return f"{run.name}-{trial.name}.jsonl.gz" if run else f"{trial.name}.jsonl.gz"


def run_above(path: Path) -> Path | None:
    """The run folder that this file is in."""
    return next((folder for folder in path.resolve().parents if (folder / _SHARED).is_dir()), None)


def _run_folder_of(path: Path) -> RunFolder:
    folder = run_above(path)
    if folder is None:
        raise UsageError(
            f"{path} needs what its run folder keeps in {_SHARED}/, and no folder above it has that: leave it where it was "
            f"written, {_INSTEAD}"
        )
    return RunFolder(folder)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, even when this is interrupted or another process reads it. SetupError when it cannot be
    written."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(data)
        draft.replace(path)
    except OSError as err:
        raise SetupError(f"cannot write {path}: {err.strerror or err}; is the disk full or the folder write-protected?") from err


def _read(path: Path, name: str) -> bytes:
    """The plain data of a file, whose digest must be its name."""
    try:
        data = plain(path.read_bytes())
    except OSError as err:
        raise UsageError(f"cannot read {path}: {err.strerror or err}; bring it back, {_INSTEAD}") from err
    except ValueError as err:
        raise UsageError(f"{path}: {err}; bring back the file as it was written, {_INSTEAD}") from err
    if (found := digest(data)) != name:
        raise UsageError(
            f"{path} is not what was written: it has the digest {found[:12]}… and was stored as {name[:12]}…; bring back the file "
            f"as it was, {_INSTEAD}"
        )
    return data


def decoded(path: Path, data: bytes) -> History:
    """The history in this file, as it is there; the path is for the UsageError."""
    try:
        return decode(data)
    except HistoryError as err:
        raise UsageError(f"{path}: {err}") from err
