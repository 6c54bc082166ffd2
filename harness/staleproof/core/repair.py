"""What has to be otherwise before something that drifted counts as repaired."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from staleproof.core.external import Change, Create, Delete, Drift, ExternalObject, target


@dataclass(frozen=True, slots=True)
class Unrepaired:
    """Something that drifted: its kind and name, and which fields have which values now that the controller has not given them.
    `is_gone`: it is not there any more."""

    key: tuple[str, str]
    is_gone: bool = False
    fields: Mapping[str, object] = field(default_factory=dict)

    def is_repaired(self, objects: Iterable[ExternalObject]) -> bool:
        """Whether it is there again, and nothing of it is as the drift left it."""
        found = next((each for each in objects if (each.kind, each.name) == self.key), None)
        if found is None:
            return False
        return self.is_gone or all(found.fields.get(name) != value for name, value in self.fields.items())


def left_by(drift: Drift, before: Iterable[ExternalObject], after: Iterable[ExternalObject]) -> Unrepaired:
    """What a drift has left to be repaired, given what was there before it and after it.

    Of what another user has created whatever differs from what was there under that name; there is nothing to be seen of the
    repair of something that was not there, and is as it was created.
    """
    key = target(drift)
    was, now = (next((each.fields for each in state if (each.kind, each.name) == key), {}) for state in (before, after))
    match drift:
        case Delete():
            return Unrepaired(key, is_gone=True)
        case Change(fields=fields):
            return Unrepaired(key, fields={name: now.get(name) for name in fields})
        case Create():
            return Unrepaired(key, fields={name: value for name, value in now.items() if name not in was or was[name] != value})
