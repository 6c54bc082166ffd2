"""Whatever things are called, the markup of a page is the same: only its data differs."""

import pytest

from staleproof.core.history.entry import Committed
from staleproof.core.history.history import HistoryError, decode
from staleproof.report.html.page import render
from staleproof.report.timeline.document import encode
from staleproof.report.timeline.trial import timeline

from ...judged import HISTORIES
from .hostile import NAME, TEXTS, history, page

RECORDED = (HISTORIES / "naive-hidden-creates.jsonl").read_bytes()


def markup(text: str) -> tuple[str, str]:
    """All of the file but its data."""
    before, _, rest = render(page(text)).decode().partition('id="data">')
    return before, rest.partition("</script>")[2]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_names_never_become_markup(text: str) -> None:
    assert markup(text) == markup("harmless")


def test_what_is_a_megabyte_long_compresses() -> None:
    assert len(render(page(TEXTS["long"]))) < 300_000


def test_an_annotation_of_a_megabyte_is_not_in_the_file() -> None:
    plain, long = decode(RECORDED), decode(RECORDED)
    for entry in long.entries:
        if isinstance(entry, Committed):
            entry.object["metadata"]["annotations"] = {"a": "\u00e9" * 1_000_000}

    assert encode(timeline(long)) == encode(timeline(plain))


@pytest.mark.parametrize("raw", [b"\xff\xfe", b"\xed\xa0\x80", b"\\ud800"])
def test_what_is_no_text_is_refused_where_a_history_is_read(raw: bytes) -> None:
    with pytest.raises(HistoryError):
        decode(RECORDED.replace(NAME.encode(), raw))


def test_the_text_is_there_to_be_shown() -> None:
    assert TEXTS["markup"] in str(page(TEXTS["markup"]).timelines)
    assert any(TEXTS["markup"] in str(entry) for entry in history(TEXTS["markup"]).entries)
