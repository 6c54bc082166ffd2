"""What a list with a selector would have held at a revision: what it does not show says something about those objects only.

An object that is gone counts by its last state: had it stayed as it was, the list would have held it.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Set

from staleproof.core.grouping import grouped
from staleproof.core.history.entry import Committed
from staleproof.core.operator.selector import fits


class Selections:
    """Of these commits: those of one namespace, each object's in the order of their revisions."""

    def __init__(self, commits: Iterable[Committed] = (), namespace: str = "") -> None:
        self.namespace = namespace
        self._states = grouped((commit.uid, commit) for commit in commits)
        self._uids = grouped((states[0].resource, uid) for uid, states in self._states.items())

    def concerns(self, namespace: str) -> bool:
        """Whether a list or stream of this namespace, or of all if empty, may show these objects."""
        return namespace in ("", self.namespace)

    def may_hold(self, resource: str, namespace: str, selector: str, revision: int, *, but: Set[str]) -> Iterator[str]:
        """The uids of what such a list might have held, `but` these: it fits, or whether it does is not known."""
        if self.concerns(namespace):
            for uid in [uid for uid in self._uids.get(resource, ()) if uid not in but]:
                state = self._state(uid, revision)
                if state is not None and fits(selector, state.object) is not False:
                    yield uid

    def begins_in(self, uid: str, selector: str) -> bool:
        """Whether an object surely fits a selector as it was first committed."""
        return not selector or (uid in self._states and fits(selector, self._states[uid][0].object) is True)

    def is_over(self, uid: str, revision: int) -> bool:
        """Whether it was gone by then; of an object that was never committed nothing better is known."""
        state = self._state(uid, revision)
        return uid not in self._states or (state is not None and state.type == "DELETED")

    def lives_on(self, uid: str, revision: int) -> bool:
        """Whether what was committed at this revision is not the end of it."""
        state = self._state(uid, revision)
        return state is not None and state.revision == revision and state.type != "DELETED"

    def _state(self, uid: str, revision: int) -> Committed | None:
        """The newest by then."""
        states = self._states.get(uid, [])
        place = bisect_right(states, revision, key=lambda state: state.revision)
        return states[place - 1] if place else None
