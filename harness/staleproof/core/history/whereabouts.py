"""In which namespaces the controller looks for the objects of a resource, as its watches and lists show.

A controller may be configured to look into one namespace only. Then its primaries have to be there.
"""

from collections import defaultdict
from collections.abc import Collection

from staleproof.core.history.entry import Asked, Entry, Opened
from staleproof.core.history.scope import is_trials
from staleproof.core.operator.selector import namespace_in


class Whereabouts:
    """A fold over the entries of all lives of one controller."""

    def __init__(self) -> None:
        self._looked: dict[str, set[str]] = defaultdict(set)

    def see(self, entry: Entry) -> None:
        match entry:
            case Opened() | Asked(verb="list", name=""):
                self._looked[entry.resource].add(entry.namespace or namespace_in(entry.selector))

    def knows(self, resource: str) -> bool:
        """Whether it has looked for the resource anywhere."""
        return resource in self._looked

    def only(self, resource: str, existing: Collection[str]) -> str:
        """The namespace that its objects have to be in; empty for any. `existing`: the namespaces that there are.

        One that looks everywhere, or into each namespace that there is, or into those of trials as they come, is bound to none. Of
        several it is the first.
        """
        looked = self._looked.get(resource, set())
        follows = any(map(is_trials, looked)) or ({each for each in existing if not is_trials(each)} <= looked)
        return "" if follows or "" in looked else min(looked, default="")

    def forget(self) -> None:
        """Another controller is put under test."""
        self._looked.clear()
