"""What a fault does to a controller, in a closed vocabulary, and its harmless twin: what is left of it when it does no harm.

Rules ask a fault for its effects and never for its class, so they need no change for a new fault. A fault has every effect whose
sentence is true of it. Where the sentences name an exception, two rules would otherwise explain the same end.
"""

from typing import Literal, NamedTuple, get_args

ViewEffect = Literal["hides", "lags", "rewinds", "slows-start", "drops-bookmarks", "adds-bookmarks", "refuses-watch-lists"]
"""What the controller is shown.

- `hides`: nothing new of a resource is shown while the fault is open, and the controller gets no sign that something is amiss.
- `lags`: live events come late and in order, and none is left out.
- `rewinds`: a state is shown that is older than what the controller had seen.
- `slows-start`: initial lists, or the events in their place, come late.
- `drops-bookmarks`, `adds-bookmarks`: bookmarks do not come, or more of them come.
- `refuses-watch-lists`: the client must do without the WatchList feature.
"""

WatchEffect = Literal["cuts", "expires", "skips"]
"""How its watches end.

- `cuts`: watches end, or their connections break, and the client may resume where it was.
- `expires`: 410 takes from the client the revision where it was, so it must list again.
- `skips`: between the end of a watch and the next one states may come and go unseen. Exceptions: Hang, during which requests hang,
  too, and SlowStart, which ends watches before their first live event.
"""

RequestEffect = Literal["disconnects", "rejects", "competes", "loses", "slows"]
"""What becomes of its requests.

- `disconnects`: nothing reaches the API server: connections are refused, or hang and are reset in the end.
- `rejects`: a request is not executed, and the controller learns that, if only by a reset connection.
- `competes`: another user writes to an object just before the controller does.
- `loses`: a request is executed and its answer never comes.
- `slows`: an answer comes late. Exception: initial lists (`slows-start`).
"""

ProcessEffect = Literal["restarts", "kills", "terminates", "pauses"]
"""What is done to its process.

- `restarts`: the process ends and a new life begins, which has seen nothing.
- `kills`: the process ends over one of its own writes, so no process is left to hear the answer.
- `terminates`: before it ends the process is asked to stop (SIGTERM), and may finish what it is doing.
- `pauses`: the process stands still while the cluster goes on.
"""

ExternalEffect = Literal[
    "rejects-calls", "slows-calls", "loses-calls", "loses-notifications", "slows-notifications", "repeats-notifications"
]
"""What becomes of its calls to external systems, and of their notifications.

- `rejects-calls`: a call is not executed, and the controller learns that.
- `slows-calls`: an answer comes late.
- `loses-calls`: a call is executed and its answer never comes.
- `loses-notifications`: a notification never comes.
- `slows-notifications`: it comes late, and perhaps behind one that was sent later.
- `repeats-notifications`: it comes twice.
"""

Effect = Literal[ViewEffect, WatchEffect, RequestEffect, ProcessEffect, ExternalEffect, "forges"]
"""`forges`: no correct API server could do this. A hostile fault has this effect and no other, so no rule counts it."""

EFFECTS: frozenset[Effect] = frozenset(get_args(Effect))

MOMENTARY: frozenset[Effect] = frozenset(
    {"cuts", "expires", "skips", "competes", "slows", "slows-calls", "repeats-notifications", "adds-bookmarks"}
)
"""These are over once they have happened, even while the fault is open: a controller that has done its work after them has nothing
more to do because of them. What it does after a lost answer or in a new life may come later."""


class Twin(NamedTuple):
    """What a fault does besides, and what a harmless one does as well: it makes the controller look again.

    Attributes:
        does: `relists`: it must list, and is shown the present; `reconnects`: its watches end, and it has missed nothing;
            `restarts`: it is asked to stop when it is at rest, and starts again; `touches`: another user writes when it is at rest.
        at: when, seen from the fault: when its window opens, at some moment within the first step of it, or when it closes.
    """

    does: Literal["relists", "reconnects", "restarts", "touches"]
    at: Literal["opening", "within", "closing"]
