"""A controller whose fault is known, if it has any, and how it is put under test; `table` lists them."""

import asyncio
import re
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from staleproof.assess.trial.result import Result
from staleproof.checks.verdict import Outcome
from staleproof.core.declared import AnyDeclared, DeclaredCommands, DeclaredPostgreSQL, DeclaredS3, Every, Within
from staleproof.core.operator.dependency import needed
from staleproof.core.operator.prerequisite import sort_out
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import FurtherProgram, Plan, Subject
from staleproof.core.plan.step import Apply, Delete, Edit, Remove
from staleproof.drive.cluster.control_plane import Silent
from staleproof.drive.cluster.manifests import read, read_crds
from staleproof.drive.process.address import free_port
from staleproof.drive.programs.build import ensure_built
from staleproof.drive.programs.go_program import GoProgram, ensure_go_program
from staleproof.drive.programs.kubernetes import COMPANIONS
from staleproof.errors import SetupError

from ..languages.program import Language, built

MANIFESTS = Path(__file__).parents[2] / "fixtures" / "manifests"
HISTORIES = MANIFESTS.parent / "histories" / "mutants"
CRDS = tuple(
    MANIFESTS / f"{each}-crd.yaml"
    for each in ("widget", "sequentialjob", "tenant", "queued", "blueprint", "hosted", "platform", "account", "s3bucket", "daemon")
)
METRICS = "http://127.0.0.1:{metrics_port}/metrics"
SAMPLE = "widget-content-sample.yaml"
_SLOW = {
    "needs_bookmarks",  # it waits for a bookmark at each step, and one comes once a minute
    "stops_after_eof", "stops_on_expiry", "hammers",  # never at rest, so each step takes until its limit; similar ones are quicker
    "worker_dies", "crash_loops",  # what no longer works is waited for; `exits_on_expiry` is quicker
    "trusts_past_relist", "trusts_past_children", "edge_triggered",  # caught by one of the last plans
    "naive_sequential_job", "sequential_job",  # their Jobs take seconds
    "careful_stored_widget",  # so do its claims
    "go-widget", "kopf_widget",  # also tested elsewhere, with fewer plans
    "oversleeps", "claims_ready",  # on a busy machine they do it without any fault, and that is then taken for normal behaviour
    "unhurried (small)",  # it pauses in every step
    "hopeless", "heartbeat", "hopeless_by_name", "heartbeat_ahead",  # never silent; `restless` and its twin stand for them
    "deliberate", "fleeting",  # they pause in every step
    "makes_one_more", "forgets_sometimes",  # caught by one of the last plans; by a rate, which takes a minute
    "writes_back_answers", "gives_up", "hoarding_single", "hasty_remaking", "forgets_its_count",
    "recalling_tenant", "hands_over",  # they are stuck, and waited for
    "slow_starter",  # each new life takes seconds
    "once_a_minute",  # a minute for each rejected write
    "retries_late", "never_retries", "starts_over",  # they are waited for; test_patience has them
    "provisions", "shuffles",  # most of their trials differ, so more runs are asked for
    # others of the same requirement, which are quicker, stand for them
    "cleans_up_on_event", "ignores_failed_clean_up", "counts_generations", "inherits_status", "hasty_stored_widget",
    "counts_for_ever", "cleans_up_late", "impatient_expectations", "panics_on_tombstone", "skips_to_now", "marks_done_first",
    "insists_when_refused", "reports_version_ahead", "gives_up_its_report",
    # what keeps something outside is waited for, period by period: `inline_poll` and `compares_existence` stand for the others
    "in_cluster_account", "periodic_account", "side_poller_account", "listening_account", "decoding_account",
    "honest_poller", "offline_bucket", "on_events_account", "records_late_account",
    "forgetful_poller_account", "notify_only_account", "only_after_success_account", "lost_slot_account", "overwriting_poller",
    "unwatching_account", "running_daemon", "registered_daemon", "asks_always_bucket", "early_generation_bucket",
    "first_error_bucket",
}  # fmt: skip
"""Tested only by ci/golden and ci/repeat."""
_DATA = "staleproof-buckets-"
DATA_FOLDER = re.compile(rf'[^"=]*/{_DATA}\w+'.encode())
"""Where a bucket server of this process has its data, in a history."""
PERIOD_SECONDS = 2.0
"""Of controllers that look at what is outside."""
SETTINGS = "consistency_store (settings)"
_OWN_WRITES = ("own-writes", "coalescing-skew", "restart")
_ABOUT = {
    # cures of one trouble: it is where they differ
    "consistency_store": _OWN_WRITES, SETTINGS: _OWN_WRITES, "deterministic_names": _OWN_WRITES,
    "live_reads": _OWN_WRITES, "read_your_writes": _OWN_WRITES,
    "preconditions": ("own-writes", "deletion"), "best_effort": ("deletion", "restart"),
    "expectations (small)": ("own-writes", "streams"), "leader_that_exits": ("restart", "api-failure"),
    # habits
    "asks_first": ("own-writes", "api-failure"), "records_errors": ("api-failure", "status"),
    "tells_last_action": ("restart", "status"),
    "copies_annotations": ("api-failure", "own-writes"), "stamps": ("own-writes", "status"),
    "counts_pods": ("status", "restart"),
    "keeps_history": ("streams", "coalescing-skew"), "fleeting": ("deletion", "restart"),
    "retries_gone": ("streams",), "reuses_names": ("deletion", "restart"),
    "looks_at_generations": ("status", "restart"), "looks_later": ("own-writes", "streams"),
    "ordinals": ("deletion", "own-writes"), "server_side_apply": ("own-writes", "api-failure"),
    "inline_poll_account": ("external", "restart"),
    "honest_poller": ("programs", "external", "restart"),
}  # fmt: skip
"""The scenarios in which it matters what is particular to a controller: ci/check tries it in some of these, ci/repeat in all."""


