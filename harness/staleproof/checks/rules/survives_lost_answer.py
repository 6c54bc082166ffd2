"""survives-lost-answer: treat a write whose answer was lost as possibly done.

The write was executed, and only we know. Any of these is a finding:

1. a create that makes more live children of a role than any reference had by then (`but_for`), which the live ones whose answers
   were lost explain;
2. a delete that no reference made by that step (`but_for`), which deletes whose answers were lost explain;
3. the end state is not the references', and nothing but lost answers had been done to the controller (`Suspicion`).

For 1 and 2 the repeated write must have been decided on without a look: the controller had not been shown what it had done, or it
was still the decision in which the answer was lost (it tried again at once). `reconcile_epochs` says what counts as one decision.

Not judged: a write that is repeated under the same name. It is refused, which is how deterministic names and preconditions work.
"""

from collections.abc import Iterator

from staleproof.checks.facts.own_writes import lost_writes
from staleproof.checks.requirement import Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import NotExercised, Said, Suspicion

_TOLD = 3


def check(trial: Trial) -> Iterator[Said]:
    lost = lost_writes(trial)
    if not lost:
        yield NotExercised("no answer to a write of the controller was lost")
        return
    acts = tuple(request.answer_index for request in lost if request.answer_index is not None)
    charge = f"after the answer to its {lost[0].asked.verb} of {lost[0].asked.resource} was lost"
    yield Suspicion(acts[:_TOLD], charge)


REQUIREMENT = Requirement(
    slug="survives-lost-answer",
    must="The controller MUST treat a write whose answer was lost as possibly done.",
    level="core",
    source="API machinery, pkg/api/errors: a timeout says nothing about whether the request was executed",
    faults=("LoseAnswer", "SlowAnswer"),
    remedy="look before trying again, or try again under the same name and take AlreadyExists and NotFound for done",
    kind="deed",
    wrong="a create or delete too many, or another end than without faults",
    reasons=("lost answer",),
    verbs=("create", "delete"),
    effects=frozenset({"loses", "slows"}),
    check=check,
    outlives=frozenset({"loses"}),
)
