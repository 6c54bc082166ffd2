"""What the controller's metrics say of its caches: how many syncs it skipped because they were behind, and how new they are.

The names are those of kube-controller-manager. What is counted of one resource by several controllers of a program is taken
together.
"""

import itertools
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from staleproof.checks.trial import Trial, fact
from staleproof.core.history.entry import Metrics
from staleproof.core.times import TAKES_SECONDS

SKIPS = "_stale_sync_skips_total"
VERSIONS = "informer_store_resource_version"
DEPTH = "workqueue_depth"
_DIGITS = 10**15
"""Informers report so many of the last digits of a resourceVersion."""


@dataclass(frozen=True, slots=True)
class CountedSkips:
    """A counter had risen by `more` at the second of two readings in one life.

    The skips happened between the positions `since` and `until`; `since` is 0 if they may be from before the trial, of which
    nothing is known.
    """

    resource: str
    more: int
    readings: tuple[int, int]
    since: int

    @property
    def until(self) -> int:
        return self.readings[1] + 1


@fact
def counted_skips(trial: Trial) -> Sequence[CountedSkips]:
    """Reading by reading."""
    found = []
    for (then, before), (now, after) in itertools.pairwise(trial.every(Metrics)):
        if not any(then < start < now for start in trial.starts):
            since = bisect_right(trial.entries, before.at - before.took - TAKES_SECONDS, key=lambda entry: entry.at)
            more = _skips(after) - _skips(before)
            found += [CountedSkips(resource, count, (then, now), since) for resource, count in more.items()]
    return found


def cache_versions(metrics: Metrics) -> Iterator[tuple[str, int]]:
    """(resource, resourceVersion) of each cache that says how new it is; those that have lost digits are left out."""
    for sample in metrics.samples:
        if sample.name == VERSIONS and sample.value < _DIGITS:
            yield _resource(sample.labels), sample.value


def _skips(metrics: Metrics) -> Counter[str]:
    """Counted so far, by resource."""
    found: Counter[str] = Counter()
    for sample in metrics.samples:
        if sample.name.endswith(SKIPS):
            found[_resource(sample.labels)] += sample.value
    return found


def _resource(labels: Mapping[str, str]) -> str:
    """Group-qualified, as everywhere."""
    return ".".join(part for part in (labels.get("resource", ""), labels.get("group", "")) if part)
