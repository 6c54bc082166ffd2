"""The cases of a rule: trials, each with the verdict in words."""

from collections.abc import Callable, Mapping, Sequence

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.requirement import Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Verdict
from staleproof.core.history.history import History

from .script import Script

ONE_POD = "1 pod of widget/w, fault-free runs ended with 2"
"""How a trial of one pod differs from references of a pair."""
UNSURE = f"INCONCLUSIVE: it did not converge ({ONE_POD}), but"

Cases = Mapping[str, tuple[Script | Trial, str]]


def wording(verdict: Verdict, like: str) -> str:
    """A verdict in as many words as `like`: `FAIL`, or `FAIL: …` with what was found, or why nothing is known."""
    found = [", ".join(part for part in (finding.because, finding.though) if part) for finding in verdict.findings]
    words = "\n".join(found) or verdict.why
    return f"{verdict.outcome.name}: {words}" if ":" in like else verdict.outcome.name


def verdicts(requirement: Requirement, cases: Cases, references: Sequence[History] = ()) -> Callable[[Script | Trial, str], None]:
    """The test of a rule. A case that is only a script is compared with `references`."""

    @pytest.mark.parametrize(("case", "verdict"), cases.values(), ids=cases)
    def test_verdict(case: Script | Trial, verdict: str) -> None:
        found = wording(verdict_of(requirement, case if isinstance(case, Trial) else Trial(case.ends(), references)), verdict)
        assert found == verdict, found

    return test_verdict


def witnesses(requirement: Requirement, trial: Trial) -> list[str]:
    """The kinds of entries that tell the story of the only finding."""
    (finding,) = verdict_of(requirement, trial).findings
    return [type(trial.entries[index]).__name__ for index in finding.witnesses]
