"""What gives a fault its occasion, and how long plans keep it open: closed vocabularies.

They stand on a fault's class, so plans can be made with a fault of which nothing else is known (`draw.incidents`).
"""

from collections.abc import Mapping
from typing import Any, Literal

Need = Literal[
    "nothing", "watch", "event", "bookmark", "more bookmarks", "watch list", "start", "write", "own write", "call", "notification"
]
"""What has to happen so that the fault does something.

- `nothing`: it does something whatever happens, from its first moment on.
- `watch`: the controller watches the resource.
- `event`: something of the resource changes that the controller watches.
- `bookmark`, `more bookmarks`: it is sent bookmarks; it asks for them, and an event comes.
- `watch list`: it begins again with a WatchList.
- `start`: it lists for the first time: a restart belongs to such a fault.
- `write`: it writes to the resource.
- `own write`: it writes to the resource and watches it; the field `write` says which of its writes it is.
- `call`: it calls an external system to change something there.
- `notification`: an external system notifies it of a change that it has not made; only what drifts brings one.
"""

Span = Literal["any", "rest", "step", "seconds"]
"""How long plans keep a fault open that opens in some step.

- `any`: until some later step begins, or until the release.
- `rest`: until the release.
- `step`: until the step is over.
- `seconds`: for some seconds.
"""

Tries = Mapping[str, tuple[Any, ...]]
"""Values that plans give to fields of a fault, by their names, the simplest first; other fields get any that their type allows."""
