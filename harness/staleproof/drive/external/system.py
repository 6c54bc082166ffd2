"""What can be asked of an external system, whatever it is: an adapter implements what it can, and says clearly what it cannot."""

from collections import Counter
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, NoReturn

from staleproof.core.external import Drift, ExternalObject
from staleproof.errors import UsageError

CAPABILITIES = ("read_state", "drift", "stop", "start", "slow", "count_calls", "notify")
"""What an adapter may implement, in the order in which a message names them."""


class NotImplementedByAdapter(UsageError):
    """A trial needs of an external system what its adapter does not implement."""


class ExternalSystem:
    """An adapter: an external system that runs. One of the user's own overrides the methods that it can implement.

    Attributes:
        kind: what sort of system it is, as configurations call it: `postgresql`, `http`.
        name: which one it is, in histories and messages.
        url: where the controller reaches it. It may have credentials in it, so no report has it.
        protocol: what a relay has to speak before it; empty: none can stand there, so no call is counted or goes wrong.
        upstream: where a relay reaches it, as HOST:PORT.
        backlog_kinds: kinds of things in it that keep notifications for the controller, and may be lost: a log, a queue.
        is_shared: others use it, too, such as other workers of the run: trials with it are run one at a time.
        bare: of each kind of thing in it the fields that can be changed from outside, with their defaults. Those that a controller
            leaves so are not its business, and do not drift in plans.
    """

    kind: ClassVar[str] = "external"
    name: str = ""
    url: str = ""
    protocol: str = ""
    upstream: str = ""
    is_shared: bool = False
    backlog_kinds: frozenset[str] = frozenset()
    bare: Mapping[str, Mapping[str, Any]] = MappingProxyType({})

    async def read_state(self) -> tuple[ExternalObject, ...]:
        """What is in it now, in order of kind and name; what belongs to the system itself, and to the harness, is left out.

        Raises:
            SetupError: it cannot be reached.
        """
        self._lacks("read_state")

    async def drift(self, drift: Drift) -> None:
        """Change it as another user would, behind the controller's back. It is done when this returns.

        Raises:
            SetupError: it cannot be reached.
            UsageError: the system refuses it, or the adapter knows no such kind or field.
        """
        self._lacks("drift")

    async def stop(self) -> None:
        """Have it down: connections end, and new ones are refused. Its state stays. Stopping twice changes nothing."""
        self._lacks("stop")

    async def start(self) -> None:
        """Have it up again at the same address, with the state that it had; SetupError when it does not come up."""
        self._lacks("start")

    async def slow(self, seconds: float) -> None:
        """Have every call answered so many seconds late; 0 ends that."""
        self._lacks("slow")

    async def count_calls(self) -> Counter[str]:
        """How many calls the controller has made since the system was first started, by what they are (`SELECT`, `PUT`)."""
        self._lacks("count_calls")

    async def notify(self, kind: str, name: str) -> None:
        """Notify the listeners that this object has changed, as the system does it: with the change it was, too early, once more,
        or out of order is up to the caller. A drift by itself brings no notification."""
        self._lacks("notify")

    def url_at(self, host: str, port: int) -> str:
        """What `url` would be if the system were reached by way of what listens there. NotImplementedByAdapter if it cannot be."""
        raise NotImplementedByAdapter(
            f"external system {self.name or self.kind!r}: the adapter {type(self).__name__} does not say what its URL is behind a "
            f"relay (url_at); without one no call can be counted or go wrong"
        )

    def capabilities(self) -> frozenset[str]:
        """Which of `CAPABILITIES` this adapter implements."""
        return frozenset(name for name in CAPABILITIES if getattr(type(self), name) is not getattr(ExternalSystem, name))

    def require(self, needed: Collection[str]) -> None:
        """NotImplementedByAdapter when it lacks one of these capabilities; before anything has been done with it."""
        for name in CAPABILITIES:
            if name in needed and name not in self.capabilities():
                self._lacks(name)

    def _lacks(self, name: str) -> NoReturn:
        can = ", ".join(each for each in CAPABILITIES if each in self.capabilities()) or "nothing"
        raise NotImplementedByAdapter(
            f"external system {self.name or self.kind!r}: the adapter {type(self).__name__} does not implement {name} (it "
            f"implements {can}); implement it, or leave out the steps and faults that need it"
        )
