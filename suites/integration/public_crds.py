"""CustomResourceDefinitions that public operators publish, and what a real API server says of samples and moves drawn for them.

They are read where the go command puts the modules of fixtures/crds/go.mod. Of each module those kinds are taken that say most: the
three with the largest schemas.
"""

import asyncio
import json
import re
import subprocess
from collections import Counter
from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings

from staleproof.core.plan.manifest import Manifest
from staleproof.draw.mutations.sample_moves import find_moves
from staleproof.draw.mutations.schema import Schema, of_crd
from staleproof.draw.mutations.trials import spread
from staleproof.drive.cluster.api import Api, ApiError
from staleproof.drive.cluster.manifests import read

from .samples import filled, minimal, samples

MODULES = Path(__file__).parents[2] / "fixtures" / "crds"
FOLDERS = {
    "github.com/argoproj/argo-rollouts": "manifests/crds",
    "github.com/cert-manager/cert-manager": "deploy/crds",
    "github.com/cloudnative-pg/cloudnative-pg": "config/crd/bases",
    "github.com/crossplane/crossplane/v2": "cluster/crds",
    "github.com/elastic/cloud-on-k8s/v3": "config/crds/v1/resources",
    "github.com/external-secrets/external-secrets": "config/crds/bases",
    "github.com/fluxcd/kustomize-controller": "config/crd/bases",
    "github.com/fluxcd/source-controller": "config/crd/bases",
    "github.com/kedacore/keda/v2": "config/crd/bases",
    "github.com/kubernetes-csi/external-snapshotter/client/v8": "config/crd",
    "github.com/prometheus-operator/prometheus-operator": "example/prometheus-operator-crd",
    "github.com/vmware-tanzu/velero": "config/crd/v1/bases",
    "go.universe.tf/metallb": "config/crd/bases",
    "istio.io/api": "kubernetes",
    "knative.dev/serving": "config/core/300-resources",
    "sigs.k8s.io/cluster-api": "core/config/crd/bases",
    "sigs.k8s.io/gateway-api": "config/crd/standard",
    "sigs.k8s.io/karpenter": "pkg/apis/crds",
    "sigs.k8s.io/kueue": "config/components/crd/bases",
}
"""Where each module keeps them."""
MOST_KINDS, MOST_MOVES = 3, 30
"""Of each module; of each kind."""
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_APPROVED = {"api-approved.kubernetes.io": "unapproved, for tests"}
_DOWNLOAD_SECONDS = 600
_INVALID = re.compile(r'.*? "sample" is invalid: ')


@dataclass(frozen=True, slots=True)
class Kind:
    """The stored version of a kind that a module publishes."""

    module: str
    crd: Manifest
    api_version: str
    schema: Schema
    path: str

    @property
    def kind(self) -> str:
        return str(self.crd["spec"]["names"]["kind"])

    def __str__(self) -> str:
        return f"{self.kind}.{self.crd['spec']['group']}"


@dataclass
class Answers:
    """What the API server said of one kind: how many objects it was asked about, which moves there are and how many of them it was
    asked about, and why it refused what it refused."""

    kind: str
    drawn: int = 0
    tried_moves: int = 0
    moves: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    refused_moves: Counter[str] = field(default_factory=Counter)

    @property
    def accepted(self) -> int:
        return self.drawn - self.refused.total()

    @property
    def accepted_moves(self) -> int:
        return self.tried_moves - self.refused_moves.total()


def published(go: Path) -> list[Kind]:
    """The modules' kinds, in order of their names."""
    command = [str(go), "mod", "download", "-json"]
    done = subprocess.run(command, cwd=MODULES, capture_output=True, text=True, check=True, timeout=_DOWNLOAD_SECONDS)
    found = [kind for module in _documents(done.stdout) for kind in _largest(module["Path"], Path(module["Dir"]))]
    return sorted({str(kind): kind for kind in found}.values(), key=str)


