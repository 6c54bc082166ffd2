"""What the controller's metrics say that is not so: syncs counted as skipped for staleness, caches said to be newer."""

from collections.abc import Iterator, Mapping, Sequence

from staleproof.checks.facts.skip_metrics import VERSIONS, CountedSkips, cache_versions, counted_skips
from staleproof.checks.trial import Trial, fact
from staleproof.checks.verdict import Finding
from staleproof.checks.view.life import view, withheld_between
from staleproof.core.history.entry import Closed, Committed, Continued, Metrics, Opened, StepEnded, Stopped
from staleproof.core.wording import plural


@fact
def excused_skips(trial: Trial) -> Sequence[CountedSkips]:
    """Those that may rightly have been counted."""
    return [skips for skips in counted_skips(trial) if _is_excused(trial, skips)]


def was_kept_behind(trial: Trial, skips: CountedSkips) -> bool:
    """Whether a fault may have kept its cache behind when it skipped."""
    return not skips.since or skips.resource in withheld_between(trial, skips.since, skips.until)


def untrue_metrics(trial: Trial) -> list[Finding]:
    """In the order in which they were read."""
    needless = [skips for skips in counted_skips(trial) if skips not in excused_skips(trial) and _commits(trial, skips)]
    ahead = [finding for index, metrics in trial.every(Metrics) for finding in _ahead(trial, index, metrics)]
    return sorted([*map(_for_nothing, needless), *ahead], key=lambda finding: finding.witnesses[-1])


def _is_excused(trial: Trial, skips: CountedSkips) -> bool:
    """Whether its cache may have been behind, or something was done to its process or streams. What a list has shown besides its
    streams is not in the cache."""
    since, until = skips.since, skips.until
    if skips.resource in withheld_between(trial, since, until):
        return True
    busy = any(not entry.idle for _, entry in trial.every(StepEnded, since=since, until=until))
    if not since or busy or any(since <= index < until for index in trial.positions(Stopped, Continued, Opened, Closed)):
        return True
    commits, metrics = _commits(trial, skips), trial.entries[skips.readings[0]]
    newest = max(commits.values(), default=0)
    said = cache_versions(metrics) if isinstance(metrics, Metrics) else ()
    if any(version < newest for resource, version in said if resource == skips.resource):
        return True  # as it says itself
    shown = (view(trial, index).newest(skips.resource) for index in range(since, until + 1))
    return any(index >= since for index in commits) or any(revision < newest for revision in shown)


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
