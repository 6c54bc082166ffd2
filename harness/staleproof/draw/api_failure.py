"""Plans of the API-failure scenario: requests are rejected, competed with, answered late, or executed and not answered.

Each is about the kinds of requests that the controller was seen to make, in the step in which it first made them.
"""

import itertools
from collections.abc import Iterable, Iterator

from msgspec import structs

from staleproof.core.fault import AnyFault, Compete, Expire, LoseAnswer, Reject, SlowAnswer, Window
from staleproof.core.fault.calls import Code
from staleproof.core.observed import Observed, Written
from staleproof.core.plan import Plan, Step
from staleproof.draw.profile import Profile
from staleproof.draw.workloads import fresh, life, outage, own_updates, patient

SCENARIO = "api-failure"
REJECTED = ("backs-off", "converges-after-catch-up")
LOST = ("survives-lost-answer", "converges-after-catch-up")
REJECTIONS: tuple[Code, ...] = (500, 429, 0, 503, 504)
LOSSES: tuple[Code, ...] = (0, 504, 500)
_LATE_SECONDS = 1.0
_READS_SECONDS = 4.0


def reject_writes(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """Every write of one kind is rejected for seconds, whatever it is about; then nothing but time passes."""
    plan, codes = outage(observed), itertools.cycle(REJECTIONS)
    kinds = {(each.verb, each.subresource): each for each in reversed(observed.life)}
    for each in profile.more(sorted(kinds.values(), key=_order)):
        code = next(codes)
        fault = Reject(resource="*", verb=each.verb, subresource=each.subresource, code=code, times=None, window=Window(each.step))
        title = f"every {_words(each, of='anything')} is rejected ({code or 'reset'}) for seconds"
        yield _plan(observed, title, REJECTED, fault, steps=plan.steps)


def reject_reads(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """All watches expire, and every read is rejected for seconds: no step is over while the controller cannot watch."""
    expire = Expire(resource="*", window=Window(2, 3))
    reject = Reject(resource="*", verb="read", code=503, times=None, window=Window(2, seconds=_READS_SECONDS))
    aims = ("backs-off", "survives-expiry", "converges-after-catch-up")
    plan = _plan(observed, "all watches expire, and every read is rejected (503) for seconds", aims, expire, reject)
    yield structs.replace(plan, settle=patient(observed), fresh=fresh(observed))


def lose_answers(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """The answer to the first write of each kind is lost. That a status was written is nothing that could be done twice."""
    codes = itertools.cycle(LOSSES)
    for each in profile.some(each for each in _kinds(observed.life) if not each.subresource):
        code = next(codes)
        fault = LoseAnswer(
            resource=each.resource, verb=each.verb, subresource=each.subresource, code=code, window=Window(each.step, each.step + 1)
        )
        yield _plan(observed, f"the answer to its first {_words(each)} is lost ({code or 'reset'})", LOST, fault)


def compete(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """Somebody else writes to the object just before its first update of each kind."""
    for each in profile.more(_kinds(own_updates(observed))):
        fault = Compete(
            resource=each.resource, verb=each.verb, subresource=each.subresource, window=Window(each.step, each.step + 1)
        )
        title = f"somebody else writes just before its first {_words(each)}"
        yield _plan(observed, title, ("converges-after-catch-up",), fault)


def slow_answers(observed: Observed, profile: Profile) -> Iterator[Plan]:
    """The answer to its first create, and to its first delete, comes after the event that tells of it."""
    writes = {
        each.verb: each for each in reversed(_kinds(observed.life)) if each.verb in ("create", "delete") and not each.subresource
    }
    for each in profile.more(sorted(writes.values(), key=_order)):
        fault = SlowAnswer(
            resource=each.resource,
            verb=each.verb,
            subresource=each.subresource,
            by_seconds=_LATE_SECONDS,
            window=Window(each.step, each.step + 1),
        )
        title = f"the answer to its first {_words(each)} comes {_LATE_SECONDS:g} s late"
        yield _plan(observed, title, ("converges-after-catch-up",), fault)


FAMILIES = {
    "reject-writes": reject_writes,
    "reject-reads": reject_reads,
    "lose-answers": lose_answers,
    "compete": compete,
    "slow-answers": slow_answers,
}


def _kinds(writes: Iterable[Written]) -> list[Written]:
    """The first write of each kind: creates first, and by step."""
    kinds = {(each.resource, each.verb, each.subresource): each for each in sorted(writes, key=_order, reverse=True)}
    return sorted(kinds.values(), key=_order)


def _order(each: Written) -> tuple[bool, int, int, str, str]:
    return each.verb != "create", each.step, -each.times, each.resource, each.subresource


def _words(each: Written, of: str = "") -> str:
    part = f"the {each.subresource} of " if each.subresource else ""
    return f"{each.verb} of {part}{of or each.resource}"


def _plan(observed: Observed, title: str, aims: tuple[str, ...], *faults: AnyFault, steps: tuple[Step, ...] = ()) -> Plan:
    """With `steps` an outage, otherwise a life."""
    return Plan(
        scenario=SCENARIO,
        title=title,
        aims=aims,
        manifests=observed.manifests,
        steps=steps or life(observed).steps,
        faults=faults,
        settle=patient(observed) if steps else observed.settle(),
        fresh=fresh(observed) and bool(steps),
    )
