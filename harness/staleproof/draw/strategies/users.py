"""What users do, step by step, and what they change.

Each thing that is drawn leaves the primary so that the next one can be done: a child is deleted only while one is sure to be there,
what was changed is taken back before anything else is changed, and what is deleted comes back as it was at first.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import hypothesis.strategies as st

from staleproof.core.operator.observed import ChildKind, Observed
from staleproof.core.plan.move import Move
from staleproof.core.plan.step import Apply, Delete, Edit, Heartbeat, Patch, Recreate, Remove, Rest, Resync, Step, Touch
from staleproof.draw.by_others import MOST_REPLICAS
from staleproof.draw.canonical import LONG_SECONDS, another
from staleproof.draw.strategies.observation import observations
from staleproof.errors import UsageError

Steps = tuple[Step, ...]
_RESTS = 0.5, 1.0
_GONE_RESTS = (0.0, 0.3, 1.0)
"""At once, while what belonged to it is going, and once that is gone."""
_END_SECONDS = 1.0
_HELD = "staleproof.dev/held"
"""A finalizer of somebody else's."""


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
    passed_on, others = [move for move in found if move.live], [move for move in found if not move.live]
    known = [move for move in found if move in (*observed.live[:1], *observed.turned)]
    groups = [group for group in (known, passed_on, passed_on, others) if group]
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
    anew under its name; another one appears; time passes. Somebody else deletes, replaces, edits or touches a child, takes away its
    labels or its owner, or something that the status said, as a restore from a backup does. In the end the primary is touched, or
    deleted for good, perhaps held by a finalizer for a while, or somebody else has taken the name of a child that goes.

    A change is taken back before another is made, because each was tried by itself; one that cannot be is the last.

    Args:
        observed: what the controller was observed to do; empty: that of this run's.
        most_steps: between the first step and the end.
        changes: what is changed; empty: `moves`, if any of them is more than a label.
    """
    observed = observed if observed is not None else draw(observations())
    replicas = draw(st.integers(1, MOST_REPLICAS)) if observed.scale_path else observed.replicas
    if changes is None and any(move.live or not move.is_label for move in _changeable(observed)):
        changes = moves(observed)
    story = _Story(observed, changes, replicas)
    for kind in draw(st.lists(st.sampled_from(list(_kinds(observed, changes))), min_size=min(1, most_steps), max_size=most_steps)):
        left = 1 + most_steps - len(story.steps)
        done = _WAYS[kind](story, draw) if left else []
        if len(done) <= left:
            story.take(done)
    ends = draw(st.sampled_from(list(_ends(story))))
    return (*story.steps, *ends)


@dataclass(slots=True)
class _Story:
    """What users have done so far.

    Attributes:
        changes: what they may change.
        replicas: how many the primary wants, and `fewest`, how many it wanted at least; 1 where it has no such number.
        changed: what was changed and not taken back yet.
        touched: the resources of which somebody else has deleted a child or set one aside; `replaced`: of which one was replaced.
    """

    observed: Observed
    changes: st.SearchStrategy[Move] | None
    replicas: int
    steps: list[Step] = field(default_factory=list)
    fewest: int = 1
    changed: Move | None = None
    is_renewed: bool = False
    touched: set[str] = field(default_factory=set)
    replaced: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.steps.append(self.appears())

    def appears(self) -> Apply:
        of = self.observed
        return Apply(object=of.scaled(self.replicas) if of.scale_path else of.sample)

    def take(self, steps: list[Step]) -> None:
        """Note what these steps leave behind."""
        of = self.observed
        for step in steps:
            self.steps.append(step)
            match step:
                case Patch(patch=patch) if of.scale_path and step in (of.scale(count) for count in range(MOST_REPLICAS + 1)):
                    self.replicas = _number(patch)
                    self.fewest = min(self.fewest, self.replicas)
                case Delete():
                    self.is_renewed, self.changed = True, None
                case Remove(resource=resource):
                    self.touched.add(resource)
                case Edit(resource=resource) if step.sets_aside:
                    self.touched.add(resource)
                case Recreate(resource=resource):
                    self.replaced.add(resource)
                case Patch():
                    back = self.changed is not None and step == of.undo(self.changed)
                    self.changed = None if back else self.changed

    @property
    def is_plain(self) -> bool:
        """Whether the primary is the first of its name, and says what the sample says, but for its replicas."""
        return not self.is_renewed and self.changed is None

    def children(self) -> list[ChildKind]:
        """Those of which one is sure to be there now, and none was deleted or set aside by anybody else."""
        if not self.is_plain or not self.fewest:
            return []
        return [child for child in self.observed.children if child.stays and child.resource not in self.touched]


def _number(patch: object) -> int:
    """The only number in a patch."""
    while isinstance(patch, dict):
        (patch,) = patch.values()
    return patch if isinstance(patch, int) else 0


# --- one thing after the other ---------------------------------------------------------------------------------------------------


def _kinds(observed: Observed, changes: st.SearchStrategy[Move] | None) -> Iterator[str]:
    """What can be done to this primary, simple things first; what does most harm more than once."""
    yield from ("touch", "rest", "patience", "patience")
    if observed.scale_path:
        yield from ("scale", "scale", "scale and back", "scale and back")
    if changes is not None:
        yield from ["change", "change and back"] * 3
    yield from ["resync"] * observed.relists_at_once
    if any(child.stays for child in observed.children):
        yield from ("delete a child", "delete a child", "touch a child", "replace a child")
    yield from ["edit a child"] * bool(observed.edits) + ["take status away"] * bool(observed.resets)
    yield from ("renew", "another", "another")
    if _labels(observed):
        yield "label"


def _touch(story: _Story, draw: st.DrawFn) -> list[Step]:
    return [Touch(target=story.observed.target)]


def _rest(story: _Story, draw: st.DrawFn) -> list[Step]:
    return [Rest(seconds=draw(st.sampled_from(_RESTS)))]


def _patience(story: _Story, draw: st.DrawFn) -> list[Step]:
    """Let more time pass than a controller waits for what it is not shown, once, and have it look again."""
    long = Rest(seconds=LONG_SECONDS)
    return [long, *_touch(story, draw)] if long not in story.steps else []


def _resync(story: _Story, draw: st.DrawFn) -> list[Step]:
    return [Resync(resource=story.observed.resource)]


def _scale(story: _Story, draw: st.DrawFn) -> list[Step]:
    others = [count for count in range(MOST_REPLICAS + 1) if count != story.replicas]
    return [story.observed.scale(draw(st.sampled_from(others)))]


def _scale_and_back(story: _Story, draw: st.DrawFn) -> list[Step]:
    return [*_scale(story, draw), story.observed.scale(story.replicas)]


def _change(story: _Story, draw: st.DrawFn) -> list[Step]:
    """Change something, or take back what was changed."""
    return _changed(story, draw, story.changes)


def _change_and_back(story: _Story, draw: st.DrawFn) -> list[Step]:
    if story.changed is not None or story.changes is None:
        return _change(story, draw)
    move = draw(story.changes)
    if not move.returns:
        story.changed = move
    return [story.observed.do(move), story.observed.undo(move)] if move.returns else [story.observed.do(move)]


def _label(story: _Story, draw: st.DrawFn) -> list[Step]:
    """Another user's edit, which concerns the controller as little as anything."""
    return _changed(story, draw, st.sampled_from(_labels(story.observed)))


