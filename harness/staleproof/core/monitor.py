"""Self-check: does what left the proxy on one stream still look like a watch?

An online monitor of the watch properties that can be seen on the stream itself (etcd's Ordered, Unique, Bookmarkable and the
frame rules; etcd-io/etcd tests/robustness/validate/watch.go). A legal plan whose output breaks one is a bug of staleproof, not of
the controller: the trial is inconclusive.
"""

from dataclasses import dataclass, field

from staleproof.core.frame import UNREADABLE, Frame


@dataclass(slots=True)
class Monitor:
    """Watches one stream. `start` is the revision that a plain WATCH resumes after, None when initial events come first.

    `watch_list` says that the initial events end with a marked bookmark.
    """

    start: int | None
    watch_list: bool
    _last: int = 0
    _burst: bool = False
    _over: bool = False
    _seen: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._last = self.start or 0
        self._burst = self.start is None

    def see(self, frame: Frame) -> str | None:
        """Take the next frame that left; return the property it breaks, in words."""
        if self._over:
            return f"nothing may follow an ERROR, but {frame.type} {frame.revision} did"
        if frame.type in ("ERROR", UNREADABLE):
            self._over = frame.type == "ERROR"
            return None
        revision = frame.revision or 0
        breach = self._breach(frame, revision)
        self._last = max(self._last, revision)
        return breach

    def _breach(self, frame: Frame, revision: int) -> str | None:
        if self._burst and frame.type == "ADDED":  # synthetic: any order, each object once
            if frame.uid and frame.uid in self._seen:  # a Table's rows show no uid here
                return f"Unique: {frame.namespace}/{frame.name} came twice among the initial events"
            self._seen.add(frame.uid)
            return None
        if frame.type == "BOOKMARK":
            self._burst = self._burst and self.watch_list and not frame.initial_end
            if not self._burst:
                self._seen.clear()
            return f"Bookmarkable: bookmark {revision} after {self._last}" if revision < self._last else None
        in_burst, self._burst = self._burst and self.watch_list, False
        if in_burst:
            return f"Atomic: {frame.type} {revision} before the end of the initial events"
        return f"Ordered, Unique: {frame.type} {revision} after {self._last}" if revision <= self._last else None
