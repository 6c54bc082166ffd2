"""Which state of each primary a life of the controller had been shown, and on which state it had done its work.

What a life knows of a primary is the newest revision that it was shown or that an answer to it carried. What it acted on is the
newest that it was *shown*: the lesser of the two, so that a doubt never makes a view look older than the work. One that lists a
past state which a fault had at hand, though it had been shown a newer one, has gone back: from then on that is what it knows.

Two states differ only if what the user wants of the primary differs (everything but metadata and status, and whether it is being
deleted): own status updates and touches make a revision newer, and no controller would do anything else on the older one.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence, Set
from itertools import takewhile

from staleproof.checks.facts.belongings import primary_of
from staleproof.checks.facts.object_history import BEYOND, Incarnation, creations, object_history
from staleproof.checks.facts.wording import short_name
from staleproof.checks.trial import Trial, fact
from staleproof.checks.view.life import view
from staleproof.core.history.entry import Answered, Listed
from staleproof.core.history.history import Request
from staleproof.core.history.provenance import is_executed, uid_of
from staleproof.core.plan.manifest import Manifest, content_of


class PrimaryView:
    """Every question names a position and is about what had happened before it."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._objects = object_history(trial).objects
        self._wrote: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
        self._acted: dict[str, list[tuple[int, int, int | None]]] = defaultdict(list)
        past = (index for index, each in trial.every(Listed) if each.fault is not None and each.resource in trial.primaries)
        self._set_back = sorted([*trial.starts, *past])
        for request in trial.requests:
            if is_executed(request) and not request.asked.subresource and request.asked.verb in ("create", "update", "patch"):
                self._write(request)

    def _write(self, request: Request) -> None:
        answer, uid = request.answer, uid_of(request)
        assert isinstance(answer, Answered)
        primary = primary_of(self._trial, uid)
        known = view(self._trial, request.index).of(primary.uid if primary is not None else uid)
        shown = known.back or known.shown or 0
        self._wrote[uid, answer.revision or 0].append((request.index, shown))
        if primary is not None:
            self._acted[uid].append((request.index, shown, request.answer_index))

    # --- what was done

    def acted_on(self, uid: str, *, before: int) -> int:
        """The newest revision of its primary on which the controller had created or updated an object; 0 for none."""
        return max((shown for index, shown, _ in self._acted.get(uid, ()) if index < before), default=0)

    def wrote_on(self, uid: str, revision: int, *, before: int) -> int | None:
        """The newest revision of the primary on which the controller had written this revision of an object; None: it had not."""
        shown = [shown for index, shown in self._wrote.get((uid, revision), ()) if index < before]
        return shown[-1] if shown else None

    def answer_to(self, uid: str, *, before: int) -> int | None:
        """Where the last such write was answered."""
        return next((answer for index, _, answer in reversed(self._acted.get(uid, ())) if index < before), None)

    def ahead(self, *, before: int) -> list[Incarnation]:
        """What is alive and `is_behind` is true of, in the order in which the controller first wrote it.

        A life knows ever more, so only what was written before a new life, or a list from the past, can be ahead.
        """
        place = bisect_left(self._set_back, before)
        last = self._set_back[place - 1] if place else 0
        written = takewhile(lambda each: each[1][0][0] < last, self._acted.items())
        children = [self._objects[uid] for uid, _ in written]
        return [child for child in children if not child.is_gone(before=before) and self.is_behind(child.uid, before=before)]

    # --- what it knows

    def known(self, uid: str, *, before: int) -> int:
        """The newest revision that this life had been shown or had learnt from an answer; 0 for none."""
        known = view(self._trial, before).of(uid)
        return known.back or known.revision

    def has_view_of(self, primary: Incarnation, *, before: int) -> bool:
        """Whether this life has a view of the primary at all: it is there, was not there yet, or was another of that name."""
        if self.known(primary.uid, before=before):
            return True
        seen, resource, made = view(self._trial, before), primary.resource, primary.create_revision
        would_show = seen.has_listed(resource, made) or seen.of(primary.uid).has_seen(made)
        return bool(seen.present(resource, primary.name)) or (seen.has_looked_for(primary.uid, resource) and not would_show)

    def is_behind(self, uid: str, *, before: int) -> bool:
        """Whether the controller made this object, or changed it, on a later state of its primary than this life knows.

        Of a primary that is gone it need not know anything.
        """
        primary = primary_of(self._trial, uid)
        if primary is None or primary.is_gone(before=before):
            return False
        known, acted = self.known(primary.uid, before=before), self.acted_on(uid, before=before)
        if acted <= known or not self.has_view_of(primary, before=before):
            return False
        return self._state(primary.uid, known, before) != self._state(primary.uid, acted, before)

    def has_newer(self, uid: str, *, before: int) -> bool:
        """Whether a primary that is known by now wants something else than what this life knows."""
        known = self.known(uid, before=before)
        return known > 0 and self._state(uid, known, before) != self._state(uid, BEYOND, before)

    def _state(self, uid: str, revision: int, before: int) -> Manifest | None:
        """What was wanted of a primary at a revision, as far as it was committed; None: it was not there yet."""
        commits = self._objects[uid].commits if uid in self._objects else ()
        states = [commit.entry.object for commit in commits if commit.index < before and commit.entry.revision <= revision]
        return content_of(states[-1]) | {"deletionTimestamp": "deletionTimestamp" in states[-1]["metadata"]} if states else None


@fact
def primary_view(trial: Trial) -> PrimaryView:
    """Of the controller under test."""
    return PrimaryView(trial)


@fact
def owned_resources(trial: Trial) -> Set[tuple[str, str]]:
    """(resource of a primary, resource of children) for each resource of which the controller created children."""
    owners = ((primary_of(trial, child.uid), child.resource) for _, child in creations(trial))
    return {(primary.resource, resource) for primary, resource in owners if primary is not None}


def acted_on_more(trial: Trial, primary: Incarnation, newer: Sequence[Incarnation], index: int) -> str:
    """Though what it wrote: it knew a primary only up to a revision, and had acted for these children on a newer one."""
    primaries, name = primary_view(trial), short_name(primary.first.entry)
    acted = max(primaries.acted_on(child.uid, before=index) for child in newer)
    known = primaries.known(primary.uid, before=index)
    shown = f"only up to resourceVersion {known}" if known else "not at all"
    return f"though it had been shown {name} {shown} since it started, and had acted on {acted}"