@dataclass(frozen=True)
class Known:
    """A controller, its arguments, a sample of its primary, and the requirement that has to catch it; empty: it is honest.

    `counts`: it counts the creates that are to come, and waits for one that never does: five minutes, then until something happens.
    So an honest one fails all the same, and truly, where what it created vanishes unseen: docs/kube-controller-manager.md.
    `retries_by_name`: when it meets a conflict as it writes a status, it gets the object by its name and writes the same again. If
    the object was made anew, that is another incarnation, of which it was never shown that generation (same page).
    `maps`: its map is learnt, because it is about what many moves do.
    `language`: it is one of those in other languages, which `ci/languages` builds.
    `outside`: the systems outside Kubernetes that it keeps something in, by a name of `systems`; empty: none.
    `also`: the further programs of the subject.
    `races`: it shows its fault in some runs only, so that a rate has to tell.
    """

    name: str
    arguments: tuple[str, ...]
    sample: str = SAMPLE
    caught_by: str = ""
    has_metrics: bool = False
    companions: tuple[str, ...] = ()
    races: bool = False
    maps: bool = False
    counts: bool = False
    retries_by_name: bool = False
    language: Language | None = None
    outside: str = ""
    also: tuple[FurtherProgram, ...] = ()

    @property
    def systems(self) -> tuple[AnyDeclared, ...]:
        """What is outside Kubernetes, as the controller's user declares it."""
        return _systems(self.outside)

    @property
    def primary(self) -> tuple[Manifest, tuple[Manifest, ...]]:
        """The sample of its primary, with what that needs."""
        found = sort_out(read([MANIFESTS / self.sample], "sample"), (), read_crds(CRDS), ())
        primary, *rest = found.primaries
        return primary, needed(primary, found.before, rest)

    @property
    def about(self) -> tuple[str, ...]:
        """The scenarios that an honest one is tried in when time is short; empty: all."""
        return _ABOUT.get(self.name, ())

    def is_accused(self, result: Result) -> bool:
        """Whether an honest one is accused of what it does not do."""
        violated = {verdict.requirement for verdict in result.failures}
        if self.retries_by_name and _makes_anew(result.plan):
            violated -= {"honest-observed-generation"}
        return bool(violated) and not (self.counts and _vanishes(result.plan))

    @property
    def kept_as(self) -> str:
        """The file name of the history in which it was caught."""
        return f"{self.name.removesuffix(' (small)')}.jsonl.gz"

    @property
    def marks(self) -> list[pytest.MarkDecorator]:
        """Slow ones, and those in other languages, are left to commands of their own."""
        if self.language is not None:
            return [pytest.mark.languages]
        return [pytest.mark.slow] if self.name in _SLOW else []

    @property
    def subject(self) -> Subject:
        if self.language is not None:
            return in_language(self.language, *self.arguments)
        if self.name == "kube-controller-manager":
            folder = asyncio.run(ensure_built(COMPANIONS))
            return Subject(command=(str(folder / self.name), *self.arguments))
        if self.name == "go-widget":
            program = GoProgram(self.name, MANIFESTS.parent / self.name)
            return Subject(command=(str(asyncio.run(ensure_go_program(program, Silent()))), *self.arguments))
        return Subject(command=(sys.executable, "-m", *self.arguments), also=self.also)


