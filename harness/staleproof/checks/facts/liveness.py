"""Did the controller reach the references' state although something was done to it, and if not, is that to blame?

Several requirements are decided by the same end state and differ in what was done: the stream was lost, history expired, states
were skipped. This says when an end that is not right proves one of them. It does not when the controller had too little time
(`patience`, and what it pauses by itself), when something else explains it (another kind of fault, another requirement that was
broken, steps of the workload that came to something else), or when the references do not agree. Then nothing is known, and
`converges-after-catch-up` tells of the end alone.
"""

from collections.abc import Callable
from dataclasses import dataclass

from staleproof.checks.facts.baseline import Difference, final_objects
from staleproof.checks.facts.object_history import Population
from staleproof.checks.facts.recovery_budget import awaits_election, fired, patience, tags_of
from staleproof.checks.rules import no_delete_of_unseen, no_duplicate_create, no_excess_delete
from staleproof.checks.trial import Evidence
from staleproof.checks.verdict import Finding, Outcome, Verdict, failed, inconclusive, not_exercised, passed
from staleproof.core.entry import Entry, Released, Settled
from staleproof.core.fault import AnyFault
from staleproof.core.pace import longest_pause

_PAUSES = 3.0
"""How many of the longest pause of a fault-free run a controller may need one after the other."""
_OTHER_RULES = (no_duplicate_create, no_excess_delete, no_delete_of_unseen)


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What was done to the controller, and what would be wrong if it does not end well.

    Attributes:
        acts: positions of the entries that tell what was done to it.
        is_ours: whether a fault does this; another one that fired may be to blame as well.
        charge: begins the sentence of a finding; the difference follows.
        proof: what shows directly that this is to blame, in the words of a charge; empty when only the end can show it.
        doubt: another explanation, in words; empty when there is none.
    """

    acts: tuple[int, ...]
    is_ours: Callable[[AnyFault], bool]
    charge: str
    proof: str = ""
    doubt: str = ""


def ending_of(evidence: Evidence) -> tuple[int, int] | None:
    """The positions of the release and of the end of the settling phase, if the trial came so far."""
    entries = evidence.history.entries
    released, settled = _first(entries, Released), _first(entries, Settled)
    return None if released is None or settled is None else (released, settled)


def differences(evidence: Evidence, until: int) -> list[Difference]:
    """How the state at a position differs from the references' end."""
    state = final_objects(evidence.history, until=until)
    return list(evidence.baseline.differences(state, evidence.history.header.namespace))


def converged(evidence: Evidence) -> bool:
    """Whether it was right at the end of the settling phase, or at the end of all."""
    ending = ending_of(evidence)
    return ending is not None and not (differences(evidence, ending[1]) and differences(evidence, len(evidence.history.entries)))


def verdict_on(slug: str, evidence: Evidence, suspicion: Suspicion) -> Verdict:
    """Passed when it converged; the caller has made sure that it was put to the test."""
    ending = ending_of(evidence)
    if ending is None:
        return inconclusive(slug, "the trial has no settling phase")
    if evidence.idle:
        return not_exercised(slug, evidence.idle)
    if converged(evidence):
        return passed(slug)
    released, settled = ending
    found = differences(evidence, settled)
    certain = next((difference.text for difference in found if not difference.unstable), "")
    if not certain:
        return inconclusive(slug, f"the references do not agree: {found[0].text}")
    doubt = other_workload(evidence) or too_soon(evidence, settled) or ("" if suspicion.proof else _otherwise(evidence, suspicion))
    if doubt:
        return inconclusive(slug, f"it did not converge ({certain}), but {doubt}")
    witnesses = tuple(sorted({*suspicion.acts, released, settled}))
    return failed(slug, [Finding(slug, f"{suspicion.proof or suspicion.charge}: {certain}", witnesses)])


def other_workload(evidence: Evidence) -> str:
    """Whether the user's steps came to something else than in the references, in words; then another end is no wonder.

    A primary that is applied again while it is still terminating is never created again: the apply changes the dying one.
    """
    for primary in evidence.history.header.primaries:
        times = _creations(evidence.population, primary)
        usual = [_creations(made, primary) for made in evidence.reference_populations]
        if times not in usual:
            return f"the workload created {primary} {times} times and {max(usual, default=0)} times in fault-free runs"
    return ""


def _creations(made: Population, primary: str) -> int:
    """How often somebody else created it."""
    return sum(f"{child.named.resource}/{child.named.name}" == primary and not child.creator for child in made.children.values())


def too_soon(evidence: Evidence, settled: int) -> str:
    """Whether it may not have had the time to get there by this position, in words; empty when it had."""
    needed, since = time_needed(evidence, settled)
    waited = evidence.history.entries[settled].at - evidence.history.entries[since].at
    if waited < needed:
        return f"it had {waited:.1f} s to catch up, and may need {needed:.1f} s after what was done to it"
    return awaits_election(evidence, settled)


def time_needed(evidence: Evidence, until: int) -> tuple[float, int]:
    """The seconds that a correct controller may need after all that was done to it, and the position from where they count."""
    needed, since = patience(evidence, until)
    return max([needed, *(_PAUSES * longest_pause(reference) for reference in evidence.references)]), since


def broken_rules(evidence: Evidence) -> list[Verdict]:
    """Verdicts of the rules about acting on an old view that this trial has findings of."""
    verdicts = [rule.check(evidence) for rule in _OTHER_RULES]
    return [verdict for verdict in verdicts if verdict.outcome is Outcome.FAIL]


def _otherwise(evidence: Evidence, suspicion: Suspicion) -> str:
    """What else may be to blame."""
    broken = broken_rules(evidence)
    if suspicion.doubt or broken:
        return suspicion.doubt or f"{broken[0].requirement} may explain that"
    others = [fault for fault in fired(evidence).values() if not suspicion.is_ours(fault)]
    return f"{tags_of(others)} fired, too, and may explain that" if others else ""


def _first(entries: tuple[Entry, ...], kind: type[Entry]) -> int | None:
    return next((i for i, entry in enumerate(entries) if isinstance(entry, kind)), None)
