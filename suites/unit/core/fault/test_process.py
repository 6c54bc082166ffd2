"""Legal faults about the process: what carries them out, and when a kill freezes its request."""

from staleproof.core.fault import Kill, Pause, Restart
from staleproof.core.fault.decision import PASS, Stall
from staleproof.core.fault.model import Fault

from .asking import PODS, request

CREATE = request(f"POST {PODS}")


def test_a_kill_freezes_the_nth_write_before_it_is_sent_or_after_it_was_committed() -> None:
    before, after = Kill(resource="pods", moment="before", nth=2), Kill(resource="pods", nth=2)
    assert [before.on_request(CREATE, nth) for nth in (1, 2, 3)] == [PASS, Stall("reset"), PASS]
    assert [after.on_answer(CREATE, nth) for nth in (1, 2, 3)] == [PASS, Stall("reset"), PASS]
    assert (before.on_answer(CREATE, 2), after.on_request(CREATE, 2)) == (PASS, PASS)


def test_what_carries_it_out() -> None:
    assert (Kill.needs_runner, Restart.needs_runner, Pause.needs_runner, Fault.needs_runner) == (True, True, True, False)
    assert (Kill(resource="pods").executed_by, Restart().executed_by, Pause().executed_by) == ("proxy", "runner", "runner")
