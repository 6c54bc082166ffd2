"""The history of the trial under way: filtered to its namespace, written as it happens, put in order and compressed at the end."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from staleproof.core.entry import Answered, Asked, Committed, Delivered, Entry, Listed, Withheld
from staleproof.core.history import Header, History, encode_line, in_order, is_work, sealed


class Recorder:
    """Writes history.jsonl as it grows, and history.jsonl.gz in its place when it is finished.

    `path` is the file that there is; `began` is the monotonic time that entries count from.
    """

    def __init__(self, path: Path, header: Header, references: Sequence[History], *, began: float) -> None:
        self.path, self.began = path, began
        names = tuple(reference.digest for reference in references)
        self.header, self._references = msgspec.structs.replace(header, references=names), tuple(references)
        self._entries: list[Entry] = []
        self._left_out: set[int] = set()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("wb", buffering=0)  # a run that is killed leaves every entry that it had taken
        self._file.write(encode_line(self.header))

    def take(self, entry: Entry) -> None:
        """Write down an entry, which has an absolute time, unless it happened in another namespace."""
        mine = self._of_this_trial(entry)
        if mine is None:
            return
        moved = msgspec.structs.replace(mine, at=round(max(0.0, mine.at - self.began), 6))
        self._entries.append(moved)
        self._file.write(encode_line(moved))

    def resources(self) -> set[str]:
        """The resources that were changed, or asked to be changed, in this trial."""
        found = (entry for entry in self._entries if isinstance(entry, Committed | Asked))
        return {entry.resource for entry in found if entry.namespace}

    @property
    def has_work(self) -> bool:
        """Whether the controller asked for any write that counts."""
        return any(isinstance(entry, Asked) and is_work(entry) for entry in self._entries)

    def so_far(self) -> History:
        """What has been recorded up to now, in order; the trial goes on."""
        return History(self.header, tuple(in_order(self._entries)), self._references)

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

    def _of_this_trial(self, entry: Entry) -> Entry | None:
        scope = ("", self.header.namespace)
        match entry:
            case Committed() | Delivered() | Withheld() if entry.namespace not in scope:
                return None
            case Asked() if entry.namespace not in scope:
                self._left_out.add(entry.request)
                return None
            case Answered() | Listed() if entry.request in self._left_out:
                return None
            case Listed():
                return msgspec.structs.replace(entry, items=tuple(item for item in entry.items if item.namespace in scope))
        return entry
