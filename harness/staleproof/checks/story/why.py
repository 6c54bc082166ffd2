"""Why a rule said what it said of a trial, or said nothing: what it saw, which doubts came first, and what excused it.

A maintainer reads it to look into a verdict, above all one that lets a guilty controller off. It decides nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from staleproof.checks.but_for import is_compared, roles
from staleproof.checks.doubt import DOUBTS, has_no_end
from staleproof.checks.ends.convergence import differences
from staleproof.checks.facts.fault_outcomes import fault_outcomes
from staleproof.checks.facts.object_history import object_history
from staleproof.checks.facts.own_writes import own_creates, own_deletes, unseen_children
from staleproof.checks.facts.wording import full_name, listing
from staleproof.checks.judge import sayings
from staleproof.checks.knowledge import knowledge
from staleproof.checks.requirement import Requirement
from staleproof.checks.story.narrative import compared
from staleproof.checks.surplus import Surplus, surplus
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, Inconclusive, NotExercised, Said, Suspicion
from staleproof.checks.view.life import Means

_MOST = 10
_BY: Mapping[Means, str] = {"frame": "an event", "list": "a list", "get": "a read", "answer": "the answer to a write"}


@dataclass(frozen=True, slots=True)
class Section:
    """Some lines under a title."""

    title: str
    lines: tuple[str, ...]


def why(trial: Trial, requirement: Requirement) -> tuple[Section, ...]:
    """What there is to know about one requirement in one trial, beside its verdict."""
    return (
        Section("what is required", (requirement.must,)),
        Section("what was done to the controller", tuple(map(str, fault_outcomes(trial.history))) or ("nothing",)),
        Section("what the rule says", tuple(_said(requirement, trial)) or ("nothing: it saw no reason for a finding",)),
        Section(
            "creates and deletes beyond those of fault-free runs by that step",
            tuple(line for each in surplus(trial)[:_MOST] for line in _deed(each, trial)) or ("none",),
        ),
        Section("how it ended", tuple(_ended(trial))),
        Section("what may speak against a verdict", tuple(_doubts(trial)) or ("nothing",)),
        Section("compared with", (compared(roles(trial)) or "nothing: it has no references",)),
    )


def _doubts(trial: Trial) -> Iterator[str]:
    """Those that apply. Each is asked of some findings only, and a deed may count whatever they say."""
    answers = ((doubt, doubt.ask(trial)) for doubt in DOUBTS)
    yield from (f"{doubt.name}: {answer} (asked about: {', '.join(doubt.of)})" for doubt, answer in answers if answer)


def _said(requirement: Requirement, trial: Trial) -> Iterator[str]:
    if requirement.needs_end and has_no_end(trial):
        yield f"nothing: {has_no_end(trial)}"
        return
    yield from map(_in_words, islice(sayings(requirement, trial), _MOST))


def _in_words(said: Said) -> str:
    match said:
        case Finding(because=because, though=though, witnesses=witnesses):
            return f"finding: {because}{', ' * bool(though)}{though} (entries {', '.join(map(str, witnesses))})"
        case NotExercised(why=reason):
            return f"not exercised: {reason}"
        case Inconclusive(why=reason):
            return f"doubt: {reason}"
        case Suspicion(charge=charge, proof=proof, doubt=doubt):
            return f"suspicion, unless it ends as fault-free runs do: {proof or charge}{f'; but {doubt}' if doubt else ''}"


def _deed(surplus: Surplus, trial: Trial) -> Iterator[str]:
    deed, index = surplus.deed, surplus.deed.request_index
    did, own = f"created {deed.name}, {deed.nth}; {surplus.words}", own_creates(trial)
    if deed.verb == "delete":
        did, own = f"deleted {deed.name}: {surplus.words}", own_deletes(trial)
    yield f"entry {index}, {trial.at(index):.3f} s: {did}"
    unseen = [each.name for each in own.behind(deed.child, before=index)]
    unknown = [each.name for each in unseen_children(trial, at=index) if each.role == deed.child.role]
    yield f"  own ones of earlier decisions not shown by then: {_listing(unseen)}"
    yield f"  alive by then, neither shown nor named by an answer: {_listing(unknown)}"
    yield f"  {_view(deed.child.owner_uid, trial, index)}"


def _listing(names: list[str]) -> str:
    return listing(names) if names else "none"


def _view(uid: str, trial: Trial, index: int) -> str:
    """What the controller knew of the owner then, what there was to know, and why it did not know that."""
    owner = object_history(trial).objects.get(uid)
    if owner is None:
        return "its owner is not in the history"
    known = knowledge(trial, uid, before=index)
    how = f"at resourceVersion {known.revision} (by {_BY[known.means]})" if known.means is not None else "not at all"
    why_not = f": {known.why_not}" if known.why_not else ""
    return f"{full_name(owner.first.entry)} was known {how}, the newest was {known.newest}{why_not}"


def _ended(trial: Trial) -> Iterator[str]:
    if trial.settled is None:
        yield "it was not settled"
    elif not is_compared(trial):
        yield "there is nothing to compare it with"
    else:
        found = differences(trial, trial.settled)[:_MOST]
        yield from (f"{each.text}{' (unstable, proves nothing)' if each.unstable else ''}" for each in found)
        if not found:
            yield "as fault-free runs do"
