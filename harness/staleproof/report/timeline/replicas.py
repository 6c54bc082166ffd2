"""The clients that the controller has: one for each of its replicas, or programs."""

from collections.abc import Mapping

from staleproof.checks.trial import Trial, fact
from staleproof.core.history.entry import (
    Asked,
    Closed,
    Competed,
    Dropped,
    Entry,
    Listed,
    Opened,
    Refused,
    Resumed,
    Stalled,
)

_UNNAMED = "controller"


@fact
def replicas(trial: Trial) -> Mapping[str, int]:
    """The place of each, by its name, in the order in which they were first heard of: the view is of the first."""
    names = dict.fromkeys(entry.client for entry in trial.entries if isinstance(entry, Opened | Listed | Asked | Refused))
    return {name: place for place, name in enumerate(names)} or {_UNNAMED: 0}


def replica_of(trial: Trial, entry: Entry) -> int:
    """The place of the client whose stream or request an entry is about; that of the first where it does not say."""
    return replicas(trial).get(_client(trial, entry), 0)


def _client(trial: Trial, entry: Entry) -> str:
    match entry:
        case Opened(client=client) | Listed(client=client) | Asked(client=client) | Refused(client=client):
            return client
        case Closed(stream=stream) | Dropped(stream=stream) if stream in trial.streams:
            return trial.streams[stream].entry.client
        case Stalled(request=request) | Resumed(request=request) | Competed(request=request) if request in trial.request_of:
            return trial.request_of[request].asked.client
    return ""
