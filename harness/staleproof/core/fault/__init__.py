"""The faults that a plan may hold: small values, one decision each. `AnyFault` is all of them.

**legal**: a contract-respecting API server and network could have produced exactly what the client observes. **hostile**: none
could; findings made under it never count. `legality` has the table, `decision` what a fault may answer, `effects` what it does to a
controller, `model` what a fault is.
"""

from staleproof.core.fault.availability import Coalesce, Expire, Hang, PastSnapshot, Refuse, RefuseWatchList
from staleproof.core.fault.calls import Compete, LoseAnswer, Reject, SlowAnswer
from staleproof.core.fault.effects import Effect, Twin
from staleproof.core.fault.external import (
    ExternalCallFault,
    ExternalFault,
    ExternalNoticeFault,
    KillAtCall,
    LateNotification,
    LoseCallAnswer,
    LoseNotification,
    RejectCall,
    RepeatNotification,
    SlowCall,
)
from staleproof.core.fault.hostile import DropFrame, NoEndBookmark, Reorder, RepeatFrame, StaleRead
from staleproof.core.fault.model import CallFault, Fault, HeldState, Misfit, OwnWrite, Place, Seat, Window
from staleproof.core.fault.process import Kill, Pause, Restart
from staleproof.core.fault.streams import (
    AddBookmarks,
    DelayStream,
    DropBookmarks,
    HideOwnWrite,
    HoldStream,
    Release,
    SeverStream,
    Skew,
    SlowStart,
)

StreamFault = HoldStream | HideOwnWrite | DelayStream | Skew | SeverStream | DropBookmarks | AddBookmarks | SlowStart
AvailabilityFault = Refuse | Hang | Expire | Coalesce | RefuseWatchList | PastSnapshot
RequestFault = Reject | Compete | LoseAnswer | SlowAnswer
HostileFault = DropFrame | RepeatFrame | Reorder | NoEndBookmark | StaleRead
NoticeFault = LoseNotification | LateNotification | RepeatNotification
OutsideFault = RejectCall | SlowCall | LoseCallAnswer | KillAtCall | NoticeFault
AnyFault = StreamFault | AvailabilityFault | RequestFault | OutsideFault | Kill | Restart | Pause | HostileFault

__all__ = [
    "AddBookmarks",
    "AnyFault",
    "AvailabilityFault",
    "CallFault",
    "Coalesce",
    "Compete",
    "DelayStream",
    "DropBookmarks",
    "DropFrame",
    "Effect",
    "Expire",
    "ExternalCallFault",
    "ExternalFault",
    "ExternalNoticeFault",
    "Fault",
    "Hang",
    "HeldState",
    "HideOwnWrite",
    "HoldStream",
    "HostileFault",
    "Kill",
    "KillAtCall",
    "LateNotification",
    "LoseAnswer",
    "LoseCallAnswer",
    "LoseNotification",
    "Misfit",
    "NoEndBookmark",
    "NoticeFault",
    "OutsideFault",
    "OwnWrite",
    "PastSnapshot",
    "Pause",
    "Place",
    "Refuse",
    "RefuseWatchList",
    "Reject",
    "RejectCall",
    "Release",
    "Reorder",
    "RepeatFrame",
    "RepeatNotification",
    "RequestFault",
    "Restart",
    "Seat",
    "SeverStream",
    "Skew",
    "SlowAnswer",
    "SlowCall",
    "SlowStart",
    "StaleRead",
    "StreamFault",
    "Twin",
    "Window",
]
