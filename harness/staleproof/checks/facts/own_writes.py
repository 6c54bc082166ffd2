"""Which of its own writes the controller had not been shown yet, at every decision.

A burst of writes inside one reconciliation is fine although none of them has been seen. So what counts as unseen for a write are
own writes that were answered before its decision began (`reconcile_epochs`); not those of which the controller never heard the end
(`survives-lost-answer`). To take two decisions for one is the error to prefer here: it excuses.
"""

from dataclasses import dataclass

from staleproof.checks.facts.object_history import Incarnation, OwnVerb, creations, deletions, is_bare, object_history
from staleproof.checks.facts.reconcile_epochs import reconcile_epochs
from staleproof.checks.facts.roles import Role
from staleproof.checks.trial import Trial, fact
from staleproof.checks.view.life import view
from staleproof.core.grouping import grouped
from staleproof.core.history.entry import Answered
from staleproof.core.history.history import Request
from staleproof.core.history.provenance import Commit, is_executed, uid_of
from staleproof.core.operator.ownership import owner_of


@dataclass(frozen=True, slots=True)
class OwnWrites:
    """Creates or deletes of one kind, of which the controller heard that they were done.

    `looked` has the groups (`group_of`) whose owner was shown to the controller while own writes of earlier decisions were unseen:
    there it was made to decide on an old view.
    """

    trial: Trial
    verb: OwnVerb
    _groups: dict[Role, list[tuple[int, Incarnation]]]
    """By group: (position of the answer, object written), in that order."""

    def behind(self, child: Incarnation, *, before: int) -> list[Incarnation]:
        """Own writes of its group, of earlier decisions, that had not been shown. What was created and deleted does not count."""
        written = self._groups.get(group_of(child.role, self.verb), ())
        return [other for answered, other in written if self._is_behind(answered, other, before)]

    @property
    def looked(self) -> set[Role]:
        """Groups in which the controller was made to decide on an old view."""
        epochs = reconcile_epochs(self.trial)
        return {
            group
            for group, written in self._groups.items()
            for answered, other in written
            if any(answered < at and self._is_unseen(other, at + 1) for at in epochs.owner_shown(other.owner_uid))
        }

    def _is_behind(self, answered: int, other: Incarnation, before: int) -> bool:
        boundaries = reconcile_epochs(self.trial).decides(other.owner_uid)
        return any(answered < at < before for at in boundaries) and self._is_unseen(other, before)

    def _is_unseen(self, other: Incarnation, before: int) -> bool:
        """Whether it had neither been shown nor undone before a position."""
        ended = self._ended(other)
        if ended is not None and ended < before:
            return False
        return not _is_shown(self.trial, other, self.verb, before)

    def _ended(self, other: Incarnation) -> int | None:
        """Where what was created was deleted again, or the controller heard so; None for a delete, which nothing undoes."""
        if self.verb == "delete" or other.deleted is None:
            return None
        heard = other.deleter.answer_index if other.deleter else None
        return min(other.deleted, other.deleted if heard is None else heard)


def _own_writes(trial: Trial, verb: OwnVerb) -> OwnWrites:
    done = (
        (request, child) for request, child in (creations(trial) if verb == "create" else deletions(trial)) if request.succeeded
    )
    heard = ((request.answer_index, child) for request, child in done if request.answer_index is not None)
    written = sorted(heard, key=lambda each: each[0])
    return OwnWrites(trial, verb, grouped((group_of(child.role, verb), (answered, child)) for answered, child in written))


@fact
def own_creates(trial: Trial) -> OwnWrites:
    """Of children."""
    return _own_writes(trial, "create")


@fact
def own_deletes(trial: Trial) -> OwnWrites:
    """Of children."""
    return _own_writes(trial, "delete")


def taken_unseen(trial: Trial, role: Role, *, before: int) -> list[Incarnation]:
    """Objects of a role that another user deleted, which the controller had not been shown before a position."""
    objects = object_history(trial).objects.values()
    gone = [each for each in objects if each.role == role and each.deleter is None and each.is_gone(before=before)]
    return [each for each in gone if not _is_shown(trial, each, "delete", before)]


