"""honest-ready: say that a generation is Ready or Available only when its children have become so.

What "so" means is learnt: the fewest live children of each role that any reference had whenever it said that this generation is
Ready. A finding needs all of this:

1. the controller said that the generation is Ready though there had never been so many children since it was committed;
2. it had not asked for anything since the step in which that generation came, and in every reference it acted first: one that did
   something and says Ready too soon may have another idea of Ready (a quorum, an accepted spec);
3. something of those children, or of the object itself, was being kept from it.

Only conditions that name a generation, or stand in a status that does, are judged, and only of the workload's own objects. Left out
for honesty: too many children (more than wanted may well be ready), and whether the children are ready themselves: how much of that
a controller waits for cannot be learnt from two runs.
"""

from collections.abc import Iterator

from staleproof.checks.deeds.claims import READY, StatusClaim, asked_on_others, fewest_when_ready, first_ready, ready_claims
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.witnesses import context
from staleproof.checks.facts.wording import full_name
from staleproof.checks.requirement import HIDDEN, Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, NotExercised, Said
from staleproof.checks.view.life import view, withheld_between


def check(trial: Trial) -> Iterator[Said]:
    if not all(ready_claims(reference) for reference in trial.alike):
        yield NotExercised("the controller reports neither Ready nor Available for a generation")
    for claim in ready_claims(trial):
        yield from _judge(trial, claim)
    if not _is_tempted(trial):
        yield NotExercised("there was no new generation to act on while its children, or it, were hidden from the controller")


def _judge(trial: Trial, claim: StatusClaim) -> Iterator[Finding]:
    of, brought, asked = claim.of, claim.of.reaching(claim.generation), claim.asked
    if of.resource not in trial.primaries or brought is None:
        return
    step = max((step.began for step in trial.steps if step.began < brought.index), default=-1)
    if asked_on_others(trial, of, after=step, before=asked):
        return
    withheld = view(trial, asked).withheld()
    until = max(claim.commit.index, claim.request.answer_index or asked)
    for role, fewest in sorted(fewest_when_ready(trial, of, claim.about, claim.generation).items()):
        most = object_history(trial).peak_between(role, brought.index, until)
        if most < fewest and withheld & {role.resource, of.resource}:
            subject = f"{full_name(claim.commit.entry)} said {claim.about} for generation {claim.generation}"
            because = f"{subject} with never more than {most} live {role.resource} since; fault-free runs had {fewest} by then"
            though = f"though it had done nothing for that generation, and news of {', '.join(sorted(withheld))} was kept from it"
            yield Finding(because, context(trial, [brought.index], asked, claim.commit.index), though)
            return


def _is_tempted(trial: Trial) -> bool:
    """Whether something was kept from the controller between a generation that asks for more children and its being Ready."""
    return any(
        _is_hidden(trial, of, about, generation)
        for of in object_history(trial).objects.values()
        for generation in ({commit.generation for commit in of.commits} if of.resource in trial.primaries else ())
        for about in READY
    )


def _is_hidden(trial: Trial, of: Incarnation, about: str, generation: int) -> bool:
    brought = of.reaching(generation)
    assert brought is not None
    said = first_ready(trial, of, about, generation)
    withheld = withheld_between(trial, brought.index, said.asked if said else len(trial.entries))
    fewest, made = fewest_when_ready(trial, of, about, generation), object_history(trial)
    short = [role for role in fewest if made.live_at(role, brought.index) < fewest[role]]
    return any(withheld & {role.resource, of.resource} for role in short)


REQUIREMENT = Requirement(
    slug="honest-ready",
    must="The controller MUST not report Ready or Available for a generation whose children have not become so.",
    level="extended",
    source="API conventions, Typical status properties (conditions)",
    faults=HIDDEN,
    remedy="set Ready only after what the generation asks for has been seen; "
    "while own writes are not shown yet, leave the condition as it is, or say Unknown",
    severity="stuck",
    kind="deed",
    wrong="Ready said of a generation whose children are not there",
    reasons=("hidden",),
    check=check,
)
