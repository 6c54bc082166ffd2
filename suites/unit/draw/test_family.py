"""Families: what follows from a draft, and what a plan is called after."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from staleproof.core.fault import AnyFault, Coalesce, Expire, Hang, HideOwnWrite, HoldStream, Kill, Refuse, Reject, SeverStream
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.plan import Settle
from staleproof.core.plan.step import Resync, Step, Touch
from staleproof.draw.canonical import glance, life, patient
from staleproof.draw.family import Draft, Scenario
from staleproof.draw.profile import STANDARD, Profile

from .seen import PODS, TARGET, WIDGETS, widgets

SETTLE = Settle(limit_seconds=99.0)


def test_a_family_is_called_after_its_function_and_its_scenario() -> None:
    scenario = Scenario("sharks")

    @scenario.family
    def big_teeth(observed: Observed, profile: Profile) -> Iterator[Draft]:
        """Each as often as the profile holds."""
        for seconds in profile.holds:
            yield Draft(f"{observed.resource} for {seconds:g} s", aims=("settles",))

    assert (str(big_teeth), big_teeth.scenario, scenario.families) == ("sharks/big-teeth", "sharks", [big_teeth])
    plans = list(big_teeth(widgets(), STANDARD))
    assert plans == list(big_teeth.plans(widgets(), STANDARD))
    assert [(plan.scenario, plan.title, plan.aims) for plan in plans][1:] == [
        ("sharks", f"{WIDGETS} for 6 s", ("settles",)),
        ("sharks", f"{WIDGETS} for 12 s", ("settles",)),
    ]


def test_what_a_draft_leaves_out_follows_from_the_scenario_and_from_what_was_observed() -> None:
    of = replace(widgets(), manifests=({"kind": "CustomResourceDefinition"},))
    draft = Draft("as it is")
    usual, long = Scenario("a").plan(draft, of), Scenario("a", settle=patient).plan(draft, of)

    assert (usual.steps, usual.faults, usual.manifests) == (life(of).steps, (), of.manifests)
    assert (usual.settle, long.settle) == (of.settle(), patient(of))
    complete = Scenario("a", settle=patient).plan(replace(draft, steps=glance(of), settle=SETTLE), of)
    assert (complete.steps, complete.settle) == (glance(of), SETTLE)


@pytest.mark.parametrize(
    ("fault", "steps", "fresh"),
    [
        (Expire(resource="*"), (), True),
        (Coalesce(resource="*"), (), True),
        (HoldStream(resource=PODS, release="relist"), (), True),
        (HideOwnWrite(resource=PODS, release="relist"), (), True),
        (Refuse(), (), True),
        (Hang(resource="*"), (), True),
        (HoldStream(resource=PODS), (Resync(resource=WIDGETS),), True),
        (HoldStream(resource=PODS), (Touch(target=TARGET),), False),
        (HoldStream(resource=PODS, release="resume"), (), False),
        (SeverStream(resource=PODS), (), False),
        (Reject(resource=PODS), (), False),
        (Kill(resource=PODS), (), False),
    ],
)
def test_a_client_that_is_turned_away_is_started_anew_unless_it_lists_again_at_once(
    fault: AnyFault, steps: tuple[Step, ...], *, fresh: bool
) -> None:
    draft, slow = Draft("x", [fault], steps), replace(widgets(), relists_at_once=False)

    assert Scenario("a").plan(draft, slow).fresh is fresh
    assert Scenario("a").plan(replace(draft, fresh=True), slow).fresh
    assert not Scenario("a").plan(draft, widgets()).fresh
