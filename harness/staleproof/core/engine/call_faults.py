"""Which fault acts on a call to an external system, or on a notification: each counts what it has acted on."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from staleproof.core.external import CallFault, NotificationFault, changes_something

T = TypeVar("T", CallFault, NotificationFault)


class CallFaults:
    """The faults of one system. To ask uses up their count: each call and each notification is asked about once.

    `before`: those that they replace; a fault of a plan that was among them goes on counting where it was.
    """

    def __init__(self, faults: Iterable[CallFault | NotificationFault] = (), before: "CallFaults | None" = None) -> None:
        given = tuple(faults)
        known: Mapping[object, int] = before.known if before is not None else {}
        self._calls = _Counted([each for each in given if isinstance(each, CallFault)], known)
        self._notifications = _Counted([each for each in given if isinstance(each, NotificationFault)], known)

    @property
    def known(self) -> Mapping[object, int]:
        """How many calls, or notifications, each fault of a plan has met."""
        return {**self._calls.known, **self._notifications.known}

    def on_call(self, verb: str, texts: Sequence[str]) -> CallFault | None:
        """The first that concerns a call with this verb and these texts."""
        is_change = changes_something(verb)
        return self._calls.first(texts, lambda fault: is_change or not fault.changes)

    def on_notification(self, texts: Sequence[str]) -> NotificationFault | None:
        """The first that concerns a notification with these texts."""
        return self._notifications.first(texts, lambda _: True)


class _Counted(Generic[T]):
    def __init__(self, faults: Sequence[T], known: Mapping[object, int]) -> None:
        self._faults: Sequence[T] = faults
        self._met = [known.get(each, 0) for each in faults]

    @property
    def known(self) -> Mapping[object, int]:
        """How many each fault of a plan has met."""
        met = zip(self._faults, self._met, strict=True)
        return {each: count for each, count in met if each.of is not None}

    def first(self, texts: Sequence[str], concerns: Callable[[T], bool]) -> T | None:
        for index, fault in enumerate(self._faults):
            if concerns(fault) and (not fault.mentions or any(fault.mentions in text for text in texts)):
                self._met[index] += 1
                if fault.nth <= self._met[index] < fault.nth + (fault.count or math.inf):
                    return fault
        return None
