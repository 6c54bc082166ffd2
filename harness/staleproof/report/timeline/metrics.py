"""What the controller's metrics said of its informers and its queues; of these a reading has those that were not empty."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from typing import Literal

from staleproof.checks.facts.skip_metrics import DEPTH, cache_versions
from staleproof.checks.trial import Trial
from staleproof.core.grouping import grouped
from staleproof.core.history.entry import Metrics
from staleproof.report.timeline.clock import at
from staleproof.report.timeline.document import Reading, Series


def metrics(trial: Trial) -> Iterator[Series]:
    """A series for each informer and each queue that the metrics tell of."""
    placed = grouped((commit.entry.resource, (commit.index, commit.entry.revision)) for commit in trial.commits)
    commits = {resource: tuple(zip(*sorted(each), strict=True)) for resource, each in placed.items()}
    found: dict[tuple[Literal["informer", "queue"], str], list[Reading]] = defaultdict(list)
    for index, reading in trial.every(Metrics):
        for resource, version in cache_versions(reading):
            indexes, revisions = commits.get(resource, ((), ()))
            behind = bisect_left(indexes, index) - bisect_right(revisions, version)
            found["informer", resource].append(Reading(at(trial, index), max(0, behind)))
    depths = [(at(trial, index), _depths(reading)) for index, reading in trial.every(Metrics)]
    for queue in sorted({queue for _, depth in depths for queue in depth}):
        found["queue", queue] = [Reading(when, depth.get(queue, 0)) for when, depth in depths]
    for (what, of), readings in sorted(found.items()):
        yield Series(what=what, of=of, readings=tuple(readings))


def _depths(reading: Metrics) -> dict[str, int]:
    return {sample.labels.get("name", ""): sample.value for sample in reading.samples if sample.name.endswith(DEPTH)}
