"""What a person reads at the end of a run."""

import io
import re

import msgspec
import pytest
from rich.console import Console

from staleproof.checks.catalog import BY_SLUG, REQUIREMENTS
from staleproof.checks.ends.convergence import ONLY_STATUS
from staleproof.checks.rules.reports import NO_GENERATION
from staleproof.checks.rules.surplus import NONE_LEFT
from staleproof.core.history.external_series import CallPoint, DriftPoint, ExternalSeries, StatePoint, TurnPoint
from staleproof.report.baseline import Baseline, Known
from staleproof.report.coverage import SUSPECTED, USUAL_ERROR
from staleproof.report.model import CostReport, EndedSearch, FaultReport, HealedReport, LeftOut, Report, RequirementVerdict, Word
from staleproof.report.terminal import sentence, table, time_split

from . import runs
from .runs import BAD, GOOD, IDLE, UNKNOWN, trial, verdict

SLUGS = [requirement.slug for requirement in REQUIREMENTS]
FIRST, SECOND, THIRD = SLUGS[:3]
ALL = len(SLUGS)
_HEAD = 3
"""Lines before the first row: title, headings, rule."""


def report(*trials: tuple[RequirementVerdict, ...]) -> Report:
    return runs.report(*(trial(str(number), *verdicts) for number, verdicts in enumerate(trials, 1)))


PASSED = tuple(verdict(slug, GOOD) for slug in SLUGS)
STORY = f"{FIRST}  pod/ns/w-d is the 4th live pod of widget/w\n     0.700 s  from here …\n  remedy: remember own writes"


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (
            report(),
            "nothing failed, but too little was tried: no plan was run, because the controller gives those that were chosen no "
            f"occasion; 0 of {ALL} requirements tried, 0 trials",
        ),
        (report(PASSED), f"passed: {ALL} of {ALL} requirements tried, 1 trial"),
        (report((verdict(FIRST, GOOD),)), f"passed: 1 of {ALL} requirements tried, 1 trial"),
        (report(PASSED, (verdict(SECOND, BAD),)), f"failed: {SECOND} violated; {ALL} of {ALL} requirements tried, 2 trials"),
        (
            report(tuple(verdict(slug, BAD) for slug in SLUGS[:5]), (verdict(SLUGS[6], UNKNOWN),)),
            f"failed: {FIRST}, {SECOND}, {THIRD} and 2 more violated; 6 of {ALL} requirements tried, 2 trials",
        ),
        (
            report((verdict(FIRST, UNKNOWN), verdict(SECOND, IDLE))),
            f"nothing failed, but {FIRST} is inconclusive; 1 of {ALL} requirements tried, 1 trial",
        ),
        (
            report((verdict(FIRST, IDLE),)),
            "nothing failed, but too little was tried: nothing that was done put a requirement to the test; "
            f"0 of {ALL} requirements tried, 1 trial",
        ),
        (
            msgspec.structs.replace(report(PASSED), partial=True),
            f"interrupted; nothing failed in what was finished: {ALL} of {ALL} requirements tried, 1 trial",
        ),
        (
            msgspec.structs.replace(report(), unlearnt=True, minutes=5.0),
            "nothing failed, but too little was tried: the time was over while it was watched without faults; most would be "
            f"reached by --staleproof-minutes 16; 0 of {ALL} requirements tried, 0 trials",
        ),
    ],
)
def test_the_last_line(of: Report, expected: str) -> None:
    assert sentence(of) == expected


def aims(of: Report, *slugs: str) -> Report:
    """All of its trials are about these."""
    return msgspec.structs.replace(of, trials=tuple(msgspec.structs.replace(trial, aims=slugs) for trial in of.trials))


def test_what_has_to_be_exercised_and_was_not_is_reported_with_the_option_that_would_reach_it() -> None:
    of = aims(report((verdict(FIRST, IDLE), verdict(SECOND, GOOD))), FIRST, SECOND)
    assert sentence(of) == f"passed: 1 of {ALL} requirements tried, 1 trial"
    wanted = msgspec.structs.replace(of, wanted=(FIRST, SECOND, THIRD))  # no plan is about the third
    short = f"nothing failed, but too little was tried: {FIRST}; most of it would be reached by"
    assert sentence(wanted) == f"{short} --staleproof-max-examples N; 1 of {ALL} requirements tried, 1 trial"
    late = LeftOut(scenario="streams", title="a", aims=(FIRST,))
    hurried = msgspec.structs.replace(wanted, left_out=(late, late, late), minutes=2.0)
    assert sentence(hurried).startswith(f"{short} --staleproof-minutes 9; ")


