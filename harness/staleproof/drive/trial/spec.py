"""What the runner is given to run, and by what it knows that a step, and the trial, has come to its end."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from staleproof.core.history.change import WriteKind
from staleproof.core.history.history import History, HistoryRole
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import Plan
from staleproof.drive.cluster.api import JSON
from staleproof.drive.cluster.truth import Key
from staleproof.drive.trial.probe import Probe

Live = Mapping[Key, JSON]
"""What there is of a trial, as its history shows it, but for what was given and is as it was."""
Converged = Callable[[Live], str]
"""Says what is missing from the state that the references came to; empty when nothing is."""
Reached = Callable[[int, Live, Collection[WriteKind]], bool]
"""Whether a step has brought what it brought in the references, given its number and the kinds of writes that changed anything."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long after the release what is `missing` is waited for, when the time is over that every controller is given: so many
    seconds, and no longer than it takes. `missing`: what that is, in words, given what was recorded so far; empty: nothing."""

    seconds: float
    missing: Callable[[History], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSpec:
    """What to run and where to keep it.

    Attributes:
        plan: the workload and the faults.
        before: what the workload needs; empty: what the plan says, which may hold no more than digests.
        folder: gets plan.json and history.jsonl.gz.
        title: what it is, in words, should it be to blame for how it left the controller.
        role: what it is: a trial, or what trials are compared with.
        references: fault-free histories of the same workload, from their files; empty when this is one itself.
        converged: when the wait for convergence is over; None accepts any state that is quiet.
        reached: when a step is over without a further wait; None waits for the controller's pauses in each of them, and at the end.
        reached_until: the last step of which `reached` can tell; later ones, and the end, are waited for as if there were none.
        deadline_seconds: how long after the release convergence may take; None means what the plan says.
        may_need: the seconds after the release that a correct controller may need, given what was recorded so far; a controller
            that has not converged at the deadline gets them, up to `AT_MOST_NEEDED_SECONDS`.
        may_come: the seconds after the release for which the trial goes on though nothing is missing, because the controller may be
            about to do again what it has done, given what was recorded so far; None: it does not.
        patience: how much longer what is missing is waited for; None: no longer.
        probe: how to see whether the controller still works, where the trial leaves that open; None: no probe.
        lasts: the seconds that each step, and then the settling phase, take at least; empty: no longer than the controller needs.
        healed_by: takes what heals the controller when the trial is over (`nudges.what_heals`); None: nothing is tried.
    """

    plan: Plan
    folder: Path
    title: str = "a run that was not judged"
    role: HistoryRole = "reference"
    before: tuple[Manifest, ...] = ()
    references: Sequence[History] = ()
    converged: Converged | None = None
    reached: Reached | None = None
    reached_until: float = math.inf
    deadline_seconds: float | None = None
    may_need: Callable[[History], float] | None = None
    may_come: Callable[[History], float] | None = None
    patience: Patience | None = None
    probe: Probe | None = None
    lasts: Sequence[float] = ()
    healed_by: Callable[[str], None] | None = None
