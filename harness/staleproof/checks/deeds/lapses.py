"""Reports of an observed generation that do not stand for it: what is wrong with them by themselves.

1. *inherited*: it claimed one that this object never had, but its predecessor of that name: it was not shown that there is another;
2. *back*: it claimed an older one than had been claimed, while its caches were behind what had been claimed. To take back what this
   object never can have had is no going back: it mends;
3. *unshown*: it claimed a generation newer than any that it had been shown or had learnt from an answer;
4. *unacted*: it knew the generation from a live answer only, claimed it without having asked for anything since, and did something
   for it only once its caches had shown it;
5. *left behind*: it wrote the status, or tried to, after its caches had shown the last generation, and the status still ended with
   an older one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from staleproof.checks.deeds.claims import (
    OBSERVED,
    StatusClaim,
    acted_before,
    acted_on_children,
    acted_on_other_objects,
    observed,
    observed_claims,
    shown_generations,
)
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.retries import refused_reports
from staleproof.checks.facts.witnesses import context
from staleproof.checks.facts.wording import full_name
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding
from staleproof.checks.view.life import view

_USUAL = "fault-free runs ended with the newest"
_REFUSED = "; its last report was refused, as the object had changed, and not made again"

LapseKind = Literal["inherited", "back", "unshown", "unacted", "left behind"]


@dataclass(frozen=True, slots=True)
class Lapse:
    """A claim, or an end, that is wrong: which kind of lapse it is, the field and the object, the generation that it is about, and
    the finding, if no fault-free run shows the like."""

    kind: LapseKind
    about: str
    of: Incarnation
    generation: int
    finding: Finding

    @property
    def where(self) -> tuple[str, str, str]:
        """What is wrong, with which resource, in which field."""
        return self.kind, self.of.resource, self.about


def wrong_claims(trial: Trial) -> list[Lapse]:
    """Those that are wrong by themselves."""
    return [lapse for claim in observed_claims(trial) if (lapse := _wrong(trial, claim)) is not None]


def _wrong(trial: Trial, claim: StatusClaim) -> Lapse | None:
    """What is wrong with a claim; nothing with that of an object that was never shown in this life."""
    shown, index, of, generation = shown_generations(trial), claim.request_index, claim.of, claim.generation
    known, real, subject = shown.known.before(index, of.uid), claim.commit.generation, _subject(claim)
    if generation > real and _is_of_predecessor(trial, claim):
        because = f"{subject} says {generation}, which its predecessor had; this one has generation {real}"
        though = f"though it had not been shown that {full_name(claim.commit.entry)} is another one now (uid {of.uid[:8]})"
        return _lapse(trial, claim, "inherited", 0, because, though)
    if known and claim.last is not None and generation < claim.last <= real:
        because = f"{subject} went back from generation {claim.last} to {generation}"
        though = f"though {claim.last} had been reported, which its caches had not been shown"
        is_late = (shown.cached.before(index, of.uid) or known) < claim.last
        return _lapse(trial, claim, "back", claim.last, because, though) if is_late else None
    because = f"{subject} says {generation}; the newest generation that the controller had been shown was {known}"
    though = f"though it had been shown no generation after {known}"
    return _lapse(trial, claim, "unshown", known + 1, because, though) if known and generation > known else None


def _is_of_predecessor(trial: Trial, claim: StatusClaim) -> bool:
    """Whether the incarnation before had this generation, and this life had not been shown its successor."""
    of = claim.of
    named = object_history(trial).named(of.resource, of.name)
    before = [each for each in named if each.create_revision < of.create_revision]
    is_its = bool(before) and before[-1].last.generation >= claim.generation
    return is_its and view(trial, claim.request_index).of(of.uid).shown is None


def unacted_claims(trial: Trial) -> Iterator[Lapse]:
    """Claims of a generation for which nothing had been done: only what its caches showed it made the controller act."""
    for claim in observed_claims(trial):
        if _is_unacted(trial, claim):
            because = (
                f"{_subject(claim)} says {claim.generation} before anything was done for it; fault-free runs always acted first"
            )
            though = (
                f"though it knew generation {claim.generation} from a live answer only, and acted on it when its cache showed it"
            )
            yield _lapse(trial, claim, "unacted", claim.generation, because, though)


def _is_unacted(trial: Trial, claim: StatusClaim) -> bool:
    index, of, generation, shown = claim.request_index, claim.of, claim.generation, shown_generations(trial)
    learnt, brought = shown.known.reached(of.uid, generation, before=index), of.reaching(generation)
    if claim.about != OBSERVED or learnt is None or brought is None or shown.cached.before(index, of.uid) >= generation:
        return False
    awaits_other_resources = bool(view(trial, index).withheld() - {of.resource})
    has_new_life = any(brought.index < start < index for start in trial.starts)
    if awaits_other_resources or has_new_life or acted_on_other_objects(trial, of, after=learnt, before=index):
        return False  # it acted; or may have had to wait for something else, or may have acted in an earlier life
    cached, follows = shown.cached.rises(of.uid, generation, after=index), of.reaching(generation + 1)
    end = follows.index if follows is not None else len(trial.entries)
    return cached is not None and acted_on_children(trial, of, after=cached, before=min(end, _next_cause(trial, of, cached)))


def _next_cause(trial: Trial, of: Incarnation, since: int) -> int:
    """Where there is something else to do than what was shown at a position: the next step, or another user's write to a child."""
    children = (each for each in object_history(trial).objects.values() if each.owner_uid == of.uid)
    theirs = (commit.index for each in children for commit in each.commits if commit.by is None)
    begun = (step.began for step in trial.steps)
    return min((index for index in (*theirs, *begun) if index > since), default=len(trial.entries))


