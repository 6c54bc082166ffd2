"""What the API server says of moves, and of taking them back, decides what plans do."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import yaml
from staleproof.fixtures.controllers.remaking.waiting import LETTING_GO_SECONDS  # noqa: TID251

from staleproof.assess.learn.accepted_moves import moves_in_words
from staleproof.assess.learn.observe import observe
from staleproof.assess.trial.session import Session
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Patch
from staleproof.draw.canonical import life, round_trip
from staleproof.draw.drawn import drawn
from staleproof.draw.mutations.allowed import Mutations
from staleproof.draw.own_writes import hide_updates
from staleproof.draw.profile import STANDARD
from staleproof.draw.strategies import plans

from .environments import CRDS, MANIFESTS, fixture, session_in

GROWS = "self >= oldSelf"
AMOUNT_GROWS = "quantity(self).compareTo(quantity(oldSelf)) >= 0"
SET_ONCE = "!has(oldSelf.audited) || (has(self.audited) && self.audited == oldSelf.audited)"
SAMPLE: Manifest = yaml.safe_load((MANIFESTS / "widget-settings-sample.yaml").read_text())


def _ruled() -> Manifest:
    """Widgets whose limit and storage may only grow, and that stay audited, or not, once they say so."""
    crd = copy.deepcopy(CRDS[0])
    spec: dict[str, Any] = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["x-kubernetes-validations"] = [{"rule": SET_ONCE, "message": "audited is set once"}]
    settings = spec["properties"]["settings"]["properties"]
    settings["limit"]["x-kubernetes-validations"] = [{"rule": GROWS, "message": "the limit may only grow"}]
    rule = {"rule": AMOUNT_GROWS, "message": "storage may only grow"}
    settings["storage"] = {"type": "string", "maxLength": 20, "x-kubernetes-validations": [rule]}
    return crd


@dataclass(frozen=True)
class Observation:
    """What was observed in a session, and the session."""

    session: Session
    observed: Observed


@pytest.fixture(scope="module", params=["all", "nothing but what cannot be taken back"])
def ruled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Observation]:
    sample = copy.deepcopy(SAMPLE)
    sample["spec"]["settings"] = {"level": "info", "limit": 1, "storage": "10Gi"}
    del sample["spec"]["audited"]
    mutations = Mutations() if request.param == "all" else Mutations(only=("spec.settings.limit", "spec.audited"))
    with session_in(tmp_path_factory, manifests=(_ruled(),), mutations=mutations) as session:
        session.use(fixture("correct", "deterministic_names"))
        yield Observation(session, observe(session, sample))


@pytest.mark.live
def test_what_may_only_grow_and_what_is_set_once_is_not_taken_back(ruled: Observation) -> None:
    """The fields are passed on to ConfigMaps all the same, and the reasons are given."""
    observed = ruled.observed
    kept = {(move.path, move.kind) for move in observed.live if not move.returns}
    back = {(move.path, move.kind) for move in observed.returning}

    assert {("spec.settings.limit", "up"), ("spec.audited", "toggle")} <= kept
    assert not {("spec.settings.limit", "up"), ("spec.settings.storage", "quantity"), ("spec.audited", "toggle")} & back
    assert ("spec.content", "string") in back or ruled.session.options.mutations.only
    assert any(why.endswith("the limit may only grow") for why in observed.for_good)
    assert any(why.endswith("audited is set once") for why in observed.for_good)
    assert f"{len(observed.for_good)} cannot be taken back, as " in moves_in_words(observed)


@pytest.fixture(scope="module")
def growing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Observation]:
    """Widgets that are never made smaller."""
    crd = copy.deepcopy(CRDS[0])
    spec: dict[str, Any] = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["replicas"]["x-kubernetes-validations"] = [{"rule": GROWS, "message": "there may only be more"}]
    with session_in(tmp_path_factory, manifests=(crd,)) as session:
        session.use(fixture("correct", "deterministic_names"))
        yield Observation(session, observe(session, SAMPLE))


@pytest.mark.live
def test_what_cannot_be_scaled_down_again_is_not_scaled(growing: Observation) -> None:
    """More is a change as any other, which cannot be taken back; the reason is given, and whatever is planned can be run."""
    observed = growing.observed
    assert not observed.scale_path
    assert observed.refused[-1].endswith("there may only be more")
    assert "spec.replicas is not scaled to 2" in moves_in_words(observed)
    grows = [move.returns for move in observed.live if (move.path, move.kind) == ("spec.replicas", "up")]
    assert grows in ([], [False])
    for plan in (Plan(scenario="moves", steps=life(observed).steps), *drawn(plans(observed), by="7", examples=3)):
        history = growing.session.watch(Plan(scenario="moves", steps=plan.steps, settle=observed.settle(resync=False)))
        assert history.complete


@pytest.mark.live
def test_whatever_is_planned_with_it_can_be_run(ruled: Observation) -> None:
    """The API server refuses none of the steps: that would be a UsageError."""
    observed = ruled.observed
    every = [*drawn(plans(observed), by="7", examples=8), *hide_updates(observed, STANDARD)]
    changed = [plan.steps for plan in every if any(isinstance(step, Patch) for step in plan.steps)]
    for steps in (round_trip(observed).steps, *sorted(changed, key=len, reverse=True)[:3]):
        history = ruled.session.watch(Plan(scenario="moves", steps=steps, settle=observed.settle(resync=False)))
        assert history.complete


@pytest.mark.live
def test_a_child_that_is_made_again_a_while_later_is_made_anew(tmp_path_factory: pytest.TempPathFactory) -> None:
    """It is neither taken away nor left away, and the map says after how long it comes."""
    sample: Manifest = yaml.safe_load((MANIFESTS / "widget-content-sample.yaml").read_text())
    with session_in(tmp_path_factory, manifests=CRDS, maps=True) as session:
        session.use(fixture("remaking", "waiting"))
        observed = observe(session, sample)
    edges = [edge for edge in observed.edges if edge.takes_away]
    assert {edge.move.path for edge in edges} == {"spec.content"}
    assert all((edge.goes, edge.comes, edge.leaves, edge.remakes) == ((), (), (), ("configmaps",)) for edge in edges)
    assert observed.moved_pause_seconds >= 0.9 * LETTING_GO_SECONDS
