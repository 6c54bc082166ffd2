"""An external system behind a relay: whatever its adapter can, and slow answers and counted calls besides."""

from collections import Counter
from collections.abc import Sequence

from staleproof.core.external import CallFault, Drift, ExternalObject, NotificationFault
from staleproof.drive.external.relay import Behind, Relay
from staleproof.drive.external.system import ExternalSystem


class Relayed(ExternalSystem):
    """What the controller is given: its address leads through the relay, if one can stand before the system; the harness goes
    straight to it."""

    def __init__(self, system: ExternalSystem, relay: Relay | None) -> None:
        self.name, self.system, self._relay = system.name, system, relay
        self.bare, self.backlog_kinds = system.bare, system.backlog_kinds
        self.is_shared, self.upstream = system.is_shared, system.upstream
        self.kind = system.kind  # type: ignore[misc]  # of an adapter the class says it
        self.url = system.url_at(relay.host, relay.ports[system.name]) if relay else system.url

    def capabilities(self) -> frozenset[str]:
        return self.system.capabilities() | ({"slow", "count_calls"} if self._relay else set[str]())

    async def install(self, faults: Sequence[CallFault | NotificationFault]) -> None:
        """Replace what goes wrong with its calls and notifications. Where no relay stands before it, nothing does. UsageError when
        that makes no sense."""
        if self._relay is not None:
            await self._relay.install(self.name, faults)

    async def read_state(self) -> tuple[ExternalObject, ...]:
        return await self.system.read_state()

    async def drift(self, drift: Drift) -> None:
        await self.system.drift(drift)

    async def stop(self) -> None:
        await self.system.stop()

    async def start(self) -> None:
        await self.system.start()

    async def slow(self, seconds: float) -> None:
        if self._relay is not None:
            await self._relay.slow(self.name, seconds)
        elif seconds:
            self._lacks("slow")

    async def count_calls(self) -> Counter[str]:
        """What the controller has asked for, whether it came to the system or not."""
        if self._relay is None:
            self._lacks("count_calls")
        return await self._relay.count(self.name)

    async def notify(self, kind: str, name: str) -> None:
        await self.system.notify(kind, name)


def behind(system: ExternalSystem) -> Behind:
    """What a relay has to know of a system to stand before it."""
    return Behind(system.name, system.protocol, system.upstream)
