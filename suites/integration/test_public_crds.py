"""CustomResourceDefinitions of well-known operators, read from the Go modules that publish them: samples of their schemas are
accepted by the real API server, and moves are found for each.

A command of its own runs it (ci/crds), because it takes minutes. STALEPROOF_DRAWN is how many samples are drawn of each kind.
"""

import asyncio
import json
import os
import subprocess
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, Phase, given, settings
from rich.console import Console
from rich.table import Table

from staleproof.core.plan import Manifest
from staleproof.draw.sample_moves import find_moves
from staleproof.draw.samples import filled, minimal, samples
from staleproof.draw.schema import Schema, of_crd
from staleproof.drive.cluster.api import Api, ApiError, connect
from staleproof.drive.cluster.control_plane import RUNNER, ControlPlaneOptions, Silent, control_plane
from staleproof.drive.cluster.manifests import read

pytestmark = pytest.mark.crds

MODULES = Path(__file__).parents[2] / "fixtures" / "crds"
FOLDERS = {
    "github.com/argoproj/argo-rollouts": "manifests/crds",
    "github.com/cert-manager/cert-manager": "deploy/crds",
    "github.com/cloudnative-pg/cloudnative-pg": "config/crd/bases",
    "github.com/crossplane/crossplane/v2": "cluster/crds",
    "github.com/external-secrets/external-secrets": "config/crds/bases",
    "github.com/fluxcd/kustomize-controller": "config/crd/bases",
    "github.com/fluxcd/source-controller": "config/crd/bases",
    "github.com/kedacore/keda/v2": "config/crd/bases",
    "github.com/kubernetes-csi/external-snapshotter/client/v8": "config/crd",
    "github.com/prometheus-operator/prometheus-operator": "example/prometheus-operator-crd",
    "github.com/vmware-tanzu/velero": "config/crd/v1/bases",
    "istio.io/api": "kubernetes",
    "knative.dev/serving": "config/core/300-resources",
    "sigs.k8s.io/cluster-api": "core/config/crd/bases",
    "sigs.k8s.io/gateway-api": "config/crd/standard",
    "sigs.k8s.io/karpenter": "pkg/apis/crds",
    "sigs.k8s.io/kueue": "config/components/crd/bases",
}
DRAWN = int(os.environ.get("STALEPROOF_DRAWN", "10"))
MOST_MOVES = 30
LEAST_KINDS, LEAST_ACCEPTED = 30, 0.95
LIMIT_SECONDS = 180.0
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
APPROVED = {"api-approved.kubernetes.io": "unapproved, for tests"}


@dataclass
class Found:
    """What came of one kind."""

    kind: str
    drawn: int = 0
    refusals: list[str] = field(default_factory=list)
    moves: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)


def published(go: Path) -> list[Manifest]:
    """The modules' CustomResourceDefinitions; conversion is left out, for nobody serves the webhooks."""
    command = [str(go), "mod", "download", "-json"]
    done = subprocess.run(command, cwd=MODULES, capture_output=True, text=True, check=True, timeout=600)
    texts, folders, decoder = done.stdout, [], json.JSONDecoder()
    while texts := texts.strip():
        module, end = decoder.raw_decode(texts)
        folders.append(Path(module["Dir"]) / FOLDERS[module["Path"]])
        texts = texts[end:]
    found = []
    every = [each for each in read(folders, "fixtures/crds/go.mod") if each["kind"] == "CustomResourceDefinition"]
    for crd in every:
        spec = {key: value for key, value in crd["spec"].items() if key != "conversion"}
        found.append(crd | {"metadata": {"name": crd["metadata"]["name"], "annotations": APPROVED}, "spec": spec})
    return list({crd["metadata"]["name"]: crd for crd in found}.values())


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def crowd(go: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Api, Sequence[Manifest]]]:
    """An API server that knows them all."""
    crds = published(go)
    async with control_plane(ControlPlaneOptions(), tmp_path_factory.mktemp("crds"), Silent()) as plane:
        access = plane.access(RUNNER)
        async with connect(plane.server, access.tls(), access.headers) as api:
            for crd in crds:
                await api.call("POST", CRDS, crd)
            async with asyncio.timeout(LIMIT_SECONDS):
                await established(api, {crd["metadata"]["name"] for crd in crds})
            yield api, crds


