"""The faults a plan may hold: small values, one decision each.

A fault decides what happens to a frame (`decide`) and what happens to the streams of its resource at the moment it opens or
closes (`on_open`, `on_close`). It never touches a queue or a socket, and never looks at a clock: *when* it is open is decided
by `staleproof.core.schedule` from its `window`.

Each fault names its contract. **legal**: a contract-respecting API server and network could have produced exactly what the
client observes. **hostile**: none could; findings made under it never count. `row` is the row of the legality table in the
documentation.
"""

from typing import ClassVar, Literal, Protocol

import msgspec

from staleproof.core.frame import Frame

Contract = Literal["legal", "hostile"]
End = Literal["clean", "reset", "expired"]
"""How a stream ends: last chunk; TCP reset; an ERROR event with code 410, then the last chunk."""


class Pass(msgspec.Struct, frozen=True):
    """Leave now (behind whatever is still waiting)."""


class Delay(msgspec.Struct, frozen=True):
    """Leave so many seconds after arriving. Frames behind it wait too, unless it may be overtaken (hostile)."""

    seconds: float
    overtaken: bool = False


class Hold(msgspec.Struct, frozen=True):
    """Stay until the fault closes. Everything behind it stays too."""


class Drop(msgspec.Struct, frozen=True):
    """Never leave."""


class Sever(msgspec.Struct, frozen=True):
    """End the stream in place of this frame; what was waiting is discarded, and the client resumes from what it got."""

    how: End


Decision = Pass | Delay | Hold | Drop | Sever
PASS, HOLD, DROP = Pass(), Hold(), Drop()


class Window(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """When a fault is open: from the beginning of one step to the beginning of another.

    Attributes:
        from_step: number of the step (from 1) at whose beginning it opens, before the step is done.
        until_step: number of the step at whose beginning it closes; empty means at the release, after the last step.
        seconds: closes this long after it opened, if that comes first; empty means no such limit.
    """

    from_step: int = 1
    until_step: int | None = None
    seconds: float | None = None


class OwnWrite(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The moment just before the controller's nth request with this verb reaches the API server, counted within the window."""

    verb: Literal["create", "update", "patch", "delete"]
    nth: int = 1


class Fault(Protocol):
    """What the schedule and the gate ask of a fault."""

    contract: ClassVar[Contract]
    row: ClassVar[str]

    @property
    def resource(self) -> str: ...
    @property
    def window(self) -> Window: ...
    @property
    def trigger(self) -> OwnWrite | None: ...
    def decide(self, frame: Frame, nth: int) -> Decision: ...
    @property
    def on_open(self) -> End | None: ...
    @property
    def on_close(self) -> End | None: ...


class _Fault(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename="camel",
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="fault",
    tag=True,
):
    """The fault that does nothing: what the others start from."""

    contract: ClassVar[Contract] = "legal"
    row: ClassVar[str] = "-"

    resource: str
    window: Window = Window()

    @property
    def trigger(self) -> OwnWrite | None:
        return None

    def decide(self, frame: Frame, nth: int) -> Decision:
        """What happens to the nth frame (from 1) of a stream of `resource` that arrives while the fault is open."""
        return PASS

    @property
    def on_open(self) -> End | None:
        """How the open streams of `resource` end at the moment the fault opens; None leaves them alone."""
        return None

    @property
    def on_close(self) -> End | None:
        """How streams that hold frames end at the moment the fault closes; None lets the frames leave, in order."""
        return None


Release = Literal["events", "relist", "resume"]
_RELEASE_ENDS: dict[Release, End | None] = {"events": None, "relist": "expired", "resume": "clean"}


class HoldStream(_Fault, frozen=True, kw_only=True, tag="Hold"):
    """Hold every event and bookmark of the resource's streams.

    `release` says how the client catches up: `events` delivers what was held, in order; `relist` ends the stream with 410, so that
    the catch-up comes as a list; `resume` ends it cleanly, so that the API server sends the events again.
    """

    row: ClassVar[str] = "1"
    release: Release = "events"

    def decide(self, frame: Frame, nth: int) -> Decision:
        return HOLD

    @property
    def on_close(self) -> End | None:
        return _RELEASE_ENDS[self.release]


class HideOwnWrite(_Fault, frozen=True, kw_only=True, tag="HideOwnWrite"):
    """Hold the resource's streams from just before the controller's own nth write: it cannot see what it has done."""

    row: ClassVar[str] = "1"
    write: OwnWrite = OwnWrite("create")
    release: Release = "events"

    @property
    def trigger(self) -> OwnWrite | None:
        return self.write

    def decide(self, frame: Frame, nth: int) -> Decision:
        return HOLD

    @property
    def on_close(self) -> End | None:
        return _RELEASE_ENDS[self.release]


class DelayStream(_Fault, frozen=True, kw_only=True, tag="Delay"):
    """Deliver every frame of the resource's streams so many seconds late, in order."""

    row: ClassVar[str] = "1"
    by_seconds: float

    def decide(self, frame: Frame, nth: int) -> Decision:
        return Delay(self.by_seconds)


class SeverStream(_Fault, frozen=True, kw_only=True, tag="Sever"):
    """End the resource's streams: at once when it opens, or in place of the nth frame of each."""

    row: ClassVar[str] = "6, 7"
    how: Literal["clean", "reset"] = "clean"
    nth: int | None = None

    def decide(self, frame: Frame, nth: int) -> Decision:
        return Sever(self.how) if nth == self.nth else PASS

    @property
    def on_open(self) -> End | None:
        return self.how if self.nth is None else None


class Expire(_Fault, frozen=True, kw_only=True, tag="Expire"):
    """Answer 410 Expired in the resource's streams and to every resumption from before, until the client lists again."""

    row: ClassVar[str] = "11"
    nth: int | None = None

    def decide(self, frame: Frame, nth: int) -> Decision:
        return Sever("expired") if nth == self.nth else PASS

    @property
    def on_open(self) -> End | None:
        return "expired" if self.nth is None else None


class DropBookmarks(_Fault, frozen=True, kw_only=True, tag="DropBookmarks"):
    """Never send a bookmark, except the one that ends the initial events, which is not at the server's discretion."""

    row: ClassVar[str] = "14"

    def decide(self, frame: Frame, nth: int) -> Decision:
        return DROP if frame.type == "BOOKMARK" and not frame.initial_end else PASS


AnyFault = HoldStream | HideOwnWrite | DelayStream | SeverStream | Expire | DropBookmarks
FAULTS: dict[str, type[AnyFault]] = {
    "Hold": HoldStream,
    "HideOwnWrite": HideOwnWrite,
    "Delay": DelayStream,
    "Sever": SeverStream,
    "Expire": Expire,
    "DropBookmarks": DropBookmarks,
}
