"""Measures the checkers on a generated history: 100,000 entries, a trial and the two references it is compared with.

The entries are those that a correct replica controller causes: Widgets, three pods for each, one of which is deleted later.
"""

import time
from collections.abc import Callable, Iterator
from itertools import count
from statistics import median
from typing import Any, Literal

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.checks.judge import judge
from staleproof.core.entry import (
    Answered,
    Asked,
    Committed,
    Delivered,
    Ended,
    Entry,
    FaultFired,
    Opened,
    Released,
    Settled,
    StepBegan,
)
from staleproof.core.fault import HideOwnWrite
from staleproof.core.history import Header, History
from staleproof.core.plan import Apply, Plan

from .figure import ENTRIES_PER_SECOND, Figure

ENTRIES = 100_000
_RUNS = 3
_WIDGETS, _PODS = "widgets.staleproof.dev", "pods"
_NAMESPACE = "bench"
_API_VERSION = "staleproof.dev/v1alpha1"
_STREAMS = {_WIDGETS: 1, _PODS: 2}
_REPLICAS = 3
_PER_WIDGET = 2 + 4 * _REPLICAS + 4
Role = Literal["trial", "reference"]


class _Script:
    """Writes one history, entry by entry, with a clock and revisions of its own."""

    def __init__(self, run: str) -> None:
        self.entries: list[Entry] = []
        self._run = run
        self._numbers, self._revisions = count(1), count(100)

    def now(self) -> float:
        return len(self.entries) * 1e-3

    def add(self, *entries: Entry) -> None:
        self.entries += entries

    def commit(self, type_: Literal["ADDED", "DELETED"], resource: str, object_: dict[str, Any]) -> None:
        """A change, and the frame that shows it to the controller."""
        meta, revision = object_["metadata"], next(self._revisions)
        who = {"namespace": _NAMESPACE, "name": meta["name"], "uid": meta["uid"], "revision": revision}
        self.add(Committed(at=self.now(), resource=resource, type=type_, object=object_, **who))
        self.add(Delivered(at=self.now(), stream=_STREAMS[resource], type=type_, **who))

    def write(self, verb: Literal["create", "delete"], pod: dict[str, Any]) -> None:
        meta, number = pod["metadata"], next(self._numbers)
        named = "" if verb == "create" else meta["name"]
        uid = "" if verb == "create" else meta["uid"]
        self.add(
            Asked(
                at=self.now(),
                request=number,
                client="controller",
                verb=verb,
                resource=_PODS,
                namespace=_NAMESPACE,
                name=named,
                precondition_uid=uid,
            ),
            Answered(
                at=self.now(),
                request=number,
                outcome="ok",
                code=201,
                namespace=_NAMESPACE,
                name=meta["name"],
                uid=meta["uid"],
                revision=None,
            ),
        )
        self.commit("ADDED" if verb == "create" else "DELETED", _PODS, pod)

    def widget(self, number: int) -> None:
        name, uid = f"widget-{number}", f"{self._run}-{number}"
        meta = {"name": name, "namespace": _NAMESPACE, "uid": uid}
        self.commit(
            "ADDED", _WIDGETS, {"apiVersion": _API_VERSION, "kind": "Widget", "metadata": meta, "spec": {"replicas": _REPLICAS}}
        )
        pods = [self._pod(name, uid, nth) for nth in range(_REPLICAS)]
        for pod in pods:
            self.write("create", pod)
        self.write("delete", pods[-1])

    def _pod(self, owner: str, owner_uid: str, nth: int) -> dict[str, Any]:
        reference = {"apiVersion": _API_VERSION, "kind": "Widget", "name": owner, "uid": owner_uid, "controller": True}
        meta = {
            "name": f"{owner}-{self._run}{nth}",
            "generateName": f"{owner}-",
            "namespace": _NAMESPACE,
            "uid": f"{owner_uid}-{nth}",
            "ownerReferences": [reference],
        }
        return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [{"name": "main", "image": "sample"}]}}


def history() -> tuple[History, tuple[History, ...]]:
    """The trial and its references."""
    widgets = ENTRIES // 3 // _PER_WIDGET
    return _one("trial", "t", widgets), (_one("reference", "a", widgets), _one("reference", "b", widgets))


def _one(role: Role, run: str, widgets: int) -> History:
    script = _Script(run)
    script.add(*(Opened(at=0.0, stream=number, client="controller", resource=name) for name, number in _STREAMS.items()))
    script.add(StepBegan(at=0.0, step=1, does="apply"))
    if role == "trial":
        script.add(FaultFired(at=0.0, fault=0, on="ADDED pods"))
    for number in range(widgets):
        script.widget(number)
    script.add(Released(at=script.now()), Settled(at=script.now(), ok=True), Ended(at=script.now()))
    plan = Plan(scenario="own-writes", steps=(Apply(object={}),), faults=(HideOwnWrite(resource=_PODS),) if role == "trial" else ())
    primaries = tuple(f"{_WIDGETS}/widget-{number}" for number in range(widgets))
    return History(Header(role=role, plan=plan, namespace=_NAMESPACE, primaries=primaries), tuple(script.entries))


def speeds(progress: Callable[[str], None]) -> Iterator[Figure]:
    """The speed of each checker on its own, with everything that it has to work out first."""
    trial, references = history()
    total = len(trial.entries) + sum(len(reference.entries) for reference in references)
    for requirement in REQUIREMENTS:
        progress(f"checker {requirement.slug}: {total:,} entries")
        seconds = []
        for _ in range(_RUNS):
            began = time.perf_counter()
            judge(trial, references, requirements=[requirement])
            seconds.append(time.perf_counter() - began)
        speed = total / median(seconds)
        yield Figure(
            name=f"checker {requirement.slug}",
            unit="entries/s",
            value=speed,
            target=f"≥ {ENTRIES_PER_SECOND:,}",
            met=speed >= ENTRIES_PER_SECOND,
        )