def _documents(texts: str) -> Iterator[dict[str, str]]:
    decoder = json.JSONDecoder()
    while texts := texts.strip():
        module, end = decoder.raw_decode(texts)
        yield module
        texts = texts[end:]


def _largest(module: str, folder: Path) -> list[Kind]:
    every = read([folder / FOLDERS[module]], "fixtures/crds/go.mod")
    kinds = [_kind(module, each) for each in every if each["kind"] == "CustomResourceDefinition"]
    return sorted(kinds, key=lambda kind: (-len(json.dumps(kind.schema.raw)), str(kind)))[:MOST_KINDS]


def _kind(module: str, published: Manifest) -> Kind:
    """Conversion is left out, for nothing serves the webhooks."""
    spec = {key: value for key, value in published["spec"].items() if key != "conversion"}
    crd = published | {"metadata": {"name": published["metadata"]["name"], "annotations": _APPROVED}, "spec": spec}
    api_version = f"{spec['group']}/{next(each['name'] for each in spec['versions'] if each['storage'])}"
    schema = of_crd(crd, api_version)
    assert schema is not None, f"{crd['metadata']['name']} has no schema"
    namespace = "/namespaces/default" if spec["scope"] == "Namespaced" else ""
    return Kind(module, crd, api_version, schema, f"/apis/{api_version}{namespace}/{spec['names']['plural']}")


async def serve(api: Api, kinds: Sequence[Kind]) -> None:
    """Return once the API server serves all of them."""
    for kind in kinds:
        await api.call("POST", CRDS, kind.crd)
    missing = {kind.crd["metadata"]["name"] for kind in kinds}
    async with api.watch(CRDS) as stream:
        async for line in stream:
            crd = json.loads(line)["object"]
            conditions = (crd.get("status") or {}).get("conditions") or ()
            if any((each["type"], each["status"]) == ("Established", "True") for each in conditions):
                missing.discard(crd["metadata"]["name"])
            if not missing:
                return


async def ask(api: Api, kind: Kind, count: int) -> Answers:
    """Draw so many samples besides the least and the most, and the moves of the largest one that is accepted; ask about all."""
    drawn = _drawn(kind, count)
    found = Answers(str(kind), drawn=len(drawn))
    answers = [await _refusal(api.call("POST", kind.path, each, dryRun="All", fieldValidation="Strict")) for each in drawn]
    found.refused.update(filter(None, answers))
    fit = [each for each, answer in zip(drawn, answers, strict=True) if not answer]
    if fit:
        await _ask_moves(api, kind, max(fit, key=lambda each: len(str(each))), found)
    return found


def _drawn(kind: Kind, count: int) -> list[Manifest]:
    found = [minimal(kind.schema, kind.api_version, kind.kind), filled(kind.schema, kind.api_version, kind.kind)]

    @settings(max_examples=count, derandomize=True, database=None, phases=[Phase.generate], deadline=None,
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(samples(kind.schema, kind.api_version, kind.kind))
    def draw(sample: Manifest) -> None:
        found.append(sample)

    draw()
    return found


async def _ask_moves(api: Api, kind: Kind, sample: Manifest, found: Answers) -> None:
    """About as many of each kind of move as a run would."""
    await api.call("POST", kind.path, sample)
    moves = find_moves(sample, kind.schema)
    found.moves.update(move.kind for move in moves)
    named, merge = f"{kind.path}/{sample['metadata']['name']}", "application/merge-patch+json"
    calls = [
        api.call("PATCH", named, move.do, content_type=merge, dryRun="All", fieldValidation="Strict")
        for move in spread(moves, MOST_MOVES)
    ]
    found.tried_moves = len(calls)
    found.refused_moves.update(filter(None, await asyncio.gather(*map(_refusal, calls))))


async def _refusal(call: Awaitable[object]) -> str:
    """Why; empty when the API server accepted it."""
    try:
        await call
    except ApiError as err:
        return _INVALID.sub("", err.message)
    return ""
