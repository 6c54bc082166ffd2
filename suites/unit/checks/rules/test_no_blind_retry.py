"""no-blind-retry: which conflicts it tells of, which it does not, and when it knows nothing."""

from collections.abc import Callable

import msgspec
import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules.no_blind_retry import REQUIREMENT
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome
from staleproof.core.entry import Answered, Competed, Item
from staleproof.core.history import History

from ..report_script import ReportScript, pair, trial
from ..script import WIDGETS


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


REFUSED = (
    "{} of the status of widget/ns/w {} refused with 409 Conflict because of the controller's own writes; fault-free runs had {}"
)
TOLD = {
    "a conflict with itself": (shown(held().says_blindly()), REFUSED.format("1 update", "was", "none")),
    "all of them are one finding": (
        shown(held().says_blindly().says_blindly().says_blindly()),
        REFUSED.format("3 updates", "were", "none"),
    ),
    "more than in the references": (
        shown(held().says_blindly().says_blindly(), clumsy),
        REFUSED.format("2 updates", "were", "at most 1"),
    ),
    "what somebody else wrote long after is no excuse": (
        shown(held().says_blindly().rests(6).applied("w")),
        REFUSED.format("1 update", "was", "none"),
    ),
}
INNOCENT = {
    "knows what it wrote": shown(held().says(1, replicas=1)),
    "waits until it is shown": tried(held().let_go(WIDGETS).says(1, replicas=1)),
    "happens in the references": shown(held().says_blindly(), clumsy),
    "a conflict with somebody else": shown(held().applied("w", spec=9).says_blindly()),
    "somebody else wrote right after": shown(held().says_blindly().applied("w", spec=9)),
    "a competing write of a fault": shown(competed()),
    "deterministic names live on AlreadyExists": shown(
        held().refused("create", "w-a", "AlreadyExists").says_blindly(reason="AlreadyExists")
    ),
    "patches conflict for other reasons": shown(held().refused("patch", "w", "Conflict", resource=WIDGETS)),
    "deletes conflict for other reasons": shown(held().refused("delete", "w", "Conflict", resource=WIDGETS)),
    "has been shown it live": shown(held().gets("w", WIDGETS).says_blindly()),
    "a new life cannot remember": tried(reborn()),
    "two writes at once race": shown(racing()),
    "objects unknown here": shown(held().says_blindly("other")),
    "bookkeeping": shown(held().says_blindly("lock", "leases.coordination.k8s.io")),
}
UNPROVEN = {
    "the answer to its own update was lost": shown(unheard()),
    "nothing happened": tried(trial()),
    "nothing was hidden": Trial(done(trial()), pair(done)),
    "it was not made to look again": shown(trial().wants(1).hold(WIDGETS).says(1)),
    "a create was hidden": tried(trial().step(1, "apply").wants(1).hold().creates("w-a").step(2, "touch").applied("w").let_go()),
}


@pytest.mark.parametrize(("guilty", "because"), TOLD.values(), ids=TOLD)
def test_told(guilty: Trial, because: str) -> None:
    verdict = verdict_of(REQUIREMENT, guilty)

    assert verdict.outcome is Outcome.FAIL
    assert [finding.because for finding in verdict.findings] == [because]


def test_what_it_had_not_been_shown_is_told() -> None:
    (finding,) = verdict_of(REQUIREMENT, shown(held().says_blindly())).findings

    assert finding.though == "though it had not been shown its own writes 103"


@pytest.mark.parametrize("innocent", INNOCENT.values(), ids=INNOCENT)
def test_innocent(innocent: Trial) -> None:
    assert verdict_of(REQUIREMENT, innocent).outcome is Outcome.PASS


@pytest.mark.parametrize("unproven", UNPROVEN.values(), ids=UNPROVEN)
def test_nothing_is_proven_unless_it_looked_again_while_an_update_was_hidden(unproven: Trial) -> None:
    verdict = verdict_of(REQUIREMENT, unproven)

    why = "the controller was never made to look again while an own update was hidden from it"
    assert (verdict.outcome, verdict.why) == (Outcome.NOT_EXERCISED, why)
