"""What a controller itself says is wrong with an object: in conditions of its status, and in Events about it.

They are for people to read, and nothing is judged by them; but a controller that says that something failed may have been kept from
its work.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from staleproof.checks.trial import Trial
from staleproof.core.history.entry import Committed
from staleproof.core.plan.manifest import Manifest

_EVENTS = "events"
_HOLDS = (
    "ready|available|synced|reconciled|healthy|accepted|programmed|valid|validated|resolved|resolvedrefs|established|initialized|"
    "scheduled|schedulable|issued|succeeded|installed|deployed|attached|configured|connected|created|provisioned|bound"
)
_GOOD = re.compile(f"({_HOLDS})$", re.IGNORECASE)
"""How the type of a condition ends that is false when something is wrong. Others (Progressing, Paused, Terminating, Upgradeable)
may be false where all is well, and say nothing unless their reason does."""
_BAD = re.compile(
    r"(?<!no)(?:fail(?!over)|error|conflict)|degraded|(?<!in)stalled|missing|expired|pressure|blocked|"
    rf"(?-i:(?:Un|In|Dis|Mis|^un|^in|^dis|^mis)(?:{_HOLDS})|(?:Not|^not)(?i:{_HOLDS}))$",
    re.IGNORECASE,
)
"""In the type of a condition that is true when something is wrong."""
_FAILURE = re.compile(r"fail|error|invalid|denied|forbidden", re.IGNORECASE)
"""In the reason of a condition of any type that does not hold."""


def complaints(trial: Trial, resource: str, name: str) -> list[str]:
    """The latest conditions of the object that do not hold as they should, and warnings about it, each once, in words."""
    bad, warnings = _said_of(trial, resource, name, len(trial.entries))
    sentences = (f"{each.get('type')} is {each.get('status')}, {'; '.join((_said(each), *_causes(each)))}" for each in bad)
    return [*dict.fromkeys(sentences), *warnings]


def says_it_failed(trial: Trial, resource: str, name: str, *, before: int | None = None) -> bool:
    """Whether its latest conditions, as they were before this entry, say that something failed, or a warning was given about it."""
    bad, warnings = _said_of(trial, resource, name, len(trial.entries) if before is None else before)
    return bool(bad or warnings)


def gives_reason(trial: Trial, resource: str, name: str, *, before: int) -> bool:
    """Whether one of its conditions that do not hold, as they were before this entry, gives a failure for its reason: one that is
    only not ready yet does not."""
    return any(map(_fails, _said_of(trial, resource, name, before)[0]))


def _said_of(trial: Trial, resource: str, name: str, before: int) -> tuple[list[Manifest], list[str]]:
    """What is wrong by the latest conditions of the object before this entry; and warnings about it, each once, in words."""
    every = [entry for _, entry in trial.every(Committed, until=before)]
    states = [entry.object for entry in every if (entry.resource, entry.name) == (resource, name)]
    events = [entry.object for entry in every if entry.resource == _EVENTS and entry.object.get("type") == "Warning"]
    about = [event for event in events if (event.get("involvedObject") or {}).get("name") == name]
    bad = [each for state in states[-1:] for each in _conditions(state.get("status")) if _is_bad(each)]
    return bad, list(dict.fromkeys(f"event {_said(event)}" for event in about))


def _conditions(status: Any) -> Iterator[Manifest]:  # noqa: ANN401  # JSON
    """All of a status, wherever in it they are: Gateway API has some for each parent and each listener."""
    if isinstance(status, list):
        for inner in status:
            yield from _conditions(inner)
    for key, inner in status.items() if isinstance(status, dict) else ():
        if key == "conditions" and isinstance(inner, list):
            yield from (each for each in inner if isinstance(each, dict))
        else:
            yield from _conditions(inner)


def _causes(condition: Manifest) -> list[str]:
    """What stands in lists below the condition: some only refer to that ("see Errors for details")."""
    lists = (inner for inner in condition.values() if isinstance(inner, list))
    return [_said(each) for inner in lists for each in inner if isinstance(each, dict) and each.get("message")]


def _is_bad(condition: Manifest) -> bool:
    kind, status = str(condition.get("type")), str(condition.get("status"))
    if _BAD.search(kind):
        return status == "True"
    if _GOOD.search(kind):
        return status != "True"
    return status == "False" and _fails(condition)


def _fails(condition: Manifest) -> bool:
    """Whether it gives a failure for its reason."""
    return _FAILURE.search(str(condition.get("reason") or "")) is not None


def _said(complaint: Mapping[str, Any]) -> str:
    return ": ".join(filter(None, (str(complaint.get("reason") or ""), str(complaint.get("message") or "")))) or "without a reason"
