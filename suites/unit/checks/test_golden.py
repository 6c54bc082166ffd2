"""Recorded trials, judged again: what was found in them must be found again, by a better checker, too.

They are of fixture controllers, of kube-controller-manager v1.36.3 (docs/kube-controller-manager.md says what was found, and why)
and of the mutants when they were caught (`ci/golden` makes these).
"""

import gzip
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import msgspec
import pytest
from staleproof.fixtures.controllers.mutants import MUTANTS  # noqa: TID251  # whose histories they are

from staleproof.checks.catalog import BY_SLUG
from staleproof.checks.judge import judge
from staleproof.checks.story.narrative import explain, stories
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.history.entry import Listed, Opened
from staleproof.core.history.history import History, decode, encode

HISTORIES = Path(__file__).parents[3] / "fixtures" / "histories"
FIXTURES = {
    "naive-hidden-creates": {"no-duplicate-create": 6},
    "naive-hidden-deletes": {"no-excess-delete": 1},
    "no-preconditions-recreated": {},  # the pod had to go, whichever incarnation it was
    "expectations-hidden-creates": {},
}
KUBE_CONTROLLER_MANAGER = {
    "replicaset-held-gate-on": set(),
    "replicaset-held-gate-off": {"no-duplicate-create"},
    "job-held-gate-on": set(),
    "job-held-gate-off": {"no-duplicate-create"},
    "daemonset-held-gate-on": set(),
    "daemonset-held-gate-off": {"no-duplicate-create"},
    "daemonset-recreated": {"honest-observed-generation"},
    "statefulset-name-taken": {"no-delete-of-unseen"},
    "statefulset-pod-recreated": set(),  # the pod had to go, whichever incarnation it was
    "endpointslice-creates-rejected": {"backs-off", "converges-after-catch-up"},
    "endpointslice-placeholder-replaced": {"no-lost-update"},
    "deployment-replicasets-late": {"no-blind-retry"},
    "deployment-old-set-unseen": {"converges-after-catch-up"},  # by the sum of what its ReplicaSets ask for
    "replicaset-create-vanished": {"converges-after-catch-up", "tolerates-coalescing"},
    "replicaset-recreated": {"honest-observed-generation"},
}
UNDECIDED = {
    "deployment-old-set-unseen": {"survives-expiry", "tolerates-skew", "tolerates-coalescing"},
    "replicaset-create-vanished": {"survives-expiry", "tolerates-skew"},
}
"""Another requirement explains what was found, so these are left open."""
NOT_KEPT = {"needs_bookmarks"}  # caught after minutes, in which much happens
CAUGHT_BY = {name: mutant.caught_by for name, mutant in MUTANTS.items() if name not in NOT_KEPT} | {
    "naive": "no-duplicate-create",
    "no_preconditions": "no-delete-of-unseen",
    "naive_sequential_job": "no-duplicate-create",
    "hasty_stored_widget": "no-delete-of-unseen",
    "hurried_tenant": "cleans-up",
    "recalling_tenant": "cleans-up",
    "careless_queued": "no-duplicate-create",
    "overwriting_poller": "no-lost-update",
    "careless_blueprint": "no-duplicate-create",
    "blocking_hosted": "isolates-objects",
    "doubling_resident": "no-duplicate-create",
    "forgetful": "name-reuse",
    "inattentive_gateway": "tolerates-coalescing",
    "hoarding_single": "survives-expiry",
    "hasty_remaking": "survives-restart",
    "comparing_secured": "honest-status",
    "comparing_configured": "converges-after-catch-up",
    "doubling_configured": "no-duplicate-create",
    "hoarding_switched": "path-independent",
    "compares_existence_account": "repairs-external-drift",
    "forgetful_poller_account": "repairs-external-drift",
    "notify_only_account": "repairs-external-drift",
    "only_after_success_account": "repairs-external-drift",
    "lost_slot_account": "repairs-external-drift",
    "unwatching_account": "notices-lost-children",
    "registered_daemon": "repairs-external-drift",
    "on_events_account": "drift-needs-no-api-event",
    "records_late_account": "no-external-leak",
    "asks_always_bucket": "calm-external-calls",
    "early_generation_bucket": "honest-status",
    "first_error_bucket": "calm-external-calls",
}


def read(path: Path) -> History:
    return decode(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())


@cache
def verdicts_of(path: Path) -> Sequence[Verdict]:
    return judge(read(path))


@pytest.mark.parametrize(
    ("folder", "names"),
    [(".", FIXTURES), ("kube-controller-manager", KUBE_CONTROLLER_MANAGER), ("mutants", {*CAUGHT_BY, *NOT_KEPT})],
)
def test_every_recorded_history_is_judged(folder: str, names: Collection[str]) -> None:
    kept = {path.name.partition(".")[0] for path in (HISTORIES / folder).glob("*.jsonl*")}
    missing = set(names) - kept - NOT_KEPT
    assert not missing, f"no history is kept of {', '.join(sorted(missing))}: run ci/golden -k NAME"
    assert kept <= set(names), "of controllers that are gone"


