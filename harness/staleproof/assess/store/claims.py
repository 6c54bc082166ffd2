"""Which worker runs which plan: a plan is claimed in the run folder before it is run, and what came of it is left there for the
worker that needs it.

A claim is a lock that belongs to a process and goes with it, however it ends. A plan that was begun and has no outcome was begun by
one that died, or failed: only the worker that needs the outcome takes it over, so a plan that kills workers kills no more of them.
"""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from staleproof.assess.store.run_folder import HISTORY, Acquire, RunFolder, acquired_now, read_history
from staleproof.assess.trial.result import Result
from staleproof.checks.verdict import Verdict
from staleproof.core.history.history import Header, History
from staleproof.core.plan.plan import Plan, decode, encode, is_plain

_CLAIMS = "claims"


class Done(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of a plan, as it is left for others; `folder` is relative to the run's. Without a name it was left out, and `why`
    says why, unless for want of time."""

    name: str = ""
    folder: str = ""
    verdicts: tuple[Verdict, ...] = ()
    seconds: float = 0.0
    reproduced: tuple[int, int] = (0, 0)
    references_seconds: float = 0.0
    shrunk: str = ""
    again: str = ""
    is_unconfirmed: bool = False
    why: str = ""


class Claims:
    """Those of one run, for all of its workers."""

    def __init__(self, run_folder: Path) -> None:
        self._run_folder, self._shared = run_folder, RunFolder(run_folder)

    def take(
        self, key: str, run: Callable[[], Result | str], *, helps: bool = False, acquire: Acquire = acquired_now
    ) -> Done | None:
        """What came of the plan with this key, which `run` runs now if no worker has; it may leave it out, and say why.

        None: another worker is at it, and `acquire` did not wait for that; or has begun it in vain, and the caller only `helps`.
        """
        key = f"{_CLAIMS}/{key}"
        begun = self._shared.outcome(key).with_suffix(".begun")

        def made() -> bytes | None:
            if helps and begun.exists():
                return None
            begun.touch()
            return msgspec.json.encode(self._as_done(run()))

        try:
            done = self._shared.once(key, made, acquire)
        except Timeout:
            return None
        return msgspec.json.decode(done, type=Done) if done is not None else None

    def done(self, key: str) -> Done | None:
        """What came of the plan with this key; None if nothing has so far."""
        path = self._shared.outcome(f"{_CLAIMS}/{key}")
        return msgspec.json.decode(path.read_bytes(), type=Done) if path.exists() else None

    def is_under_way(self, key: str, seconds: float = 0.0) -> bool:
        """Whether a worker is at the plan with this key, and still is after so many seconds."""
        lock = FileLock(self._shared.outcome(f"{_CLAIMS}/{key}").with_suffix(".lock"), thread_local=False)
        try:
            lock.acquire(timeout=seconds)
        except Timeout:
            return True
        lock.release()
        return False

    def result(self, done: Done, plan: Plan) -> Result:
        """The result of which that is kept, with the controller that it was run against; of another plan, if that one was shrunk or
        another was run in its place.
        Its history is empty if it was not kept."""
        fields = msgspec.structs.asdict(done)
        folder = self._run_folder / fields.pop("folder")
        fields.pop("why")
        path = folder / HISTORY
        history = read_history(path) if path.exists() else History(Header(plan=plan, namespace=""), ())
        ran = history.header.plan
        plan = ran if done.shrunk or done.again else msgspec.structs.replace(plan, controller=ran.controller)
        return Result(**fields, plan=plan, history=history, folder=folder)

    def agreed(self, about: str, plans: Callable[[], list[Plan]]) -> list[Plan]:
        """The same plans for every worker: what they are for the first that asks, as they are written. If one holds a secret, which
        no file may hold, each worker makes its own."""
        made: list[Plan] | None = None

        def written() -> bytes:
            nonlocal made
            made = plans()
            return msgspec.json.encode([msgspec.Raw(encode(each)) for each in made] if all(map(is_plain, made)) else None)

        found = self._shared.once(f"{_CLAIMS}/{hashlib.sha256(about.encode()).hexdigest()[:20]}", written)
        known = msgspec.json.decode(found or b"null", type=list[msgspec.Raw] | None)
        if known is None:
            return plans() if made is None else made
        return [decode(each) for each in known]

    def stop(self) -> None:
        """Let no worker begin another plan, and break off what it is at."""
        self._shared.stop()

    @property
    def is_stopped(self) -> bool:
        """Whether the run is to stop."""
        return self._shared.is_stopped

    def forget(self) -> None:
        """Once the run is over, no worker asks any more."""
        shutil.rmtree(self._shared.outcome(_CLAIMS).with_suffix(""), ignore_errors=True)

    def _as_done(self, result: Result | str) -> Done:
        if isinstance(result, str):
            return Done(why=result)
        return Done(
            name=result.name,
            folder=str(result.folder.relative_to(self._run_folder)),
            verdicts=result.verdicts,
            seconds=result.seconds,
            reproduced=result.reproduced,
            references_seconds=result.references_seconds,
            shrunk=result.shrunk,
            again=result.again,
            is_unconfirmed=result.is_unconfirmed,
        )