async def established(api: Api, names: set[str]) -> None:
    """Return once all of them are served."""
    missing = set(names)
    async with api.watch(CRDS) as stream:
        async for line in stream:
            crd = json.loads(line)["object"]
            conditions = (crd.get("status") or {}).get("conditions") or ()
            if any((each["type"], each["status"]) == ("Established", "True") for each in conditions):
                missing.discard(crd["metadata"]["name"])
            if not missing:
                return


def drawn(schema: Schema, api_version: str, kind: str) -> list[Manifest]:
    """The least, the most, and some between."""
    found = [minimal(schema, api_version, kind), filled(schema, api_version, kind)]

    @settings(max_examples=DRAWN, derandomize=True, database=None, phases=[Phase.generate], deadline=None,
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(samples(schema, api_version, kind))
    def draw(sample: Manifest) -> None:
        found.append(sample)

    draw()
    return found


async def tried(api: Api, crd: Manifest) -> Found:
    spec = crd["spec"]
    version = next(each["name"] for each in spec["versions"] if each["storage"])
    api_version, kind = f"{spec['group']}/{version}", spec["names"]["kind"]
    schema = of_crd(crd, api_version)
    assert schema is not None
    found = Found(f"{kind}.{spec['group']}")
    namespace = "/namespaces/default" if spec["scope"] == "Namespaced" else ""
    path = f"/apis/{api_version}{namespace}/{spec['names']['plural']}"
    fit: list[Manifest] = []
    for sample in drawn(schema, api_version, kind):
        found.drawn += 1
        if why := await refusal(api, "POST", path, sample, fieldValidation="Strict"):
            found.refusals.append(why)
        else:
            fit.append(sample)
    if fit:
        await try_moves(api, path, max(fit, key=lambda sample: len(str(sample))), schema, found)
    return found


async def try_moves(api: Api, path: str, sample: Manifest, schema: Schema, found: Found) -> None:
    await api.call("POST", path, sample)
    moves = find_moves(sample, schema)
    found.moves.update(move.kind for move in moves)
    named, content_type = f"{path}/{sample['metadata']['name']}", "application/merge-patch+json"
    asked = (refusal(api, "PATCH", named, move.do, content_type=content_type) for move in moves[:MOST_MOVES])
    answers = await asyncio.gather(*asked)
    found.accepted.update(move.kind for move, answer in zip(moves, answers, strict=False) if not answer)


async def refusal(api: Api, method: str, path: str, body: object, **query: Any) -> str:  # noqa: ANN401  # of Api.call
    try:
        await api.call(method, path, body, dryRun="All", **query)
    except ApiError as err:
        return err.message
    return ""


async def test_what_is_drawn_is_accepted(crowd: tuple[Api, Sequence[Manifest]], capsys: pytest.CaptureFixture[str]) -> None:
    api, crds = crowd
    every = [await tried(api, crd) for crd in crds]
    count = sum(each.drawn for each in every)
    accepted = count - sum(len(each.refusals) for each in every)
    with capsys.disabled():
        tell(every, f"{accepted} of {count} drawn objects of {len(every)} kinds accepted")

    assert len(every) >= LEAST_KINDS
    assert accepted >= LEAST_ACCEPTED * count, [f"{each.kind}: {each.refusals[0]}" for each in every if each.refusals]
    assert all(each.moves for each in every if len(each.refusals) < each.drawn)


def tell(every: Sequence[Found], title: str) -> None:
    table = Table(title=title, title_justify="left")
    for heading in ("kind", "drawn", "accepted", "moves", f"of the first {MOST_MOVES} accepted", "moves by kind"):
        table.add_column(heading)
    for each in every:
        kinds = ", ".join(f"{kind} {count}" for kind, count in each.moves.most_common())
        accepted = f"{each.accepted.total()} of {min(MOST_MOVES, each.moves.total())}"
        table.add_row(each.kind, str(each.drawn), str(each.drawn - len(each.refusals)), str(each.moves.total()), accepted, kinds)
    console = Console(width=200)
    console.print()
    console.print(table)
    for each in every:
        for why in sorted(set(each.refusals))[:2]:
            console.print(f"{each.kind}: {why[:300]}", markup=False, highlight=False)
