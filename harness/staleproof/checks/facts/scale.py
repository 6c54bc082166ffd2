"""Does a controller keep more objects than the primary's replica count says, without any fault?

No rule asks this. Many a controller rightly keeps another number (one to lead the rest, one for each two, a history), and what a
run shows without faults too is no finding. It is reported where fault-free runs contradict each other: the controller kept exactly
as many objects of a resource as it was asked for, for more than one number, and at other times more.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from staleproof.checks.facts.belongings import head_of
from staleproof.checks.facts.object_history import object_history
from staleproof.checks.trial import Trial
from staleproof.core.history.history import Position
from staleproof.core.plan.manifest import value_at
from staleproof.core.wording import plural


class Kept(NamedTuple):
    """So many live objects of a kind there were at the end of a step, when so many were asked for."""

    kind: str
    wanted: int
    live: int


def beyond_scale(runs: Sequence[Trial], path: Sequence[str]) -> str:
    """What the controller kept beyond what it was asked for in these fault-free runs, in words; empty when nothing, or when the
    numbers need not be the same. `path` leads to the primary's replica count."""
    rests = ((run, step.ended) for run in runs for step in run.workload if step.idle)
    kept = [each for run, end in rests if end is not None for each in _kept_at(run, path, end)]
    for kind in sorted({each.kind for each in kept}):
        mine = [each for each in kept if each.kind == kind]
        right = [each for each in mine if each.live == each.wanted]
        more = [each for each in mine if each.live > each.wanted]
        if more and len({each.wanted for each in right}) > 1:
            worst = max(more, key=lambda each: each.live - each.wanted)
            often = f"{mine.count(worst)} of {sum(each.wanted == worst.wanted for each in mine)} times"
            setting = f"{'.'.join(path)} was {worst.wanted} ({often})"
            otherwise = f"otherwise as many as asked for ({len(right)} of {len(mine)} times)"
            return f"{plural(worst.live, kind)} where {setting}, and {otherwise}"
    return ""


def _kept_at(run: Trial, path: Sequence[str], end: Position) -> Iterator[Kept]:
    """Of each kind that belongs to the primaries, and have or had any of, where the controller had come to rest."""
    made = object_history(run)
    for primary in run.history.header.primaries:
        resource, _, name = primary.rpartition("/")
        for owner in made.named(resource, name):
            wanted = next((value_at(each.entry.object, path) for each in reversed(owner.commits) if each.index < end), None)
            if not isinstance(wanted, int) or not owner.is_live(before=end):
                continue
            owned = [each for each in made.objects.values() if each.uid != owner.uid and head_of(run, each.uid) == owner.uid]
            live = Counter(str(each.first.entry.object["kind"]).lower() for each in owned if each.is_live(before=end))
            yield from (Kept(kind, wanted, number) for kind, number in live.items())
