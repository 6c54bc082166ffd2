"""The calls of the proxy's control API: what the proxy serves, and the OpenAPI document of it for programs in any language.

The bodies are those of `staleproof.core.control`: their schemas are made from the types that the proxy reads.
"""

from dataclasses import dataclass, field
from typing import Any

import msgspec

from staleproof.core import control

_HOLD = {"fault": "Hold", "resource": "pods"}
_NATURAL = {"type": "integer", "minimum": 0}
_PROBLEM = {"$ref": "#/components/schemas/Problem"}
_SENSELESS = {"400": "The body or a parameter makes no sense; nothing was changed"}
_WRONG_TOKEN = {"401": "The token is wrong; nothing was changed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A call.

    Attributes:
        answer: the model of the answer's body, or the answer in OpenAPI's words.
        body: the model of the request's body; None when there is none.
        parameters: those in the query or the path, in OpenAPI's words.
        examples: bodies that can be sent, by what they are for.
        problems: the answers to calls that did nothing.
    """

    method: str
    path: str
    summary: str
    more: str = ""
    answer: type | dict[str, Any]
    body: type | None = None
    parameters: tuple[dict[str, Any], ...] = ()
    examples: dict[str, Any] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=lambda: _SENSELESS | _WRONG_TOKEN)

    @property
    def name(self) -> str:
        """`put_plan` for PUT /v1/plan: unique, and the name of the proxy's method that does it."""
        return f"{self.method}_{self.path.removeprefix('/v1/').partition('/')[0].removesuffix('.json')}"


ROUTES = (
    Route(
        method="get",
        path="/v1/entries",
        summary="What happens, from an entry on, until the caller leaves",
        more="Entries that every reader was given long ago are gone; so are the oldest of those that no reader has had.",
        parameters=(
            {"name": "after", "in": "query", "schema": _NATURAL, "description": "the number of the first entry, from 0"},
            {
                "name": "runner",
                "in": "query",
                "schema": {"type": "boolean", "default": False},
                "description": "whether the caller drives the faults: when the last such connection is gone, however that came "
                "about, the proxy does what --on-disconnect of staleproof proxy says",
            },
        ),
        answer={
            "description": "The entries, one JSON object a line (staleproof schema history)",
            "headers": {"X-Staleproof-First": {"description": "the number of the first line's entry", "schema": _NATURAL}},
            "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
        },
    ),
    Route(
        method="get",
        path="/v1/openapi.json",
        summary="This document",
        answer={"description": "OpenAPI 3.1", "content": {"application/json": {"schema": {"type": "object"}}}},
        problems=_WRONG_TOKEN,
    ),
    Route(method="get", path="/v1/healthz", summary="Open streams and how much they hold", answer=control.Health),
    Route(
        method="put",
        path="/v1/plan",
        summary="Replace all faults; what the old ones held leaves first",
        more="A fault opens when the step that its window begins with does (POST /v1/step), step 1 unless it says otherwise.",
        body=control.InstallPlan,
        answer=control.Done,
        examples={
            "none": {},
            "hold": {"faults": [_HOLD], "namespace": "default"},
            "hostile": {"faults": [{"fault": "DropFrame", "resource": "pods"}], "contract": "hostile"},
        },
    ),
    Route(
        method="post",
        path="/v1/step",
        summary="A step of the workload is about to be done: faults open and close by its number",
        body=control.Step,
        answer=control.Done,
        examples={"first": {"step": 1}},
    ),
    Route(method="get", path="/v1/faults", summary="Every fault: its phase, whether it fired, why not", answer=control.Faults),
    Route(
        method="post",
        path="/v1/faults",
        summary="Add a fault that is open from now on",
        more="Steps do not open it; it closes when it is deleted, released, or its window's seconds are over.",
        body=control.AddFault,
        answer=control.Added,
        examples={
            "hold": {"fault": _HOLD},
            "relist": {"fault": _HOLD | {"release": "relist"}},
            "reject": {"fault": {"fault": "Reject", "resource": "configmaps", "verb": "create"}},
            "for two seconds": {"fault": {"fault": "Delay", "resource": "pods", "bySeconds": 0.5, "window": {"seconds": 2}}},
        },
    ),
    Route(
        method="delete",
        path="/v1/faults/{fault}",
        summary="Close a fault for good; what it held leaves",
        parameters=({"name": "fault", "in": "path", "required": True, "schema": _NATURAL},),
        answer=control.Done,
        problems=_SENSELESS | _WRONG_TOKEN | {"404": "There is no such fault; nothing was changed"},
    ),
    Route(
        method="post",
        path="/v1/release",
        summary="Close every fault, or let what is held up to a revision leave",
        body=control.Release,
        answer=control.Done,
        examples={"everything": {}, "up to a revision": {"resource": "pods", "revision": 1234}},
    ),
    Route(
        method="post",
        path="/v1/sever",
        summary="End the streams of a resource now",
        more="`expired` ends them with 410: clients list again. `clean`: they watch again from where they are.",
        body=control.SeverStreams,
        answer=control.Severed,
        examples={"relist": {"resource": "pods"}, "reset": {"resource": "pods", "how": "reset"}},
    ),
)


def openapi() -> dict[str, Any]:
    """The OpenAPI 3.1 document of the control API."""
    models = [control.Problem, *(model for route in ROUTES for model in (route.body, route.answer) if isinstance(model, type))]
    schemas, components = msgspec.json.schema_components(models, ref_template="#/components/schemas/{name}")
    by_model = dict(zip(models, schemas, strict=True))
    paths: dict[str, Any] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method] = _operation(route, by_model)
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "staleproof proxy control API",
            "version": "v1",
            "description": "Drives the faults of one proxy. A call has taken effect when it is answered.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "the control token that the proxy was started with"}
            },
        },
    }
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(document))  # defaults that are tuples become arrays
    return plain


def _operation(route: Route, schemas: dict[type, dict[str, Any]]) -> dict[str, Any]:
    verb, _, noun = route.name.partition("_")
    done = _json("Done", schemas[route.answer]) if isinstance(route.answer, type) else route.answer
    operation: dict[str, Any] = {
        "summary": route.summary,
        "operationId": f"{verb}{noun.title()}",
        "responses": {"200": done} | {code: _json(text, _PROBLEM) for code, text in route.problems.items()},
    }
    if route.more:
        operation["description"] = route.more
    if route.body is not None:
        examples = {name: {"value": value} for name, value in route.examples.items()}
        content = {"application/json": {"schema": schemas[route.body], "examples": examples}}
        operation["requestBody"] = {"required": True, "content": content}
    if route.parameters:
        operation["parameters"] = list(route.parameters)
    return operation


def _json(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}
