"""Whether a trial began in a sound life of the controller, and what it left of it."""

from pathlib import Path

import pytest
from msgspec import structs

from staleproof.assess.learn.lives import IN_VAIN, died_between, doubted, left_like_that, set_aside, stopped
from staleproof.checks.verdict import Finding, Outcome, Verdict
from staleproof.core.history.entry import Exited, Probed

from ...checks.script import Script, trial

LOST = ("leader election lost",)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (trial(), ""),
        (trial().adds(Probed, works=True, waited=0.1), ""),
        (trial().adds(Probed, works=False, waited=10.0), "it did nothing any more"),
        (trial().adds(Exited, life=1, code=2), "its process exited by itself"),
        (trial().adds(Exited, life=1, code=2, program="poller"), "the process of poller exited by itself"),
        (trial().adds(Exited, life=1, code=2, log=LOST), ""),
    ],
)
def test_a_controller_that_died_or_did_nothing_any_more_has_stopped(script: Script, words: str) -> None:
    assert stopped(script.ends()) == words


def test_a_death_between_two_trials_is_reported_with_the_trial_before() -> None:
    exited = Exited(at=1.0, life=1, code=2, log=("panic: oh no",))
    words = "when trial 001 (x) was over, its process exited by itself between two trials (code 2: panic: oh no)"
    assert died_between(("trial 001 (x)", exited)) == words
    assert died_between(("trial 001 (x)", Exited(at=1.0, life=1, code=1, log=LOST))) == ""
    assert died_between(None) == ""
    of_poller = structs.replace(exited, program="poller")
    assert died_between(("trial 001 (x)", of_poller)) == words.replace("its process", "the process of poller")
    assert died_between(("", exited)) == "", "nothing had been done to it"


def test_a_life_that_did_nothing_is_reported_with_what_it_had_been_through() -> None:
    new = "it did nothing any more, but not when the trial was run again in a new life"
    assert left_like_that("it did nothing any more", "trial 001 (x)") == f"{new}: trial 001 (x) may have left it like that"
    assert left_like_that("it did nothing any more", "") == new


def test_what_was_run_in_the_life_before_is_kept_apart(tmp_path: Path) -> None:
    (tmp_path / "history.jsonl.gz").write_text("first")
    set_aside(tmp_path, IN_VAIN)
    (tmp_path / "history.jsonl.gz").write_text("second")
    assert [path.read_text() for path in sorted(tmp_path.rglob("*.gz"))] == ["second", "first"]


def test_what_is_set_aside_takes_along_what_was_set_aside_before(tmp_path: Path) -> None:
    for attempt in ("first", "second"):
        (tmp_path / "history.jsonl.gz").write_text(attempt)
        (tmp_path / "rerun-2").mkdir(exist_ok=True)
        set_aside(tmp_path, IN_VAIN)
        set_aside(tmp_path, f"broken-off-{attempt}", (IN_VAIN,))

    kept = {str(path.relative_to(tmp_path)): path.read_text() for path in tmp_path.rglob("*.gz")}
    assert kept == {
        "broken-off-first/in-vain/history.jsonl.gz": "first",
        "broken-off-second/in-vain/history.jsonl.gz": "second",
    }
    assert (tmp_path / "rerun-2").is_dir(), "another worker may be at it"


def test_a_doubt_leaves_findings_alone_and_acquits_no_controller() -> None:
    general, other = "converges-after-catch-up", "settles"
    passed = (Verdict(general, Outcome.PASS), Verdict(other, Outcome.PASS))
    assert doubted(passed, "") == passed
    assert doubted(passed, "why") == (Verdict(general, Outcome.INCONCLUSIVE, why="why"), passed[1])
    failed = (Verdict(general, Outcome.FAIL, (Finding("x", (1,)),)),)
    assert doubted(failed, "why") == failed
