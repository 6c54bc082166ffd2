"""Leases that a controller's dead lives still hold: its next life would wait until they run out, usually for 15 seconds.

An administrator may release them, and so does the runner before it starts the next life. This module decides from the controller's
own requests which Leases are the controller's: those that no other user has written since. It does not know leader election by
annotations of ConfigMaps or Endpoints, nor a Lease whose create was never answered.
"""

from typing import Any

from staleproof.core.history.entry import Answered, Asked, Entry
from staleproof.drive.cluster.api import JSON, Api, ApiError
from staleproof.errors import SetupError

LEASES = "leases.coordination.k8s.io"
RELEASED: JSON = {"holderIdentity": "", "leaseDurationSeconds": 1}
"""As client-go leaves a Lease that it gives up: every candidate may take a Lease without a holder at once."""
_HOLDS = frozenset({"create", "update", "patch"})
_WRITTEN_MEANWHILE = frozenset({404, 409})


class Leases:
    """The Leases that the controller was the last to write, folded from entries."""

    def __init__(self) -> None:
        self._written: dict[str, int] = {}  # by uid
        self._pending: dict[int, tuple[str, str]] = {}
        self._unsure: set[tuple[str, str]] = set()
        self._renewals: list[float] = []

    def see(self, entry: Entry) -> None:
        match entry:
            case Asked(resource="leases.coordination.k8s.io", verb=verb, dry_run=False) if verb in _HOLDS:
                self._pending[entry.request] = (entry.namespace, entry.name)
            case Answered() if entry.request in self._pending:
                place = self._pending.pop(entry.request)
                if entry.revision is not None and entry.outcome != "fail":
                    self._written[entry.uid] = entry.revision
                    self._renewals = [*self._renewals[-1:], entry.at]
                    self._unsure.discard(place)
                elif entry.outcome == "unknown":
                    self._unsure.add(place)

    def held(self, leases: list[JSON]) -> list[JSON]:
        """Those of the leases that have a holder and that the controller was, or may have been, the last to write."""
        return [lease for lease in leases if lease.get("spec", {}).get("holderIdentity") and self._is_own(lease["metadata"])]

    def forget(self) -> None:
        """Note that what it held has been released."""
        self._written.clear()
        self._pending.clear()
        self._unsure.clear()

    @property
    def known(self) -> bool:
        """Whether the controller has written any."""
        return bool(self._written or self._pending or self._unsure)

    def begin_life(self) -> None:
        """Note that a new life begins, which has renewed nothing."""
        self._renewals.clear()

    def unrenewed(self, now: float) -> float | None:
        """Seconds since this life last wrote a Lease; None if it has written none."""
        return now - self._renewals[-1] if self._renewals else None

    @property
    def renews_every(self) -> float | None:
        """Seconds between the last two such writes; None if there have not been two."""
        return self._renewals[-1] - self._renewals[0] if len(self._renewals) > 1 else None

    def _is_own(self, metadata: dict[str, Any]) -> bool:
        may_be = {*self._unsure, *self._pending.values()}
        last = str(self._written.get(metadata["uid"])) == metadata["resourceVersion"]
        return last or (metadata["namespace"], metadata["name"]) in may_be


async def release(leases: Leases, api: Api) -> None:
    """Release what the controller's dead life holds; a Lease that another user writes meanwhile is theirs. SetupError when the API
    server does not allow it."""
    kind = await api.type_named(LEASES) if leases.known else None
    if kind is None:
        return
    try:
        found = (await api.call("GET", kind.path())).get("items", [])
        for lease in leases.held(found):
            metadata = lease["metadata"]
            patch = {"metadata": {"resourceVersion": metadata["resourceVersion"]}, "spec": RELEASED}
            try:
                await api.merge(kind, metadata["namespace"], metadata["name"], patch)
            except ApiError as err:
                if err.code not in _WRITTEN_MEANWHILE:
                    raise
    except ApiError as err:
        raise SetupError(
            f"cannot release the leases of the controller that was ended: {err}; allow it (get, list and patch {LEASES}), or leave "
            "them held with --staleproof-release-leases=no"
        ) from err
    leases.forget()
