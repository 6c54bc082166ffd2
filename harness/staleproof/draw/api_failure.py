"""Plans of the API-failure scenario: requests are rejected, competed with, answered late, or executed and not answered.

Each is about the kinds of requests that the controller was seen to make, in the step in which it first made them.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from staleproof.core.fault import Compete, Expire, HoldStream, LoseAnswer, Reject, SlowAnswer, Window
from staleproof.core.operator.observed import Observed, Written
from staleproof.core.plan.step import Heartbeat, Rest
from staleproof.core.times import OUTAGE_SECONDS, SLOW_ANSWER_SECONDS
from staleproof.core.wording import part_of
from staleproof.draw.canonical import UNWOKEN, appear, life, outage, own_updates, patient, round_trip
from staleproof.draw.family import Draft, Scenario
from staleproof.draw.incidents.forms import values
from staleproof.draw.incidents.joint import annotated, refused
from staleproof.draw.occasions import occasions
from staleproof.draw.profile import Profile

SCENARIO = Scenario("api-failure")
_ONCE: Sequence[Literal[503, 500]] = (503, 500)
_REJECTED = ("backs-off", "converges-after-catch-up")


@SCENARIO.family
def reject_writes(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Every write of one kind is rejected for seconds, whatever it is about; then nothing but time passes."""
    steps, settle = outage(observed).steps, patient(observed)
    kinds = {(each.verb, each.subresource): each for each in reversed(observed.life)}
    ways = zip(sorted(kinds.values(), key=_order), itertools.cycle(values(Reject, "code")), strict=False)
    return (
        Draft(
            f"every {_words(each, of='anything')} is rejected ({code or 'reset'}) for seconds",
            [Reject(resource="*", verb=each.verb, subresource=each.subresource, code=code, times=None, window=Window(each.step))],
            steps,
            settle,
            fresh=True,
            aims=_REJECTED,
        )
        for each, code in profile.more(ways)
    )


@SCENARIO.family
def reject_once(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The first write to a kind of child is rejected once, as the primary appears, and nothing comes after it: what is not tried
    again is never made. In a longer workload the next change has the controller write all of it again."""
    first = [
        each for each in _kinds(observed.life) if each.step == 1 and each.resource != observed.resource and not each.subresource
    ]
    return (
        Draft(
            f"its first {_words(each)} is rejected once ({code}), and nothing wakes it",
            [Reject(**each.selectors, code=code)],
            (appear(observed), UNWOKEN),
            aims=_REJECTED,
        )
        for each, code in profile.more(zip(first, itertools.cycle(_ONCE), strict=False))
    )


@SCENARIO.family
def reject_reads(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """All watches expire, and every read is rejected for seconds: no step is over while the controller cannot watch."""
    expire = Expire(resource="*", window=Window(2, 3))
    reject = Reject(resource="*", verb="read", code=503, times=None, window=Window(2, seconds=OUTAGE_SECONDS))
    title = "all watches expire, and every read is rejected (503) for seconds"
    yield Draft(title, [expire, reject], settle=patient(observed), aims=(*_REJECTED, "survives-expiry"))


@SCENARIO.family
def lose_answers(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The answer to the first write of each kind is lost, status writes aside: a status that is written twice does no harm. A
    controller that writes nothing else may give up all the same."""
    kinds = _kinds(observed.life)
    own = [each for each in kinds if not each.subresource] or kinds
    return (
        Draft(f"the answer to its first {_words(each)} is lost ({code or 'reset'})", [LoseAnswer(**each.selectors, code=code)])
        for each, code in profile.some(zip(own, itertools.cycle(values(LoseAnswer, "code")), strict=False))
    )


@SCENARIO.family
def compete(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Another user edits the object just before its first update of each kind: the primary as the user does a little later.

    Of a child that is hidden, too, until the next step: the controller that was refused has still to learn why.
    """
    at = occasions(observed, life(observed).steps)
    return (
        Draft(f"another user edits it just before its first {_words(each)}", refused(at, each))
        for each in profile.more(_kinds(own_updates(observed)))
    )


@SCENARIO.family
def refused_report(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """Another user touches the primary just before the report on a change of it, and no new generation comes: a controller that
    gives up, and looks again at new generations only, never reports."""
    change = observed.change
    own = (each for each in own_updates(observed) if (each.resource, each.step) == (observed.resource, life(observed).changes))
    return (
        Draft(
            f"another user touches it just before its {_words(each)} is written for a change",
            [Compete(**each.selectors | {"window": Window(2)}, edit=annotated(2))],
            (appear(observed), change),
        )
        for each in profile.some(each for each in own if each.subresource == "status")
        if change is not None
    )


@SCENARIO.family
def outdated_copy(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """A child is touched unseen, and then the primary changes: the update of the child is refused while its copy is old."""
    change = observed.change
    of = {
        each.resource for each in own_updates(observed) if each.step == life(observed).changes and each.resource in observed.watched
    }
    return (
        Draft(
            f"one of {child.resource} is changed by another user unseen while the primary changes",
            [HoldStream(resource=child.resource, window=Window(2))],
            (appear(observed), Heartbeat(resource=child.resource), change, Rest(seconds=OUTAGE_SECONDS)),
            patient(observed),
            aims=("settles", "converges-after-catch-up"),
        )
        for child in profile.more([each for each in observed.hideable if each.stays and each.resource in of])
        if change is not None
    )


@SCENARIO.family
def slow_answers(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The answer to its first create, and to its first delete, comes after the event of it."""
    writes = {
        each.verb: each for each in reversed(_kinds(observed.life)) if each.verb in ("create", "delete") and not each.subresource
    }
    return (
        Draft(
            f"the answer to its first {_words(each)} comes {SLOW_ANSWER_SECONDS:g} s late",
            [SlowAnswer(**each.selectors, by_seconds=SLOW_ANSWER_SECONDS)],
        )
        for each in profile.more(sorted(writes.values(), key=_order))
    )


@SCENARIO.family
def outdated_answers(observed: Observed, profile: Profile) -> Iterator[Draft]:
    """The answer to its first update of each kind, the primary's before others, comes after the event of another user's write to
    the object: a controller that keeps the answer in its cache has an older state than the watch had shown, which will not be shown
    again. It shows in the next update, so what was changed is changed back."""
    lived, there_and_back = life(observed).steps, round_trip(observed).steps
    kinds = sorted(_kinds(own_updates(observed)), key=lambda each: each.resource != observed.resource)
    return (
        Draft(
            f"the answer to its first {_words(each)} comes after another user's next write to it",
            [SlowAnswer(**each.selectors, by_seconds=SLOW_ANSWER_SECONDS, outdated=True)],
            there_and_back,
            aims=("settles", "converges-after-catch-up"),
        )
        for each in profile.more(kinds)
        if each.resource in observed.watched and lived[: each.step] == there_and_back[: each.step]
    )


def _kinds(writes: Iterable[Written]) -> list[Written]:
    """The first write of each kind: creates first, and by step."""
    kinds = {(each.resource, each.verb, each.subresource): each for each in sorted(writes, key=_order, reverse=True)}
    return sorted(kinds.values(), key=_order)


def _order(each: Written) -> tuple[bool, int, int, str, str]:
    return each.verb != "create", each.step, -each.times, each.resource, each.subresource


def _words(each: Written, of: str = "") -> str:
    return f"{each.verb} of {part_of(each.subresource)}{of or each.resource}"
