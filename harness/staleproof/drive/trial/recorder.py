"""The history of the trial under way: what is its own, written as it happens, put in order and compressed at the end."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from staleproof.core.history.entry import Asked, Committed, Entry
from staleproof.core.history.history import Header, History, encode_line, in_order, is_work, sealed
from staleproof.core.history.scope import Scope


class Recorder:
    """Writes history.jsonl as it grows, and history.jsonl.gz in its place when it is finished.

    `path` is the file that there is; `began` is the monotonic time that entries count from; `scope`: what is the trial's elsewhere,
    by default nothing that was before it.
    """

    def __init__(
        self, path: Path, header: Header, references: Sequence[History], *, began: float, scope: Scope | None = None
    ) -> None:
        self.path, self.began, self._scope = path, began, scope or Scope(header.namespace, mark=header.mark)
        names = tuple(reference.digest for reference in references)
        self.header, self._references = msgspec.structs.replace(header, references=names), tuple(references)
        self._entries: list[Entry] = []
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("wb", buffering=0)  # a run that is killed leaves every entry that it had taken
        self._file.write(encode_line(self.header))

    def take(self, entry: Entry) -> None:
        """Write down an entry, which has an absolute time, unless it is known to be of another namespace's; that may turn out to be
        the trial's in the end."""
        moved = msgspec.structs.replace(entry, at=round(max(0.0, entry.at - self.began), 6))
        self._entries.append(moved)
        if (recorded := self._scope.history_entry(moved)) is not None:
            self._file.write(encode_line(recorded))

    def places(self) -> set[tuple[str, str]]:
        """The resources of which something of the trial's was changed, or asked to be changed, each with the namespace."""
        found = (entry for entry in self._entries if isinstance(entry, Committed | Asked))
        mine = self.header.namespace
        return {(each.resource, each.namespace) for each in found if getattr(self._scope.place(each), "namespace", "") == mine}

    @property
    def has_work(self) -> bool:
        """Whether the controller asked for any write that counts."""
        return any(isinstance(entry, Asked) and is_work(entry) for entry in map(self._scope.history_entry, self._entries))

    def so_far(self) -> History:
        """What has been recorded up to now, in order; the trial goes on."""
        return History(self.header, tuple(in_order(self._scope.history_entries(self._entries))), self._references)

    def finish(self) -> History:
        """Put the entries in order, in the file as well, and close it."""
        self._file.close()
        history, data = sealed(self.so_far())
        growing, self.path = self.path, self.path.with_name(f"{self.path.name}.gz")
        draft = self.path.with_suffix(".draft")
        draft.write_bytes(data)
        draft.replace(self.path)
        growing.unlink()
        return history
