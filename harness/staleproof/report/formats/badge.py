"""A badge: how many core requirements the run passed, or else what is wrong; as a picture, and as shields.io's document."""

from collections import Counter
from typing import Any, Literal
from xml.etree import ElementTree

import msgspec

from staleproof.checks.catalog import REQUIREMENTS, is_scored
from staleproof.checks.verdict import Outcome
from staleproof.report.formats.reported_run import ReportedRun
from staleproof.report.model import overall, scored

LABEL = "staleproof"
_COLOURS = {"brightgreen": "#3a8a00", "yellow": "#8a6d00", "red": "#c0392b", "lightgrey": "#5f6368"}
"""White letters are read well on each of these."""
_LETTER, _MARGIN, _HEIGHT = 6.6, 6.0, 20
_SVG = "http://www.w3.org/2000/svg"

Colour = Literal["brightgreen", "yellow", "red", "lightgrey"]


class Endpoint(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The document that shields.io asks for."""

    schema_version: Literal[1] = 1
    label: str = LABEL
    message: str
    color: Colour
    is_error: bool = False


def schema() -> dict[str, Any]:
    """The JSON Schema of badge.json."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(Endpoint)}


def badge(run: ReportedRun) -> Endpoint:
    """What it says. A baseline changes nothing: what is violated is violated."""
    joined = overall(scored(run.report))
    failed = sum(outcome is Outcome.FAIL and is_scored(slug) for slug, outcome in joined.items())
    count = Counter(joined[each.slug] for each in REQUIREMENTS if each.level == "core")
    core = sum(count.values())
    if failed:
        return Endpoint(message=f"{failed} violated", color="red", is_error=True)
    if run.report.partial:
        return Endpoint(message="interrupted", color="lightgrey")
    if not count[Outcome.PASS] and not count[Outcome.INCONCLUSIVE]:
        return Endpoint(message="nothing tried", color="lightgrey")
    if unknown := count[Outcome.INCONCLUSIVE]:
        return Endpoint(message=f"{count[Outcome.PASS]}/{core} core, {unknown} inconclusive", color="yellow")
    return Endpoint(message=f"{count[Outcome.PASS]}/{core} core", color="brightgreen" if count[Outcome.PASS] == core else "yellow")


def endpoint(run: ReportedRun) -> bytes:
    """badge.json."""
    return msgspec.json.encode(badge(run)) + b"\n"


def picture(run: ReportedRun) -> bytes:
    """badge.svg."""
    said = badge(run)
    parts = [(said.label, "#3c3c3c"), (said.message, _COLOURS[said.color])]
    widths = [round(len(text) * _LETTER + 2 * _MARGIN) for text, _ in parts]
    title = f"{said.label}: {said.message}"
    size = {"width": str(sum(widths)), "height": str(_HEIGHT)}
    root = ElementTree.Element("svg", {"xmlns": _SVG, **size, "role": "img", "aria-label": title})
    ElementTree.SubElement(root, "title").text = title
    left = 0
    for (text, colour), width in zip(parts, widths, strict=True):
        place = {"x": str(left), "width": str(width), "height": str(_HEIGHT), "fill": colour}
        ElementTree.SubElement(root, "rect", place)
        letters = {"x": f"{left + width / 2:g}", "y": "14", "fill": "#fff", "text-anchor": "middle"}
        font = {"font-family": "Verdana,DejaVu Sans,sans-serif", "font-size": "11", "textLength": f"{width - 2 * _MARGIN:g}"}
        ElementTree.SubElement(root, "text", letters | font).text = text
        left += width
    return bytes(ElementTree.tostring(root, encoding="utf-8")) + b"\n"
