"""Other explanations of what was seen, in one ordered table: the judge asks it in one place, `--why` and the docs print it.

A doubt is about whatever rests on the same thing (`Basis`; or the trial itself, its references, its end), and says in words why
nothing is known then; empty when it does not apply. A new one is a new row here: which findings it is about, what is left of
them, and the question. Not here, but with the judge, are the questions about ends only: whether another rule was broken, whether
other faults alone bring it about, and whether the references agree.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from staleproof.checks.but_for import in_alike
from staleproof.checks.ends.cessation import cessation
from staleproof.checks.ends.convergence import unneeded
from staleproof.checks.ends.finished import over_before_it_caught_up
from staleproof.checks.facts.fault_outcomes import hostility
from staleproof.checks.facts.object_history import object_history
from staleproof.checks.facts.recovery_budget import awaits_election, budget
from staleproof.checks.facts.usability import disturbance, interruption, reference_trouble, unfired, unreliable
from staleproof.checks.trial import Trial, fact
from staleproof.checks.verdict import Basis, Outcome
from staleproof.core.plan.step import sets_aside
from staleproof.core.times import ELECTION_SECONDS, PACE_UNKNOWN_SECONDS

Subject = Basis | Literal["trial", "references", "settling", "aim", "conformance"]
"""What a doubt is about: what a finding rests on; or anything that the trial shows, what is compared, how it ends, what its plan
aims at, what fails a run."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """An explanation that is looked for before anything counts.

    Attributes:
        name: what it would be if it applied, as the end of "unless".
        of: what it is about.
        leaves: the verdict where it applies: nothing could have been seen, or what was seen is not known for certain.
        ask: why it applies, in words; empty when it does not.
    """

    name: str
    of: tuple[Subject, ...]
    leaves: Literal[Outcome.NOT_EXERCISED, Outcome.INCONCLUSIVE]
    ask: Callable[[Trial], str]


@dataclass(frozen=True, slots=True)
class Answer:
    """A doubt that applies: why, in words, and what it `leaves`."""

    why: str
    leaves: Literal[Outcome.NOT_EXERCISED, Outcome.INCONCLUSIVE]


@fact
def has_no_end(trial: Trial) -> str:
    """That it was never settled, in words."""
    return "the trial has no settling phase" if trial.settled is None or trial.released is None else ""


@fact
def recreated_otherwise(trial: Trial) -> str:
    """Whether the user's steps came to something else than in the references, in words.

    A primary that is applied again while it is still terminating is never created again: the apply changes the dying one.
    """
    for primary in trial.history.header.primaries:
        times, usual = _creations(primary, trial), list(in_alike(trial, partial(_creations, primary)))
        if usual and times not in usual:
            return f"the workload created {primary} {times} times and {max(usual)} times in fault-free runs"
    return ""


@fact
def set_aside(trial: Trial) -> str:
    """Whether a life of the controller need not know of a child that an earlier one made, in words.

    Another user took its labels or its owner. The life that made it may wait for it, as the EndpointSlice controller does
    (`util/endpointslice_tracker.go` of `k8s.io/endpointslice`); a later one, which lists by label or owner, rightly makes another.
    """
    is_so = bool(trial.starts[1:]) and sets_aside(trial.plan.steps)
    return "another user set one of its children aside, which a life that began later need not know of" if is_so else ""


@fact
def too_soon(trial: Trial) -> str:
    """Whether it may not have had the time to get there by the end of the settling phase, in words."""
    settled = trial.settled
    if settled is None:
        return "the trial has no settling phase"
    given, in_vain = budget(trial, settled), trial.history.header.waited
    since = trial.at(given.since)
    waited = max(trial.at(settled) - since, in_vain - max(0.0, since - trial.at(trial.released or 0)))
    if waited < given.seconds:
        return f"it had {waited:.1f} s to catch up, and may need {given.seconds:.1f} s after what was done to it"
    if in_vain > PACE_UNKNOWN_SECONDS:
        return ""  # nothing tells how long it waits by itself, and it was waited for
    return given.unknown or ("" if in_vain > ELECTION_SECONDS else awaits_election(trial, settled))


def _creations(primary: str, trial: Trial) -> int:
    """How often another user created it."""
    resource, _, name = primary.rpartition("/")
    return sum(not each.creator for each in object_history(trial).named(resource, name))


def _cannot_be_relied_on(trial: Trial) -> str:
    """The same as `unreliable`, but for a death that is held against the controller: it has a finding of its own."""
    stopped = cessation(trial)
    return disturbance(trial) if stopped is not None and not stopped.doubt else unreliable(trial)


DOUBTS = (
    Doubt("it was not carried out", ("trial",), Outcome.NOT_EXERCISED, interruption),
    Doubt("what it shows cannot be relied on", ("trial",), Outcome.INCONCLUSIVE, _cannot_be_relied_on),
    Doubt("the controller died, which is a finding of its own", ("trial",), Outcome.NOT_EXERCISED, unreliable),
    Doubt("its references cannot be compared with", ("references",), Outcome.NOT_EXERCISED, reference_trouble),
    Doubt("it has no end", ("settling",), Outcome.INCONCLUSIVE, has_no_end),
    Doubt("the controller had nothing to do", ("end",), Outcome.NOT_EXERCISED, unneeded),
    Doubt(
        "the user's steps came to something else", ("memory", "end", "silence", "pace"), Outcome.INCONCLUSIVE, recreated_otherwise
    ),
    Doubt("a child was set aside", ("surplus", "memory", "end", "silence", "pace"), Outcome.INCONCLUSIVE, set_aside),
    Doubt("what it works for was over", ("end",), Outcome.NOT_EXERCISED, over_before_it_caught_up),
    Doubt("it had too little time", ("end", "unfinished"), Outcome.INCONCLUSIVE, too_soon),
    Doubt("a fault had no occasion", ("aim",), Outcome.NOT_EXERCISED, unfired),
    Doubt("no API server does this", ("conformance",), Outcome.NOT_EXERCISED, lambda trial: hostility(trial.plan)),
)
"""In the order in which they are asked."""


def first_doubt(trial: Trial, subjects: Iterable[Subject]) -> Answer | None:
    """The first doubt about any of these that applies; None when nothing speaks against what was seen."""
    about = frozenset(subjects)
    answers = (Answer(doubt.ask(trial), doubt.leaves) for doubt in DOUBTS if not about.isdisjoint(doubt.of))
    return next((answer for answer in answers if answer.why), None)
