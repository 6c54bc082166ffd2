"""A history: everything that happened in one trial, in order. One value, which can be judged anywhere.

A section is a header line followed by entry lines. In a run folder, history.jsonl.gz is the trial's own section, and its header
names by digest the references that it is compared with, because many trials share them. An exported file has all sections, first
the references, last the trial, so that `staleproof check` needs one attachment and no cluster.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NewType

import msgspec

from staleproof.core.history.entry import Answered, Asked, Ended, Entry, Listed
from staleproof.core.history.given import Given
from staleproof.core.history.request import BOOKKEEPING, WRITES
from staleproof.core.plan.plan import API_VERSION, ApiVersion, Plan, masked
from staleproof.core.plan.stored import compressed, digest, is_compressed, plain

_NOT_STORED = frozenset({"authentication.k8s.io", "authorization.k8s.io"})
"""Groups of reviews."""


Position = NewType("Position", int)
"""Of an entry in its history, from 0."""


HistoryRole = Literal["trial", "reference", "paced", "woken", "final", "slept", "ablated"]


class UnstableField(msgspec.Struct, frozen=True, order=True, omit_defaults=True):
    """A field (`path`, as `flatten` calls it) of the objects of a role: those of an owner and a resource whose names have this
    stem."""

    owner: str
    resource: str
    stem: str
    path: str


class Header(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag_field="entry", tag="header"):
    """The first line of a section.

    Attributes:
        role: `trial` for the one to be judged; others are what it is compared with. `reference`: the workload without faults;
            `paced`: the same, as slowly as in the trial; `woken` and `final`: what the trial's plan leaves but for the staleness
            (`core.plan.but_for`); `ablated`: the trial's plan without the faults that a requirement is about.
        namespace: the trial's. What is the trial's elsewhere, or has no namespace, is recorded as if it were in it (`scope`);
            other entries of other namespaces are left out.
        mark: what the names of cluster-scoped primaries ended with in this trial; it is left out of the entries. Empty: no other
            names than in the plan.
        primaries: resource and name of what the workload applies, as `widgets.staleproof.dev/sample`.
        environment: what the trial ran on, for people: kubernetes, provider, staleproof, controller.
        started: UTC time in ISO 8601, for people; entries count seconds from it.
        references: digests of those that the trial is compared with, where they are not in the same file.
        unstable: of a trial: the fields that differed between fault-free ends of one workload, or between objects of one role,
            anywhere in its run.
        programs: the further programs of the subject beside the controller, by name.
        waited: of a trial: what is missing at its end was waited for in vain so many seconds after the release, in this trial or in
            another one with a finding of the same cause; 0: no longer than the trial shows.
        given: what was in the trial's namespace before it began.
    """

    api_version: ApiVersion = API_VERSION
    kind: Literal["History"] = "History"
    role: HistoryRole = "trial"
    plan: Plan
    namespace: str
    mark: str = ""
    primaries: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    started: str = ""
    references: tuple[str, ...] = ()
    unstable: tuple[UnstableField, ...] = ()
    programs: tuple[str, ...] = ()
    waited: float = 0.0
    given: tuple[Given, ...] = ()


@dataclass(frozen=True, slots=True)
class History:
    """One trial. `notes` says what was odd about the file (a truncated last line).

    `digest` is that of its section in its file; empty for what has no file, or one with other sections.
    """

    header: Header
    entries: tuple[Entry, ...]
    references: tuple["History", ...] = ()
    notes: tuple[str, ...] = ()
    digest: str = field(default="", compare=False)

    @property
    def harmless(self) -> tuple["History", ...]:
        """The references that say what is right: in an ablated one harm is done."""
        return tuple(each for each in self.references if each.header.role != "ablated")

    @property
    def complete(self) -> bool:
        """Whether the trial was recorded to its end."""
        return any(isinstance(entry, Ended) for entry in self.entries[-1:])


class HistoryError(ValueError):
    """A history that cannot be read; the message names the line."""


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Header | Entry)


def encode_line(line: Header | Entry) -> bytes:
    """A line of the file; the plan in a header is masked."""
    if not isinstance(line, Header):
        return _encoder.encode(line) + b"\n"
    header = msgspec.structs.replace(line, plan=masked(line.plan))
    # constants are defaults, which are not written, but a file must say what it is
    return _encoder.encode(msgspec.to_builtins(header) | {"apiVersion": line.api_version, "kind": line.kind}) + b"\n"


def encode(history: History) -> bytes:
    """Everything that judging it needs, references first: what is exported."""
    sections = (*history.references, history)
    return b"".join(_section(msgspec.structs.replace(each.header, references=()), each.entries) for each in sections)


def sealed(history: History) -> tuple[History, bytes]:
    """The history as it is stored in a run folder, and its file: its own section, compressed. The references, which must have been
    sealed before, are named by their digests."""
    header = msgspec.structs.replace(history.header, references=tuple(reference.digest for reference in history.references))
    data = _section(header, history.entries)
    return replace(history, header=header, digest=digest(data)), compressed(data)


def _section(header: Header, entries: Iterable[Entry]) -> bytes:
    return b"".join(encode_line(line) for line in (header, *entries))


def decode(data: bytes) -> History:
    """The trial in a file, compressed or not, with the references that are in it.

    A truncated last line (the run was killed while it was written) is left out and noted.

    Raises:
        HistoryError: the file is damaged, or a line is not what this version writes; the message says which line.
    """
    try:
        data = plain(data)
    except ValueError as err:
        raise HistoryError(str(err)) from err
    sections: list[tuple[Header, list[Entry]]] = []
    notes: list[str] = []
    lines = data.split(b"\n")
    last = len(lines)
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            item = _decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as err:
            if number == last and sections:
                notes.append(f"line {number} is truncated and was left out")
                continue
            raise HistoryError(f"line {number}: {_explain(err, line)}") from err
        if isinstance(item, Header):
            sections.append((item, []))
        elif not sections:
            raise HistoryError(f'line {number}: expected a header ("entry": "header") before the first entry')
        else:
            sections[-1][1].append(item)
    return replace(_join(sections, notes), digest=digest(data) if len(sections) == 1 else "")


def is_history(data: bytes) -> bool:
    """Whether a file is meant to be one, rather than a plan."""
    return is_compressed(data) or b'"entry":"header"' in data.partition(b"\n")[0]


def _join(sections: Sequence[tuple[Header, list[Entry]]], notes: list[str]) -> History:
    if not sections:
        raise HistoryError("line 1: the file is empty; expected a header")
    *references, (header, entries) = sections
    if header.role != "trial" and references:
        notes.append("the file ends with a reference: the trial itself was not recorded")
    return History(header, tuple(entries), tuple(History(h, tuple(e)) for h, e in references), tuple(notes))


def _explain(err: Exception, line: bytes) -> str:
    text = line[:80].decode(errors="replace")
    found = text if len(line) <= 80 else text + "…"
    return f"{err} (found: {found}); the file must be a history of {API_VERSION}"


@dataclass(frozen=True, slots=True)
class Request:
    """A request with its answer, and their positions in the history. Without an answer none was seen."""

    index: Position
    asked: Asked
    answer_index: Position | None
    answer: Answered | Listed | None

    @property
    def succeeded(self) -> bool:
        return isinstance(self.answer, Answered) and self.answer.outcome == "ok"


def requests(entries: Sequence[Entry]) -> list[Request]:
    """Every request of the controller with its answer, in the order in which they were asked."""
    answers = {entry.request: (Position(i), entry) for i, entry in enumerate(entries) if isinstance(entry, Answered | Listed)}
    found = []
    for index, entry in enumerate(entries):
        if isinstance(entry, Asked):
            answer_index, answer = answers.get(entry.request, (None, None))
            found.append(Request(Position(index), entry, answer_index, answer))
    return found


def is_work(asked: Asked) -> bool:
    """Whether it is a write that counts: no bookkeeping, no dry run, and no review or token, of which nothing is stored."""
    stored = not asked.dry_run and asked.subresource != "token" and asked.resource.partition(".")[2] not in _NOT_STORED
    return asked.verb in WRITES and asked.resource not in BOOKKEEPING and stored


def in_order(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The entries by time; those of the same time keep their order."""
    yield from sorted(entries, key=lambda entry: entry.at)
