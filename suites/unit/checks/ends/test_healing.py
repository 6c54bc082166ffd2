"""What came to a good end late, because it was waited for."""

from staleproof.checks.ends.healing import Healed, healed, usual_seconds
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import Probed

from ..script import SEVER, Script, beside


def slow(script: Script, *, ok: bool = True) -> Trial:
    """One of two pods; the other one comes 61 s after the release, or not at all."""
    script.opens().flaps().pair(1).closes().released().passes(61.0)
    script = (script.creates("w-1").updates("w", status={"ready": 2}) if ok else script).passes(2.0)
    return beside(script.settled(ok=ok, why="after 10 s: 1 pod of w, fault-free runs ended with 2", overdue=53.0))


def test_it_healed_when_the_last_thing_came_that_was_missing() -> None:
    found = healed(slow(Script(SEVER)))
    assert found is not None
    assert found.lacked == "1 pod of w, fault-free runs ended with 2"
    assert 61.0 <= found.seconds < 62.0


def test_what_never_came_did_not_heal() -> None:
    assert healed(slow(Script(SEVER), ok=False)) is None


def test_a_controller_that_was_in_time_needed_no_patience() -> None:
    assert healed(beside(Script(SEVER).opens().flaps().pair().closes().released().settled())) is None


def test_a_controller_that_works_again_when_it_is_waited_for_has_healed() -> None:
    def waited(seconds: float, overdue: float = 0.0) -> Trial:
        script = Script(SEVER).opens().flaps().pair().closes().released().settled()
        return beside(script.adds(Probed, works=True, waited=seconds, overdue=overdue))

    assert healed(waited(8.0)) is None
    assert healed(waited(35.0, overdue=25.0)) == Healed(35.0, "it did nothing about a new object")


def test_what_was_waited_beyond_the_usual_time_is_not_what_a_trial_takes() -> None:
    trial = slow(Script(SEVER))
    assert usual_seconds(trial) == trial.entries[-1].at - 53.0