def _changed(story: _Story, draw: st.DrawFn, changes: st.SearchStrategy[Move] | None) -> list[Step]:
    if story.changed is not None:
        return [story.observed.undo(story.changed)] if story.changed.returns else _touch(story, draw)
    if changes is None:
        return []
    story.changed = draw(changes)
    return [story.observed.do(story.changed)]


def _labels(observed: Observed) -> list[Move]:
    return [move for move in observed.changes if move.is_label and move.returns and not move.live]


def _renew(story: _Story, draw: st.DrawFn) -> list[Step]:
    """Delete the primary and make it anew under its name: at once, or when everything is gone."""
    gone = draw(st.sampled_from(_GONE_RESTS))
    rests = [Rest(seconds=gone)] if gone else []
    return [Delete(target=story.observed.target), *rests, story.appears()]


def _another(story: _Story, draw: st.DrawFn) -> list[Step]:
    second = _other(story.observed)
    return [second] if second not in story.steps and not story.observed.alone else []


def _other(observed: Observed) -> Apply:
    """The step in which another primary appears."""
    return Apply(object=another(observed.sample, observed.hosts))


def _delete_child(story: _Story, draw: st.DrawFn) -> list[Step]:
    found = story.children()
    return [Remove(resource=draw(st.sampled_from(found)).resource, nth=draw(st.sampled_from((-1, 1))))] if found else []


