"""Whether a trial began in a sound life of the controller, and what it left of it."""

from pathlib import Path

import pytest

from staleproof.assess.lives import died_between, doubted, set_aside, stopped
from staleproof.checks.verdict import Finding, Outcome, Verdict
from staleproof.core.entry import Exited, Probed

from ..checks.script import Script, trial

LOST = ("leader election lost",)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (trial(), ""),
        (trial().adds(Probed, works=True, waited=0.1), ""),
        (trial().adds(Probed, works=False, waited=10.0), "it did nothing any more"),
        (trial().adds(Exited, life=1, code=2), "its process exited by itself"),
        (trial().adds(Exited, life=1, code=2, log=LOST), ""),
    ],
)
def test_who_died_or_did_nothing_any_more_has_stopped(script: Script, words: str) -> None:
    assert stopped(script.ends()) == words


def test_who_died_between_two_trials_is_named() -> None:
    exited = Exited(at=1.0, life=1, code=2, log=("panic: oh no",))
    assert died_between(exited) == "its process exited by itself between two trials (code 2: panic: oh no)"
    assert died_between(Exited(at=1.0, life=1, code=1, log=LOST)) == ""
    assert died_between(None) == ""


def test_what_was_run_in_the_life_before_is_kept_apart(tmp_path: Path) -> None:
    (tmp_path / "history.jsonl.gz").write_text("first")
    set_aside(tmp_path)
    (tmp_path / "history.jsonl.gz").write_text("second")
    assert [path.read_text() for path in sorted(tmp_path.rglob("*.gz"))] == ["second", "first"]


def test_a_doubt_leaves_findings_alone_and_acquits_nobody() -> None:
    general, other = "converges-after-catch-up", "settles"
    passed = (Verdict(general, Outcome.PASS), Verdict(other, Outcome.PASS))
    assert doubted(passed, "") == passed
    assert doubted(passed, "why") == (Verdict(general, Outcome.INCONCLUSIVE, why="why"), passed[1])
    failed = (Verdict(general, Outcome.FAIL, (Finding("x", (1,)),)),)
    assert doubted(failed, "why") == failed
