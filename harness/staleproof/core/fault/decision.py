"""What a fault may answer when it is asked: small values, carried out by the gate (frames) or by the proxy (requests, answers)."""

from typing import Any, Literal

import msgspec

End = Literal["clean", "truncated", "reset", "expired", "lapsed", "gone"]
"""How a stream ends: with the last chunk; in the middle of a frame, without a last chunk; with a TCP reset; with an ERROR event of
code 410 and the last chunk; with the last chunk, after which every resumption is answered with such an event (`lapsed`) or by HTTP
(`gone`), until the client lists."""


class Pass(msgspec.Struct, frozen=True):
    """Go on (a frame: behind whatever is still waiting)."""


# --- about a frame ---------------------------------------------------------------------------------------------------------------


class Delay(msgspec.Struct, frozen=True):
    """Leave so many seconds after arriving. Frames behind it wait too, unless it may be overtaken (hostile)."""

    seconds: float
    overtaken: bool = False


class Hold(msgspec.Struct, frozen=True):
    """Stay until the fault closes. Everything behind it stays too."""


class Drop(msgspec.Struct, frozen=True):
    """Never leave."""


class Repeat(msgspec.Struct, frozen=True):
    """Leave twice (hostile)."""


class Follow(msgspec.Struct, frozen=True):
    """Leave, and behind it a bookmark of the same revision."""


class Sever(msgspec.Struct, frozen=True):
    """End the stream in place of this frame. What was waiting is discarded, and the client resumes behind what it got; without
    `discard`, what was waiting leaves first."""

    how: End
    discard: bool = True


# --- about a request that has not been forwarded, or about its answer ------------------------------------------------------------


class Reply(msgspec.Struct, frozen=True):
    """Answer with this Status in place of the API server's answer. Before forwarding: nothing was executed.

    `as_event` is for a watch: it is answered with 200, the Status in an ERROR event, and a clean end.
    """

    code: int
    reason: str
    message: str
    retry_after: int | None = None
    as_event: bool = False


class Cut(msgspec.Struct, frozen=True):
    """Reset the connection without any answer."""


class Wait(msgspec.Struct, frozen=True):
    """Go on after so many seconds."""

    seconds: float


class Stall(msgspec.Struct, frozen=True):
    """Nothing happens until the fault closes; then the connection is reset, or the request goes on as if it had just come."""

    then: Literal["reset", "forward"]


class FromPast(msgspec.Struct, frozen=True):
    """Answer a read with the state at the beginning of this step."""

    step: int


class Competition(msgspec.Struct, frozen=True):
    """Let another user write to the same object first, then go on, after so many seconds. `edit`: a JSON merge patch; empty: a
    change without a trace."""

    edit: dict[str, Any] = msgspec.field(default_factory=dict)
    then_seconds: float = 0.0


class Refusal(msgspec.Struct, frozen=True):
    """The fault may not act on this request: `row` of the legality table says so (empty: no row does), `why` in words."""

    row: str
    why: str


FrameDecision = Pass | Delay | Hold | Drop | Repeat | Follow | Sever | Refusal
RequestDecision = Pass | Reply | Cut | Wait | Stall | FromPast | Competition | Refusal
AnswerDecision = Pass | Reply | Cut | Wait | Stall | Competition
PASS, HOLD, DROP = Pass(), Hold(), Drop()
