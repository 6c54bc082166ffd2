"""Why a life did not know what had been done, and whether that explains what it did."""

import pytest

from staleproof.checks.ignorance import ignorant_deeds
from staleproof.checks.requirement import Reason
from staleproof.checks.surplus import kept_roles
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding

from .script import HOLD, RESTART, Script, beside, losing, three


def begun(script: Script) -> Script:
    return script.step(1, "apply").applied("w", spec=3).creates("w-a", "w-b", "w-c").idle(1)


def hidden() -> Script:
    """A fourth, while the first three have not been shown."""
    script = Script(HOLD).step(1, "apply").applied("w", spec=3).hold().creates("w-a", "w-b", "w-c").idle(1)
    return script.step(2, "touch").applied("w").creates("w-d")


def earlier_life() -> Script:
    """A fourth, by a life that lists no pods."""
    return begun(Script(RESTART)).dies().restarted().step(2, "touch").applied("w").creates("w-d")


def lost_answer() -> Script:
    """A fourth at once, after it had not heard of the third."""
    script = Script(losing()).step(1, "apply").applied("w", spec=3).creates("w-a", "w-b", "w-c").loses_the_answer()
    return script.creates("w-d")


def found(trial: Trial, reason: Reason) -> list[Finding]:
    return [*ignorant_deeds(trial, [("create", reason)])]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (hidden(), {"hidden": "pod/ns/w-d is the 4th live pod of widget/w; fault-free runs never had more than 3"}),
        (earlier_life(), {"hidden": "the 4th live pod", "earlier life": "made after a restart"}),
        (lost_answer(), {"lost answer": "made after the answer to an earlier create was lost"}),
    ],
    ids=["hidden", "earlier life", "lost answer"],
)
def test_a_reason_explains_what_was_not_known_for_it(script: Script, expected: dict[Reason, str]) -> None:
    trial = beside(script, three)
    reasons: tuple[Reason, ...] = ("hidden", "first list", "past list", "earlier life", "lost answer", "renamed")
    explained = {reason: findings[0] for reason in reasons if (findings := found(trial, reason))}

    assert explained.keys() == expected.keys()
    assert all(expected[reason] in finding.because and finding.though for reason, finding in explained.items())


def test_an_excess_that_nothing_unknown_explains_is_no_finding() -> None:
    trial = beside(begun(Script(HOLD)).step(2, "touch").applied("w").creates("w-d"), three)

    assert not found(trial, "hidden")
    assert not [*ignorant_deeds(trial, [])]


def test_what_is_all_gone_without_faults_cannot_be_too_little() -> None:
    def emptied(script: Script) -> Script:
        return begun(script).deletes("w-a", "w-b", "w-c")

    assert {role.resource for role in kept_roles(beside(begun(Script(HOLD)), three))} == {"widgets.example.com", "pods"}
    assert "pods" not in [role.resource for role in kept_roles(beside(begun(Script(HOLD)), emptied))]
