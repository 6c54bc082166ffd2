"""Which fault acts on a call to an external system, or on a notification: each counts what it has acted on."""

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from staleproof.core.external import CallFault, NotificationFault

T = TypeVar("T", CallFault, NotificationFault)


class CallFaults:
    """The faults of one system. To ask uses up their count: each call and each notification is asked about once."""

    def __init__(self, faults: Iterable[CallFault | NotificationFault] = ()) -> None:
        given = tuple(faults)
        self._calls = _Counted([each for each in given if isinstance(each, CallFault)])
        self._notifications = _Counted([each for each in given if isinstance(each, NotificationFault)])

    def on_call(self, texts: Sequence[str]) -> CallFault | None:
        """The first that concerns a call with these texts."""
        return self._calls.first(texts)

    def on_notification(self, texts: Sequence[str]) -> NotificationFault | None:
        """The first that concerns a notification with these texts."""
        return self._notifications.first(texts)


class _Counted(Generic[T]):
    def __init__(self, faults: Sequence[T]) -> None:
        self._faults: Sequence[T] = faults
        self._acted = [0] * len(faults)

    def first(self, texts: Sequence[str]) -> T | None:
        for index, fault in enumerate(self._faults):
            left = fault.count is None or self._acted[index] < fault.count
            if left and (not fault.mentions or any(fault.mentions in text for text in texts)):
                self._acted[index] += 1
                return fault
        return None