def _touch_child(story: _Story, draw: st.DrawFn) -> list[Step]:
    found = story.children()
    return [Heartbeat(resource=draw(st.sampled_from(found)).resource)] if found else []


def _replace_child(story: _Story, draw: st.DrawFn) -> list[Step]:
    """Somebody deletes a child and makes the same again. Nobody does so under a generated name."""
    found = [child for child in story.children() if child.stable_names]
    return [Recreate(resource=draw(st.sampled_from(found)).resource)] if found else []


def _edit_child(story: _Story, draw: st.DrawFn) -> list[Step]:
    """Somebody changes what the controller put into a child, once. What somebody made again is not the controller's any more."""
    there = {child.resource for child in story.children()} - story.replaced
    found: list[Step] = [edit for edit in story.observed.edits if edit.resource in there and edit not in story.steps]
    return [draw(st.sampled_from(found))] if found else []


def _take_status_away(story: _Story, draw: st.DrawFn) -> list[Step]:
    """Somebody overwrites the status, each field of it once: it need not come back before the controller looks again."""
    found: list[Step] = [reset for reset in story.observed.resets if story.is_plain and reset not in story.steps]
    return [draw(st.sampled_from(found))] if found else []


_WAYS: dict[str, Callable[[_Story, st.DrawFn], list[Step]]] = {
    "touch": _touch,
    "rest": _rest,
    "patience": _patience,
    "scale": _scale,
    "scale and back": _scale_and_back,
    "change": _change,
    "change and back": _change_and_back,
    "resync": _resync,
    "delete a child": _delete_child,
    "touch a child": _touch_child,
    "replace a child": _replace_child,
    "edit a child": _edit_child,
    "take status away": _take_status_away,
    "renew": _renew,
    "another": _another,
    "label": _label,
}


# --- the end ---------------------------------------------------------------------------------------------------------------------


def _ends(story: _Story) -> Iterator[Steps]:
    """In which ways it may end, the simplest first, which is also the commonest."""
    of = story.observed
    touch = Touch(target=of.target)
    gone = (Delete(target=of.target), Rest(seconds=_END_SECONDS))
    yield from [(touch,)] * 3
    yield gone
    if not of.keeps_finalizer and not of.sample["metadata"].get("finalizers"):
        yield (_finalizers(of, [_HELD]), *gone, _finalizers(of, None))
    # if it were made again as it was, it would have to go whoever knew of it; and another primary, whose the last may be, wants it
    for child in story.children() if _other(of) not in story.steps else ():
        if child.stable_names and child.deletes and child.watched and of.scale_path and story.replicas:
            yield (Recreate(resource=child.resource, foreign=True), of.scale(story.replicas - 1), touch)


def _finalizers(observed: Observed, held: list[str] | None) -> Patch:
    return Patch(target=observed.target, patch={"metadata": {"finalizers": held}})
