"""Whatever things are called, each format stays what it is, and no program that shows it acts on a name."""

import json
from html.parser import HTMLParser
from xml.etree import ElementTree

import jsonschema
import pytest
import yaml
from markdown_it import MarkdownIt

from staleproof.report.conformance import SCHEMA, to_yaml
from staleproof.report.formats import FORMATS
from staleproof.report.inert import MOST, all_inert, in_one_line, inert

from . import hostile
from .hostile import ACTIVE, TEXTS

_LEFT_TO_THE_HARMLESS = 40_000
"""The longest text of a format: a story, with its headline and the command besides."""


@pytest.fixture(params=list(TEXTS.values()), ids=list(TEXTS))
def text(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_has_nothing_that_a_terminal_acts_on(name: str, text: str) -> None:
    data = FORMATS[name].make(hostile.run(text))
    assert not ACTIVE & set(map(ord, data.decode())), "what is shown is not what is there"
    assert len(data) < len(FORMATS[name].make(hostile.run("harmless"))) + 30 * _LEFT_TO_THE_HARMLESS


@pytest.mark.parametrize("name", FORMATS)
def test_nor_has_the_file_of_a_report_of_another_version(name: str, text: str) -> None:
    data = FORMATS[name].make(hostile.run(text, raw=True))
    assert not ACTIVE & set(map(ord, data.decode()))


@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize("name", ["junit", "badge"])
def test_names_never_become_elements(name: str, text: str, *, raw: bool) -> None:
    def shape(of: str) -> list[str]:
        return [element.tag for element in ElementTree.fromstring(FORMATS[name].make(hostile.run(of, raw=raw))).iter()]

    assert shape(text) == shape("harmless")


def test_the_xml_has_no_section_and_no_comment(text: str) -> None:
    data = FORMATS["junit"].make(hostile.run(text))
    assert b"<![CDATA[" not in data
    assert b"<!--" not in data
    assert b"]]>" not in data


def test_names_never_become_markdown(text: str) -> None:
    def shape(of: str) -> list[str]:
        def flat(tokens: object) -> list[str]:
            return [each for token in tokens or () for each in (token.type, *flat(token.children))]  # type: ignore[attr-defined]

        rendered = MarkdownIt("commonmark", {"html": True}).enable("table").parse(FORMATS["summary"].make(hostile.run(of)).decode())
        return flat(rendered)

    assert shape(text) == shape("harmless")


OURS = {"h3", "p", "strong", "code", "pre", "em", "ul", "li", "details", "summary"} | {"table", "thead", "tbody", "tr", "th", "td"}


class Markup(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_a_page_of_markdown_has_only_our_own_markup(text: str) -> None:
    data = FORMATS["summary"].make(hostile.run(text)).decode()
    page = Markup(MarkdownIt("commonmark", {"html": True}).enable("table").render(data))
    assert page.tags <= OURS
    assert page.attributes <= {"class"}


def test_no_cell_begins_with_what_a_spreadsheet_computes(text: str) -> None:
    page = MarkdownIt("commonmark").enable("table").parse(FORMATS["summary"].make(hostile.run(text)).decode())
    cells = [page[place + 1].content for place, token in enumerate(page) if token.type == "td_open"]
    assert cells
    assert not [cell for cell in cells if cell.lstrip("`").lstrip()[:1] in {"=", "+", "@", "\t"}]


@pytest.mark.parametrize("name", ["sarif", "badge-json", "trace"])
def test_the_json_is_one_document(name: str, text: str) -> None:
    json.loads(FORMATS[name].make(hostile.run(text)))


def test_each_line_of_results_is_one_document(text: str) -> None:
    data = FORMATS["results"].make(hostile.run(text))
    lines = [json.loads(line) for line in data.decode().split("\n") if line]
    assert len(lines) == len(FORMATS["results"].make(hostile.run("harmless")).decode().split("\n")) - 1
    stories = [line["story"] for line in lines if line["line"] == "result" and "story" in line]
    assert stories
    assert all(in_one_line(text, 100).split("…")[0][:20].strip() in in_one_line(each) for each in stories), "it is there to be read"


def test_the_conformance_report_is_one_document_of_texts(text: str) -> None:
    report = all_inert(hostile.report(text))
    data = to_yaml(report)
    (document,) = yaml.safe_load_all(data)
    jsonschema.validate(document, SCHEMA, cls=jsonschema.Draft202012Validator)
    assert document["implementation"]["project"] == inert(text)
    assert not ACTIVE & set(map(ord, data))


def test_what_is_a_megabyte_long_is_cut_and_says_so() -> None:
    shown = inert(TEXTS["long"])
    assert len(shown) < MOST + 50
    assert shown.endswith(f"… ({1_000_000 - MOST} characters more)")


def test_a_text_stays_what_it_is(text: str) -> None:
    assert inert("Grüße, 漢字 👩‍🚀\n\tb") == "Grüße, 漢字 👩‍🚀\n\tb"
    assert inert(inert(text)) == inert(text) or len(text) > MOST
