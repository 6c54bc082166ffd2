"""A check, and the exit code of all."""

from staleproof.assess.doctor.check import exit_code, failed, no_time, not_asked, passed, warns


def test_the_exit_code_is_that_of_the_first_that_failed() -> None:
    fine, late = not_asked("metrics", "no URL"), no_time("metrics", 50)
    wrong, away = failed("x", "no", "mend it", code=4), failed("y", "away", "wait")
    assert exit_code([fine, passed("a", "b"), warns("c", "d", "e")]) == exit_code([]) == 0
    assert exit_code([fine, late]) == 10
    assert exit_code([passed("watches", "pods"), not_asked("reconciles", "the controller does not run")]) == 10
    assert (exit_code([late, wrong, away]), exit_code([away, wrong])) == (4, 11)


def test_what_fails_shows_the_lines_that_decide() -> None:
    log = [*(f"step {chr(97 + number)}" for number in range(20)), "ERROR no quorum", "step z"]
    assert failed("x", "no", "mend it", log=log).log == warns("x", "no", "mend it", log=log).log == ("ERROR no quorum",)
