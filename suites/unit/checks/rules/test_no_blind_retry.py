"""no-blind-retry: which conflicts it tells of, which it does not, and when it knows nothing."""

from collections.abc import Callable

import msgspec
import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules.no_blind_retry import REQUIREMENT
from staleproof.checks.trial import Trial
from staleproof.core.entry import Answered, Competed, Item
from staleproof.core.history import History

from ..report_script import ReportScript, pair, trial
from ..script import WIDGETS, told


def done(script: ReportScript) -> History:
    return script.step(1, "apply").wants(1).creates("w-a").says(1).idle(1).ends()


def held(script: ReportScript | None = None) -> ReportScript:
    """Its own status update is hidden, and it is made to look again."""
    script = (script or trial()).step(1, "apply").wants(1).creates("w-a").hold(WIDGETS).says(1).idle(1)
    return script.step(2, "child").made("w-x")


def clumsy(script: ReportScript) -> History:
    return held(script).says_blindly().let_go(WIDGETS).ends()


def tried(script: ReportScript, workload: Callable[[ReportScript], History] = done) -> Trial:
    return Trial(script.ends(), pair(workload))


def shown(script: ReportScript, workload: Callable[[ReportScript], History] = done) -> Trial:
    """In the end everything is shown."""
    return tried(script.let_go(WIDGETS), workload)


def competed() -> ReportScript:
    script = held().says_blindly()
    return script.adds(Competed, request=script._request, resource=WIDGETS, name="w", fault=0)


def unheard() -> ReportScript:
    """The answer to its own update was lost."""
    script = trial().step(1, "apply").wants(1).creates("w-a").hold(WIDGETS).says(1)
    script.entries[-1] = msgspec.structs.replace(script.entries[-1], outcome="unknown", executed=True)
    return script.step(2, "rest").says_blindly()


def reborn() -> ReportScript:
    """A new life does not know what the last one wrote."""
    script = held().restarted()
    widget = Item(script.namespace, "w", script.uid("w", WIDGETS), 101)
    return script.page(WIDGETS, (widget,), revision=101).says_blindly()


def racing() -> ReportScript:
    """Two writes are asked for at once."""
    script = held().let_go(WIDGETS).hold(WIDGETS)
    script._ask("update", WIDGETS, "w", subresource="status")
    first = script._request
    commit = script.applied("w", status={"replicas": 2}).newest()
    script._ask("update", WIDGETS, "w", subresource="status")
    second, uid = script._request, script.uid("w", WIDGETS)
    script.adds(Answered, request=first, outcome="ok", code=200, name="w", uid=uid, revision=commit)
    return script.adds(Answered, request=second, outcome="fail", code=409, reason="Conflict", name="w")


CONFLICT = (
    "FAIL: {} of the status of widget/ns/w {} refused with 409 Conflict because of the controller's own writes; "
    "fault-free runs had {}, though it had not been shown its own writes 103"
)
ONE = CONFLICT.format("1 update", "was", "none")
UNTESTED = "NOT_EXERCISED: the controller was never made to look again while an own update was hidden from it"
CASES = {
    "a conflict with itself": (ONE, shown(held().says_blindly())),
    "all of them are one finding": (
        CONFLICT.format("3 updates", "were", "none"),
        shown(held().says_blindly().says_blindly().says_blindly()),
    ),
    "more than in the references": (
        CONFLICT.format("2 updates", "were", "at most 1"),
        shown(held().says_blindly().says_blindly(), clumsy),
    ),
    "what somebody else wrote long after is no excuse": (ONE, shown(held().says_blindly().rests(6).applied("w"))),
    # no conflict with itself
    "knows what it wrote": ("PASS", shown(held().says(1, replicas=1))),
    "waits until it is shown": ("PASS", tried(held().let_go(WIDGETS).says(1, replicas=1))),
    "happens in the references": ("PASS", shown(held().says_blindly(), clumsy)),
    "a conflict with somebody else": ("PASS", shown(held().applied("w", spec=9).says_blindly())),
    "somebody else wrote right after": ("PASS", shown(held().says_blindly().applied("w", spec=9))),
    "a competing write of a fault": ("PASS", shown(competed())),
    "deterministic names": ("PASS", shown(held().refused("create", "w-a", "AlreadyExists").says_blindly(reason="AlreadyExists"))),
    "patches conflict for other reasons": ("PASS", shown(held().refused("patch", "w", "Conflict", resource=WIDGETS))),
    "deletes conflict for other reasons": ("PASS", shown(held().refused("delete", "w", "Conflict", resource=WIDGETS))),
    "has been shown it live": ("PASS", shown(held().gets("w", WIDGETS).says_blindly())),
    "a new life cannot remember": ("PASS", tried(reborn())),
    "two writes at once race": ("PASS", shown(racing())),
    "objects unknown here": ("PASS", shown(held().says_blindly("other"))),
    "bookkeeping": ("PASS", shown(held().says_blindly("lock", "leases.coordination.k8s.io"))),
    # nothing is proven unless it looked again while an update was hidden
    "nothing happened": (UNTESTED, tried(trial())),
    "nothing was hidden": (UNTESTED, Trial(done(trial()), pair(done))),
    "it was not made to look again": (UNTESTED, shown(trial().wants(1).hold(WIDGETS).says(1))),
    "a create was hidden": (UNTESTED, tried(trial().wants(1).hold().creates("w-a").step(2, "touch").applied("w").let_go())),
    "the answer to its own update was lost": (UNTESTED, shown(unheard())),
}


@pytest.mark.parametrize(("words", "trial"), CASES.values(), ids=CASES)
def test_verdict(words: str, trial: Trial) -> None:
    assert told(verdict_of(REQUIREMENT, trial), words) == words
