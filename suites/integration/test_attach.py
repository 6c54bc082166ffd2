"""One control plane for many runs: each has it for itself, and finds nothing of the one before."""

import asyncio
import os
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import yaml

from staleproof.drive.cluster.api import Api
from staleproof.drive.cluster.control_plane import ControlPlane, ControlPlaneOptions, Silent, control_plane

from .conftest import LIMIT_SECONDS, MANIFESTS
from .shared_plane import VARIABLE
from .stage import direct_api, served

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
SERVICES = "/api/v1/namespaces/default/services"
REJECTS_ALL: dict[str, Any] = {
    "metadata": {"name": "rejects-all"},
    "webhooks": [
        {
            "name": "rejects.example.com",
            "clientConfig": {"url": "https://127.0.0.1:9/"},
            "rules": [{"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"]}],
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
        }
    ],
}


@asynccontextmanager
async def a_run(folder: Path) -> AsyncIterator[tuple[ControlPlane, Api]]:
    async with control_plane(ControlPlaneOptions(), folder, Silent()) as plane, direct_api(plane) as api:
        yield plane, api


async def names(api: Api, path: str) -> set[str]:
    return {item["metadata"]["name"] for item in (await api.call("GET", path))["items"]}


async def test_nothing_of_a_run_is_there_in_the_next(tmp_path: Path) -> None:
    definition = yaml.safe_load((MANIFESTS / "widget-crd.yaml").read_text())
    widget = yaml.safe_load((MANIFESTS / "widget-sample.yaml").read_text())
    widget["metadata"] |= {"namespace": "mine", "finalizers": ["example.com/held"]}
    widgets = "/apis/{apiVersion}/namespaces/mine/widgets".format(**widget)
    async with a_run(tmp_path / "one") as (plane, api):
        assert plane.provider == "attach"
        found = [await names(api, path) for path in (DEFINITIONS, WEBHOOKS, ROLES, "/api/v1/namespaces")]
        await api.call("POST", DEFINITIONS, definition)
        await api.call("POST", "/api/v1/namespaces", {"metadata": {"name": "mine"}})
        await api.call(
            "POST", "/api/v1/namespaces/mine/configmaps", {"metadata": {"name": "held", "finalizers": ["example.com/x"]}}
        )
        await api.call("POST", ROLES, {"metadata": {"name": "mine"}, "rules": []})
        await served(api, widgets)
        await api.call("POST", widgets, widget)
        await api.call("POST", WEBHOOKS, REJECTS_ALL)
    async with a_run(tmp_path / "two") as (again, api):
        assert again.server == plane.server
        assert [await names(api, path) for path in (DEFINITIONS, WEBHOOKS, ROLES, "/api/v1/namespaces")] == found


async def test_a_run_that_finds_it_in_use_starts_one_of_its_own(tmp_path: Path) -> None:
    async with a_run(tmp_path / "one") as (first, _), a_run(tmp_path / "two") as (second, _):
        assert first.provider == "attach"
        assert second.provider != "attach"
        assert first.server != second.server


async def test_under_rbac_a_run_starts_one_of_its_own(tmp_path: Path) -> None:
    options = ControlPlaneOptions(service_account="operators/manager")
    async with control_plane(options, tmp_path / "run", Silent()) as plane:
        assert plane.provider != "attach"


def test_no_other_user_can_read_how_it_is_reached() -> None:
    assert stat.S_IMODE(Path(os.environ[VARIABLE]).stat().st_mode) == 0o600


async def test_what_the_api_server_makes_by_itself_is_not_taken_for_a_runs(tmp_path: Path) -> None:
    """As if its Service came late: a run begins without it, and it is made again before the run ends."""
    async with a_run(tmp_path / "one") as (plane, api):
        await api.call("DELETE", f"{SERVICES}/kubernetes")
    async with a_run(tmp_path / "two") as (again, api):
        assert again.server == plane.server
        async with asyncio.timeout(LIMIT_SECONDS):
            while "kubernetes" not in await names(api, SERVICES):  # the API server looks every ten seconds
                await asyncio.sleep(0.1)
    async with a_run(tmp_path / "three") as (once_more, api):
        assert once_more.server == plane.server
        assert "kubernetes" in await names(api, SERVICES)
