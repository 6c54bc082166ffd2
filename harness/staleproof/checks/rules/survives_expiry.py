"""survives-expiry: list again after 410 and continue.

Put to the test: a watch or a list of the controller was answered 410, and it listed that resource again (or, with WatchList, was
given its whole state). A finding needs an end that is not the references', after a time that any client can do with, and one of
these:

1. direct evidence: it never listed that resource again, and did not see what was committed there before the release;
2. nothing else was done to it in the whole trial, no other requirement explains the end, and no state in between was skipped (or
   `tolerates-coalescing` may be the better name for what went wrong).
"""

from collections.abc import Collection, Iterator

from staleproof.checks.facts.liveness import Suspicion, converged, ending_of, verdict_on
from staleproof.checks.facts.pending_events import Change, Unshown, unshown_at
from staleproof.checks.facts.recovery_budget import EXPIRED, ended_streams
from staleproof.checks.story.phrases import short_name
from staleproof.checks.trial import Evidence
from staleproof.checks.verdict import Verdict, inconclusive, not_exercised
from staleproof.core.entry import Answered, Asked, Delivered, Listed, Opened, Refused, Started
from staleproof.core.fault import AnyFault, Coalesce, Expire, HoldStream
from staleproof.core.request import BOOKKEEPING

SLUG = "survives-expiry"
GONE = 410


def check(evidence: Evidence) -> Verdict:
    ending = ending_of(evidence)
    if ending is None:
        return inconclusive(SLUG, "the trial has no settling phase")
    expired = sorted({*ended_streams(evidence, EXPIRED, ending[1]), *_told(evidence, ending[1])})
    if not expired:
        return not_exercised(SLUG, "no watch or list of the controller was answered 410")
    unshown = unshown_at(evidence.history.entries[: ending[1]], evidence.history.header.namespace)
    last = {resource: index for index, resource in expired}
    unlisted = [resource for resource, index in last.items() if not _listed_after(evidence, resource, index, ending[1])]
    if len(unlisted) == len(last) and converged(evidence):
        return not_exercised(
            SLUG, f"it did not list {', '.join(unlisted)} again after 410, and there was nothing there that it needed"
        )
    missed = [change for change in unshown.missed() if change.index < ending[0] and change.commit.resource in unlisted]
    acts = [expired[0][0], expired[-1][0], *(last[change.commit.resource] for change in missed[:1])]
    acts += [change.index for change in missed[:1]]
    charge = f"after 410 Expired, and a list of {expired[-1][1]}"
    doubt = _doubt(unshown, last.keys())
    return verdict_on(SLUG, evidence, Suspicion(tuple(acts), _is_ours, charge, _proof(missed), doubt))


def _is_ours(fault: AnyFault) -> bool:
    match fault:
        case HoldStream(release=release):
            return release == "relist"
    return isinstance(fault, Expire | Coalesce)


def _told(evidence: Evidence, until: int) -> Iterator[tuple[int, str]]:
    """Requests that were answered 410, and whether that was about a list or a watch."""
    lists: dict[int, str] = {}
    for index, entry in enumerate(evidence.history.entries[:until]):
        match entry:
            case Asked(verb="list") if entry.resource not in BOOKKEEPING:
                lists[entry.request] = entry.resource
            case Answered(code=code) if code == GONE and entry.request in lists:
                yield index, lists[entry.request]
            case Refused(code=code) if code == GONE and entry.resource not in BOOKKEEPING:
                yield index, entry.resource


def _listed_after(evidence: Evidence, resource: str, index: int, until: int) -> bool:
    """Whether this life of the controller was given the whole state: by a list, or by a watch that begins with it."""
    streams = {entry.stream: entry.resource for entry in evidence.history.entries if isinstance(entry, Opened)}
    for entry in evidence.history.entries[index + 1 : until]:
        match entry:
            case Started():
                return False
            case Listed(resource=listed) if listed == resource:
                return True
            case Delivered(initial_end=True) if streams.get(entry.stream) == resource:
                return True
            case Opened(watch_list=False, start="" | "0") if entry.resource == resource:
                return True
    return False


def _proof(missed: list[Change]) -> str:
    if not missed:
        return ""
    return f"it never listed {missed[0].commit.resource} again after 410 Expired, and {missed[0].words}"


def _doubt(unshown: Unshown, expired: Collection[str]) -> str:
    skipped = [change for change in unshown.skipped if change.commit.resource in expired]
    return f"it was never shown a state of {short_name(skipped[0].commit)} in between (tolerates-coalescing)" if skipped else ""
