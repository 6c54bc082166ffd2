"""Several runs as one: the same totals as of the whole, whatever the order, each trial once; what cannot be one is refused."""

from itertools import permutations
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from staleproof.report.conformance import conformance
from staleproof.report.crosscheck import problems
from staleproof.report.merged import MergeError, merged
from staleproof.report.model import EndedSearch, LeftOut, Report, TrialReport

from . import runs
from .test_conformance import BAD, CORE, EVERYTHING_PASSED, EXTENDED, GOOD, IDLE, PROVISIONAL, UNKNOWN, report, trial

SCENARIOS = ("own-writes", "restart", "streams", "deletion")
TESTS = tuple(f"test_canonical[{scenario}]" for scenario in SCENARIOS)
SAID = (EVERYTHING_PASSED, {CORE[0]: BAD, EXTENDED[0]: IDLE}, {CORE[1]: UNKNOWN, PROVISIONAL[0]: BAD}, {CORE[2]: GOOD})


def trial_of(scenario: str, number: int) -> TrialReport:
    said = SAID[(SCENARIOS.index(scenario) + number) % len(SAID)]
    name = f"{scenario} {number}"
    fields: dict[str, Any] = {
        "plan": f"plan {name}",
        "aims": tuple(said)[:number],
        "faults_planned": number + 1,
        "reproduced": (3, 3),
    }
    return replace(trial(said, name=name, **fields), scenario=scenario)


WHOLE = replace(
    report(*(trial_of(scenario, number) for scenario in SCENARIOS for number in range(5))),
    left_out=tuple(LeftOut(scenario=scenario, title="x", plan=f"late {scenario}", aims=(CORE[3],)) for scenario in SCENARIOS),
    wanted=(CORE[0], CORE[4]),
    refused={"get secrets": 4},
)
"""A run of all scenarios."""


def part(scenario: str, number: int) -> Report:
    """A run of one scenario alone, whose trials have names as every run's."""
    trials = [each for each in WHOLE.trials if each.scenario == scenario]
    return replace(
        WHOLE,
        run_id=f"run {scenario}",
        date=f"2026-01-0{number}T00:00:00+00:00",
        reproduce=f"pytest -k {scenario}/",
        trials=tuple(replace(each, name=f"{n:03d}", folder=f"trials/{n:03d}") for n, each in enumerate(trials, 1)),
        left_out=tuple(each for each in WHOLE.left_out if each.scenario == scenario),
        deselected=tuple(each for each in TESTS if scenario not in each),
        refused={"get secrets": 1},
    )


PARTS = [part(scenario, number) for number, scenario in enumerate(SCENARIOS, 1)]


def totals(of: Report) -> Any:  # noqa: ANN401  # a document
    """All sums and results of a report, and its evidence; not the names of trials."""
    document = msgspec.to_builtins(conformance(of))
    for level in ("core", "extended", "provisional"):
        for test in document["profiles"][0][level]["tests"]:
            test.pop("reason", None)
            test.pop("reproduced", None)
    return document["profiles"], document["plansLeftOut"], {each["history"] for each in document["trials"]}


@pytest.mark.parametrize("parts", [list(each) for each in permutations(PARTS)][::5])
def test_four_parts_have_the_totals_of_the_whole(parts: list[Report]) -> None:
    made, _ = merged(parts)
    assert totals(made) == totals(WHOLE)
    assert list(problems(conformance(made))) == []
    assert (made.deselected, made.wanted, made.refused) == ((), WHOLE.wanted, WHOLE.refused)


def test_a_part_alone_says_which_tests_it_lacks_and_three_say_the_fourth() -> None:
    assert conformance(PARTS[0]).not_submittable_because
    made, _ = merged(PARTS[:3])
    assert made.deselected == ("test_canonical[deletion]",)


def test_the_order_of_the_runs_does_not_matter() -> None:
    assert merged(PARTS)[0] == merged(PARTS[::-1])[0]


def test_a_trial_counts_once_and_has_a_name_of_its_own() -> None:
    made, kept = merged([*PARTS, PARTS[0]])
    assert len(made.trials) == len(WHOLE.trials)
    assert len({each.name for each in made.trials}) == len(made.trials)
    assert {each.folder for each in made.trials} == set(kept)
    first = next(each for each in made.trials if each.evidence == PARTS[1].trials[2].evidence)
    assert (kept[first.folder].run, kept[first.folder].folder) == (1, "trials/003")


def test_each_run_is_reported_with_its_command() -> None:
    made, _ = merged(PARTS)
    assert [(each.run_id, each.reproduce, each.trials) for each in made.shards] == [
        (f"run {scenario}", f"pytest -k {scenario}/", 5) for scenario in SCENARIOS
    ]
    assert made.reproduce == " && ".join(f"pytest -k {scenario}/" for scenario in SCENARIOS)
    document = conformance(made)
    assert document.runs
    assert [each.run_id for each in document.runs] == [f"run {scenario}" for scenario in SCENARIOS]


def test_what_was_merged_can_be_merged_again() -> None:
    made, _ = merged([merged(PARTS[:2])[0], merged(PARTS[2:])[0]])
    assert totals(made) == totals(WHOLE)
    assert [each.run_id for each in made.shards] == [f"run {scenario}" for scenario in SCENARIOS]


def test_a_plan_that_another_run_had_time_for_is_not_left_out() -> None:
    late = LeftOut(scenario="restart", title="y", plan=PARTS[1].trials[0].plan, aims=(CORE[0],))
    made, _ = merged([replace(PARTS[0], left_out=(late,)), replace(PARTS[1], left_out=())])
    assert made.left_out == ()
    twice, _ = merged([replace(each, left_out=WHOLE.left_out[3:]) for each in PARTS[:2]])
    assert twice.left_out == WHOLE.left_out[3:]