def test_an_error_that_the_log_has_without_any_fault_is_reported() -> None:
    said = {USUAL_ERROR: "ERROR no master URL (6 times in 3 of 3 runs)"}
    (line,) = (
        line for line in lines(msgspec.structs.replace(report(PASSED), environment=said), width=200) if "no master URL" in line
    )
    assert line.startswith("even without faults its log has: ERROR no master URL (6 times in 3 of 3 runs); it may not have come to")


def test_where_no_trial_was_over_more_time_by_far_is_advised_and_it_is_reported_what_was_spent() -> None:
    late = LeftOut(scenario="streams", title="a", aims=(FIRST,))
    of = msgspec.structs.replace(report(), wanted=(FIRST,), left_out=(late,) * 140, minutes=10.0, unfinished_seconds=1200.4)
    of = msgspec.structs.replace(of, helping_seconds=70.0)
    assert "--staleproof-minutes 31" in sentence(of)
    one = msgspec.structs.replace(aims(report((verdict(FIRST, IDLE),)), FIRST), wanted=(FIRST,), left_out=of.left_out, minutes=10.0)
    assert "--staleproof-minutes 31" in sentence(one)
    assert any("for other workers' trials 70 s, plans that were not over in time 1200 s" in line for line in lines(of, width=200))
    assert not any("not over in time" in line for line in lines(report(PASSED), width=200))


@pytest.mark.parametrize(("judged", "is_enough"), [(GOOD, True), (IDLE, False)])
def test_of_a_controller_that_writes_nothing_but_status_honest_status_stands_for_what_is_about_ends(
    judged: Word, *, is_enough: bool
) -> None:
    ends = "converges-after-catch-up"
    of = aims(report((verdict(ends, IDLE, why=ONLY_STATUS), verdict("honest-status", judged), verdict(FIRST, GOOD))), ends, FIRST)
    said = sentence(msgspec.structs.replace(of, wanted=(ends, FIRST)))
    assert said.startswith("passed: ") is is_enough


@pytest.mark.parametrize(("slug", "why"), [("honest-observed-generation", NO_GENERATION), ("no-excess-delete", NONE_LEFT)])
def test_what_a_controller_gives_no_occasion_for_is_not_asked_for(slug: str, why: str) -> None:
    trials = ((verdict(slug, IDLE, why=why), verdict(FIRST, GOOD)), (verdict(slug, IDLE, why="it did not look again"),))
    without = aims(report(trials[0]), slug, FIRST)
    more = aims(report(*trials), slug, FIRST)
    assert sentence(msgspec.structs.replace(without, wanted=(slug, FIRST))).startswith("passed: ")
    assert not sentence(msgspec.structs.replace(more, wanted=(slug, FIRST))).startswith("passed: "), "one plan says another reason"


def test_what_a_sweep_suspects_and_no_run_alone_shows_is_reported() -> None:
    name = f"{SUSPECTED} 007, and not seen alone"
    of = report(PASSED)
    shown = lines(msgspec.structs.replace(of, environment={**of.environment, name: "cleans-up: it is left over"}), width=300)
    assert f"{name}: cleans-up: it is left over" in shown


def test_what_could_not_be_carried_out_is_reported_once() -> None:
    why = "a step of the workload could not be done: step 2 (remove secrets number 1): there are 0 such children"
    left_out = tuple(LeftOut(scenario="drawn", title=title, why=why) for title in ("a", "b"))
    shown = lines(msgspec.structs.replace(report(PASSED), left_out=left_out), width=300)
    assert [line for line in shown if "left out" in line] == [
        f"2 plans left out that could not be carried out, not even once more: {why}"
    ]


def lines(of: Report, *, width: int = 120) -> list[str]:
    console = Console(file=io.StringIO(), record=True, width=width, force_terminal=False)
    console.print(table(of))
    return console.export_text().splitlines()


def row(of: Report, slug: str) -> list[str]:
    return cells(next(line for line in lines(of)[_HEAD:] if line.startswith(slug)))


def cells(line: str) -> list[str]:
    return re.split(r"  +", line.strip())


