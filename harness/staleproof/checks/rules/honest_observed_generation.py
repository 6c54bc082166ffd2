"""honest-observed-generation: report no generation that was not shown, never go back, end with the newest; conditions alike.

Five findings, of status writes by the controller only, each absent from every reference:

1. *unshown*: it claimed a generation newer than any that it had been shown or told, by frames, lists, GET or answers to own writes;
2. *back*: it claimed an older one than had been claimed, while its caches were behind what had been claimed. To take back what this
   object never can have had is no going back: it mends;
3. *inherited*: it claimed one that this object never had, but its predecessor of that name: it was not shown that there is another.
   The status subresource of a custom resource takes a patch with the status of another uid, unless it has a resourceVersion;
4. *unacted*: it knew the generation from a live answer only (a GET, the answer to a write), claimed it without having asked for
   anything since, did something for it only once its caches had shown it, and in every reference it acted first. "Save the
   generation number we acted on, otherwise we might wrongfully indicate that we've seen a spec update" (kubernetes,
   pkg/controller/replicaset/replica_set_utils.go);
5. *left behind*: it wrote the status after its caches had shown the last generation, and the status still ended with an older one,
   after as much time as any client needs, where every reference ended with the newest.

Left out for honesty: how conditions end (many are rightly of the generation they changed in), a status never written after the
catch-up (that is for converges-after-catch-up), an object never shown in this life, whose generation is anybody's guess.
"""

from collections.abc import Iterator
from typing import Literal

from staleproof.checks.but_for import unheard_of
from staleproof.checks.deeds.claims import (
    OBSERVED,
    StatusClaim,
    acted_before,
    acted_on_children,
    asked_on_others,
    observed,
    observed_claims,
)
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.shown_generations import shown_generations
from staleproof.checks.facts.witnesses import context
from staleproof.checks.facts.wording import full_name
from staleproof.checks.requirement import Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, NotExercised, Said
from staleproof.checks.view.life import view
from staleproof.core.history.entry import FaultFired, Released, StepEnded

_Lapse = Literal["unshown", "back", "inherited", ""]


def check(trial: Trial) -> Iterator[Said]:
    claims = observed_claims(trial)
    yield from (_lapsed(trial, claim, lapse) for claim, lapse in unheard_of(trial, _lapses, _kind))
    yield from (_unacted(trial, claim) for claim in claims if _is_unacted(trial, claim))
    for of in object_history(trial).objects.values():
        yield from _left_behind(trial, of)
    if not claims:
        yield NotExercised("the controller reported no observedGeneration")
    if not _is_tempted(trial):
        yield NotExercised("the controller never reported while a newer generation was hidden from it, nor after that")


def _lapses(trial: Trial) -> list[tuple[StatusClaim, _Lapse]]:
    """Claims that are wrong by themselves."""
    return [(claim, lapse) for claim in observed_claims(trial) if (lapse := _lapse(trial, claim))]


def _kind(lapsed: tuple[StatusClaim, _Lapse]) -> tuple[_Lapse, str, str]:
    """What is wrong, with which resource, in which field."""
    claim, lapse = lapsed
    return lapse, claim.of.resource, claim.about


def _lapse(trial: Trial, claim: StatusClaim) -> _Lapse:
    """What is wrong with a claim by itself; empty for nothing, and for an object that was never shown in this life."""
    shown, asked, uid = shown_generations(trial), claim.asked, claim.of.uid
    known, real = shown.known.before(asked, uid), claim.commit.generation
    if claim.generation > real and _predecessor(trial, claim) is not None:
        return "inherited"
    if known and claim.last is not None and claim.generation < claim.last <= real:
        return "back" if (shown.cached.before(asked, uid) or known) < claim.last else ""
    return "unshown" if known and claim.generation > known else ""


def _predecessor(trial: Trial, claim: StatusClaim) -> Incarnation | None:
    """The incarnation before, if it had this generation and this life had not been shown its successor."""
    of = claim.of
    named = object_history(trial).named(of.resource, of.name)
    before = [each for each in named if each.create_revision < of.create_revision]
    is_its = bool(before) and before[-1].last.generation >= claim.generation
    return before[-1] if is_its and view(trial, claim.asked).of(of.uid).shown is None else None


def _lapsed(trial: Trial, claim: StatusClaim, lapse: _Lapse) -> Finding:
    if lapse == "inherited":
        name = full_name(claim.commit.entry)
        because = f"{_subject(claim)} says {claim.generation}, which its predecessor had; this one has generation "
        though = f"though it had not been shown that {name} is another one now (uid {claim.of.uid[:8]})"
        return _found(trial, claim, 0, f"{because}{claim.commit.generation}", though)
    if lapse == "back":
        because = f"{_subject(claim)} went back from generation {claim.last} to {claim.generation}"
        though = f"though {claim.last} had been reported, which its caches had not been shown"
        return _found(trial, claim, claim.last or 0, because, though)
    newest = shown_generations(trial).known.before(claim.asked, claim.of.uid)
    because = f"{_subject(claim)} says {claim.generation}; the newest generation that the controller had been shown was {newest}"
    return _found(trial, claim, newest + 1, because, f"though it had been shown no generation after {newest}")


