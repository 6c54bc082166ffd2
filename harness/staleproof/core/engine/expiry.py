"""History that is gone for a client, until it lists again."""

from dataclasses import dataclass, field
from typing import Literal

from staleproof.core.engine.planned_fault import FaultRef
from staleproof.core.history.request import ApiRequest


@dataclass(frozen=True, slots=True)
class Expiry:
    """History up to `upto` is gone for one collection: a resumption from there is answered 410, as an event or by HTTP.

    `fault` is the one that says so; None for a command.
    """

    how: Literal["event", "http"]
    upto: int
    fault: FaultRef | None = None


@dataclass(slots=True)
class Expiries:
    """Those of all collections, by program, resource, namespace and selector."""

    _found: dict[tuple[str, str, str, str], Expiry] = field(default_factory=dict)

    def expire(self, request: ApiRequest, expiry: Expiry) -> None:
        """A stream of this request ended for lack of history: so does every resumption from there, until the client lists again."""
        self._found[_scope(request)] = expiry

    def listed(self, request: ApiRequest) -> None:
        """The client has been given the current state: it may watch from there."""
        self._found.pop(_scope(request), None)

    def of(self, request: ApiRequest) -> Expiry | None:
        """The expiry that answers this WATCH with 410; None when the WATCH is not too old.

        Only one that resumes from a revision can be too old (legality rows 11 and 11b), and one from a newer revision than any that
        the client had then is not.
        """
        expiry = self._found.get(_scope(request)) if request.is_watch else None
        return expiry if expiry is not None and request.start is not None and request.start <= expiry.upto else None

    def names(self, fault: FaultRef) -> bool:
        """Whether this fault still answers resumptions."""
        return any(expiry.fault == fault for expiry in self._found.values())


def _scope(request: ApiRequest) -> tuple[str, str, str, str]:
    return request.program, request.resource, request.namespace, request.selector
