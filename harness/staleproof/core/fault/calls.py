"""Legal faults about single requests: rejected, competed with, answered late or not at all."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

import msgspec

from staleproof.core.fault.decision import (
    PASS,
    AnswerDecision,
    Competition,
    Cut,
    Refusal,
    Reply,
    RequestDecision,
    Wait,
)
from staleproof.core.fault.effects import Twin
from staleproof.core.fault.model import CallFault, Misfit, Positive, Seconds, Verb, unanswered
from staleproof.core.fault.need import Tries
from staleproof.core.history.request import ApiRequest

Code = Literal[0, 409, 429, 500, 503, 504]
RESET: Literal[0] = 0
"""As a code: no answer at all, a reset connection."""

_REASONS = {
    429: ("TooManyRequests", "too many requests, please try again later"),
    500: ("InternalError", "an error on the server prevented the request from succeeding"),
    503: ("ServiceUnavailable", "the server is currently unable to handle the request"),
    504: ("Timeout", "the server was unable to return a response in the time allotted, but may still be processing the request"),
    409: ("Conflict", "the object has been modified; please apply your changes to the latest version and try again"),
}


class Reject(CallFault, frozen=True, kw_only=True, tag="Reject"):
    """Do not execute the request: 429 (always with Retry-After), 500, 503 or 504, or (code 0) a reset connection."""

    row = "28, 29"
    does = ("rejects",)
    tries: ClassVar[Tries] = {"code": (500, 503, RESET, 504, 429), "times": (1, 2, 3)}
    """429 last: what has a Retry-After is tried again by client libraries themselves (client-go, rest/with_retry.go), so the
    controller does not hear of it."""
    code: Code = 500
    retry_after: Positive | None = None

    @property
    def phrase(self) -> str:
        return f"requests about {self.about} were {'cut off' if self.code == RESET else f'answered {self.code}'} and not executed"

    def on_request(self, request: ApiRequest, nth: int) -> RequestDecision:
        if not self.hits(nth):
            return PASS
        return _status(self.code, 1 if self.code == 429 and self.retry_after is None else self.retry_after)

    def misfits(self) -> Iterator[Misfit]:
        yield from super().misfits()
        if self.code == 409:
            yield Misfit("code is 409 though no other user competes", "32")
        if self.retry_after is not None and self.code not in (429, 503):
            yield Misfit(f"retryAfter goes with codes 429 and 503, not with {self.code}")


class Compete(CallFault, frozen=True, kw_only=True, tag="Compete"):
    """Let another user write to the same object just before the controller's write is forwarded: the 409 that follows is true.

    An update, patch or delete finds the object with this `edit` (a JSON merge patch), which must survive it. Without one it is at a
    newer resourceVersion and otherwise as it was (`nudge`), so that nothing of it can be copied. A create finds the object
    there, unless its name is generated.
    """

    row = "32b"
    does = ("competes",)
    often = 0  # what another user changes depends on what the workload changes next
    verb: Literal["write", "create", "update", "patch", "delete"] = "update"
    edit: dict[str, Any] = msgspec.field(default_factory=dict)

    @property
    def phrase(self) -> str:
        return f"another user {'edited' if self.edit else 'wrote to'} {self.about} just before it did"

    @property
    def twin(self) -> Twin:
        return Twin("touches", "within")

    @property
    def foreign_edit(self) -> Mapping[str, Any]:
        return self.edit

    def on_request(self, request: ApiRequest, nth: int) -> RequestDecision:
        if not self.hits(nth):
            return PASS
        if not request.is_write or request.verb == "deletecollection":
            return Refusal("", f"no other user competes with a {request.verb}")
        return Competition(self.edit)


class LoseAnswer(CallFault, frozen=True, kw_only=True, tag="LoseAnswer"):
    """Execute the request and lose the answer: a reset connection (code 0), or a 500 or 504 without Retry-After."""

    row = "30"
    does = ("loses",)
    tries: ClassVar[Tries] = {"code": (0, 504, 500)}
    verb: Verb = "write"
    code: Code = RESET
    retry_after: Positive | None = None

    @property
    def phrase(self) -> str:
        status = "" if self.code == RESET else f" and replaced by {self.code}"
        return f"answers about {self.about} were lost{status}, the requests executed"

    def on_answer(self, request: ApiRequest, nth: int) -> AnswerDecision:
        return _status(self.code, self.retry_after) if self.hits(nth) else PASS

    def misfits(self) -> Iterator[Misfit]:
        yield from super().misfits()
        yield from unanswered(self.verb)
        if self.retry_after is not None:
            yield Misfit("retryAfter after the execution", "31")
        elif self.code in (429, 503):
            yield Misfit(f"code is {self.code} after the execution", "31")
        elif self.code == 409:
            yield Misfit("code is 409 after the execution", "32")


class SlowAnswer(CallFault, frozen=True, kw_only=True, tag="SlowAnswer"):
    """Keep the answer back for so many seconds (the watch event overtakes it), or with `before` the request itself.

    `outdated`: meanwhile another user writes to the object that an update or a patch is about, and changes nothing in it (`nudge`),
    so that the watch shows something newer than the answer does.
    """

    row = "5"
    does = ("slows",)
    says = "answers about {} were late"
    tries: ClassVar[Tries] = {"outdated": (False,)}  # what is newer than the answer has to be watched: `draw.api_failure`
    by_seconds: Seconds
    moment: Literal["before", "after"] = "after"
    outdated: bool = False

    @property
    def phrase(self) -> str:
        return f"answers about {self.about} came after another user's next write" if self.outdated else super().phrase

    @property
    def twin(self) -> Twin | None:
        return Twin("touches", "within") if self.outdated else None

    def on_request(self, request: ApiRequest, nth: int) -> RequestDecision:
        return Wait(self.by_seconds) if self.moment == "before" and self.hits(nth) else PASS

    def on_answer(self, request: ApiRequest, nth: int) -> AnswerDecision:
        if self.moment == "before" or not self.hits(nth):
            return PASS
        return Competition(then_seconds=self.by_seconds) if self.outdated else Wait(self.by_seconds)

    def misfits(self) -> Iterator[Misfit]:
        yield from super().misfits()
        if self.moment == "after":
            yield from unanswered(self.verb)
        if self.outdated and (self.moment == "before" or self.verb not in ("update", "patch")):
            yield Misfit("outdated is about the answer (moment after) to an update or a patch (verb)")


def _status(code: Code, retry_after: int | None) -> Reply | Cut:
    return Cut() if code == RESET else Reply(code, *_REASONS[code], retry_after)