def _is_unacted(trial: Trial, claim: StatusClaim) -> bool:
    asked, of, generation, shown = claim.asked, claim.of, claim.generation, shown_generations(trial)
    learnt, brought = shown.known.reached(of.uid, generation, before=asked), of.reaching(generation)
    if claim.about != OBSERVED or learnt is None or brought is None or shown.cached.before(asked, of.uid) >= generation:
        return False
    waits_for_others = bool(view(trial, asked).withheld() - {of.resource})
    has_new_life = any(brought.index < start < asked for start in trial.starts)
    if waits_for_others or has_new_life or asked_on_others(trial, of, after=learnt, before=asked):
        return False  # it acted; or may have had to wait for something else, or may have acted in an earlier life
    cached, follows = shown.cached.rises(of.uid, generation, after=asked), of.reaching(generation + 1)
    end = follows.index if follows is not None else len(trial.entries)
    acts = cached is not None and acted_on_children(trial, of, after=cached, before=end)
    return acts and all(_acts_first(reference, of, generation) for reference in trial.alike)


def _acts_first(reference: Trial, of: Incarnation, generation: int) -> bool:
    """Whether it did something to the object's children between being shown this generation and reporting it."""
    claims = (claim for claim in observed_claims(reference) if claim.is_like(OBSERVED, of))
    claim = next((claim for claim in claims if claim.generation >= generation), None)
    return claim is not None and acted_before(reference, claim)


def _unacted(trial: Trial, claim: StatusClaim) -> Finding:
    because = f"{_subject(claim)} says {claim.generation} before anything was done for it; fault-free runs always acted first"
    though = f"though it knew generation {claim.generation} from a live answer only, and acted on it when its cache showed it"
    return _found(trial, claim, claim.generation, because, though)


def _left_behind(trial: Trial, of: Incarnation) -> Iterator[Finding]:
    claim, newest = observed(of.last.entry.object).get(OBSERVED), of.last.generation
    if claim is None or claim >= newest or of.last.deletes or of.resource not in trial.primaries:
        return
    since = shown_generations(trial).cached.reached(of.uid, newest, before=len(trial.entries))
    own = ((commit, commit.heard.index) for commit in reversed(of.commits) if commit.heard is not None)
    wrote = next(((commit, asked) for commit, asked in own if since is not None and asked > since), None)
    if wrote is not None and all(_ends_with_newest(reference, of) for reference in trial.alike):
        commit, asked = wrote
        name = full_name(commit.entry)
        because = f"{name} ended with observed generation {claim} of {newest}; fault-free runs ended with the newest"
        though = f"though it had been shown generation {newest}"
        yield Finding(because, _context(trial, of, newest, asked, commit.index), though, basis="unfinished")


def _ends_with_newest(reference: Trial, of: Incarnation) -> bool:
    same = object_history(reference).labelled(of.resource, of.label)
    return same is not None and observed(same.last.entry.object).get(OBSERVED) == same.last.generation


def _is_tempted(trial: Trial) -> bool:
    """Whether it reported on an object while, or after, a fault kept its caches behind the object's newest generation."""
    fired = trial.first(FaultFired)
    moments = trial.positions(StepEnded, Released)
    return fired is not None and any(
        fired < moment <= claim.asked and _is_behind(trial, claim.of, moment)
        for claim in observed_claims(trial)
        for moment in (*moments, claim.asked)
    )


def _is_behind(trial: Trial, of: Incarnation, moment: int) -> bool:
    committed = max((commit.generation for commit in of.commits if commit.index < moment), default=0)
    return shown_generations(trial).cached.before(moment, of.uid) < committed


def _found(trial: Trial, claim: StatusClaim, hidden: int, because: str, though: str) -> Finding:
    return Finding(because, _context(trial, claim.of, hidden, claim.asked, claim.commit.index), though)


def _context(trial: Trial, of: Incarnation, hidden: int, asked: int, committed: int) -> tuple[int, ...]:
    """With the commit of the generation that was hidden, if it was ever made."""
    brought = of.reaching(hidden)
    return context(trial, [brought.index if brought is not None else None], asked, committed)


def _subject(claim: StatusClaim) -> str:
    return f"{claim.about.removeprefix('status.')} of {full_name(claim.commit.entry)}"


REQUIREMENT = Requirement(
    slug="honest-observed-generation",
    must="The controller MUST never report a generation that it has not been shown and acted on, never go back, "
    "and end with the newest.",
    level="core",
    source="API conventions, Typical status properties; kubernetes pkg/controller/replicaset/replica_set_utils.go",
    faults=("Hold", "Delay", "Skew", "HideOwnWrite", "Restart", "PastSnapshot"),
    remedy="save the generation of the object that the reconciliation began with and report that one, "
    "never that of an object read again just before the status is written; and write the status with the resourceVersion that was "
    "read, in a patch, too: without it, a status subresource takes that of a predecessor",
    severity="stuck",
    kind="deed",
    wrong="a generation reported that it does not stand for",
    reasons=("hidden", "renamed"),
    check=check,
)
