"""What others can do to what a controller wrote, and it stands: edit its children, set them aside, take away what its status says.

A run without faults tries it, all of it in a row. What the API server refuses, what changes nothing, and what makes the controller
exit or never come to rest is left out and reported; it is no error.
"""

import itertools
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from staleproof.assess.learn.accepted_moves import most_steps, went_wrong
from staleproof.assess.trial.session import Session
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.usability import interruption, undone
from staleproof.checks.trial import Trial, indexed
from staleproof.core.history.change import is_unmoved, moved
from staleproof.core.operator.observed import ChildKind, Observed
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Apply, Edit, PatchStatus, Step, describe
from staleproof.draw.mutations.foreign_edits import edits, resets, set_aside
from staleproof.drive.trial.workload import Refused

_MOST_RUNS = 5
_WIDTH = 200
_NOT_CONTENT = ("metadata", "status")
_Theirs = Edit | PatchStatus
_Planned = Callable[[tuple[Step, ...]], Plan]


def may_be_done(bare: Observed, trial: Trial, required: Collection[str] = ()) -> Observed:
    """With what others might do to what it wrote in this trial, as much as can be tried in one run (`with_interference`), of each
    kind about as much as of any other. `required`: the fields without which the API server refuses a status."""
    turns = itertools.zip_longest(_edits(bare, trial), _resets(bare, trial, required), _asides(bare, trial))
    every = (step for turn in turns for step in turn if step is not None)
    return _with(bare, list(itertools.islice(every, most_steps(bare))))


def with_interference(session: Session, bare: Observed, planned: _Planned) -> Observed:
    """With that alone of what others might do to it that they can. `planned` makes a plan without faults of steps."""
    left: list[_Theirs] = sorted((*bare.edits, *bare.resets), key=_order)
    refused: list[str] = []
    for _ in range(_MOST_RUNS):
        bad = _tried(session, bare, left, planned) if left else {}
        refused += [f"{describe(left[number])}: {why}"[:_WIDTH] for number, why in bad.items()]
        done, left = left[: min(bad, default=0)], [step for number, step in enumerate(left) if number not in bad]
        if not bad:
            break
    else:
        left = done  # what comes behind was never tried without what is bad
    session.note("others can", "; ".join(map(describe, left)))
    session.note("others cannot", "; ".join(refused))
    return _with(bare, left)


def _order(step: _Theirs) -> int:
    """Children that are set aside come last: they may have no owner afterwards."""
    return 1 if isinstance(step, PatchStatus) else 2 * step.sets_aside


def _with(bare: Observed, steps: Sequence[_Theirs]) -> Observed:
    return replace(
        bare,
        edits=tuple(step for step in steps if isinstance(step, Edit)),
        resets=tuple(step for step in steps if isinstance(step, PatchStatus)),
    )


def _tried(session: Session, bare: Observed, steps: Sequence[_Theirs], planned: _Planned) -> dict[int, str]:
    """Which of these cannot be done, or does nothing, or is too much for the controller, with the reason."""
    try:
        trial = indexed(session.watch(planned((Apply(object=bare.sample), *steps))))
    except Refused as err:
        return {err.step - 2: str(err)}
    if undone(trial) > 1:
        return {undone(trial) - 2: interruption(trial)}
    number, why = went_wrong(trial)
    if number:
        session.renew()
    if number > 1:
        return {number - 2: why}
    return {at: "it changes nothing" for at, step in enumerate(steps) if not _is_done(trial, bare, at + 2, step)}


def _is_done(trial: Trial, bare: Observed, number: int, step: _Theirs) -> bool:
    """Whether another user changed something of the resource in the step of this number."""
    resource = step.resource if isinstance(step, Edit) else bare.resource
    began, ended = next((run.began, run.ended) for run in trial.steps if run.number == number)
    return any(
        commit.by is None and commit.entry.resource == resource and not is_unmoved(commit.entry, commit.before, bare.moves)
        for commit in trial.commits
        if began < commit.index < (ended or len(trial.entries))
    )


# --- what the controller wrote ---------------------------------------------------------------------------------------------------


def _edits(bare: Observed, trial: Trial) -> Iterator[Edit]:
    for kind, children in _kept(bare, trial):
        yield from edits(kind.resource, [_written(child) for child in children], stable=kind.stable_names)


def _asides(bare: Observed, trial: Trial) -> Iterator[Edit]:
    for kind, children in _kept(bare, trial):
        yield from set_aside(kind.resource, [child.last.entry.object for child in children])


def _kept(bare: Observed, trial: Trial) -> Iterator[tuple[ChildKind, list[Incarnation]]]:
    """The kinds of children that stay and that the controller alone made, with those that are there, by name."""
    for kind in bare.children:
        children = sorted(_children(trial, kind.resource), key=lambda child: child.name)
        if kind.stays and all(child.creator is not None for child in children):
            yield kind, children


def _children(trial: Trial, resource: str) -> list[Incarnation]:
    """Those that were there in the end and have an owner."""
    every = object_history(trial).objects.values()
    return [each for each in every if each.resource == resource and each.owner_uid and each.is_live(before=len(trial.entries))]


def _resets(bare: Observed, trial: Trial, required: Collection[str] = ()) -> list[PatchStatus]:
    """Not of fields that are required, or that move by themselves."""
    for primary in object_history(trial).named(bare.resource, bare.target.name):
        status = primary.last.entry.object.get("status") or {}
        steady = {key: value for key, value in status.items() if key not in required and not _moves(bare, key)}
        return resets(bare.target, steady, _written(primary, ("status",)).get("status", {}))
    return []


def _moves(bare: Observed, key: str) -> bool:
    path = moved(bare.resource, f"status.{key}")
    return any(each.startswith((path, f"{path}.", f"{path}[")) for each in bare.moves)


def _written(of: Incarnation, sections: Sequence[str] = ()) -> Manifest:
    """The object with those fields alone that the controller wrote last, of these sections; empty: of its content."""
    by_it: dict[str, dict[str, bool]] = defaultdict(dict)
    for commit in of.commits:
        for name, fields in _sections(commit.entry.object, sections):
            before = dict(_sections(commit.before or {}, sections)).get(name, {})
            by_it[name].update({key: commit.by is not None for key, value in fields.items() if before.get(key) != value})
    last = of.last.entry.object
    kept = {name: {key: fields[key] for key in fields if by_it[name].get(key)} for name, fields in _sections(last, sections)}
    return {"kind": last["kind"], **kept}


def _sections(obj: Manifest, names: Sequence[str]) -> Iterator[tuple[str, Manifest]]:
    for name, fields in obj.items():
        if isinstance(fields, dict) and (name in names if names else name not in _NOT_CONTENT):
            yield name, fields
