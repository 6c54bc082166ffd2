"""no-blind-retry: which conflicts it tells of, which it does not, and when it knows nothing."""

import msgspec

from staleproof.checks.rules.writes import NO_BLIND_RETRY
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import Answered, Competed, Item
from staleproof.core.history.resource_version import Revision

from ...rule_cases import Cases, verdicts
from ...script import WIDGETS, Script, Workload, beside, trial, two_references


def done(script: Script) -> Script:
    return script.step(1, "apply").wants(1).creates("w-a").says(1).idle(1)


def held(script: Script | None = None) -> Script:
    """Its own status update is hidden, and it is made to look again."""
    script = (script or trial()).step(1, "apply").wants(1).creates("w-a").hold(WIDGETS).says(1).idle(1)
    return script.step(2, "child").made("w-x")


def clumsy(script: Script) -> Script:
    return held(script).says_blindly().let_go(WIDGETS)


def hasty(script: Script) -> Script:
    """It asks as soon as its own write has left for it, and has not taken it in."""
    return held(script).let_go(WIDGETS).says_blindly()


def shown(script: Script, workload: Workload = done) -> Trial:
    """In the end everything is shown."""
    return beside(script.let_go(WIDGETS), workload)


def competed() -> Script:
    script = held().says_blindly()
    return script.adds(Competed, request=script._request, resource=WIDGETS, name="w", fault=0)


def unheard() -> Script:
    """The answer to its own update was lost."""
    script = trial().step(1, "apply").wants(1).creates("w-a").hold(WIDGETS).says(1)
    script.entries[-1] = msgspec.structs.replace(script.entries[-1], outcome="unknown", executed=True)
    return script.step(2, "rest").says_blindly()


def reborn() -> Script:
    """A new life does not know what the last one wrote."""
    script = held().restarted()
    widget = Item(script.namespace, "w", script.uid("w", WIDGETS), Revision(101))
    return script.page(WIDGETS, (widget,), revision=101).says_blindly()


def racing() -> Script:
    """Two writes are asked for at once."""
    script = held().let_go(WIDGETS).hold(WIDGETS)
    script._ask("update", WIDGETS, "w", subresource="status")
    first = script._request
    script.applied("w", status={"replicas": 2})._ask("update", WIDGETS, "w", subresource="status")
    ok = {"request": first, "outcome": "ok", "code": 200, **script._identity(script._objects[WIDGETS, "w"]["metadata"])}
    return script.adds(Answered, **ok)._fail(409, "Conflict", "w")


CONFLICT = (
    "FAIL: {} of the status of widget/ns/w {} refused with 409 Conflict because of the controller's own writes; "
    "fault-free runs had {}, though it had not been shown its own writes 103"
)
ONE = CONFLICT.format("1 update", "was", "none")
UNTESTED = "NOT_EXERCISED: the controller was never made to look again while an own update was hidden from it"
CASES: Cases = {
    "a conflict with itself": (shown(held().says_blindly()), ONE),
    "all of them are one finding": (
        shown(held().says_blindly().says_blindly().says_blindly()),
        CONFLICT.format("3 updates", "were", "none"),
    ),
    "more than in the references": (
        shown(held().says_blindly().says_blindly(), clumsy),
        CONFLICT.format("2 updates", "were", "at most 1"),
    ),
    "what another user wrote long after is no excuse": (shown(held().says_blindly().rests(6).applied("w")), ONE),
    # no conflict with itself
    "knows what it wrote": (shown(held().says(1, replicas=1)), "PASS"),
    "waits until it is shown": (held().let_go(WIDGETS).says(1, replicas=1), "PASS"),
    "happens in the references": (shown(held().says_blindly(), clumsy), "PASS"),
    "happens in the references, where the own write had just left": (shown(held().says_blindly(), hasty), "PASS"),
    "a conflict with another user": (shown(held().applied("w", spec=9).says_blindly()), "PASS"),
    "another user wrote right after": (shown(held().says_blindly().applied("w", spec=9)), "PASS"),
    "a competing write of a fault": (shown(competed()), "PASS"),
    "deterministic names": (shown(held().refused("create", "w-a", "AlreadyExists").says_blindly(reason="AlreadyExists")), "PASS"),
    "patches conflict for other reasons": (shown(held().refused("patch", "w", "Conflict", resource=WIDGETS)), "PASS"),
    "deletes conflict for other reasons": (shown(held().refused("delete", "w", "Conflict", resource=WIDGETS)), "PASS"),
    "has been shown it live": (shown(held().gets("w", WIDGETS).says_blindly()), "PASS"),
    "a new life cannot remember": (reborn(), "PASS"),
    "two writes at once race": (shown(racing()), "PASS"),
    "objects unknown here": (shown(held().says_blindly("other")), "PASS"),
    "bookkeeping": (shown(held().says_blindly("lock", "leases.coordination.k8s.io")), "PASS"),
    # nothing is proven unless it looked again while an update was hidden
    "nothing happened": (trial(), UNTESTED),
    "nothing was hidden": (done(trial()), UNTESTED),
    "it was not made to look again": (shown(trial().wants(1).hold(WIDGETS).says(1)), UNTESTED),
    "a create was hidden": (trial().wants(1).hold().creates("w-a").step(2, "touch").applied("w").let_go(), UNTESTED),
    "the answer to its own update was lost": (shown(unheard()), UNTESTED),
}


test_verdict = verdicts(NO_BLIND_RETRY, CASES, two_references(done))
