"""What a rule says, and what becomes of it: passed, inconclusive or failed, with the entries of the history that prove it.

A rule yields findings, or says why there can be none: it was not exercised, or something keeps us from knowing. Rules about how a
trial ends yield a suspicion instead: what was done to the controller, which is a finding only if the controller did not end well
and nothing else explains that. `judge` makes a verdict of it.
"""

import enum
from dataclasses import dataclass, replace
from typing import Literal, get_args

from staleproof.core.history.entry import FaultIndex
from staleproof.core.plan.plan import MAIN


class Outcome(enum.IntEnum):
    """Ordered: the worst wins when verdicts on one requirement are joined. Nothing seen is never a pass.

    Inconclusive is a difference that was seen and could not be explained; not exercised is that nothing could have been seen: a
    fault found no occasion, a step could not be done, the controller never wrote.
    """

    NOT_EXERCISED = 0
    PASS = 1
    INCONCLUSIVE = 2
    FAIL = 3

    @property
    def word(self) -> str:
        """As reports spell it."""
        return {0: "not exercised", 1: "passed", 2: "inconclusive", 3: "failed"}[self.value]


Severity = Literal["destroyed", "duplicated", "undone", "misreported", "stuck", "leaked", "restless", "transient"]
"""What a finding does to people, the worst first.

- `destroyed`: live data or an identity is gone.
- `duplicated`: what should be there once is there, or was done, several times.
- `undone`: what a user wanted, or had done, was taken back.
- `misreported`: a status says what is not so.
- `stuck`: something is not done, or not reported, and never will be without help.
- `leaked`: something is left over that nothing will ever remove.
- `restless`: it makes and removes, or changes, the same over and over, and does not come to rest.
- `transient`: it healed by itself within seconds.
"""
SEVERITIES: tuple[Severity, ...] = get_args(Severity)

Basis = Literal["write", "surplus", "memory", "end", "unfinished", "silence", "pace"]
"""What a finding rests on, and so which other explanations it has to survive (`doubt`).

- `write`: the write itself, whatever came of it.
- `surplus`: that by then there were more objects of a role, or fewer, than in any reference.
- `memory`: the same, of a life that does not know what was done before it, or whether it was done.
- `end`: how the trial ended, beside how the references did.
- `unfinished`: that something is not done yet at the end, whatever else the user's steps came to.
- `silence`: that it asks for nothing any more, though something is missing, or new.
- `pace`: how long it took.
"""
MAY_HEAL: frozenset[Basis] = frozenset({"end", "unfinished", "silence"})
"""What rests on one of these was not so, if it comes to a good end later by itself."""


@dataclass(frozen=True, slots=True)
class Cause:
    """What lies behind a finding; findings with one cause are one to the developer that mends it.

    Attributes:
        situation: what was done to the controller, whichever fault of a plan did it.
        decision: the first thing that the controller did about it, as what follows "it"; empty: it did nothing that can be named.
        resource: of which resource that was; empty for all of them.
        text: all of it in words.
    """

    situation: str
    decision: str
    resource: str
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation. `witnesses` are positions in the history, in order; `because` is one sentence.

    `though` ends the sentence about the write that is the violation: what the controller had not been shown. Empty: nothing to add.
    `severity`: what it does; empty: what a write like the one that is the violation does. `basis`: what it rests on.
    `requirement`, `cause` and an empty `severity` are filled in by the judge; and `program`: by the view of which of several
    programs it was found; empty if there is only one, or it is about all of them.
    """

    because: str
    witnesses: tuple[int, ...]
    though: str = ""
    requirement: str = ""
    severity: Severity | Literal[""] = ""
    basis: Basis = "write"
    cause: Cause | None = None
    program: str = ""


def of_program(finding: Finding, program: str) -> Finding:
    """The same, about this program."""
    cause = replace(finding.cause, text=said_of(program, finding.cause.text)) if finding.cause is not None else None
    return replace(finding, because=said_of(program, finding.because), cause=cause, program=program)


def said_of(program: str, sentence: str) -> str:
    """What is said of the controller, said of this one of several programs."""
    return f"{program}: {named(program, sentence)}"


def named(program: str, sentence: str) -> str:
    """With the name of the program that it is about, where that is not the controller itself."""
    return sentence.replace(f"the {MAIN}", program) if program not in ("", MAIN) else sentence


@dataclass(frozen=True, slots=True)
class NotExercised:
    """Nothing happened in this trial that could have shown a violation; another trial may have."""

    why: str


@dataclass(frozen=True, slots=True)
class Inconclusive:
    """Something went wrong that keeps us from knowing.

    `without`: numbers of faults of the plan; runs of it without these, and with the others, would tell.
    """

    why: str
    without: tuple[FaultIndex, ...] = ()


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What was done to the controller, and what would be wrong if it does not end as fault-free runs do.

    Attributes:
        acts: positions of the entries that show what was done to it.
        charge: begins the sentence of a finding; the difference follows.
        resource: of the faults with the requirement's effects only those that concern this resource; empty for any.
        proof: what shows directly that this is to blame, in the words of a charge; empty when only the end can show it.
        doubt: another explanation, in words; empty when there is none.
        untested: why a good end shows nothing, in words; empty when it is a pass.
        unless_broken: a rule about acting on an old view that was broken shows the same, and this one has nothing to say.
        otherwise: what is inconclusive in case the end does not prove it, in words; empty: the end says.
    """

    acts: tuple[int, ...]
    charge: str
    resource: str = ""
    proof: str = ""
    doubt: str = ""
    untested: str = ""
    unless_broken: bool = False
    otherwise: str = ""


Said = Finding | NotExercised | Inconclusive | Suspicion
"""What a rule may yield."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one trial shows about one requirement. `why` says what is missing when it is not a pass; `without`: see
    `Inconclusive`."""

    requirement: str
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    why: str = ""
    without: tuple[FaultIndex, ...] = ()

    @property
    def worst(self) -> Finding:
        """The first of the worst findings.

        Raises:
            ValueError: there is none.
        """
        return min(self.findings, key=lambda finding: rank(finding.severity))


def rank(severity: Severity | Literal[""]) -> int:
    """0 for the worst; what was not judged comes last."""
    return SEVERITIES.index(severity) if severity else len(SEVERITIES)
