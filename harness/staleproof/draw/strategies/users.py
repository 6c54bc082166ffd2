"""What users do, step by step, and what they change.

Each thing that is drawn leaves the primary so that the next one can be done: a child is deleted only while one is sure to be there,
what was changed is taken back before anything else is changed, and what is deleted comes back as it was at first.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import hypothesis.strategies as st
from msgspec.structs import replace

from staleproof.core.operator.observed import ChildKind, Observed
from staleproof.core.plan.move import Move
from staleproof.core.plan.step import Apply, Delete, Edit, Heartbeat, Patch, Recreate, Remove, Rest, Resync, Step, Touch
from staleproof.core.times import GONE_SECONDS, LONG_SECONDS, RESTS_SECONDS, TERMINATING_SECONDS, WAITS_SECONDS
from staleproof.draw.canonical import another, counts, fewer
from staleproof.draw.strategies.observation import observations
from staleproof.errors import UsageError

Steps = tuple[Step, ...]
_GONE_RESTS = (0.0, TERMINATING_SECONDS, GONE_SECONDS)
"""At once, while what belonged to it is going, and once that is gone."""
_HELD = "staleproof.dev/held"
"""A finalizer of another user's."""


@st.composite
def moves(draw: st.DrawFn, observed: Observed | None = None, *, live: bool = False) -> Move:
    """What can be changed in the primary, and taken back: what the controller passes on three times as often as anything else, and
    what it was watched at more often than the rest of that. Scaling is none of them.

    Args:
        observed: what the controller was observed to do; empty: that of this run's.
        live: nothing but what the controller passes on to anything but the primary.
    """
    observed = observed if observed is not None else draw(observations())
    found = [move for move in _changeable(observed) if move.live or not live]
    if not found:
        raise UsageError(
            f"nothing of {observed.target} can be changed and taken back{' that the controller passes on' if live else ''}"
        )
    passed_on, rest = [move for move in found if move.live], [move for move in found if not move.live]
    known = [move for move in found if move in (*observed.live[:1], *observed.turned)]
    groups = [group for group in (known, passed_on, passed_on, rest) if group]
    return draw(st.sampled_from(draw(st.sampled_from(groups))))


def _changeable(observed: Observed) -> list[Move]:
    """All moves that may be drawn."""
    scale = ".".join(observed.scale_path)
    return [move for move in observed.changes if move.path != scale and move.returns]


@st.composite
def workloads(
    draw: st.DrawFn,
    observed: Observed | None = None,
    *,
    most_steps: int = 4,
    changes: st.SearchStrategy[Move] | None = None,
) -> Steps:
    """What users do: a primary appears, is scaled, changed and changed back, touched and listed again, labelled, deleted and made
    anew under its name; another one appears; time passes. Another user deletes, replaces, edits or touches a child, takes away its
    labels or its owner, or something that the status said, as a restore from a backup does. In the end the primary is touched, or
    deleted for good, perhaps held by a finalizer for a while, or another user has taken the name of a child that goes.

    A change is taken back before another is made, because each was tried by itself; one that cannot be is the last.

    Args:
        observed: what the controller was observed to do; empty: that of this run's.
        most_steps: between the first step and the end.
        changes: what is changed; empty: `moves`, if any of them is more than a label.
    """
    observed = observed if observed is not None else draw(observations())
    replicas = draw(st.sampled_from([each for each in counts(observed) if each])) if observed.scale_path else observed.replicas
    if changes is None and any(move.live or not move.is_label for move in _changeable(observed)):
        changes = moves(observed)
    story = _Story(observed, replicas, [Apply(object=observed.scaled(replicas))])
    for kind in draw(st.lists(st.sampled_from(_kinds(observed, changes)), min_size=min(1, most_steps), max_size=most_steps)):
        left = 1 + most_steps - len(story.steps)
        done = _done(story, draw, kind, changes) if left else ()
        if len(done) <= left:
            story.steps += done
            story.changed = None if Delete in map(type, done) else story.changed  # it is made anew as it was at first
    return (*story.steps, *draw(st.sampled_from(list(_ends(story)))))


@dataclass(slots=True)
class _Story:
    """What users have done so far.

    Attributes:
        at_first: how many replicas the primary wanted then.
        changed: what was changed and not taken back yet.
    """

    observed: Observed
    at_first: int
    steps: list[Step]
    changed: Move | None = None

    @property
    def counts(self) -> list[int]:
        """How many replicas the primary has wanted, one number after the other."""
        scales = [(count, self.observed.scale(count)) for count in counts(self.observed)]
        return [self.at_first, *(count for step in self.steps for count, scale in scales if step == scale)]

    @property
    def is_plain(self) -> bool:
        """Whether the primary is the first of its name, and says what the sample says, but for its replicas."""
        return self.changed is None and Delete not in map(type, self.steps)

    def children(self) -> list[ChildKind]:
        """Those of which one is sure to be there now, and none was deleted or set aside by another user."""
        if not self.is_plain or 0 in self.counts:
            return []
        gone = {step.resource for step in self.steps if isinstance(step, Remove) or (isinstance(step, Edit) and step.sets_aside)}
        return [child for child in self.observed.children if child.stays and child.resource not in gone]


# --- one thing after the other ---------------------------------------------------------------------------------------------------


