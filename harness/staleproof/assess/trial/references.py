"""Runs without faults, and others without harm, with which trials are compared: each is made once for all workers of a run.

The worker that needs a run first makes it; the others wait for it (`run_folder`).
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import msgspec

from staleproof.assess.learn import patience
from staleproof.assess.run.worker import Task, Worker
from staleproof.assess.store.run_folder import write_atomically
from staleproof.checks.facts.instability import is_harmless, pooled, unstable_fields
from staleproof.checks.facts.usability import ended_well, reference_trouble
from staleproof.checks.trial import Trial, indexed
from staleproof.core.grouping import grouped
from staleproof.core.history.history import History, HistoryRole, UnstableField
from staleproof.core.plan.plan import Plan, Subject, masked_subject
from staleproof.core.plan.step import Apply, in_parts
from staleproof.core.plan.stored import digest
from staleproof.core.times import LATE_LIFE_LIMIT_SECONDS, LATE_LIFE_SECONDS
from staleproof.draw.copies import SWEEP
from staleproof.drive.cluster.companions import OPTION
from staleproof.drive.cluster.manifests import name_of
from staleproof.errors import SetupError

REFERENCES = 2
_HOPELESS = 2
"""So many workloads of a sample whose fault-free runs cannot be used, and none that can, are enough."""


class Hopeless(SetupError):
    """Whatever is done to a sample without any fault, what the controller does cannot be compared with."""


@dataclass(frozen=True, slots=True)
class SharedRun(Task):
    """A fault-free run of this plan; what comes of it is the digest of its history."""

    plan: Plan


_NO_WORKLOAD = ""
"""Of a run that is compared with none, because faults of its plan do harm."""


class _Compared(NamedTuple):
    """What a run is about: those of which it is the same are compared with each other. `workload`: a digest."""

    controller: Subject | None
    companions: tuple[str, ...]
    workload: str


class References:
    """The runs without faults that the workers of a run share; this worker makes those that it is the first to need.

    Attributes:
        worker: the process's part of the run.
    """

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self._found: dict[str, tuple[History, ...]] = {}
        self._unstable: dict[tuple[str, ...], frozenset[UnstableField]] = {}
        self._keys: dict[int, tuple[Plan, list[str]]] = {}
        """Of the runs that a plan is compared with, by its identity; with the plan, so that no other has that."""
        self._compared: dict[str, _Compared] = {}
        """What the runs are alike by, by their digests."""

    def of(self, plan: Plan) -> tuple[History, ...]:
        """Fault-free histories of this workload; run once for each workload and kept."""
        return self.repeat(plan.reference)

    def repeat(self, plan: Plan) -> tuple[History, ...]:
        """The plan, run as often as a reference needs, and not judged; kept for the next time that any worker asks for it.
        Hopeless when nothing that was run so far with its sample can be used; a sweep does not count, because its primaries may be
        in each other's way, and what one of them, alone, cannot be compared with may be its move."""
        workload, of = self._workload(plan), self.worker.key("troubles", _primary(plan), plan.before)
        if workload not in self._found:
            if plan.scenario != SWEEP:
                self.raise_hopeless(of)
            found = self._repeated(plan)
            trouble = reference_trouble(indexed(found[0], found))
            if plan.scenario != SWEEP:
                self.worker.shared.keep_trouble(of, workload, trouble)
                self.raise_hopeless(of)
            if trouble:
                return found
            self._found[workload] = found
        return self._found[workload]

    def histories_for(self, plan: Plan, role: HistoryRole, times: int = 1, *, lasts: Sequence[float] = ()) -> tuple[History, ...]:
        """What a plan without harm brings, run so often in this role; kept for the next trial of any worker that asks for it."""
        return tuple(map(self.take, self.runs_for(plan, role, times, lasts=lasts)))

    def runs_for(self, plan: Plan, role: HistoryRole, times: int = 1, *, lasts: Sequence[float] = ()) -> list[SharedRun]:
        """The runs that `asked` asks for.

        One without faults that did not end well is run once more; a woken controller may do badly by itself. So is one in which the
        controller did nothing, and then it is waited for longer: a new life may be slow to come to its work.
        """

        def make() -> bytes:
            found = self.worker.watch(plan, role=role, lasts=lasts)
            trial = indexed(found)
            if plan.faults or (ended_well(trial) and not _may_be_late(trial)):
                return found.digest.encode()
            return self.worker.watch(_patient(plan) if _may_be_late(trial) else plan, role=role, lasts=lasts).digest.encode()

        key = self.worker.key(role, plan.steps, plan.faults, plan.settle, lasts, plan.before)
        return [SharedRun(f"{key}-{number}", make, plan) for number in range(times)]

    def runs_of(self, plan: Plan, attempt: int = 1) -> list[SharedRun]:
        """The fault-free runs that `repeat` asks for; each goes by the steps that an earlier run had in common with it."""
        return [self._run_of(plan, attempt, number) for number in range(REFERENCES)]

    def unmade(self, plan: Plan) -> float:
        """Of the fault-free runs that `repeat` asks for, the part that no worker has made yet."""
        if id(plan) not in self._keys:
            self._keys[id(plan)] = plan, [each.key for each in self.runs_of(self.worker.filled(plan).reference)]
        _, keys = self._keys[id(plan)]
        return sum(not self.worker.shared.outcome(key).exists() for key in keys) / len(keys)

    def shared_run(self, kind: str, plan: Plan, make: Callable[[Plan], History]) -> SharedRun:
        """A run that is made once for all workers; `make` runs the plan."""

        def made() -> bytes:
            return make(plan).digest.encode()

        return SharedRun(self.worker.key(kind, plan), made, plan)

    def take(self, run: SharedRun) -> History:
        """The run, made now or by the first worker to need it."""
        read = self.worker.shared.reference(self.worker.done(run).decode())  # in a file, secrets are masked
        return replace(read, header=msgspec.structs.replace(read.header, plan=run.plan))

    def unstable(self) -> tuple[UnstableField, ...]:
        """The fields that fault-free runs of this controller, in this company, do not agree on, whatever their workload and
        whichever worker ran them."""
        subject, companions = masked_subject(self.worker.options.subject), self.worker.options.companions
        every = ((self._compared_by(name), name) for name in self.worker.shared.references())
        groups = grouped((by.workload, name) for by, name in every if (by.controller, by.companions) == (subject, companions))
        groups.pop(_NO_WORKLOAD, None)
        alike = [tuple(names) for names in groups.values() if len(names) > 1]  # one run alone shows nothing
        for names in alike:
            if names not in self._unstable:
                self._unstable[names] = self._unstable_in(names)
        return pooled(self._unstable[names] for names in alike)

    def _compared_by(self, name: str) -> "_Compared":
        if name not in self._compared:
            plan = self.worker.shared.reference_plan(name)
            about = msgspec.json.encode((plan.steps, plan.faults, plan.before), order="sorted") if is_harmless(plan) else b""
            self._compared[name] = _Compared(plan.controller, plan.companions, digest(about) if about else _NO_WORKLOAD)
        return self._compared[name]

    def _unstable_in(self, names: Sequence[str]) -> frozenset[UnstableField]:
        """What these runs of one plan do not agree on, by the first worker that asks."""

        def make() -> bytes:
            return msgspec.json.encode(sorted(unstable_fields([self.worker.shared.reference(name) for name in names])))

        return frozenset(msgspec.json.decode(self.worker.once("unstable fields", names, make), type=list[UnstableField]))

    def raise_hopeless(self, of: str) -> None:
        """Hopeless when all workloads of a sample that were run without any fault so far, and these are some, cannot be used."""
        troubles = self.worker.shared.troubles(of)
        if len(troubles) < _HOPELESS or not all(troubles):
            return
        lines = "".join(f"\n  - {each}" for each in dict.fromkeys(troubles))
        raise Hopeless(
            f"nothing can be judged: {len(troubles)} workloads were run without any fault, each again in a new life of the "
            f"controller, and none can be compared with:{lines}\nA controller has to stay alive and come to rest when its sample "
            "is applied, changed, deleted and made anew; its log is in the run folder. Is the sample complete (--staleproof-before "
            f"or --before), and is there in this cluster what the controller waits for ({OPTION})?"
        )

    def _repeated(self, plan: Plan) -> tuple[History, ...]:
        """As often as a reference needs; and once more, in new lives, because what was disturbed, or done by a controller that is
        dead, must not stand for the whole run."""
        left = 2
        for attempt in itertools.count(1):
            runs = self.runs_of(plan, attempt)
            left -= not all(self.worker.shared.outcome(each.key).exists() for each in runs)
            found = tuple(map(self.take, runs))
            is_silent = attempt == 1 and any(indexed(each).idle for each in found)  # or the life was ruined
            is_usable = not is_silent and not reference_trouble(indexed(found[0], found))
            if is_usable or not left:
                break
        return found

    def _run_of(self, plan: Plan, attempt: int, number: int) -> SharedRun:
        key = f"{self._workload(plan)}-{attempt}"
        plan = msgspec.structs.replace(plan, fresh=plan.fresh or attempt > 1)

        def make() -> bytes:
            found = self.worker.watch(plan, goals=self._goals(plan, attempt))
            if ended_well(indexed(found)):
                self._keep_ends(plan, attempt, found)
            return found.digest.encode()

        return SharedRun(f"{key}-{number}", make, plan)

    def _goals(self, plan: Plan, attempt: int) -> patience.Goals | None:
        """What an earlier run came to whose first steps are this plan's, as many of them as there are; None if there was none. What
        is tried again goes by what was tried again."""
        for number in range(len(plan.steps), 0, -1):
            known = self.worker.shared.outcome(self._first_steps(plan, number, attempt))
            if known.exists():
                return patience.Goals([self.worker.shared.reference(known.read_text())], plan, self.unstable(), until=number)
        return None

    def _keep_ends(self, plan: Plan, attempt: int, found: History) -> None:
        """Let what a run came to, step by step, be known to others that begin with the same steps."""
        for number in range(1, len(plan.steps) + 1):
            known = self.worker.shared.outcome(self._first_steps(plan, number, attempt))
            if not known.exists():
                write_atomically(known, found.digest.encode())

    def _first_steps(self, plan: Plan, number: int, attempt: int) -> str:
        return f"{self._workload(msgspec.structs.replace(plan, steps=plan.steps[:number]), 'first steps')}-{attempt}"

    def _workload(self, plan: Plan, kind: str = "references") -> str:
        # whatever they were, it settled; and a reference begins no new life
        paces = msgspec.structs.replace(plan.settle, limit_seconds=1.0, deadline_seconds=1.0, begins_seconds=0.0)
        return self.worker.key(kind, plan.steps, paces, plan.before)


def _may_be_late(trial: Trial) -> bool:
    """Whether the controller had done nothing in a life of its own when the run was over, though something was applied."""
    is_asked = any(isinstance(part, Apply) for part in in_parts(trial.plan.steps))
    settled = len(trial.entries) if trial.settled is None else trial.settled
    return trial.plan.fresh and is_asked and not any(request.index < settled for request in trial.work)


def _patient(plan: Plan) -> Plan:
    """The same, in which a new life has some time to begin."""
    limit, deadline = (max(each, LATE_LIFE_LIMIT_SECONDS) for each in (plan.settle.limit_seconds, plan.settle.deadline_seconds))
    settle = msgspec.structs.replace(plan.settle, begins_seconds=LATE_LIFE_SECONDS, limit_seconds=limit, deadline_seconds=deadline)
    return msgspec.structs.replace(plan, settle=settle)


def _primary(plan: Plan) -> str:
    """What the workload is about: the kind and the name of what it applies first."""
    first = next((step.object for step in in_parts(plan.steps) if isinstance(step, Apply)), None)
    return f"{first['apiVersion']} {name_of(first)}" if first is not None else ""