def test_lost_data_is_reported_first_though_the_claim_was_not_made_again_and_the_trial_did_not_converge() -> None:
    history = read(HISTORIES / "mutants" / "hasty_stored_widget.jsonl.gz")
    first, *more_stories = stories(judge(history), history)

    assert first.requirement == "no-delete-of-unseen"
    assert first.summary.startswith("destroyed: your client lists widgets.staleproof.dev with resourceVersion 0")
    assert {"no-time-travel", "converges-after-catch-up"} <= set(first.also)
    assert more_stories == []


@pytest.mark.parametrize("name", FIXTURES)
def test_of_a_fixture_controller(name: str) -> None:
    history = read(HISTORIES / f"{name}.jsonl")

    verdicts = verdicts_of(HISTORIES / f"{name}.jsonl")

    assert {v.requirement: len(v.findings) for v in verdicts if v.outcome is Outcome.FAIL} == FIXTURES[name]
    assert [v.requirement for v in verdicts if v.outcome is Outcome.INCONCLUSIVE] == []
    aimed = [v for v in verdicts if v.requirement in history.header.plan.aims]
    assert all(v.outcome in (Outcome.PASS, Outcome.FAIL) for v in aimed)
    assert judge(decode(encode(history))) == verdicts
    assert {len(explain(finding, history).lines) for verdict in verdicts for finding in verdict.findings} <= {4}


@pytest.mark.parametrize("name", KUBE_CONTROLLER_MANAGER)
def test_of_kube_controller_manager(name: str) -> None:
    verdicts = verdicts_of(HISTORIES / "kube-controller-manager" / f"{name}.jsonl.gz")
    outcomes = {verdict.requirement: verdict.outcome for verdict in verdicts}

    assert {slug for slug, outcome in outcomes.items() if outcome is Outcome.FAIL} == KUBE_CONTROLLER_MANAGER[name]
    assert {slug for slug, outcome in outcomes.items() if outcome is Outcome.INCONCLUSIVE} == UNDECIDED.get(name, set())
    if name.endswith("gate-on"):  # it counted the syncs that it skipped
        assert outcomes["reports-skips"] is Outcome.PASS


@pytest.mark.parametrize("name", [name for name in sorted(CAUGHT_BY) if (HISTORIES / "mutants" / f"{name}.jsonl.gz").exists()])
def test_of_a_mutant(name: str) -> None:
    """Of those that have a history: another test says which have none."""
    verdicts = verdicts_of(HISTORIES / "mutants" / f"{name}.jsonl.gz")

    assert CAUGHT_BY[name] in {verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL}


def with_selector(history: History) -> History:
    """The same, as if the controller had watched and listed with a selector that everything fits."""
    watches = (
        msgspec.structs.replace(each, selector="!x") if isinstance(each, Opened | Listed) else each for each in history.entries
    )
    return replace(history, entries=tuple(watches))


@pytest.mark.parametrize("path", sorted(HISTORIES.rglob("*.jsonl*")), ids=lambda path: path.name)
def test_a_selector_that_everything_fits_changes_no_verdict(path: Path) -> None:
    selected = judge(with_selector(read(path)))

    assert {each.requirement: each.outcome for each in selected} == {each.requirement: each.outcome for each in verdicts_of(path)}


@pytest.mark.parametrize("path", sorted(HISTORIES.rglob("*.jsonl*")), ids=lambda path: path.name)
def test_a_kept_history_does_not_say_where_it_was_made(path: Path) -> None:
    controller = read(path).header.plan.controller
    assert controller
    [command, *_] = controller.command

    assert Path(command).name == command


def test_the_first_story_of_staleproof() -> None:
    history = read(HISTORIES / "naive-hidden-creates.jsonl")
    finding = next(finding for verdict in judge(history) for finding in verdict.findings)

    assert explain(finding, history).text() == (
        "no-duplicate-create  pod/staleproof-f26ae4ad/sample-klst5 is the 4th live pod of widget/sample; fault-free "
        "runs never had more than 3\n"
        "  duplicated: it creates pods on an old view of pods\n"
        "     0.029 s  from here (own create number 1 of pods) its pods stream was held; it had been shown pods up to "
        "resourceVersion 139\n"
        "     0.032 s  the controller created sample-g492v, sample-fxcq5, sample-v2698 (resourceVersion 142\N{EN DASH}144)\n"
        "     0.053 s  widget/sample was shown (resourceVersion 145), in step 1: apply Widget/sample\n"
        "     0.077 s  it created pod/sample-klst5, "
        "though it had not been shown its own creates (resourceVersion 142\N{EN DASH}144)\n"
        "  compared with runs: 2 without faults\n"
        f"  remedy: {BY_SLUG['no-duplicate-create'].remedy}"
    )