def test_the_table_has_a_row_for_each_requirement() -> None:
    shown = lines(report(PASSED))
    assert shown[0].strip() == "staleproof · 1 trial · Kubernetes v1.36.3"
    assert lines(report(PASSED, PASSED))[0].strip() == "staleproof · 2 trials · Kubernetes v1.36.3"
    assert cells(shown[1]) == ["requirement", "level", "result", "tried", "trials", "fired"]
    assert [cells(line)[0] for line in shown[_HEAD : _HEAD + len(SLUGS)]] == SLUGS


def test_nothing_is_cut_off_in_eighty_columns() -> None:
    shown = lines(report(tuple(verdict(slug, IDLE) for slug in SLUGS)), width=80)
    assert [cells(line)[:3] for line in shown[_HEAD : _HEAD + len(SLUGS)]] == [
        [slug, BY_SLUG[slug].level, "not exercised"] for slug in SLUGS
    ]


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (verdict(FIRST, GOOD), ["passed", "0/0", "1", "1/2"]),
        (verdict(FIRST, BAD, story=STORY), ["FAILED", "0/0", "1", "1/2"]),
        (verdict(FIRST, UNKNOWN), ["inconclusive", "0/0", "1", "1/2"]),
        (verdict(FIRST, IDLE), ["not exercised", "0/0", "0", "0/0"]),
    ],
)
def test_a_row_says_what_the_trials_showed(shown: RequirementVerdict, expected: list[str]) -> None:
    assert row(report((shown,)), FIRST) == [FIRST, "core", *expected]


def test_trials_and_faults_are_summed_where_it_was_exercised() -> None:
    idle = verdict(FIRST, IDLE)
    of = report((verdict(FIRST, GOOD),), (idle,), (verdict(FIRST, GOOD),))
    assert row(of, FIRST)[3:] == ["0/0", "2", "2/4"]
    assert row(aims(of, FIRST), FIRST)[3] == "2/3"


@pytest.mark.parametrize(
    ("kept", "line"),
    [
        ([True], "kept: 1 plan, 1 history"),
        ([True, True], "kept: 2 plans, 2 histories"),
        ([True, False, False], "kept: 3 plans, 1 history; 2 of trials that passed were removed, as keep=findings asks"),
    ],
)
def test_what_is_left_of_the_trials_is_reported(kept: list[bool], line: str) -> None:
    of = runs.report(*(trial(str(number), kept=each) for number, each in enumerate(kept)))
    assert line in lines(of)


def test_below_the_table_stands_why_what_did_not_pass_did_not() -> None:
    of = report(
        (
            verdict(FIRST, BAD, story=STORY),
            verdict(SECOND, UNKNOWN, why="the references differ"),
            verdict(THIRD, GOOD, why="is not told"),
        )
    )
    shown = lines(of)
    assert f"  {FIRST}; first in 1: pod/ns/w-d is the 4th live pod of widget/w" in [line.rstrip() for line in shown]
    assert f"{SECOND}: the references differ" in shown
    assert not [line for line in shown if "is not told" in line]


def test_what_was_found_is_reported_by_cause_and_the_worst_first() -> None:
    worse = verdict(SECOND, BAD, story=f"{SECOND}  a claim is gone\n  remedy: x", severity="destroyed", cause="it lists the past")
    same = verdict(THIRD, BAD, severity="stuck", cause="it lists the past")
    other = verdict(FIRST, BAD, story=STORY, severity="duplicated", cause="its view is old")
    shown = [line.rstrip() for line in lines(report((other,), (worse, same), (other, worse)))]
    at = shown.index("destroyed it lists the past: 2 plans")
    assert shown[at + 1 : at + 4] == [
        f"  {SECOND}, {THIRD}; first in 2: a claim is gone",
        "duplicated its view is old: 2 plans",
        f"  {FIRST}; first in 1: pod/ns/w-d is the 4th live pod of widget/w",
    ]


def test_the_reason_belongs_to_the_outcome() -> None:
    of = report((verdict(FIRST, IDLE, why="nothing was hidden"),), (verdict(FIRST, UNKNOWN, why="it broke"),))
    assert f"{FIRST}: it broke" in lines(of)
    assert not [line for line in lines(of) if "nothing was hidden" in line]


