"""reports-skips: count a sync that was skipped for staleness when the caches are behind, and none otherwise.

The metrics are those of kube-controller-manager: `<controller>_stale_sync_skips_total`, labelled with the group and resource of
what was written and not shown yet, and `informer_store_resource_version`. They are read when the runner chooses. Findings:

1. *counted for nothing*: the counter of a resource rose between two readings in one life, though all that was ever committed there
   had been shown before the first of them, nothing was committed or kept back in between, and nothing was done to the process and
   its streams. A cache that is a few milliseconds late after an ordinary write is behind, and may be counted;
2. *ahead*: an informer is said to have a version which no stream can have shown, because every stream of that resource kept
   something older back, and no list has shown either.

To pass it has to have counted, at least once, while a fault kept it behind. Left out for honesty: skips that were not counted. A
controller that waits may do so for other reasons (expectations, say), which nobody counts; then nothing is proven either way. Nor
is a resource judged of which no commit is known here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from staleproof.checks.facts.frontier import Frontier
from staleproof.checks.facts.withheld_frames import WithheldFrames
from staleproof.checks.story.phrases import plural
from staleproof.checks.trial import MOST_FINDINGS, Evidence
from staleproof.checks.verdict import Finding, Verdict, failed, not_exercised, passed
from staleproof.core.entry import Closed, Committed, Continued, Entry, Metrics, Opened, Started, StepEnded, Stopped

SLUG = "reports-skips"
SKIPS = "_stale_sync_skips_total"
VERSIONS = "informer_store_resource_version"
_DIGITS = 10**15
"""Informers report so many of the last digits of a resourceVersion."""
_TAKES_SECONDS = 0.2
"""A frame that has left may need so long to be taken in, and a sync that was skipped to be counted."""


def check(evidence: Evidence) -> Verdict:
    if not any(isinstance(entry, Metrics) for entry in evidence.history.entries):
        return not_exercised(SLUG, "the controller's metrics were not read")
    look = _Look(evidence.history.header.namespace)
    for index, entry in enumerate(evidence.history.entries):
        look.advance(index, entry)
    if look.findings:
        return failed(SLUG, look.findings[:MOST_FINDINGS])
    if not look.counted:
        return not_exercised(SLUG, f"the controller counted no skipped sync (*{SKIPS}) while it was kept behind")
    return passed(SLUG)


@dataclass(slots=True)
class _Look:
    """A fold over one history. `counted`: a counter rose while frames of its resource were kept from the controller."""

    namespace: str
    findings: list[Finding] = field(default_factory=list)
    counted: bool = False
    _frontier: Frontier = field(default_factory=Frontier)
    _withheld: WithheldFrames = field(default_factory=WithheldFrames)
    _committed: dict[str, int] = field(default_factory=dict)
    _behind_at: dict[str, float] = field(default_factory=dict)
    _withheld_at: dict[str, float] = field(default_factory=dict)
    _disturbed_at: float = 0.0
    _before: tuple[int, Metrics] | None = None

    def advance(self, index: int, entry: Entry) -> None:
        behind = self._behind()
        self._frontier.advance(entry)
        self._withheld.advance(entry)
        match entry:
            case Committed() if entry.namespace == self.namespace:
                self._committed[entry.resource] = max(entry.revision, self._committed.get(entry.resource, 0))
                behind.add(entry.resource)
            case Started():
                self._before = None
            case Stopped() | Continued() | Opened() | Closed() | StepEnded(idle=False):
                self._disturbed_at = entry.at
        self._behind_at.update(dict.fromkeys(behind | self._behind(), entry.at))
        self._withheld_at.update(dict.fromkeys(self._withheld.resources, entry.at))
        if isinstance(entry, Metrics):
            self._judge(index, entry)

    def _behind(self) -> set[str]:
        """Resources of which the controller's caches cannot have everything."""
        return {resource for resource, revision in self._committed.items() if not self._has_shown(resource, revision)}

    def _judge(self, index: int, entry: Metrics) -> None:
        if self._before is not None:
            then, before = self._before
            since = before.at - before.took - _TAKES_SECONDS
            counts = _skips(before)
            for resource, count in _skips(entry).items():
                more = count - counts.get(resource, 0)
                if more > 0 and max(self._disturbed_at, self._behind_at.get(resource, 0.0)) > since:
                    self.counted = self.counted or self._withheld_at.get(resource, 0.0) > since
                elif more > 0 and resource in self._committed:
                    self.findings.append(_for_nothing(resource, more, (then, index)))
        self.findings += self._ahead(index, entry)
        self._before = index, entry

    def _ahead(self, index: int, entry: Metrics) -> Iterator[Finding]:
        for sample in entry.samples:
            resource = _resource(sample.labels)
            oldest = self._withheld.oldest(resource) if sample.name == VERSIONS else None
            if oldest is None or not oldest <= sample.value < _DIGITS or self._has_shown(resource, oldest):
                continue
            newest = self._frontier.newest.get(resource, 0)
            because = (
                f"{VERSIONS} of {resource} was {sample.value}; the controller had been shown {resource} up to {newest}, "
                f"and from {oldest} on everything was kept from it"
            )
            yield Finding(SLUG, because, (index,))

    def _has_shown(self, resource: str, revision: int) -> bool:
        return self._frontier.newest.get(resource, 0) >= revision


def _for_nothing(resource: str, more: int, witnesses: tuple[int, int]) -> Finding:
    because = (
        f"the controller counted {plural(more, 'sync')} as skipped because its cache of {resource} was behind, "
        "when all that had ever happened there had been shown"
    )
    return Finding(SLUG, because, witnesses)


def _skips(metrics: Metrics) -> dict[str, int]:
    """Counted so far, by resource; several controllers of one program are taken together."""
    found: dict[str, int] = {}
    for sample in metrics.samples:
        if sample.name.endswith(SKIPS):
            resource = _resource(sample.labels)
            found[resource] = found.get(resource, 0) + sample.value
    return found


def _resource(labels: Mapping[str, str]) -> str:
    """Group-qualified, as everywhere."""
    return ".".join(part for part in (labels.get("resource", ""), labels.get("group", "")) if part)