def acts_first(run: Trial, lapse: Lapse) -> bool:
    """Whether another run does something to the object's children between being shown that generation and reporting it."""
    claims = (claim for claim in observed_claims(run) if claim.is_like(OBSERVED, lapse.of))
    claim = next((claim for claim in claims if claim.generation >= lapse.generation), None)
    return claim is not None and acted_before(run, claim)


def left_behind(trial: Trial) -> Iterator[Lapse]:
    """Objects of the workload whose status ended with an older generation, though the controller wrote it, or tried to, after the
    newest was shown."""
    reported = {claim.of.uid for claim in observed_claims(trial) if claim.about == OBSERVED}  # others may report as well
    for of in object_history(trial).objects.values():
        claim, newest = observed(of.last.entry.object).get(OBSERVED), of.last.generation
        if claim is None or claim >= newest or of.last.deletes or of.resource not in trial.primaries or of.uid not in reported:
            continue
        since = shown_generations(trial).cached.reached(of.uid, newest, before=len(trial.entries))
        wrote = _last_write(of, since) or _last_refusal(trial, of, since) if since is not None else None
        if wrote is not None:
            because = f"{full_name(of.last.entry)} ended with observed generation {claim} of {newest}; {_USUAL}{wrote.how}"
            though = f"though it had been shown generation {newest}"
            witnesses = _witnesses(trial, of, newest, wrote.asked, wrote.became)
            finding = Finding(because, witnesses, though, basis="unfinished")
            yield Lapse("left behind", OBSERVED, of, newest, finding)


class _Written(NamedTuple):
    """A write by the controller: where it asked for it, where the commit or the refusal is, and what became of it, in words."""

    asked: int
    became: int
    how: str = ""


def _last_write(of: Incarnation, since: int) -> _Written | None:
    """The last one after a position that changed the object."""
    own = ((commit.heard.index, commit.index) for commit in reversed(of.commits) if commit.heard is not None)
    return next((_Written(asked, became) for asked, became in own if asked > since), None)


def _last_refusal(trial: Trial, of: Incarnation, since: int) -> _Written | None:
    """The last report on the object, if it was refused, and made after a position."""
    refused, brought = refused_reports(trial).get((of.resource, of.name)), of.reaching(of.last.generation)
    if refused is None or refused.asked < since or brought is None:
        return None
    later = (commit for commit in of.commits if commit.entry.revision > brought.entry.revision)
    is_about_newest = any(commit.index < refused.heard for commit in later)  # or else that generation itself was in its way
    return _Written(*refused, _REFUSED) if is_about_newest else None


def ends_with_newest(run: Trial, lapse: Lapse) -> bool:
    """Whether in another run the status of the object that is called the same ends with its newest generation."""
    same = object_history(run).labelled(lapse.of.resource, lapse.of.label)
    return same is not None and observed(same.last.entry.object).get(OBSERVED) == same.last.generation


def _subject(claim: StatusClaim) -> str:
    return f"{claim.about.removeprefix('status.')} of {full_name(claim.commit.entry)}"


def _lapse(trial: Trial, claim: StatusClaim, kind: LapseKind, hidden: int, because: str, though: str) -> Lapse:
    """Of a claim made though a generation was hidden; 0 for none."""
    witnesses = _witnesses(trial, claim.of, hidden, claim.request_index, claim.commit.index)
    return Lapse(kind, claim.about, claim.of, claim.generation, Finding(because, witnesses, though))


def _witnesses(trial: Trial, of: Incarnation, hidden: int, request_index: int, committed: int) -> tuple[int, ...]:
    """With the commit of the generation that was hidden, if it was ever made."""
    brought = of.reaching(hidden)
    return context(trial, [brought.index if brought is not None else None], request_index, committed)