def test_the_reason_comes_from_a_trial_that_could_have_shown_something() -> None:
    fired = FaultReport(fault=BY_SLUG[FIRST].faults[0], resource="pods", outcome="fired")
    missed = msgspec.structs.replace(fired, outcome="not fired")
    said = ("nothing was hidden", "nothing was hidden in time", "the hold was too short")
    of = report(*((verdict(FIRST, IDLE, why=each),) for each in said))
    trials = [msgspec.structs.replace(each, faults=(fault,)) for each, fault in zip(of.trials[1:], (missed, fired), strict=True)]
    assert f"{FIRST}: the hold was too short" in lines(msgspec.structs.replace(of, trials=(of.trials[0], *trials)))
    assert f"{FIRST}: nothing was hidden" in lines(of)


def with_faults(of: Report, *faults: FaultReport, hostile: str = "") -> Report:
    """All of its trials have these."""
    trials = tuple(msgspec.structs.replace(trial, faults=faults, hostile=hostile) for trial in of.trials)
    return msgspec.structs.replace(of, trials=trials)


def test_what_there_was_no_time_for_is_reported_and_what_was_therefore_never_tried() -> None:
    hold = FaultReport(fault="Hold", resource="pods", outcome="fired")
    skew = FaultReport(fault="Skew", resource="*", outcome="not fired")
    left_out = (
        LeftOut(scenario="streams", title="a", aims=(FIRST, SECOND), faults=("Hold", "Skew")),
        LeftOut(scenario="restart", title="b", aims=(FIRST,), faults=("Hold",)),
        LeftOut(scenario="streams", title="c"),
    )
    of = with_faults(report((verdict(FIRST, GOOD), verdict(SECOND, IDLE))), hold, skew)
    shown = lines(msgspec.structs.replace(of, left_out=left_out), width=200)

    at = shown.index("3 plans not run for lack of time: streams 2, restart 1")
    assert shown[at + 1] == f"  never tried for that reason: {FIRST} under Skew, {SECOND} under Hold, {SECOND} under Skew"
    assert sentence(msgspec.structs.replace(of, left_out=left_out[1:])).endswith(", 2 plans not run for lack of time")
    assert not [line for line in lines(msgspec.structs.replace(of, left_out=left_out[1:])) if "never tried" in line]


def test_plans_that_a_finding_made_superfluous_are_reported_by_finding() -> None:
    def ended(scenario: str, plans: int, trial: str, found: str = "it creates pods on an old view of pods") -> EndedSearch:
        return EndedSearch(scenario=scenario, primary="widgets/w", plans=plans, requirement=FIRST, found=found, trial=trial)

    searches = (ended("restart", 5, "003"), ended("streams", 2, "009"), ended("status", 1, "012", found="it says so"))
    shown = lines(msgspec.structs.replace(report((verdict(FIRST, GOOD),)), ended_searches=searches), width=300)
    because = "not run, because the search had found something new"
    first = f"7 drawn plans {because} ({FIRST}, it creates pods on an old view of pods): "
    assert f"{first}restart for widgets/w 5 (after 003), streams for widgets/w 2 (after 009)" in shown
    assert f"1 drawn plan {because} ({FIRST}, it says so): status for widgets/w 1 (after 012)" in shown


def test_refused_faults_are_counted_and_reported() -> None:
    of = with_faults(
        report((verdict(FIRST, GOOD),), (verdict(FIRST, GOOD),)),
        FaultReport(fault="Hold", resource="pods", outcome="fired", at=1.0, on="ADDED pods"),
        FaultReport(fault="PastSnapshot", resource="*", outcome="refused", row="25", why="it is a consistent read"),
    )
    assert row(of, FIRST)[5] == "2/4, 2 refused"
    assert "PastSnapshot of * was refused (2 times): it is a consistent read" in lines(of)


def test_faults_that_did_not_fire_are_reported_once_with_the_commonest_reason() -> None:
    reasons = [("pods", "2 events came"), ("jobs", "no event came"), ("pods", "2 events came")]
    silent = [FaultReport(fault="Hold", resource=resource, outcome="not fired", why=why) for resource, why in reasons]
    of = with_faults(report(PASSED), FaultReport(fault="Delay", resource="pods", outcome="not fired"), *silent)
    shown = lines(of)
    assert "Delay of pods did not fire" in shown
    assert "Hold of pods, jobs did not fire (3 times), most often: 2 events came" in shown


