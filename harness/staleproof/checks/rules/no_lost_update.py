"""no-lost-update: not write back what somebody else has changed and was not shown.

Any of these is a finding:

1. an update or a patch by which a path of the object has again the value that it had before somebody else changed it, though that
   change had not been shown to the controller, nor told by the answer to an own write. It makes no difference how: by PUT without
   resourceVersion, by a PATCH of the whole object, or by an apply with force;
2. a PUT of the whole object that was carried out though somebody else had written to it after the controller sent it
   (`Competed`): so it insisted on no resourceVersion, and whatever the other one had changed is gone. A fault may change something
   without a trace (`core.plan.nudge`), and then no path tells of it.

What any reference wrote back, too, shown or not, is its policy, and no staleness brought it about. Of lists that a reference wrote
back, no item is looked at.
"""

from collections.abc import Iterator

from staleproof.checks.but_for import unheard_of
from staleproof.checks.deeds.overwrites import Overwrite, changes_by_others, knows_change, overwrites
from staleproof.checks.facts.object_history import object_history
from staleproof.checks.facts.witnesses import context
from staleproof.checks.facts.wording import full_name
from staleproof.checks.requirement import HIDDEN, Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, NotExercised, Said
from staleproof.core.history.entry import Competed
from staleproof.core.history.history import Request
from staleproof.core.history.provenance import uid_of


def check(trial: Trial) -> Iterator[Said]:
    new = unheard_of(trial, overwrites, lambda each: each.field)
    lost = [each for each in new if not knows_change(trial, each.of, each.theirs, each.request)]
    found = {request.index: _replaced(trial, request, entry) for request, entry in _blind_puts(trial)}
    found |= {loss.request.index: _finding(trial, loss) for loss in reversed(lost)}
    yield from (found[index] for index in sorted(found))
    if not any(_is_tempted(trial, request) for request in trial.work):
        yield NotExercised("the controller never wrote to an object that somebody else had changed unseen")


def _blind_puts(trial: Trial) -> Iterator[tuple[Request, Competed]]:
    """Those that were carried out, each with the write that had come before it."""
    for _, entry in trial.every(Competed):
        request = trial.request_of.get(entry.request)
        is_put = request is not None and request.asked.verb == "update" and not request.asked.subresource
        if request is not None and is_put and request.succeeded and entry.revision and uid_of(request) == entry.uid:
            yield request, entry


def _replaced(trial: Trial, request: Request, entry: Competed) -> Finding:
    of = object_history(trial).objects.get(entry.uid)
    name = full_name(of.first.entry) if of is not None else f"{entry.resource}/{entry.name}"
    because = f"the controller replaced {name} whole though somebody else had changed it, and so took that change away"
    though = f"though it had not been shown that change (resourceVersion {entry.revision})"
    return Finding(because, context(trial, [], request.index, request.answer_index or request.index), though)


def _is_tempted(trial: Trial, request: Request) -> bool:
    """Whether it asked to update or patch an object that somebody else had changed by then, or just before the answer, unseen."""
    asked = request.asked
    if asked.verb not in ("update", "patch") or asked.namespace != trial.namespace:
        return False
    until = request.answer_index or request.index
    named = object_history(trial).named(asked.resource, asked.name)
    changes = ((of, changes_by_others(trial).before(until, of.uid)) for of in named)
    return any(change is not None and not knows_change(trial, of, change, request) for of, change in changes)


def _finding(trial: Trial, loss: Overwrite) -> Finding:
    name, revision = full_name(loss.of.first.entry), loss.theirs.entry.revision
    because = f"the controller wrote back {loss.path} of {name}, which somebody else had changed"
    though = f"though it had not been shown that change (resourceVersion {revision})"
    return Finding(because, context(trial, [loss.theirs.index], loss.request.index, loss.ours.index), though)


REQUIREMENT = Requirement(
    slug="no-lost-update",
    must="The controller MUST not write back what somebody else has changed and it has not been shown.",
    level="core",
    source="API conventions, Concurrency Control and Consistency; API concepts, Resource versions",
    faults=("Compete", *HIDDEN),
    remedy="send the resourceVersion that the decision was made on with every PUT, patch only what is yours, and apply by force "
    "only fields that you own",
    kind="deed",
    wrong="another's change written back",
    reasons=("hidden",),
    check=check,
)
