"""The list of errors does not rot, an error is planted and taken out again, and the table says what found it."""

import ast
import re
from pathlib import Path

import pytest
from rich.console import Console

from staleproof.errors import SetupError

from ...planted.__main__ import NOT_FOUND, ROOT, Row, table
from ...planted.copy import Copy
from ...planted.slips import SLIPS, Slip

LEFT_TO_THE_NIGHT = {
    "doctor", "interrupts", "once_more", "own_tests", "refused_early", "samples", "shared_work", "suite", "suite_images"
}  # fmt: skip


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip.name)
def test_the_old_text_is_there_once_and_the_new_text_is_python(slip: Slip) -> None:
    text = (ROOT / slip.file).read_text()
    assert text.count(slip.old) == 1
    assert "\n" not in slip.old + slip.new
    assert ast.dump(ast.parse(text.replace(slip.old, slip.new))) != ast.dump(ast.parse(text))


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip.name)
def test_the_tests_that_should_find_it_are_there_and_run_by_day(slip: Slip) -> None:
    for test in slip.tests:
        file, _, name = test.partition("::")
        text = (ROOT / file).read_text()
        assert not name or re.search(rf"^(async )?def {name}\(", text, re.MULTILINE)
        assert not (slip.is_live and Path(file).stem.removeprefix("test_") in LEFT_TO_THE_NIGHT)


def test_there_are_enough_of_each_kind_and_no_name_is_used_twice() -> None:
    assert len({slip.name for slip in SLIPS}) == len(SLIPS) == 30
    assert sum(slip.is_live for slip in SLIPS) >= 8


def test_what_is_planted_is_taken_out_again(tmp_path: Path) -> None:
    file = tmp_path / "some.py"
    file.write_text("a = 1\nb = 1\n")
    with Copy(tmp_path).planted("some.py", "a = 1", "a = 2"):
        assert file.read_text() == "a = 2\nb = 1\n"
        planted_at = int(file.stat().st_mtime)
    assert file.read_text() == "a = 1\nb = 1\n"
    assert int(file.stat().st_mtime) != planted_at, "Python would take what it compiled of the one for the other"


@pytest.mark.parametrize(("text", "count"), [("a = 1\n", 0), ("b = 1\nb = 1\n", 2)])
def test_a_text_that_is_not_there_once_is_reported(text: str, count: int, tmp_path: Path) -> None:
    (tmp_path / "some.py").write_text(text)
    with (
        pytest.raises(SetupError, match=f"some.py: expected 'b = 1' once, found it {count} times"),
        Copy(tmp_path).planted("some.py", "b = 1", "b = 2"),
    ):
        pass
    assert (tmp_path / "some.py").read_text() == text


def test_the_table_says_which_test_found_it() -> None:
    console = Console(width=200)
    with console.capture() as shown:
        console.print(table([Row(SLIPS[0], "suites/unit/draw/test_family.py::test_x[a-b]", 3.14), Row(SLIPS[1], "", 2.0)]))
    assert re.search(rf"{SLIPS[0].name} +│ draw/family\.py +│ unit/draw/test_family\.py::test_x\[a-b\] +│ +3\.1", shown.get())
    assert re.search(rf"{SLIPS[1].name} +│ draw/order\.py +│ {NOT_FOUND} +│ +2\.0", shown.get())