def test_not_every_fault_that_did_nothing_has_a_line() -> None:
    silent = [FaultReport(fault=f"Fault{n}", resource="pods", outcome="not fired") for n in range(7)]
    shown = lines(with_faults(report(PASSED), *silent))
    assert "Fault4 of pods did not fire" in shown
    assert "Fault5, Fault6 did nothing either; report.json has the reasons" in shown


def test_what_is_needed_and_not_taken_away_is_reported() -> None:
    of = report(PASSED)
    of = msgspec.structs.replace(of, environment={**of.environment, "inputs": "step 2 (delete Secret/s): it stays"})
    assert "what the primary needs is not taken away: step 2 (delete Secret/s): it stays" in lines(of)


def test_a_finding_says_what_healed_the_controller_afterwards() -> None:
    of = report((verdict(FIRST, BAD, story=STORY),))
    assert not [line for line in lines(of) if "healed by" in line]
    healed = msgspec.structs.replace(of, trials=tuple(msgspec.structs.replace(each, healed_by="a restart") for each in of.trials))
    assert "  once the trial was over, it was healed by a restart" in lines(healed)


def test_findings_under_hostile_faults_stand_apart() -> None:
    heading = "Not about conformance: no API server does this. It was found under hostile faults (DropFrame):"
    found = verdict(FIRST, IDLE, why="found under hostile faults (DropFrame): …", story=f"{heading}\n{STORY}")
    of = with_faults(report((found, verdict(SECOND, IDLE))), hostile="hostile faults (DropFrame)")
    shown = lines(of)
    at = shown.index("Not about conformance, because no API server does this, and not scored:")
    line = f"  1 under hostile faults (DropFrame): {FIRST}: pod/ns/w-d is the 4th live pod of widget/w"
    assert " ".join(shown[at + 1 :]) == line
    assert row(of, FIRST)[2:] == ["not exercised", "0/0", "0", "0/0"]
    assert sentence(of) == f"passed: 0 of {ALL} requirements tried, 1 trial"


def test_findings_about_provisional_requirements_stand_apart_and_are_not_scored() -> None:
    slug = "no-blind-retry"
    found = verdict(slug, BAD, story=f"Not scored: this requirement is provisional.\n{slug}  2 updates were refused\n  remedy: x")
    of = report((verdict(FIRST, GOOD), found))
    shown = lines(of)
    at = shown.index("About provisional requirements, and not scored:")
    assert shown[at + 1] == f"  1: {slug}: 2 updates were refused"
    assert row(of, slug)[1:] == ["provisional", "told below", "0/0", "1", "1/2"]
    assert not [line for line in shown if line.startswith(f"{slug}:")]
    assert sentence(of) == f"passed: 2 of {ALL} requirements tried, 1 trial"


def test_costs_are_reported_and_are_no_failures() -> None:
    costs = (
        CostReport(primaries=1, writes=3, void=3),
        CostReport(primaries=2, writes=6, void=3),
        CostReport(primaries=1, writes=0, void=0),
    )
    of = report(*[(verdict(FIRST, GOOD),)] * len(costs))
    trials = tuple(msgspec.structs.replace(trial, cost=cost) for trial, cost in zip(of.trials, costs, strict=True))
    of = msgspec.structs.replace(of, trials=trials, environment={**of.environment, "writes at rest": "720 an hour"})
    cost_lines = [line for line in lines(of, width=200) if line.startswith("cost")]
    again = "cost: 2.2 writes for each primary that is looked at again though nothing has changed, 67% of them in vain"
    assert cost_lines == [again, "cost: writes at rest 720 an hour, as far as a few seconds tell"]
    assert sentence(of) == f"passed: 1 of {ALL} requirements tried, 3 trials"


def test_what_it_keeps_too_many_of_without_any_fault_is_reported_and_not_scored() -> None:
    of = report(PASSED)
    of = msgspec.structs.replace(of, environment={**of.environment, "more than asked for": "5 pods where spec.replicas was 4"})
    assert "without any fault, so not scored: it kept 5 pods where spec.replicas was 4" in lines(of, width=200)
    assert sentence(of) == f"passed: {ALL} of {ALL} requirements tried, 1 trial"


def test_what_was_said_of_changes_in_vain_is_reported() -> None:
    of = report(PASSED)
    of = msgspec.structs.replace(of, environment={**of.environment, "mutations": "only: 'spec.size' allows no change of Widget/w"})
    assert "mutations without effect: only: 'spec.size' allows no change of Widget/w" in lines(of, width=200)


