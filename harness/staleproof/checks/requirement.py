"""What a requirement is: one MUST sentence with a slug that never changes its meaning, and the check that decides on it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from staleproof.checks.facts.object_history import OwnVerb
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Said, Severity
from staleproof.core.fault import Effect

Level = Literal["core", "extended", "provisional"]
Kind = Literal["deed", "end", "pace"]
"""How a requirement is judged: by what the controller did without knowing better; by how a trial ends, after what was done to it;
by how long something took, or went on."""
Reason = Literal["hidden", "first list", "past list", "earlier life", "lost answer", "lost stream", "renamed", "coalesced"]
"""Why a life of the controller did not know.

- `hidden`: something had happened, its own writes perhaps, and it had not been shown that yet.
- `first list`: the first list of that resource was still under way.
- `past list`: what it had been shown is older than what it had done its work on.
- `earlier life`: another life had done it.
- `lost answer`: it never heard that it was done.
- `lost stream`: it watched that resource no more.
- `renamed`: another object had taken the name.
- `coalesced`: it was only shown what came of it.
"""
SEED = "What they don't tell you about scalable and reliable controllers"

LATE = ("Hold", "HideOwnWrite", "Delay", "Skew")
HIDDEN = ("HideOwnWrite", "Hold", "Delay", "Skew")
STREAMS = ("Sever", "Refuse", "Hang")
RESTARTS = ("Kill", "Restart", "PastSnapshot")
"""Names of faults that several requirements list, in the order in which they are printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """What a controller must do.

    Attributes:
        slug: its name everywhere.
        must: the sentence.
        level: `core` is for every controller, `extended` for those that claim the feature; `provisional` is reported, not scored.
        source: where that is written.
        faults: what brings a violation out, by their names in plans; empty when none is needed.
        remedy: for the author of a controller that violates it.
        kind: how it is judged; `wrong`: what a violation is, as a noun.
        reasons: why the controller may not know better. `verbs`: the surplus writes about which the judge asks for them
            (`ignorance`); none: its own check looks for them, and here they are only listed.
        effects: of the faults that it is about, of an end: others that fired may be to blame.
        check: yields what else is wrong, or why nothing can be seen; a trial of which it yields nothing has passed.
        needs_references: the check compares with fault-free runs, so without good ones it is not made.
        needs_end: the check is about the settling phase, so it is not made for a trial that has none.
        waits: it is about what comes later, so a plan that aims at it waits for the controller's pauses, whatever was reached.
        outlives: the effects of faults that it is about living through: a controller that stops working under one violates it.
        severity: what a violation does; empty: what the write that is the violation does (`cause`).
        across_programs: the programs of a subject are judged as one, because it is about what no single one of them need do.
        explains_end: a violation may be why a controller ends elsewhere, so it is looked for before the end accuses.
    """

    slug: str
    must: str
    level: Level
    source: str
    faults: tuple[str, ...]
    remedy: str
    kind: Kind
    wrong: str
    check: Callable[[Trial], Iterator[Said]]
    reasons: tuple[Reason, ...] = ()
    verbs: tuple[OwnVerb, ...] = ()
    effects: frozenset[Effect] = frozenset()
    needs_references: bool = True
    needs_end: bool = False
    waits: bool = False
    outlives: frozenset[Effect] = frozenset()
    explains_end: bool = False
    across_programs: bool = False
    severity: Severity | Literal[""] = ""

    @property
    def scored(self) -> bool:
        """Whether a violation fails a run."""
        return self.level != "provisional"
