"""What relays report, on its way into the history: whose each call is, is known from the commits that have been seen by then."""

import time
from collections.abc import Callable, Iterable

from staleproof.core.external import Seen
from staleproof.core.history.entry import Broke, Committed, Entry
from staleproof.core.history.external_call import CallOwners


class ExternalRecording:
    """Between a relay and the bus of entries: `take` puts an entry on the bus. `resources` are those whose objects calls are about;
    empty means any."""

    def __init__(self, take: Callable[[Entry], None], resources: Iterable[str] = ()) -> None:
        self._take, self.owners = take, CallOwners(resources)

    def prefer(self, resources: Iterable[str]) -> None:
        """From now on objects of these resources, if they are mentioned, are meant rather than others."""
        self.owners.prefer(resources)

    def see(self, entry: Entry) -> None:
        """A listener of the bus."""
        if isinstance(entry, Committed):
            self.owners.see(entry)

    def seen(self, seen: Seen) -> None:
        """What a relay reports. Nothing of it is stored but this entry, which has no secrets."""
        self._take(self.owners.entry(seen))

    def ended(self, why: str) -> None:
        """The relay has ended by itself."""
        self._take(Broke(at=time.monotonic(), where="relay", why=why))