def test_the_companions_that_were_chosen_are_reported_with_their_cost() -> None:
    environment = {"companions for Widget/w": "job, kwok: ready in 2.0 s", "companions": "job, kwok"}
    of = msgspec.structs.replace(report(PASSED), environment=environment)
    assert [line for line in lines(of, width=200) if "companions" in line] == ["companions for Widget/w: job, kwok: ready in 2.0 s"]


def test_what_healed_late_is_a_cost() -> None:
    of = report(PASSED, PASSED)
    late = (HealedReport(seconds=61.2, lacked="1 pod of w"), HealedReport(seconds=20.0))
    trials = tuple(msgspec.structs.replace(trial, healed=each) for trial, each in zip(of.trials, late, strict=True))
    (cost,) = (line for line in lines(msgspec.structs.replace(of, trials=trials), width=200) if line.startswith("cost"))
    assert cost == (
        f"cost: healed after 61 s by itself, so it is slow and not stuck (2 plans, the slowest {trials[0].name}); "
        "until then, 1 pod of w"
    )


def test_a_controller_that_writes_nothing_at_rest_costs_nothing() -> None:
    assert not [line for line in lines(report(PASSED)) if line.startswith("cost")]


def test_only_the_first_few_of_them_are_reported() -> None:
    shown = lines(report(*[(verdict("no-blind-retry", BAD, story="no-blind-retry  x"),)] * 7))
    assert "  and 2 more; report.json has them" in shown


def test_without_an_environment_the_version_is_unknown() -> None:
    assert "Kubernetes ?" in lines(msgspec.structs.replace(report(), environment={}))[0]


def test_what_it_may_not_do_is_reported_and_that_it_was_not_checked() -> None:
    checked = msgspec.structs.replace(report(PASSED), refused={"list secrets": 14}, environment={"rbac": "the controller may …"})
    assert "asked 14 times to list secrets: not allowed by its Role" in lines(checked)
    assert not any("RBAC" in line for line in lines(checked))
    unchecked = msgspec.structs.replace(report(PASSED), environment={"rbac": "not checked: nobody knows"})
    assert "RBAC was not checked: nobody knows" in lines(unchecked)


def test_systems_that_are_shared_are_reported() -> None:
    shared = msgspec.structs.replace(report(PASSED), environment={"shared systems": "store"})
    assert any(line.startswith("one trial at a time") and "store" in line for line in lines(shared, width=200))
    assert not any(line.startswith("one trial at a time") for line in lines(report(PASSED), width=200))


def test_what_was_asked_of_external_systems_is_reported_with_how_often_they_were_only_looked_at() -> None:
    series = ExternalSeries(
        system="db",
        seconds=60.0,
        calls=(*(CallPoint(float(at), "SELECT", "widgets/w") for at in range(12)), CallPoint(1.0, "CREATE", "widgets/w")),
        states=(StatePoint(0.0, 0), StatePoint(30.0, 2)),
        drifts=(DriftPoint(40.0, "deleted", "roles/w"),),
        turns=(TurnPoint(50.0, "down"), TurnPoint(55.0, "up")),
    )
    of = runs.report(msgspec.structs.replace(trial("1", verdict(FIRST, GOOD)), external=(series,)))
    summary = (
        "db: 13 calls (SELECT 12, CREATE 1), 12 that only look for each object and minute; 1 deleted by another user; down 1 time"
    )
    assert summary in lines(of, width=200)
    assert not any(line.startswith("db:") for line in lines(report(PASSED)))


def test_where_the_time_went_tells_what_confirming_took() -> None:
    one = msgspec.structs.replace(trial("1"), seconds=2.0, references_seconds=3.0, confirming_seconds=40.0)
    assert "references 3 s" in time_split(runs.report(one))
    assert "confirming 40 s; median 2.0 s a trial" in time_split(runs.report(one))


def test_what_is_known_fails_nothing_in_the_last_line() -> None:
    known = Baseline(findings=(Known(cause="a", requirements=(FIRST,)),))
    bad = trial("001", verdict(FIRST, BAD, cause="a"))
    assert sentence(runs.report(bad)).startswith("failed: ")
    assert sentence(runs.report(bad), known) == f"passed: 1 of {ALL} requirements tried, 1 trial, 1 known finding"
    other = trial("002", verdict(FIRST, BAD, cause="b"))
    assert sentence(runs.report(bad, other), known).startswith(f"failed: {FIRST} violated; ")
