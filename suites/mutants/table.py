"""The controllers whose faults are known, and the honest ones: each with its sample and what it needs."""

import sys
from collections.abc import Iterator, Mapping

from staleproof.fixtures.controllers.childless import CHILDLESS  # noqa: TID251  # as below
from staleproof.fixtures.controllers.correct import CORRECT  # noqa: TID251  # what the tests are about
from staleproof.fixtures.controllers.habits import HABITS  # noqa: TID251  # as above
from staleproof.fixtures.controllers.mutants import MUTANTS  # noqa: TID251  # as above
from staleproof.fixtures.controllers.sleepless import SLEEPLESS  # noqa: TID251  # as above

from staleproof.core.plan.plan import FurtherProgram

from ..languages.program import LANGUAGES
from .known import PERIOD_SECONDS, SAMPLE, SETTINGS, Known

_PACKAGE = "staleproof.fixtures.controllers"
_METRICS_PORT = "--metrics-port={metrics_port}"
_KCM = (
    "--kubeconfig={kubeconfig} --controllers=replicaset-controller --leader-elect=false --use-service-account-credentials=false "
    "--kube-api-qps=1000 --kube-api-burst=2000 --bind-address=127.0.0.1 --secure-port=0"
)


def _complete(package: str, controllers: Mapping[str, object]) -> Iterator[Known]:
    """All controllers of one package."""
    for name, controller in controllers.items():
        yield Known(
            name,
            (f"{_PACKAGE}.{package}", name, _METRICS_PORT),
            getattr(controller, "sample", SAMPLE),
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
    return Known(name, (f"{_PACKAGE}.slow_to_part", name, _METRICS_PORT), SAMPLE, caught_by, has_metrics=True)


def _remaking(name: str, caught_by: str = "") -> Known:
    """One that deletes what it keeps and makes it again, with something else in between."""
    arguments = (f"{_PACKAGE}.remaking", name, _METRICS_PORT)
    return Known(f"{name}_remaking", arguments, SAMPLE, caught_by, has_metrics=True, maps=True)


def _single(name: str, caught_by: str = "") -> Known:
    """One that keeps one child for each primary, whatever the primary asks for."""
    return Known(f"{name}_single", (f"{_PACKAGE}.single", name, _METRICS_PORT), "widget-sample.yaml", caught_by, has_metrics=True)


def _gateway(name: str, caught_by: str = "") -> Known:
    """One that serves all primaries by one configuration, and holds none of them by a finalizer."""
    return Known(f"{name}_gateway", (f"{_PACKAGE}.gateway", name, _METRICS_PORT), SAMPLE, caught_by, has_metrics=True)


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
    every = f"--every-seconds={PERIOD_SECONDS:g}"
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
    arguments = (f"{_PACKAGE}.daemons", name, f"--every-seconds={PERIOD_SECONDS:g}", _METRICS_PORT)
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
    _tenant("recalling", "cleans-up"),
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
    _supplied("configured", "doubling", "no-duplicate-create"),
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
    _remaking("waiting"),
    _supplied("secured", "rereading"),
    _supplied("configured", "rereading"),
    _supplied("configured", "marking"),
    _supplied("configured", "replacing"),
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
    Known(SETTINGS, (f"{_PACKAGE}.correct", "consistency_store", _METRICS_PORT), "widget-settings-sample.yaml", has_metrics=True),
    _small("expectations", counts=True),
    _small("deterministic"),
)
GUILTY_ABROAD = (
    *_planted("creates-twice", "no-duplicate-create"),
    *_planted("no-relist-after-410", "survives-expiry"),
    *_planted("trusts-old-list", "no-time-travel"),
)
HONEST_ABROAD = tuple(Known(language.name, (), language=language) for language in LANGUAGES)
