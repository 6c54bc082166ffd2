"""Metrics that are really served, by the fixture controllers' own endpoint."""

import pytest
from staleproof.fixtures.controllers.machinery.exposition import serve  # noqa: TID251
from staleproof.fixtures.controllers.machinery.metrics import Metrics as Served  # noqa: TID251
from staleproof.fixtures.controllers.machinery.object import PODS, WIDGETS  # noqa: TID251

from staleproof.drive.process.address import free_port
from staleproof.drive.subject.metrics import Endpoint


@pytest.fixture
def served() -> Served:
    metrics = Served("widget", lambda: [(WIDGETS, 12)])
    metrics.skipped(PODS)
    return metrics


@pytest.fixture
def source(served: Served) -> Endpoint:
    port = free_port()
    serve(served, port)
    return Endpoint(f"http://127.0.0.1:{port}/metrics")
