"""Controllers whose faults are known, if they have any, and how they are put under test."""

import asyncio
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from staleproof.fixtures.controllers.childless import CHILDLESS  # noqa: TID251  # as below
from staleproof.fixtures.controllers.correct import CORRECT  # noqa: TID251  # what the tests are about
from staleproof.fixtures.controllers.habits import HABITS  # noqa: TID251  # as above
from staleproof.fixtures.controllers.mutants import MUTANTS  # noqa: TID251  # as above
from staleproof.fixtures.controllers.sleepless import SLEEPLESS  # noqa: TID251  # as above

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

from ..languages.program import LANGUAGES, Language, built

MANIFESTS = Path(__file__).parents[2] / "fixtures" / "manifests"
HISTORIES = MANIFESTS.parent / "histories" / "mutants"
CRDS = tuple(
    MANIFESTS / f"{each}-crd.yaml"
    for each in ("widget", "sequentialjob", "tenant", "queued", "blueprint", "hosted", "platform", "account", "s3bucket", "daemon")
)
_PACKAGE = "staleproof.fixtures.controllers"
METRICS = "http://127.0.0.1:{metrics_port}/metrics"
_METRICS_PORT = "--metrics-port={metrics_port}"
_SAMPLE = "widget-content-sample.yaml"
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
    "writes_back_answers", "gives_up", "hoarding_single", "hasty_remaking", "forgets_its_count",  # they are stuck, and waited for
    "slow_starter",  # each new life takes seconds
    "once_a_minute",  # a minute for each rejected write
    "retries_late", "never_retries", "starts_over",  # they are waited for; test_patience has them
    "provisions", "shuffles",  # most of their trials differ, so more runs are asked for
    # others of the same requirement, which are quicker, stand for them
    "cleans_up_on_event", "ignores_failed_clean_up", "counts_generations", "inherits_status", "hasty_stored_widget",
    "gives_up_its_report",
    "counts_for_ever", "cleans_up_late", "impatient_expectations", "panics_on_tombstone", "skips_to_now", "marks_done_first",
    "insists_when_refused", "reports_version_ahead",
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
_PERIOD_SECONDS = 2.0
"""Of controllers that look at what is outside."""
_SETTINGS = "consistency_store (settings)"
_OWN_WRITES = ("own-writes", "coalescing-skew", "restart")
_ABOUT = {
    # cures of one trouble: it is where they differ
    "consistency_store": _OWN_WRITES, _SETTINGS: _OWN_WRITES, "deterministic_names": _OWN_WRITES,
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
_KCM = (
    "--kubeconfig={kubeconfig} --controllers=replicaset-controller --leader-elect=false --use-service-account-credentials=false "
    "--kube-api-qps=1000 --kube-api-burst=2000 --bind-address=127.0.0.1 --secure-port=0"
)


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
    sample: str = _SAMPLE
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
    within, every = Within(within=f"{2 * _PERIOD_SECONDS:g}s"), Every(every=f"{_PERIOD_SECONDS:g}s")
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


def _complete(package: str, controllers: Mapping[str, object]) -> Iterator[Known]:
    """All controllers of one package."""
    for name, controller in controllers.items():
        yield Known(
            name,
            (f"{_PACKAGE}.{package}", name, _METRICS_PORT),
            getattr(controller, "sample", _SAMPLE),
            caught_by=getattr(controller, "caught_by", ""),
            has_metrics=True,
            races=getattr(controller, "races", False),
        )


def _small(name: str, caught_by: str = "", *, counts: bool = False) -> Known:
    """One of those that are a page each, as in the demo."""
    return Known(f"{name} (small)", (f"{_PACKAGE}.{name}",), "widget-sample.yaml", caught_by, counts=counts)


def _sequential(name: str, style: str, caught_by: str = "") -> Known:
    """One that waits for Jobs, which companions have to run."""
    return Known(
        name,
        (f"{_PACKAGE}.sequential_job", style, _METRICS_PORT),
        "sequentialjob-sample.yaml",
        caught_by,
        has_metrics=True,
        companions=("job", "garbage-collector", "scheduler", "kwok"),
    )


def _stored(name: str, caught_by: str = "") -> Known:
    """One that has another controller make claims, which have no owner."""
    return Known(
        f"{name}_stored_widget",
        (f"{_PACKAGE}.stored_widget", name, _METRICS_PORT),
        "widget-sample.yaml",
        caught_by,
        has_metrics=True,
        companions=("statefulset", "garbage-collector", "persistentvolumeclaim-protection"),
    )


def _tenant(name: str, caught_by: str = "") -> Known:
    """One whose primary is cluster-scoped, and whose children are not where that is."""
    arguments = (f"{_PACKAGE}.tenant", name, _METRICS_PORT)
    return Known(f"{name}_tenant", arguments, "tenant-sample.yaml", caught_by, has_metrics=True)


def _queued(name: str, caught_by: str = "") -> Known:
    """One whose primary names others, without which nothing is made for it."""
    arguments = (f"{_PACKAGE}.queued", name, _METRICS_PORT)
    return Known(f"{name}_queued", arguments, "queued-sample.yaml", caught_by, has_metrics=True)


def _blueprint(name: str, caught_by: str = "") -> Known:
    """One whose primary is of a kind that it makes itself, because of another object."""
    return Known(f"{name}_blueprint", (f"{_PACKAGE}.blueprint", name, _METRICS_PORT), "blueprint-sample.yaml", caught_by)


def _hosted(name: str, caught_by: str = "") -> Known:
    """One whose primary has a host name, of which the cluster has one."""
    arguments = (f"{_PACKAGE}.hosted", name, _METRICS_PORT)
    return Known(f"{name}_hosted", arguments, "hosted-sample.yaml", caught_by, has_metrics=True)


def _resident(name: str, caught_by: str = "") -> Known:
    """One that looks into one namespace only: its primaries have to be there, beside what is its own."""
    arguments = (f"{_PACKAGE}.resident", name, _METRICS_PORT, "--namespace=widgets-system")
    return Known(f"{name}_resident", arguments, "widget-sample.yaml", caught_by, has_metrics=True)


def _slow_to_part(name: str, caught_by: str = "") -> Known:
    """One whose primary is there for some seconds more when it is deleted."""
    return Known(name, (f"{_PACKAGE}.slow_to_part", name, _METRICS_PORT), _SAMPLE, caught_by, has_metrics=True)


def _remaking(name: str, caught_by: str = "") -> Known:
    """One that deletes what it keeps and makes it again, with something else in between."""
    arguments = (f"{_PACKAGE}.remaking", name, _METRICS_PORT)
    return Known(f"{name}_remaking", arguments, _SAMPLE, caught_by, has_metrics=True, maps=True)


def _single(name: str, caught_by: str = "") -> Known:
    """One that keeps one child for each primary, whatever the primary asks for."""
    return Known(f"{name}_single", (f"{_PACKAGE}.single", name, _METRICS_PORT), "widget-sample.yaml", caught_by, has_metrics=True)


def _gateway(name: str, caught_by: str = "") -> Known:
    """One that serves all primaries by one configuration, and holds none of them by a finalizer."""
    return Known(f"{name}_gateway", (f"{_PACKAGE}.gateway", name, _METRICS_PORT), _SAMPLE, caught_by, has_metrics=True)


def _supplied(family: str, name: str, caught_by: str = "") -> Known:
    """One whose primary names something: a Secret, of which it only says whether it is there, or a ConfigMap, which it copies."""
    return Known(
        f"{name}_{family}", (f"{_PACKAGE}.{family}", name, _METRICS_PORT), f"{family}-sample.yaml", caught_by, has_metrics=True
    )


def _switched(name: str, caught_by: str = "") -> Known:
    """One whose primary has many switches, of which two own something live, and one of these a claim."""
    return Known(
        f"{name}_switched",
        (f"{_PACKAGE}.switched", name, _METRICS_PORT),
        "platform-sample.yaml",
        caught_by,
        has_metrics=True,
        companions=("persistentvolumeclaim-protection",),
        maps=True,
    )


def _account(name: str, caught_by: str = "", *, poller: str = "") -> Known:
    """One that keeps roles in a PostgreSQL server; with a poller beside it, which is a program of its own."""
    every = f"--every-seconds={_PERIOD_SECONDS:g}"
    arguments = (f"{_PACKAGE}.accounts", name, every, _METRICS_PORT)
    command = (sys.executable, "-m", f"{_PACKAGE}.accounts.status_poller", poller, every)
    return Known(
        f"{poller}_poller" if poller else f"{name}_account",
        arguments,
        "account-sample.yaml",
        caught_by,
        has_metrics=True,
        outside="roles",
        also=(FurtherProgram(name="poller", command=command),) if poller else (),
    )


def _bucket(name: str, caught_by: str = "") -> Known:
    """One that keeps a bucket and a ConfigMap for each primary, and asks about neither."""
    arguments = (f"{_PACKAGE}.buckets", name, _METRICS_PORT)
    return Known(f"{name}_bucket", arguments, "s3bucket-sample.yaml", caught_by, has_metrics=True, outside="buckets")


def _daemon(name: str, caught_by: str = "") -> Known:
    """One that has a process run for each primary, by a supervisor outside."""
    arguments = (f"{_PACKAGE}.daemons", name, f"--every-seconds={_PERIOD_SECONDS:g}", _METRICS_PORT)
    return Known(f"{name}_daemon", arguments, "daemon-sample.yaml", caught_by, has_metrics=True, outside="processes")


def _planted(bug: str, caught_by: str) -> Iterator[Known]:
    """A fault that each of the controllers in other languages can be asked for."""
    for language in LANGUAGES:
        yield Known(f"{language.name} {bug}", (f"--bug={bug}",), caught_by=caught_by, language=language)


GUILTY = (
    *_complete("mutants", MUTANTS),
    _small("naive", "no-duplicate-create"),
    _small("no_preconditions", "no-delete-of-unseen"),
    _sequential("naive_sequential_job", "naive", "no-duplicate-create"),
    _stored("hasty", "no-delete-of-unseen"),
    _tenant("hurried", "cleans-up"),
    _queued("careless", "no-duplicate-create"),
    _blueprint("careless", "no-duplicate-create"),
    _hosted("blocking", "isolates-objects"),
    _resident("doubling", "no-duplicate-create"),
    _slow_to_part("forgetful", "name-reuse"),
    _gateway("inattentive", "tolerates-coalescing"),
    _single("hoarding", "survives-expiry"),
    _remaking("hasty", "survives-restart"),
    _supplied("secured", "comparing", "honest-status"),
    _supplied("configured", "comparing", "converges-after-catch-up"),
    _switched("hoarding", "path-independent"),
    _account("unwatching", "notices-lost-children"),
    _account("compares_existence", "repairs-external-drift"),
    _account("on_events", "drift-needs-no-api-event"),
    _account("records_late", "no-external-leak"),
    _account("forgetful_poller", "repairs-external-drift"),
    _account("notify_only", "repairs-external-drift"),
    _account("only_after_success", "repairs-external-drift"),
    _account("lost_slot", "repairs-external-drift"),
    _account("by_status", "no-lost-update", poller="overwriting"),
    _bucket("asks_always", "calm-external-calls"),
    _bucket("early_generation", "honest-status"),
    _bucket("first_error", "calm-external-calls"),
    _daemon("registered", "repairs-external-drift"),
)
NOT_YET = {
    "new_passwords": "`quiet-at-rest` tells of the Secret that it writes in one run of two, as its period falls; of the role "
    "one that changes passwords by the clock as it should, and one that says the same again, of which PostgreSQL stores another "
    "verifier, look the same",
    "old_position": "what it asks again after a restart is one call for each object, and so much any new life may ask; that "
    "the slot keeps the log for ever is no call",
}
"""Guilty controllers of external state that no plan shows yet, by their names, and why."""
HONEST = (
    _sequential("sequential_job", "correct"),  # the slowest first
    _stored("careful"),
    _tenant("thorough"),
    _queued("admitting"),
    _blueprint("exact"),
    _hosted("exclusive"),
    _resident("careful"),
    _slow_to_part("mindful"),
    _gateway("attentive"),
    _single("exact"),
    _remaking("thorough"),
    _supplied("secured", "rereading"),
    _supplied("configured", "rereading"),
    _supplied("configured", "marking"),
    _switched("reassured"),
    _account("in_cluster"),
    _account("periodic"),
    _account("inline_poll"),
    _account("side_poller"),
    _account("listening"),
    _account("decoding"),
    _account("by_status", poller="honest"),
    _bucket("offline"),
    _daemon("running"),
    Known("kopf_widget", (f"{_PACKAGE}.kopf_widget",)),
    _small("unhurried"),
    Known("go-widget", ()),
    Known("kube-controller-manager", tuple(_KCM.split()), "replicaset-sample.yaml", counts=True, retries_by_name=True),
    *_complete("sleepless", SLEEPLESS),
    *_complete("habits", HABITS),
    *_complete("childless", CHILDLESS),
    *_complete("correct", CORRECT),
    Known(_SETTINGS, (f"{_PACKAGE}.correct", "consistency_store", _METRICS_PORT), "widget-settings-sample.yaml", has_metrics=True),
    _small("expectations", counts=True),
    _small("deterministic"),
)
GUILTY_ABROAD = (
    *_planted("creates-twice", "no-duplicate-create"),
    *_planted("no-relist-after-410", "survives-expiry"),
    *_planted("trusts-old-list", "no-time-travel"),
)
HONEST_ABROAD = tuple(Known(language.name, (), language=language) for language in LANGUAGES)