def test_what_is_so_of_one_is_so_of_all() -> None:
    search = EndedSearch(scenario="restart", primary="a", plans=3, requirement=CORE[0], found="x", trial="002")
    odd = replace(PARTS[0], partial=True, unlearnt=True, minutes=3.0, learning_seconds=9.0, ended_searches=(search,), seed="8")
    odd = replace(odd, unfinished_seconds=4.0, helping_seconds=1.0)
    made, _ = merged([odd, replace(PARTS[1], minutes=5.0, unfinished_seconds=3.0, helping_seconds=1.5)])
    assert (made.unfinished_seconds, made.helping_seconds) == (7.0, 2.5)
    assert (made.partial, made.unlearnt, made.minutes, made.learning_seconds) == (True, True, 5.0, 9.0)
    assert (made.seed, made.ended_searches[0].trial) == ("8, 7", "s1-002")
    assert merged(PARTS[:2])[0].minutes is None


def test_what_each_says_of_its_surroundings_is_put_together() -> None:
    mine, other = PARTS[0].environment, PARTS[1].environment
    made, _ = merged(
        [
            replace(PARTS[0], environment=mine | {"companions": "namespace, job", "changes": "1", "only here": "a"}),
            replace(PARTS[1], environment=other | {"companions": "namespace, kwok", "changes": "2"}),
        ]
    )
    assert made.environment == mine | {"companions": "namespace, job, kwok", "changes": "1; 2", "only here": "a"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"environment": PARTS[1].environment | {"staleproof": "1.0.1"}},
            "they differ in staleproof: run own-writes has '1.0.0', ",
        ),
        ({"environment": PARTS[1].environment | {"kubernetes": "v1.35.0"}}, "they differ in kubernetes"),
        ({"environment": PARTS[1].environment | {"controller": "other"}}, "they differ in controller"),
        ({"suite_digest": "sha256:0"}, "they differ in suite"),
        ({"profile": "standard"}, "they differ in profile"),
        ({"implementation": replace(PARTS[1].implementation, version="v2")}, "they differ in implementation"),
    ],
)
def test_runs_of_different_things_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(MergeError, match="merge runs of one controller") as refused:
        merged([PARTS[0], replace(PARTS[1], **change)])
    assert str(refused.value).startswith(message)


def empty(**said: Any) -> Report:  # noqa: ANN401  # fields of a report
    """A run of a scenario for which the controller gives no plan an occasion."""
    fields: dict[str, Any] = {"trials": (), "left_out": (), "wanted": (), "refused": {}, "run_id": "run external"}
    return replace(PARTS[0], **fields | {"reproduce": "pytest -k external/", "deselected": TESTS} | said)


@pytest.mark.parametrize("said", [{}, {"environment": {}}])
def test_a_part_without_a_trial_changes_no_total(said: dict[str, Any]) -> None:
    nothing = empty(**said)
    document = conformance(nothing)
    assert list(problems(document)) == []
    assert (document.submittable, "there is no trial in it" in (document.not_submittable_because or ())) == (False, True)
    made, _ = merged([nothing, *PARTS])
    assert totals(made) == totals(WHOLE)
    assert (made.shards[0].run_id, made.shards[0].trials) == ("run external", 0)
    assert made.environment == WHOLE.environment


def test_parts_without_a_trial_are_one_without_any() -> None:
    made, _ = merged([empty(), empty(run_id="run inputs")])
    assert (made.trials, list(problems(conformance(made)))) == ((), [])


def test_a_part_without_a_trial_is_of_the_same_controller() -> None:
    with pytest.raises(MergeError, match="they differ in controller"):
        merged([PARTS[0], empty(environment=PARTS[0].environment | {"controller": "other"})])


def test_one_run_is_none_to_merge() -> None:
    with pytest.raises(MergeError, match="two runs or more"):
        merged([runs.report()])


def test_runs_of_named_plans_are_not_the_whole_suite() -> None:
    named = [replace(PARTS[n], deselected=(f"all plans but {name}",)) for n, name in enumerate(("aaaa", "bbbb"))]
    made, _ = merged(named)
    assert made.deselected == ("all plans but aaaa", "all plans but bbbb")
    assert not conformance(made).submittable
    with_tests, _ = merged([named[0], *PARTS[1:]])
    assert with_tests.deselected == (TESTS[0],), "a plan of it is not the test"


def test_a_part_that_learnt_nothing_leaves_the_whole_unsubmittable() -> None:
    ran = replace(report(trial(EVERYTHING_PASSED)), run_id="a", deselected=("test_canonical[restart]",))
    late = replace(report(), run_id="b", deselected=("test_canonical[own-writes]",), unlearnt=True, minutes=1.0)
    document = conformance(merged([ran, late])[0])
    assert document.not_submittable_because == ("the time was over before it was known what the controller does without faults",)
    assert list(problems(document)) == []


def test_a_search_names_its_trial_as_it_is_called_in_the_whole() -> None:
    """Both have the same trial, as when a run is given twice."""
    ended = EndedSearch(scenario="drawn", primary="Widget", plans=3, requirement="x", found="y", trial="001")
    parts = [
        replace(report(trial(EVERYTHING_PASSED)), run_id=name, date=f"2026-01-0{n}T00:00:00+00:00", ended_searches=(ended,))
        for n, name in enumerate(("a", "b"), 1)
    ]
    assert [each.trial for each in merged(parts)[0].ended_searches] == ["s1-001"]
