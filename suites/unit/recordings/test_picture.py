"""A picture of a recording shows what stood on the terminal, and nothing else."""

import re
import xml.etree.ElementTree as ET

import pytest
from suites.recordings.picture import MOST_MOMENTS, lines_at, moments, svg
from suites.recordings.recording import Recording

LINE = "\r\x1b[2m0:01\x1b[0m \x1b[36mtrial: a\x1b[0m\x1b[K"


def recording(*written: tuple[float, str], columns: int = 40) -> Recording:
    return Recording(columns, written, 0)


def plain(lines: list[str]) -> list[str]:
    return [re.sub(r"\x1b\[[0-9;]*m", "", line).replace("\x1b[K", "") for line in lines]


def test_a_line_that_was_written_over_is_shown_as_it_stands() -> None:
    of = recording((0.0, "head\r\n"), (1.0, LINE), (2.0, "\r0:02 trial: b\x1b[K"), (3.0, "\r\x1b[Kend\r\n"))
    assert plain(lines_at(of, 1.5)) == ["head", "0:01 trial: a"]
    assert plain(lines_at(of, 2.0)) == ["head", "0:02 trial: b"]
    assert plain(lines_at(of, 9.0)) == ["head", "end", ""]


def test_a_line_that_is_longer_than_the_terminal_goes_on_in_the_next() -> None:
    of = recording((0.0, "\x1b[31m0123456789abc\x1b[0m\r\n"), columns=10)
    assert plain(lines_at(of, 0.0)) == ["0123456789", "abc", ""]


def test_moments_that_differ_in_the_clock_alone_are_one() -> None:
    of = recording((0.0, LINE), (1.0, LINE.replace("0:01", "0:02")), (2.0, LINE.replace("trial", "confirming")), (3.0, "\r\x1b[Kx"))
    assert moments(of) == [0.0, 2.0, 3.0]


def test_there_are_never_too_many_moments_and_the_end_is_always_among_them() -> None:
    of = recording(*((float(number), f"\r0:00 trial {number}") for number in range(200)))
    found = moments(of)
    assert len(found) <= MOST_MOMENTS
    assert found[-1] == 199.0


@pytest.mark.parametrize("count", [1, 3])
def test_the_picture_is_an_svg_of_its_own_that_ends_with_everything(count: int) -> None:
    of = recording(
        *((float(number), f"\r\x1b[32mtrial <{number}> & more\x1b[0m\x1b[K") for number in range(count)), (9.0, "\r\nall\r\n")
    )
    drawn = svg(of, "a <title>")
    root = ET.fromstring(drawn)
    assert root.tag.endswith("svg")
    assert "http" not in drawn.replace("http://www.w3.org/2000/svg", ""), "nothing comes from a network"
    last = list(root.iter("{http://www.w3.org/2000/svg}g"))
    shown = "".join("".join(each.itertext()) for each in last[-3:]).replace("\N{NO-BREAK SPACE}", " ")
    assert f"trial <{count - 1}> & more" in shown
    assert "all" in shown
    hidden = re.search(r"([^{}]+) \{ visibility: hidden \}\n@media", drawn)
    assert hidden is not None
    names = set(re.findall(r'class="(f\d+)"', drawn))
    assert len(names - set(re.findall(r"f\d+", hidden[1]))) == 1, "without animation one moment is seen: the last"
