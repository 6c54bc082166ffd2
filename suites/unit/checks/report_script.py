"""More of the script's language: what the user wants by generation, and what the controller says of it, in status and metrics."""

from typing import Any, Self

from staleproof.core.entry import Answered, Metrics, Sample
from staleproof.core.fault import AnyFault, HoldStream
from staleproof.core.history import History

from .script import HOLD, NAMESPACE, WIDGETS, Script

HOLD_WIDGETS = HoldStream(resource=WIDGETS)


class ReportScript(Script):
    def __init__(self, *faults: AnyFault, namespace: str = NAMESPACE) -> None:
        super().__init__(*faults, namespace=namespace)
        self._generation = 0

    def wants(self, replicas: int) -> Self:
        """The user creates the widget, or changes its spec: the next generation."""
        self._generation += 1
        old = self._objects.get((WIDGETS, "w"))
        if old is None:
            return self.applied("w", metadata={"generation": 1}, spec=replicas)
        return self.applied("w", metadata=old["metadata"] | {"generation": self._generation}, spec=replicas)

    def says(self, generation: int | None = None, *, ready: int | None = None, condition: str = "Ready", **status: Any) -> Self:  # noqa: ANN401
        """The controller writes the status: the generation observed, and the one that a condition is True for."""
        if generation is not None:
            status["observedGeneration"] = generation
        if ready is not None:
            status["conditions"] = [{"type": condition, "status": "True", "observedGeneration": ready}]
        return self.updates("w", status=status)

    def says_blindly(
        self, name: str = "w", resource: str = WIDGETS, *, subresource: str = "status", reason: str = "Conflict"
    ) -> Self:
        """An update that rests on what it was shown, and is refused."""
        self._ask("update", resource, name, subresource=subresource)
        return self._add(Answered, request=self._request, outcome="fail", code=409, reason=reason, name=name)

    def read(self, *, skips: int | None = None, version: int | None = None, resource: str = "pods") -> Self:
        """The runner reads the controller's metrics."""
        name, _, group = resource.partition(".")
        labels = {"group": group, "resource": name}
        samples = [] if skips is None else [Sample("widget_controller_stale_sync_skips_total", labels, skips)]
        samples += [] if version is None else [Sample("informer_store_resource_version", {"name": "w", **labels}, version)]
        return self._add(Metrics, took=0.0, samples=tuple(samples))

    def rests(self, entries: int = 4) -> Self:
        """Time goes on."""
        for _ in range(entries):
            self.idle(1)
        return self

    def newest(self) -> int:
        return self._revision


def trial(*faults: AnyFault) -> ReportScript:
    """A trial in which pods and widgets may be held."""
    return ReportScript(*(faults or (HOLD, HOLD_WIDGETS)))


def reference(number: int = 1) -> ReportScript:
    return ReportScript(namespace=f"ref-{number}")


def pair(workload: Any) -> tuple[History, History]:  # noqa: ANN401  # a function of a script
    """Two references of a workload."""
    return workload(reference(1)), workload(reference(2))
