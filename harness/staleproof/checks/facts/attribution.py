"""Whom the controller's writes are for: which primary each of them belongs to, and when a primary first had an effect.

A write belongs to the primary that it is about, or that owns what it is about, however far up. A write that was refused counts if
it names its object: it shows that the controller looked at it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from staleproof.checks.facts.object_history import Child, Population
from staleproof.core.entry import Answered, Delivered, Entry, Listed
from staleproof.core.history import History, Request, is_work, requests


@dataclass(frozen=True, slots=True)
class Effect:
    """Of the first incarnation of a primary that somebody else created.

    `shown`: where the controller was first shown it; `first`: where it then first asked for a write for it. None: it never came.
    """

    uid: str
    created: int
    shown: int | None
    first: int | None


def effects(history: History, population: Population) -> Mapping[str, Effect]:
    """By resource and name, as `widgets.staleproof.dev/sample`."""
    writes: dict[str, list[int]] = defaultdict(list)
    for request in requests(history.entries):
        if is_work(request.asked):
            for uid in _about(request, population):
                writes[root_of(uid, population)].append(request.index)
    found: dict[str, Effect] = {}
    for child in sorted(population.children.values(), key=lambda child: child.create_revision):
        name = f"{child.named.resource}/{child.named.name}"
        if name in history.header.primaries and name not in found and child.creator is None:
            shown = next((index for index, entry in enumerate(history.entries) if _shows(entry, child.uid)), None)
            first = next((index for index in writes[child.uid] if shown is not None and index > shown), None)
            found[name] = Effect(child.uid, child.created, shown, first)
    return found


def root_of(uid: str, population: Population) -> str:
    """The owner at the top; the object itself when it has none that is known."""
    seen: set[str] = set()
    while uid not in seen and (child := population.children.get(uid)) is not None and child.owner_uid in population.children:
        seen.add(uid)
        uid = child.owner_uid
    return uid


def _about(request: Request, population: Population) -> Iterator[str]:
    """The uids of what was written, or was to be."""
    if isinstance(request.answer, Answered) and request.answer.uid:
        yield request.answer.uid
    elif request.asked.name:
        yield from (child.uid for child in population.children.values() if _is_named(request, child))


def _is_named(request: Request, child: Child) -> bool:
    return (child.named.resource, child.named.name) == (request.asked.resource, request.asked.name)


def _shows(entry: Entry, uid: str) -> bool:
    match entry:
        case Delivered():
            return entry.uid == uid
        case Listed():
            return any(item.uid == uid for item in entry.items)
    return False
