"""Which companions run beside a controller: those that a real cluster would have for what it creates.

The garbage collector and the namespace controller always run. For the others the controller is watched without any fault: as long
as it creates something that no controller acts on yet, the one that does so in a real cluster is started, and it is watched again,
because it may go on once its pods are ready. All this comes before the first observation, so that a run's histories are of one
cluster."""

from collections.abc import Iterable
from functools import partial

import msgspec

from staleproof.assess.trial.session import Session
from staleproof.checks.facts.object_history import creations, object_history
from staleproof.checks.trial import Trial, indexed
from staleproof.core.history.history import History
from staleproof.core.operator.companion import COMPANIONS_FOR, IN_EVERY_NAMESPACE, acting_on
from staleproof.core.plan.manifest import Manifest, Target
from staleproof.core.plan.pace import paced
from staleproof.core.plan.plan import Plan, Settle
from staleproof.core.plan.step import Apply, Delete, Step
from staleproof.core.times import PATIENT_DEADLINE_SECONDS, PATIENT_QUIET_SECONDS

PATIENT = Settle(quiet_seconds=PATIENT_QUIET_SECONDS, deadline_seconds=PATIENT_DEADLINE_SECONDS)
"""Long enough to see what a controller does some seconds later by itself. Each sample is watched like this once, after one step, so
that nothing else can wake the controller in the meantime."""


def start_companions(session: Session, samples: Iterable[tuple[Manifest, tuple[Manifest, ...]]]) -> None:
    """Start what a real cluster would have for what the controller creates for these samples, each with what it needs, unless the
    companions are named or the cluster has its own; the same in every worker of a run."""
    if not session.options.chooses_companions or session.plane.provider == "existing":
        return
    session.ready()  # all workers' controllers start while one is watched
    for sample, before in samples:
        found = session.once("company", (sample, before), partial(_companions_of, session, sample, before))
        names, words = msgspec.json.decode(found, type=tuple[tuple[str, ...], str])
        session.accompany(names)
        session.note(f"{COMPANIONS_FOR}{sample['kind']}/{sample['metadata']['name']}", words)


def patient_look(session: Session, sample: Manifest, before: tuple[Manifest, ...], settle: Settle = PATIENT) -> History:
    """What the controller does for the sample, within some seconds, when nothing else happens; run once for all workers."""
    plan = undisturbed(Apply(object=sample), before=before, settle=settle)
    return session.references.take(session.references.shared_run("patient look", plan, session.watch))


def _companions_of(session: Session, sample: Manifest, before: tuple[Manifest, ...]) -> bytes:
    """The companions that act on what the controller creates, found out by starting them; and what they cost, in words."""
    delete = Delete(target=Target(sample["apiVersion"], sample["kind"], sample["metadata"]["name"]))
    brief = undisturbed(Apply(object=sample), delete, before=before, settle=paced(0.0, resync=False))
    alone = seen = indexed(session.watch(brief))
    seconds = 0.0
    while started := session.accompany(acts_on_children(seen)):
        seconds, seen = started, indexed(session.watch(brief))
    more = _took(seen) - _took(alone)
    while started := session.accompany(acts_on_children(indexed(patient_look(session, sample, before)))):
        seconds = started
    words = f"{', '.join(session.options.companions)}: ready in {seconds:.1f} s; applied and deleted, the sample took "
    words += f"{_took(alone):.1f} s without them and {_took(seen):.1f} s with them ({more:+.1f} s)"
    return msgspec.json.encode((session.options.companions, words))


def undisturbed(*steps: Step, before: tuple[Manifest, ...], settle: Settle) -> Plan:
    """A plan without faults, to see what the controller does."""
    plan = Plan(scenario="observe", title="what the controller does without any fault", before=before, steps=steps, settle=settle)
    return msgspec.structs.replace(plan.reference, title=plan.title)


def acts_on_children(trial: Trial) -> tuple[str, ...]:
    """The companions that a real cluster has for what the controller created, and for what it takes to be in every namespace."""
    objects = object_history(trial).objects
    made = [child for _, child in creations(trial)]
    owned = {(child.resource, objects[child.owner_uid].resource) for child in made if child.owner_uid in objects}
    expected = {"serviceaccounts" for each in trial.requests if (each.asked.resource, each.asked.name) in IN_EVERY_NAMESPACE}
    return acting_on(expected.union(child.resource for child in made), owned)


def _took(trial: Trial) -> float:
    return trial.entries[-1].at
