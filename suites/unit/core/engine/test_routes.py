"""The OpenAPI document is one, and says what the proxy reads."""

import json

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from staleproof.core.control import read
from staleproof.core.engine.routes import ROUTES, Route, openapi
from staleproof.core.fault.suggest import FAULTS


def test_the_document_is_valid_and_plain_json() -> None:
    document = openapi()
    OpenAPIV31SpecValidator(document).validate()
    assert json.loads(json.dumps(document)) == document


def test_every_call_has_a_name_of_its_own() -> None:
    names = [operation["operationId"] for path in openapi()["paths"].values() for operation in path.values()]
    assert len(set(names)) == len(names) == len(ROUTES)


def test_every_fault_is_in_it() -> None:
    schemas = openapi()["components"]["schemas"]
    names = {name for found in schemas.values() for name in found.get("properties", {}).get("fault", {}).get("enum", [])}
    assert names == set(FAULTS)


@pytest.mark.parametrize("route", [route for route in ROUTES if route.body is not None], ids=lambda route: route.path)
def test_the_examples_can_be_sent(route: Route) -> None:
    assert route.examples
    assert route.body is not None
    for example in route.examples.values():
        assert isinstance(read(json.dumps(example).encode(), route.body), route.body)