def in_language(language: Language, *arguments: str) -> Subject:
    """A test is skipped where it has not been built."""
    try:
        return Subject(command=(*built(language), *arguments))
    except SetupError as err:
        pytest.skip(str(err))


def _vanishes(plan: Plan) -> bool:
    """Whether another user deletes a child, or sets it aside, of which the controller may not have been shown that it is there."""
    gone = {step.resource for step in plan.steps if isinstance(step, Remove) or (isinstance(step, Edit) and step.sets_aside)}
    return any(fault.resource in gone and "hides" in fault.effects for fault in plan.faults)


def _makes_anew(plan: Plan) -> bool:
    """Whether something is applied again after it was deleted."""
    deleted = [number for number, step in enumerate(plan.steps) if isinstance(step, Delete)]
    return bool(deleted) and any(isinstance(step, Apply) for step in plan.steps[deleted[0] :])


@cache
def _systems(outside: str) -> tuple[AnyDeclared, ...]:
    """Of this process: no two share a port."""
    within, every = Within(within=f"{2 * PERIOD_SECONDS:g}s"), Every(every=f"{PERIOD_SECONDS:g}s")
    if outside == "roles":
        return (DeclaredPostgreSQL(name="db", repairs=within, polls=every),)
    if outside == "processes":
        program, folder = (sys.executable, "-m", "staleproof.fixtures.external.processes"), "--folder={folder}"
        return (
            DeclaredCommands(
                name="runner",
                url="http://127.0.0.1:{port}",
                command=(*program, "serve", "--port={port}", folder),
                read=(*program, "read", folder),
                create=(*program, "create", folder, "{name}", "{fields}"),
                change=(*program, "change", folder, "{name}", "{fields}"),
                delete=(*program, "delete", folder, "{name}"),
                bare={"processes": {"running": False}},
                repairs=within,
                polls=every,
            ),
        )
    if outside == "buckets":
        port, folder = free_port(), tempfile.mkdtemp(prefix=_DATA)
        command = (sys.executable, "-m", "staleproof.fixtures.external.buckets", f"--port={port}", f"--folder={folder}")
        return (DeclaredS3(name="store", url=f"http://127.0.0.1:{port}", command=command, repairs="never", polls="never"),)
    return ()


def in_words(result: Result) -> str:
    """What was found, and in which plan."""
    return "\n".join([f"{result.plan.title}:", *(story.text() for story in result.stories)])


def unknown(result: Result) -> list[str]:
    """Why something in this trial is inconclusive, in one line; empty if nothing is."""
    why = dict.fromkeys(verdict.why for verdict in result.verdicts if verdict.outcome is Outcome.INCONCLUSIVE)
    return [f"{result.plan.title}: {'; '.join(why)}"] if why else []
