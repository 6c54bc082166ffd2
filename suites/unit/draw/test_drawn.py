"""Drawn plans: the same seed gives the same, in any process; no seed gives others, also in CI; what failed comes first."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from staleproof.core.fault import AnyFault, HoldStream, Kill, Window
from staleproof.core.plan.coverage import occasions
from staleproof.core.plan.fingerprint import fingerprint
from staleproof.core.plan.manifest import Target
from staleproof.core.plan.plan import Plan, Subject
from staleproof.core.plan.step import Apply, Patch, Rest, Touch
from staleproof.core.times import LONG_SECONDS
from staleproof.draw.drawn import Covered, Failing, drawn, first, is_about, rests_in_vain
from staleproof.draw.profile import PROFILES, Profile
from staleproof.draw.strategies import DRAWN, plans

from .seen import sample, widgets

SEVEN = Profile("x", holds=(1.0,), examples=7, seed="7")
CONTROLLER, OTHER = Subject(command=("./bin/manager",)), Subject(command=("./bin/other",))
IN_ANOTHER_PROCESS = """
import json.tool, tomllib, staleproof.drive.trial.run
from staleproof.core.operator.observed import ChildKind, Observed
from staleproof.core.plan.fingerprint import fingerprint
from staleproof.draw.drawn import drawn
from staleproof.draw.strategies import plans
from staleproof.draw.profile import new_seed
import sys
sample = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"replicas": 3}}
seen = Observed(sample, "widgets.example.com", ("spec", "replicas"), (ChildKind("pods", 4, 3, stable_names=False),))
print(*map(fingerprint, drawn(plans(seen), by=sys.argv[1] if sys.argv[1:] else new_seed(), examples=7)))
"""


def in_another_process(*seed: str) -> str:
    """The fingerprints of what is drawn there, as on a CI system."""
    environ = os.environ | {"CI": "1"}
    return subprocess.run(
        [sys.executable, "-c", IN_ANOTHER_PROCESS, *seed], env=environ, check=True, capture_output=True, text=True
    ).stdout


def names(plans: list[Plan]) -> list[str]:
    return [fingerprint(plan) for plan in plans]


def test_a_seed_gives_the_same_plans_and_another_gives_others() -> None:
    found = [names(drawn(plans(widgets()), by=seed, examples=20)) for seed in ("7", "7", "8")]
    assert found[0] == found[1] != found[2]
    assert len(set(found[0])) == len(found[0]) == 20


@pytest.mark.io
def test_in_ci_runs_with_a_seed_draw_the_same_and_runs_without_draw_others() -> None:
    assert in_another_process("7") == in_another_process("7")
    assert in_another_process() != in_another_process()


def test_there_are_no_more_plans_than_there_are() -> None:
    (every,) = drawn(plans(widgets()), by="7", examples=1)
    assert drawn(st.just(every), by="7", examples=10) == [every]
    assert drawn(st.just(every), by="7", examples=0) == []


def test_a_family_draws_as_many_as_the_profile_says() -> None:
    assert len(list(DRAWN(widgets(), SEVEN))) == SEVEN.examples
    assert (str(DRAWN), DRAWN.drawn) == ("drawn/drawn", True)


@pytest.mark.parametrize(
    ("faults", "in_vain"),
    [
        ((HoldStream(resource="pods", window=Window(2)),), False),
        ((HoldStream(resource="pods", window=Window(1, 3)),), True),
        ((HoldStream(resource="pods", window=Window(4)),), True),
        ((Kill(resource="pods", verb="create", window=Window(3)),), True),
        ((Kill(resource="pods", verb="create", window=Window(3)), HoldStream(resource="pods", window=Window(3, 4))), False),
    ],
    ids=["open", "closed", "not yet open", "over at once", "another one is open"],
)
def test_a_plan_that_rests_for_long_while_nothing_is_kept_back_is_not_kept(faults: tuple[AnyFault, ...], *, in_vain: bool) -> None:
    def rests(seconds: float) -> Plan:
        touch = Touch(target=widgets().target)
        return Plan(scenario="drawn", steps=(Apply(object=sample(1)), touch, Rest(seconds=seconds), touch), faults=faults)

    assert rests_in_vain(rests(LONG_SECONDS)) is in_vain
    assert not rests_in_vain(rests(1.0))


def test_the_few_that_smoke_draws_are_as_many_as_it_says_and_others_with_each_seed() -> None:
    kept = [names(list(DRAWN(widgets(), dataclasses.replace(PROFILES["smoke"], seed=seed)))) for seed in ("3", "7", "11")]
    assert [len(each) for each in kept] == [3, 3, 3]
    assert len({str(each) for each in kept}) == 3


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_profiles_are_hypothesis_profiles_too(profile: Profile) -> None:
    found = settings.get_profile(f"staleproof-{profile.name}")
    assert (found.max_examples, found.deadline, found.derandomize) == (profile.examples, None, False)
    assert HealthCheck.too_slow in found.suppress_health_check


def test_of_what_is_drawn_the_most_varied_is_kept_and_the_same_for_the_same_seed() -> None:
    def tried(plans: list[Plan]) -> int:
        return len({(aim, each.fault) for plan in plans for aim in plan.aims for each in occasions(plan)})

    def kept(seed: str) -> list[Plan]:
        return list(DRAWN(widgets(), dataclasses.replace(SEVEN, seed=seed)))

    assert names(kept("7")) == names(kept("7"))
    assert sum(tried(kept(seed)) for seed in "789") > sum(tried(drawn(plans(widgets()), by=seed, examples=7)) for seed in "789")


def test_plans_share_workloads_because_each_workload_costs_references() -> None:
    kept = list(DRAWN(widgets(), Profile("x", holds=(1.0,), examples=12, seed="7")))
    assert len(kept) == 12
    assert len({str(plan.steps) for plan in kept}) <= 4


def test_what_covers_something_new_comes_first_and_nothing_is_left_out(tmp_path: Path) -> None:
    kept = list(DRAWN(widgets(), SEVEN))
    first_ones = [occasion for plan in kept[:3] for occasion in occasions(plan)]
    Covered(tmp_path, CONTROLLER).note(first_ones)
    again = Covered(tmp_path, CONTROLLER).new_first(kept)
    assert sorted(names(again)) == sorted(names(kept))
    assert not set(names(again[:2])) & set(names(kept[:3]))
    assert Covered(tmp_path, OTHER).new_first(kept) == kept


# --- what failed ---------------------------------------------------------------------------------------------------------------


def test_what_failed_is_known_in_the_next_run_until_it_passes(tmp_path: Path) -> None:
    plan, other, *_ = DRAWN(widgets(), SEVEN)
    ran = replace(plan, controller=CONTROLLER, manifests=(sample(1),))
    Failing(tmp_path, CONTROLLER).note(DRAWN, ran, failed=True)
    Failing(tmp_path, CONTROLLER).note(DRAWN, other, failed=False)

    assert Failing(tmp_path, CONTROLLER).plans(DRAWN) == [plan]
    assert Failing(tmp_path, OTHER).plans(DRAWN) == []
    Failing(tmp_path, CONTROLLER).note(DRAWN, ran, failed=False)
    assert Failing(tmp_path, CONTROLLER).plans(DRAWN) == []


def test_what_holds_a_secret_is_not_kept(tmp_path: Path) -> None:
    plan, *_ = DRAWN(widgets(), SEVEN)
    secret = Patch(target=Target("v1", "Secret", "s"), patch={"stringData": {"a": "b"}})
    Failing(tmp_path, CONTROLLER).note(DRAWN, replace(plan, steps=(*plan.steps, secret)), failed=True)
    assert Failing(tmp_path, CONTROLLER).plans(DRAWN) == []


def test_what_cannot_be_read_any_more_is_forgotten(tmp_path: Path) -> None:
    failing = Failing(tmp_path, CONTROLLER)
    key = failing._key(DRAWN)
    failing._database.save(key, b"{}")
    assert Failing(tmp_path, CONTROLLER).plans(DRAWN) == []
    assert list(failing._database.fetch(key)) == []


def test_what_failed_comes_first_and_nothing_comes_twice() -> None:
    a, b, c, *_ = DRAWN(widgets(), SEVEN)
    assert first([c], [a, b, c]) == [c, a, b]


def test_a_plan_is_about_the_primary_that_it_applies() -> None:
    plan, *_ = DRAWN(widgets(), SEVEN)
    another = replace(plan, steps=(Apply(object=sample(1) | {"kind": "Gadget"}),))
    assert (is_about(plan, widgets()), is_about(another, widgets())) == (True, False)
