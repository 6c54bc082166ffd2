"""`staleproof schema`: JSON Schemas of the files, and the OpenAPI document of the proxy's control API."""

import json
from collections.abc import Callable
from typing import Any

import click
import msgspec

from staleproof import settings_file
from staleproof.core.engine.routes import openapi
from staleproof.core.history.entry import Entry
from staleproof.core.history.history import Header
from staleproof.core.plan.plan import Plan
from staleproof.report.conformance import SCHEMA
from staleproof.report.formats import badge, results, trace
from staleproof.report.model import Report
from staleproof.report.timeline.document import schema as timeline_schema

SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "plan": lambda: msgspec.json.schema(Plan),
    "history": lambda: msgspec.json.schema(Header | Entry),
    "report": lambda: msgspec.json.schema(Report),
    "conformance": lambda: SCHEMA,
    "results": results.schema,
    "badge": badge.schema,
    "trace": trace.schema,
    "timeline": timeline_schema,
    "config": settings_file.schema,
    "control": openapi,
}

PUBLISHED = ("badge", "conformance", "report", "results", "trace")
"""Those that are in the repository, too, in docs/schemas."""


@click.command()
@click.argument("which", type=click.Choice(sorted(SCHEMAS)))
def schema(which: str) -> None:
    """Print the JSON Schema of plan.json, of one line of a history, of report.json, conformance.yaml, timeline.json, one line of
    results.ndjson, badge.json, trace.json, or staleproof.yaml (`config`); for `control`, the OpenAPI document of the control API of
    `staleproof proxy`."""
    click.echo(json.dumps(SCHEMAS[which](), indent=2))
