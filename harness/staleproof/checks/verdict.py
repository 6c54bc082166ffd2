"""What a checker says: pass, inconclusive or fail, with the entries of the history that prove it."""

import enum
from collections.abc import Iterable
from dataclasses import dataclass


class Outcome(enum.IntEnum):
    """Ordered: the worst wins when verdicts on one requirement are joined. Nothing seen is never a pass."""

    NOT_EXERCISED = 0
    PASS = 1
    INCONCLUSIVE = 2
    FAIL = 3

    @property
    def word(self) -> str:
        """As reports spell it. Not exercised is inconclusive: nothing happened that could have shown a violation."""
        return {0: "inconclusive", 1: "passed", 2: "inconclusive", 3: "failed"}[self.value]


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation. `witnesses` are positions in the history, in order; `because` is one sentence.

    `though` ends the sentence about the write that is the violation: what the controller had not been shown. Empty: nothing to add.
    """

    requirement: str
    because: str
    witnesses: tuple[int, ...]
    though: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one trial shows about one requirement. `why` says what is missing when it is not a pass."""

    requirement: str
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    why: str = ""


def passed(requirement: str) -> Verdict:
    return Verdict(requirement, Outcome.PASS)


def failed(requirement: str, findings: Iterable[Finding]) -> Verdict:
    return Verdict(requirement, Outcome.FAIL, tuple(findings))


def inconclusive(requirement: str, why: str) -> Verdict:
    """Something went wrong that keeps us from knowing."""
    return Verdict(requirement, Outcome.INCONCLUSIVE, why=why)


def not_exercised(requirement: str, why: str) -> Verdict:
    """Nothing happened in this trial that could have shown a violation; another trial may have."""
    return Verdict(requirement, Outcome.NOT_EXERCISED, why=why)
