"""Which object of Kubernetes a call to an external system is about, and what is stored of the call.

An object is meant whose name, or an id that is recorded in its status or its annotations, is among the words of the call. Names of
objects are changed for other systems: hyphens become underscores, capitals do not count, and more may stand before and behind.
Of several objects the one whose namespace is there as well is meant, then the one with the longest word, then the one that changed
last. An id that is recorded in two objects says nothing.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from staleproof.core.external import AnswerSeen, CallSeen, Create, Delete, Drift, ExternalObject, NotificationSeen, Seen, target
from staleproof.core.history.entry import (
    Called,
    CallId,
    Committed,
    Drifted,
    ExternalChange,
    ExternalEntry,
    ExternalState,
    FaultIndex,
    Held,
    Notified,
    Replied,
)
from staleproof.core.plan.masking import may_be_secret

Key = tuple[str, str, str]
"""resource, namespace, name"""
_NO_OBJECT: Key = ("", "", "")
_SHORTEST_ID = 4
_ID = re.compile(r"[\w.:/-]+")
_WORD = re.compile(r"[0-9a-z]+")
_LITERAL = re.compile(
    r"\b[eE]'(?:[^'\\]|\\.|'')*(?:'|\Z)|'(?:[^']|'')*(?:'|\Z)|\$(?P<tag>(?:[A-Za-z_]\w*)?)\$.*?(?:\$(?P=tag)\$|\Z)", re.DOTALL
)
"""A string, also one with backslashes, or between dollars, or one that does not end."""
_ELIDED = "…"
_NOT_IDS = ("conditions",)
_PLAIN = bool | int | float | None
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class _Known:
    """Of one object: the words of its name and of its namespace, the ids that it has recorded, when it changed, and whether it is
    deleted."""

    name: tuple[str, ...]
    namespace: tuple[str, ...]
    ids: frozenset[tuple[str, ...]]
    changed: float
    is_deleted: bool


class CallOwners:
    """A fold over commits: of which objects calls may be. `resources`: of these alone; empty means of all but Secrets."""

    def __init__(self, resources: Iterable[str] = ()) -> None:
        self._resources = frozenset(resources)
        self._objects: dict[Key, _Known] = {}
        self._preferred: frozenset[str] = frozenset()
        self._secrets: frozenset[str] = frozenset()

    def hide(self, secrets: Iterable[str]) -> None:
        """From now on fields that have one of these texts in them are digests, whatever they are called."""
        self._secrets |= frozenset(secrets)

    def see(self, commit: Committed) -> None:
        """An object that is deleted is remembered until the next trial: the last calls about it come afterwards."""
        if commit.resource in self._resources if self._resources else commit.resource != "secrets":
            ids = frozenset(filter(None, map(_words, _recorded(commit.object))))
            is_deleted = commit.type == "DELETED"
            known = _Known(_words(commit.name), _words(commit.namespace), ids, commit.at, is_deleted)
            self._objects[commit.resource, commit.namespace, commit.name] = known

    def prefer(self, resources: Iterable[str]) -> None:
        """A trial begins with primaries of these resources: they are meant, if they are mentioned, rather than others, such as
        children of the same name. What was deleted before is forgotten."""
        self._preferred = frozenset(resources)
        self._objects = {key: known for key, known in self._objects.items() if not known.is_deleted}

    def owner(self, texts: Iterable[str]) -> Key:
        """The object that is meant; three empty strings: none."""
        said = [_words(text) for text in texts]
        rank, owner = max(((self._rank(key, known, said), key) for key, known in self._objects.items()), default=((), _NO_OBJECT))
        return owner if rank else _NO_OBJECT

    def entry(self, seen: Seen) -> ExternalEntry:
        """What the history has of a relay's report."""
        match seen:
            case CallSeen(text=text, values=values):
                resource, namespace, name = self.owner((text, *values))
                return Called(
                    at=seen.at,
                    call=CallId(seen.call),
                    system=seen.system,
                    client=seen.client,
                    verb=seen.verb,
                    text=without_secrets(text),
                    resource=resource,
                    namespace=namespace,
                    name=name,
                )
            case AnswerSeen(outcome=outcome, code=code, executed=executed, effect=effect):
                return Replied(
                    at=seen.at,
                    call=CallId(seen.call),
                    system=seen.system,
                    outcome=outcome,
                    code=code,
                    executed=executed,
                    effect=effect,
                    fault=FaultIndex(seen.of) if seen.of is not None else None,
                )
            case NotificationSeen(channel=channel, effect=effect, of=of):
                resource, namespace, name = self.owner((channel, seen.text))
                return Notified(
                    at=seen.at,
                    system=seen.system,
                    channel=channel,
                    resource=resource,
                    namespace=namespace,
                    name=name,
                    effect=effect,
                    fault=FaultIndex(of) if of is not None else None,
                )

    def state(self, system: str, objects: Iterable[ExternalObject], *, at: float) -> ExternalState:
        """What the history has of what a system holds."""
        return ExternalState(at=at, system=system, objects=tuple(map(self._held, objects)))

    def drifted(self, system: str, drift: Drift, *, at: float, step: int = 0) -> Drifted:
        """What the history has of a drift that has been made."""
        kind, external = target(drift)
        resource, namespace, name = self.owner((external,))
        change: ExternalChange = "created" if isinstance(drift, Create) else "deleted" if isinstance(drift, Delete) else "changed"
        return Drifted(
            at=at,
            system=system,
            change=change,
            kind=kind,
            external=external,
            resource=resource,
            namespace=namespace,
            name=name,
            step=step,
        )

    def _held(self, obj: ExternalObject) -> Held:
        resource, namespace, name = self.owner((obj.name,))
        shown = {field: self._shown(field, value) for field, value in obj.fields.items()}
        return Held(
            kind=obj.kind,
            external=obj.name,
            digest=_digest(obj.fields),
            fields=shown,
            resource=resource,
            namespace=namespace,
            name=name,
        )

    def _shown(self, field: str, value: object) -> object:
        """A value of a field, or its digest where it may be secret: as the field's name says, or because of what is in it."""
        if isinstance(value, _PLAIN) or not value:
            return value
        is_secret = may_be_secret(field) or any(each in str(value) for each in self._secrets)
        return _digest(value) if is_secret else value

    def _rank(self, key: Key, known: _Known, said: list[tuple[str, ...]]) -> tuple[float, ...]:
        """The higher, the likelier it is that this one is meant; empty: it is not."""
        ids = [each for each in known.ids if _is_in(each, said) and not self._is_shared(each)]
        if not ids and not _is_in(known.name, said):
            return ()
        longest = max(len("".join(each)) for each in (*ids, known.name) if _is_in(each, said))
        return (key[0] in self._preferred, _is_in(known.namespace, said), longest, known.changed)

    def _is_shared(self, words: tuple[str, ...]) -> bool:
        return sum(words in known.ids for known in self._objects.values()) > 1


def without_secrets(text: str) -> str:
    """A statement without its literals, a path without the values of its query: passwords and tokens are among them."""
    path, question, query = text.partition("?")
    if question and text.startswith("/"):
        return f"{path}?{'&'.join(each.partition('=')[0] for each in query.split('&'))}"
    return _LITERAL.sub(f"'{_ELIDED}'", text)


def _digest(value: object) -> str:
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()[:_DIGITS]


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.lower()))


def _is_in(words: tuple[str, ...], texts: list[tuple[str, ...]]) -> bool:
    """Whether these words stand next to each other in one of the texts."""
    size = len(words)
    return bool(size) and any(text[at : at + size] == words for text in texts for at in range(len(text) - size + 1))


def _recorded(obj: Mapping[str, Any]) -> Iterator[str]:
    """What may be ids of something outside: single words in its status and its annotations."""
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    for value in (*annotations.values(), *_leaves(obj.get("status"))):
        if len(value) >= _SHORTEST_ID and _ID.fullmatch(value):
            yield value


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            if name not in _NOT_IDS:
                yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
