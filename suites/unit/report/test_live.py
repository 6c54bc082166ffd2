"""What the line says that shows how far a run is."""

from dataclasses import replace

import pytest

from staleproof.report.live import STOPPING, Standing, Step, live_line, log_line

TRIAL = Step(phase="confirming", what="hide own creates of pods, then touch")
RUN = Standing(seconds=125, over=12, planned=94, findings=2, left=190, steps=(TRIAL, Step(phase="trial", what="restart it")))


def test_all_of_it() -> None:
    line = "2:05 ━┈┈┈┈┈┈┈┈┈┈┈ 12 of 94 trials · 2 findings · about 3 min left · confirming: hide own creates of pods, then touch"
    assert live_line(RUN, 200).plain == f"{line} · 1 more at work"
    assert log_line(RUN) == (
        "staleproof: 2:05, 12 of 94 trials, 2 findings, about 3 min left, confirming: hide own creates of pods, then touch, "
        "1 more at work"
    )


@pytest.mark.parametrize("width", [10, 40, 79, 99])
def test_it_never_takes_more_than_a_line(width: int) -> None:
    assert live_line(RUN, width).cell_len <= width


def test_in_eighty_columns_it_still_says_what_counts() -> None:
    assert "12 of 94 trials · 2 findings · about 3 min left · confirming" in live_line(RUN, 79).plain


@pytest.mark.parametrize(
    ("of", "line"),
    [
        (Standing(seconds=3, steps=(Step(phase="control plane", what="starting it"),)), "0:03 · control plane: starting it"),
        (
            Standing(seconds=3, steps=(Step(phase="", what="kube-scheduler: compiling packages", done=17, total=900),)),
            "0:03 · kube-scheduler: compiling packages 17/900",
        ),
        (Standing(seconds=60, over=2, planned=2), "1:00 ━━━━━━━━━━━━ 2 of 2 trials · no finding"),
        (Standing(over=0, planned=1, left=99), "0:00 ┈┈┈┈┈┈┈┈┈┈┈┈ 0 of 1 trial · no finding · about 100 s left"),
        (Standing(over=0, planned=1, left=1), "0:00 ┈┈┈┈┈┈┈┈┈┈┈┈ 0 of 1 trial · no finding · about 10 s left"),
        (Standing(seconds=9), ""),
    ],
)
def test_what_is_not_known_is_not_shown(of: Standing, line: str) -> None:
    assert live_line(of, 200).plain == line


def test_a_text_of_several_lines_has_one_and_nothing_that_a_terminal_acts_on() -> None:
    of = Standing(steps=(Step(phase="trial", what="a\nb \x1b[2Jc"),))
    assert live_line(of, 80).plain == "0:00 · trial: a b \\x1b[2Jc"


def test_an_interrupted_run_says_so_and_nothing_else() -> None:
    stopping = replace(RUN, is_interrupted=True)
    assert (live_line(stopping, 200).plain, log_line(stopping)) == (STOPPING, f"staleproof: {STOPPING}")
    assert live_line(stopping, 20).cell_len <= 20