def _kinds(observed: Observed, changes: st.SearchStrategy[Move] | None) -> list[str]:
    """What can be done to this primary, simple things first; what does most harm more than once."""
    has_children = any(child.stays for child in observed.children)
    return [
        *("touch", "rest", "patience", "patience"),
        *("scale", "scale", "scale and back", "scale and back") * bool(observed.scale_path),
        *("change", "change and back") * (3 if changes is not None else 0),
        *("resync",) * observed.relists_at_once,
        *("delete a child", "delete a child", "touch a child", "replace a child") * has_children,
        *("edit a child",) * bool(observed.edits),
        *("take status away",) * bool(observed.resets),
        *("renew", "renew", *(("another", "another") if not observed.alone else ())),
        *("label",) * bool(_labels(observed)),
    ]


def _done(story: _Story, draw: st.DrawFn, kind: str, changes: st.SearchStrategy[Move] | None) -> Steps:
    """What is drawn of one kind; nothing where it cannot be done now."""
    if kind == "label":
        return _changed(story, draw, st.sampled_from(_labels(story.observed)))
    if changes is not None and kind in ("change", "change and back"):
        return _changed(story, draw, changes, and_back=kind == "change and back")
    forms = _forms(story)[kind]
    done = draw(st.sampled_from(forms)) if forms else ()
    return tuple(replace(step, nth=draw(st.sampled_from((-1, 1)))) if isinstance(step, Remove) else step for step in done)


def _forms(story: _Story) -> dict[str, list[Steps]]:
    """In which ways each kind of thing can be done now.

    When another primary appears, there may be time to do something for it while the controller waits for what it did for the first.
    No user makes a child again under a generated name; one that was made again may have to go at once. What the controller put
    into a child is changed once, unless a user made the child again; so is each field of a status, which need not come back before
    the controller looks again.
    """
    of, there = story.observed, story.children()
    touch, long, second = Touch(target=of.target), Rest(seconds=LONG_SECONDS), _second(of)
    waits = Rest(seconds=WAITS_SECONDS)
    count = story.counts[-1]
    others = [each for each in counts(of) if each != count]
    shrinks = [(), *((step,) for step in fewer(of, count))]
    own = {each.resource for each in there} - {step.resource for step in story.steps if isinstance(step, Recreate)}
    rests = [Rest(seconds=each) for each in _GONE_RESTS if each]
    return {
        "touch": [(touch,)],
        "rest": [(Rest(seconds=each),) for each in RESTS_SECONDS],
        "patience": [(long, touch)] if long not in story.steps else [],
        "resync": [(Resync(resource=of.resource),)],
        "scale": [(of.scale(each),) for each in others],
        "scale and back": [(of.scale(each), of.scale(count)) for each in others],
        "delete a child": [(Remove(resource=each.resource),) for each in there],
        "touch a child": [(Heartbeat(resource=each.resource),) for each in there],
        "replace a child": [(Recreate(resource=each.resource), *fewer) for each in there if each.stable_names for fewer in shrinks],
        "edit a child": [(edit,) for edit in of.edits if edit.resource in own and edit not in story.steps],
        "take status away": [(reset,) for reset in of.resets if story.is_plain and reset not in story.steps],
        "renew": [(Delete(target=of.target), *rest, Apply(object=of.scaled(count))) for rest in ((), *((each,) for each in rests))],
        "another": [(second,), (second, waits)] if second not in story.steps else [],
    }


def _changed(story: _Story, draw: st.DrawFn, changes: st.SearchStrategy[Move], *, and_back: bool = False) -> Steps:
    """Change something, and perhaps change it back; or take back what was changed before."""
    of, before = story.observed, story.changed
    if before is not None:
        story.changed = None if before.returns else before
        return (of.undo(before) if before.returns else Touch(target=of.target),)
    move = draw(changes)
    if and_back and move.returns:
        return of.do(move), of.undo(move)
    story.changed = move
    return (of.do(move),)


def _labels(observed: Observed) -> list[Move]:
    """Other users' edits, which concern the controller as little as anything."""
    return [move for move in observed.changes if move.is_label and move.returns and not move.live]


def _second(observed: Observed) -> Apply:
    """The step in which another primary appears."""
    return Apply(object=another(observed.sample, observed.hosts))


# --- the end ---------------------------------------------------------------------------------------------------------------------


def _ends(story: _Story) -> Iterator[Steps]:
    """In which ways it may end, the simplest first, which is also the commonest."""
    of, count = story.observed, story.counts[-1]
    touch = Touch(target=of.target)
    gone = (Delete(target=of.target), Rest(seconds=GONE_SECONDS))
    yield from [(touch,), (touch,), (touch,), gone]
    if not of.keeps_finalizer and not of.sample["metadata"].get("finalizers"):
        held, freed = (Patch(target=of.target, patch={"metadata": {"finalizers": each}}) for each in ([_HELD], None))
        yield (held, *gone, freed)
    # as it was it would have to go whatever was known of it; and another primary, whose the last may be, wants it
    for child in story.children() if _second(of) not in story.steps else ():
        if child.stable_names and child.deletes and child.watched:
            yield from ((Recreate(resource=child.resource, foreign=True), step, touch) for step in fewer(of, count))
