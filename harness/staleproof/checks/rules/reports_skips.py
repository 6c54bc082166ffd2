"""reports-skips: count a sync that was skipped for staleness when the caches are behind, and none otherwise.

The metrics are those of kube-controller-manager: `<controller>_stale_sync_skips_total`, labelled with the group and resource of
what was written and not shown yet, and `informer_store_resource_version`. They are read when the runner chooses. Findings:

1. *counted for nothing*: the counter of a resource rose between two readings in one life, though all that was ever committed there
   had been shown before the first of them, nothing was committed or kept back in between, and nothing was done to the process and
   its streams. A cache that is a few milliseconds late after an ordinary write is behind, and may be counted; so is one that is
   held back, though a list may have shown the controller more, and one that says itself that it is;
2. *ahead*: an informer is said to have a version which no stream can have shown, because every stream of that resource kept
   something older back, and no list has shown either.

To pass it has to have counted, at least once, while a fault kept it behind. Left out for honesty: skips that were not counted. A
controller that waits may do so for other reasons (expectations, say), which nobody counts; then nothing is proven either way. A
resource of which no commit is known here is not judged either.
"""

from collections.abc import Iterator, Mapping

from staleproof.checks.facts.skip_metrics import SKIPS, VERSIONS, CountedSkips, cache_versions, counted_skips
from staleproof.checks.requirement import Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, NotExercised, Said
from staleproof.checks.view.life import view, withheld_between
from staleproof.core.history.entry import Closed, Committed, Continued, Metrics, Opened, StepEnded, Stopped
from staleproof.core.wording import plural


def check(trial: Trial) -> Iterator[Said]:
    if trial.first(Metrics) is None:
        yield NotExercised("the controller's metrics were not read")
    excused = [skips for skips in counted_skips(trial) if _is_excused(trial, skips)]
    found = [_for_nothing(skips) for skips in counted_skips(trial) if skips not in excused and _commits(trial, skips)]
    found += [finding for index, metrics in trial.every(Metrics) for finding in _ahead(trial, index, metrics)]
    yield from sorted(found, key=lambda finding: finding.witnesses[-1])
    if not any(not skips.since or skips.resource in withheld_between(trial, skips.since, skips.until) for skips in excused):
        yield NotExercised(f"the controller counted no skipped sync (*{SKIPS}) while it was kept behind")


def _is_excused(trial: Trial, skips: CountedSkips) -> bool:
    """Whether its cache may have been behind, or something was done to its process or streams. What a list has shown besides its
    streams is not in the cache."""
    since, until = skips.since, skips.until
    if skips.resource in withheld_between(trial, since, until):
        return True
    busy = any(not entry.idle for _, entry in trial.every(StepEnded, since=since, until=until))
    if not since or busy or any(since <= index < until for index in trial.positions(Stopped, Continued, Opened, Closed)):
        return True
    commits = _commits(trial, skips)
    newest = max(commits.values(), default=0)
    if any(version < newest for version in _versions(trial, skips)):
        return True
    shown = (view(trial, index).newest(skips.resource) for index in range(since, until + 1))
    return any(index >= since for index in commits) or any(revision < newest for revision in shown)


def _versions(trial: Trial, skips: CountedSkips) -> list[int]:
    """How new its cache was at the first reading, as it says itself; empty: it does not say."""
    metrics = trial.entries[skips.readings[0]]
    found = cache_versions(metrics) if isinstance(metrics, Metrics) else ()
    return [version for resource, version in found if resource == skips.resource]


def _commits(trial: Trial, skips: CountedSkips) -> Mapping[int, int]:
    """Position → revision of each commit of the resource by then."""
    commits = trial.every(Committed, until=skips.until)
    return {i: e.revision for i, e in commits if (e.resource, e.namespace) == (skips.resource, trial.namespace)}


def _for_nothing(skips: CountedSkips) -> Finding:
    because = (
        f"the controller counted {plural(skips.more, 'sync')} as skipped because its cache of {skips.resource} was behind, "
        "when all that had ever happened there had been shown"
    )
    return Finding(because, skips.readings)


def _ahead(trial: Trial, index: int, metrics: Metrics) -> Iterator[Finding]:
    for resource, version in cache_versions(metrics):
        seen = view(trial, index)
        oldest, newest = seen.oldest_withheld(resource), seen.newest(resource)
        if oldest is not None and newest < oldest <= version:
            because = (
                f"{VERSIONS} of {resource} was {version}; the controller had been shown {resource} up to {newest}, "
                f"and from {oldest} on everything was kept from it"
            )
            yield Finding(because, (index,))


REQUIREMENT = Requirement(
    slug="reports-skips",
    must="The controller MUST count a sync as skipped for staleness only when its caches are behind, "
    "and report no cache as newer than it is.",
    level="extended",
    source="KEP-5647, Monitoring Requirements",
    faults=("HideOwnWrite", "Hold"),
    remedy="count where the sync returns early because the cache has not reached an own write, and nowhere else; "
    "take a store's resourceVersion from what has been put into the store",
    severity="transient",
    kind="deed",
    wrong="a skip counted, or a version told, that is not so",
    reasons=("hidden",),
    check=check,
    needs_references=False,
)
