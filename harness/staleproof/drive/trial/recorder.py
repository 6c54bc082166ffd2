"""The history of the trial under way: filtered to its namespace, written as it happens, put in order at the end."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from staleproof.core.entry import Answered, Asked, Committed, Delivered, Entry, Listed, Withheld
from staleproof.core.history import Header, History, encode, encode_line, in_order


class Recorder:
    """Writes history.jsonl as it grows. `began` is the monotonic time that entries count from."""

    def __init__(self, path: Path, header: Header, references: Sequence[History], *, began: float) -> None:
        self.path, self.began = path, began
        self.header, self._references = header, tuple(references)
        self._entries: list[Entry] = []
        self._left_out: set[int] = set()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("wb", buffering=0)  # a run that is killed leaves every entry that it had taken
        for reference in self._references:
            self._file.write(encode(reference))
        self._file.write(encode_line(header))

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

    def so_far(self) -> History:
        """What has been recorded up to now, in order; the trial goes on."""
        return History(self.header, tuple(in_order(self._entries)), self._references)

    def finish(self) -> History:
        """Put the entries in order, in the file as well, and close it."""
        self._file.close()
        history = self.so_far()
        draft = self.path.with_suffix(".draft")
        draft.write_bytes(encode(history))
        draft.replace(self.path)
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
