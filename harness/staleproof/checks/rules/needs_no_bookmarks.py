"""needs-no-bookmarks: work without any bookmark, and never take one for an object.

Put to the test: bookmarks of the controller's watches were dropped, or it got some more. Three things are findings:

1. it waited for a bookmark: with nothing but bookmarks kept from it, it was at rest for longer than it ever pauses without faults,
   and the state was not the references'; then bookmarks came, nothing else that was new to it, and with one of them it went on;
2. it took bookmarks for objects: while it was at rest, each bookmark that came was soon followed by a write before anything else
   happened, at least twice; nothing was written at rest without one; and no reference shows the like;
3. an end that is not the references', when nothing was done to it but to its bookmarks.

The bookmark that ends the initial events is another matter: no fault may drop it.
"""

from collections.abc import Iterator, Sequence

from staleproof.checks.facts.liveness import Suspicion, differences, ending_of, other_workload, verdict_on
from staleproof.checks.facts.recovery_budget import fired, spans
from staleproof.checks.facts.stimuli import Moment, moments
from staleproof.checks.trial import Evidence
from staleproof.checks.verdict import Finding, Verdict, failed, inconclusive, not_exercised
from staleproof.core.entry import Delivered, Dropped, Settled, StepBegan
from staleproof.core.fault import AddBookmarks, AnyFault, DropBookmarks
from staleproof.core.history import History
from staleproof.core.pace import longest_pause

SLUG = "needs-no-bookmarks"
_REST_SECONDS, _REST_FACTOR = 2.0, 1.5
_OFTEN = 2
Pair = tuple[int, int]


def check(evidence: Evidence) -> Verdict:
    ending = ending_of(evidence)
    if ending is None:
        return inconclusive(SLUG, "the trial has no settling phase")
    acts = _bookmarks_of_faults(evidence, ending[1])
    if not acts:
        return not_exercised(SLUG, "no bookmark was dropped, and none was added")
    findings = [*_waited(evidence), *_taken(evidence)]
    if findings:
        return failed(SLUG, findings)
    dropped = isinstance(evidence.history.entries[acts[0]], Dropped)
    charge = "with bookmarks dropped" if dropped else "with a bookmark behind every event"
    return verdict_on(SLUG, evidence, Suspicion((acts[0],), _is_ours, charge))


def _is_ours(fault: AnyFault) -> bool:
    return isinstance(fault, DropBookmarks | AddBookmarks)


def _bookmarks_of_faults(evidence: Evidence, until: int) -> list[int]:
    return [
        index
        for index, entry in enumerate(evidence.history.entries[:until])
        if isinstance(entry, Dropped | Delivered) and entry.type == "BOOKMARK" and entry.fault is not None
    ]


def _rest_seconds(evidence: Evidence) -> float:
    """When it does nothing for so long, it does nothing more of its own accord."""
    return max([_REST_SECONDS, *(_REST_FACTOR * longest_pause(reference) for reference in evidence.references)])


def _waited(evidence: Evidence) -> Iterator[Finding]:
    faults, entries, open_for = fired(evidence), evidence.history.entries, spans(evidence)
    if not open_for or other_workload(evidence) or not all(isinstance(fault, DropBookmarks) for fault in faults.values()):
        return
    opened, closed = min(opened for opened, _ in open_for.values()), max(closed for _, closed in open_for.values())
    if any(isinstance(entry, StepBegan) for entry in entries[closed:]):
        return  # it had more to do by then
    went_on = _went_on(moments(entries), closed)
    if went_on is None or entries[closed].at - went_on[0].at < _rest_seconds(evidence):
        return
    last, bookmark, write = went_on
    missing = next((found.text for found in differences(evidence, closed) if not found.unstable), "")
    if missing:
        because = (
            f"with everything shown to it but bookmarks it came to rest, and went on only when one came: until then, {missing}"
        )
        yield Finding(SLUG, because, (opened, last.index, closed, bookmark.index, write.index))


def _went_on(found: Sequence[Moment], closed: int) -> tuple[Moment, Moment, Moment] | None:
    """The last thing before this position that told it anything, and then the first write and the bookmark right before that.

    Echoes may come in between, if some came before this position, too, and did not make it write.
    """
    before = [moment for moment in found if moment.index < closed and moment.kind in ("cause", "write")]
    after = [moment for moment in found if moment.index > closed]
    write = next((place for place, moment in enumerate(after) if moment.kind not in ("bookmark", "echo")), None)
    if not before or not write or after[write].kind != "write" or after[write - 1].kind != "bookmark":
        return None
    had_echoes = any(moment.kind == "echo" and before[-1].index < moment.index < closed for moment in found)
    if not had_echoes and any(moment.kind == "echo" for moment in after[:write]):
        return None
    return before[-1], after[write - 1], after[write]


def _taken(evidence: Evidence) -> Iterator[Finding]:
    rest = _rest_seconds(evidence)
    pairs = _after_bookmarks(evidence.history, rest)
    if len(pairs) >= _OFTEN and not any(_after_bookmarks(reference, rest) for reference in evidence.references):
        witnesses = tuple(index for pair in pairs[:3] for index in pair)
        because = f"it wrote after each of the {len(pairs)} bookmarks that came while it was at rest, and at no other time of rest"
        yield Finding(SLUG, because, witnesses)


def _after_bookmarks(history: History, rest: float) -> list[Pair]:
    """(bookmark, write) at rest before the settling; none, unless each such bookmark has its write, each write its bookmark."""
    settled = next((i for i, entry in enumerate(history.entries) if isinstance(entry, Settled)), len(history.entries))
    found = moments(history.entries[:settled])
    pairs: list[Pair] = []
    if found and found[-1].kind == "bookmark" and found[-1].rested >= rest:
        return []
    for before, moment in zip([None, *found], found, strict=False):
        follows = before is not None and before.kind == "bookmark" and before.rested >= rest
        if before is not None and follows and moment.kind == "write" and moment.at - before.at < rest:
            pairs.append((before.index, moment.index))
        elif follows or (moment.kind == "write" and moment.rested >= rest):
            return []
    return pairs