def adopted_unseen(trial: Trial, child: Incarnation, *, before: int) -> list[Incarnation]:
    """What another user had made, the controller had not been shown before a position, and it took over for the same owner
    later."""
    theirs = (each for each in object_history(trial).objects.values() if each.creator is None and each.is_live(before=before))
    mine = (each for each in theirs if each.resource == child.resource and each.owner_uid != child.owner_uid)
    unseen = (each for each in mine if not view(trial, before).of(each.uid).is_known)
    return [each for each in unseen if any(_is_taken_over(commit, child.owner_uid) for commit in each.commits)]


def _is_taken_over(commit: Commit, owner_uid: str) -> bool:
    owner = owner_of(commit.entry.object) if commit.by is not None else None
    return owner is not None and owner["uid"] == owner_uid


def _is_shown(trial: Trial, each: Incarnation, verb: OwnVerb, before: int) -> bool:
    """Whether the controller had been shown the object or its end, or a whole list that is as new."""
    seen = view(trial, before)
    known = seen.of(each.uid)
    if verb == "create":
        return seen.has_listed(each.resource, each.create_revision) or known.has_seen(0)
    return seen.has_listed(each.resource, each.delete_revision) or known.has_seen(each.delete_revision)


def own_children(trial: Trial, *, before: int) -> list[Incarnation]:
    """What the controller created, in whichever of its lives, and was alive before a position."""
    return [child for child in object_history(trial).objects.values() if child.creator and child.is_live(before=before)]


def unseen_children(trial: Trial, *, at: int) -> list[Incarnation]:
    """Those alive before the entry at a position that this life had not been shown by then, and did not know from an answer."""
    return [child for child in own_children(trial, before=at) if not view(trial, at + 1).of(child.uid).is_known]


def is_inherited(trial: Trial, child: Incarnation, *, at: int) -> bool:
    """Whether the controller created it in an earlier life than the one that a position belongs to."""
    return child.creator is not None and trial.life(child.creator.index) < trial.life(at)


@fact
def lost_writes(trial: Trial) -> list[Request]:
    """Writes that were executed and whose answer was lost to a life that went on: a life that was killed over it could not hear.
    Those of a status count if the controller creates nothing."""
    counted = [request for request in trial.requests if is_bare(trial) or not request.asked.subresource]
    return [request for request in counted if is_executed(request) and _is_lost(request, trial)]


def unheard_writes(trial: Trial, verb: OwnVerb, *, before: int) -> dict[int, Incarnation]:
    """What is alive and was created, or what was deleted, without this life hearing of it, by the position of the answer that was
    lost: another life would not have heard it anyway.

    And without a look since: it has not been shown that, or it is still about the decision in which the answer was lost.
    """
    seen, epochs, found = view(trial, before), reconcile_epochs(trial), dict[int, Incarnation]()
    for request, child in creations(trial) if verb == "create" else deletions(trial):
        answered, is_lost = request.answer_index, request in lost_writes(trial) and uid_of(request) == child.uid
        if is_lost and answered is not None and answered < before and trial.life(answered) == trial.life(before):
            known, is_made = seen.of(child.uid), verb == "create"
            is_shown = known.is_known if is_made else known.has_seen(child.delete_revision)
            is_so = child.is_live(before=before) if is_made else child.is_gone(before=before)
            if is_so and (not is_shown or epochs.is_same(child.owner_uid, child.resource, since=answered, before=before)):
                found[answered] = child
    return found


def group_of(role: Role, verb: OwnVerb) -> Role:
    """What is decided on together: for creates a role, for deletes all of an owner's children of that resource."""
    return role if verb == "create" else role._replace(stem="")


def _is_lost(request: Request, trial: Trial) -> bool:
    answer = request.answer
    assert isinstance(answer, Answered)
    killed = answer.fault is not None and "kills" in trial.plan.faults[answer.fault].effects
    return answer.outcome == "unknown" and not killed
