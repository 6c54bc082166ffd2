"""Sentences about the entries of a history: what a person is told of each. Never a raw object."""

import itertools
from collections.abc import Callable, Iterator, Sequence

from staleproof.checks.facts.frontier import Frontier
from staleproof.checks.story.phrases import effect_of, kind_of, listing, short_name, span
from staleproof.checks.verdict import Finding
from staleproof.core.entry import (
    Answered,
    Asked,
    Closed,
    Committed,
    Competed,
    Continued,
    Delivered,
    Dropped,
    Entry,
    FaultFired,
    FaultOpened,
    Listed,
    Metrics,
    Opened,
    Refused,
    Released,
    Settled,
    Stalled,
    Started,
    StepBegan,
    Stopped,
    Withheld,
)
from staleproof.core.fault import Restart
from staleproof.core.history import History, Request, requests
from staleproof.core.request import WRITES

_LONGEST = 70
_MADE = 201
_ENDS = {
    "clean": "the API server closed it",
    "truncated": "it broke off in the middle of an event",
    "reset": "the connection was reset",
    "expired": "410 Expired came as an event",
    "gone": "it was closed, and resuming it was answered 410",
    "cut": "the connection broke",
    "client": "the controller closed it",
    "refused": "it was refused",
}
_VERBS = {"create": "created", "delete": "deleted", "deletecollection": "deleted", "update": "updated", "patch": "patched"}
_ASIDES = 8
"""So many things that happened meanwhile are told besides the witnesses."""


class Telling:
    """Sentences about entries of one history."""

    def __init__(self, history: History, finding: Finding) -> None:
        self._entries = history.entries
        self._plan = history.header.plan
        self._though = finding.though
        self._asked = {entry.request: entry for entry in history.entries if isinstance(entry, Asked)}
        self._answers = {entry.request: entry for entry in history.entries if isinstance(entry, Answered)}
        self._streams = {entry.stream: entry for entry in history.entries if isinstance(entry, Opened)}
        self._commits = {entry.uid: entry for entry in history.entries if isinstance(entry, Committed)}
        written = list(_written(history))
        self._own = {(uid, answer.revision): request for request, answer, uid in reversed(written)}
        self._removed = {uid: request for request, _, uid in reversed(written) if request.asked.verb.startswith("delete")}
        self._witnesses = set(finding.witnesses)
        self._sentences: dict[type, Callable[[list[int]], str]] = {
            Answered: self._answered,
            Asked: self._wrote,
            Committed: self._committed,
            FaultOpened: self._fault,
            FaultFired: self._fired,
            Delivered: self._shown,
            Listed: self._listed,
            Released: lambda group: "every fault had ended: from here it could catch up",
            Settled: self._settled,
            Stalled: self._stalled,
            Refused: self._refused,
            Competed: self._competed,
            Stopped: self._stopped,
            Started: self._started,
            Continued: lambda group: "its process went on",
            Withheld: self._withheld,
            Dropped: self._dropped,
            Closed: self._closed,
            Metrics: self._metrics,
        }

    def groups(self, indices: Sequence[int]) -> list[list[int]]:
        """Neighbours that are told in one sentence."""
        return [list(group) for _, group in itertools.groupby(indices, key=self._kind)]

    def _kind(self, index: int) -> tuple[object, ...]:
        """Answers that a fault gave are another matter than the API server's, own changes another than those of others."""
        entry = self._entries[index]
        match entry:
            case Answered():
                asked = self._asked.get(entry.request)
                return Answered, entry.fault is not None, asked.verb if asked else ""
            case Asked():
                return Asked, entry.verb, entry.resource, self._is_done(entry)
            case Committed():
                return Committed, _what(entry), self._maker(index) is not None
            case Closed():
                return Closed, entry.how
            case Delivered():
                return Delivered, entry.type == "BOOKMARK"
        return (type(entry),)

    def asides(self, witnesses: Sequence[int]) -> list[int]:
        """What no checker counts and no story should leave out: its process, and what a fault did to its requests."""
        if not witnesses:
            return []
        between = range(witnesses[0], witnesses[-1])
        return [index for index in between if self._is_aside(self._entries[index])][-_ASIDES:]

    def _is_aside(self, entry: Entry) -> bool:
        match entry:
            case Stopped() | Continued() | Competed() | Stalled():
                return True
            case Started(life=life):
                return life > 1
            case Refused(fault=fault) | Listed(fault=fault) | Answered(fault=fault):
                return fault is not None
        return False

    def sentence(self, group: list[int]) -> str:
        """Empty for what needs no telling."""
        tell = self._sentences.get(type(self._entries[group[0]]))
        return tell(group) if tell is not None else ""

    def _answered(self, group: list[int]) -> str:
        """What the controller had read, or done, by then."""
        answers = [entry for index in group if isinstance(entry := self._entries[index], Answered)]
        if answers[0].fault is not None:
            return self._unheard(answers[0], len(answers) - 1)
        asked = self._asked.get(answers[0].request)
        names = listing([answer.name for answer in answers])
        revisions = span([answer.revision for answer in answers if answer.revision])
        at = f" (resourceVersion {revisions})" if revisions else ""
        if asked is not None and asked.verb not in WRITES:
            found = "" if answers[0].outcome == "ok" else f" and was told {answers[0].code} {answers[0].reason}".rstrip()
            return f"it read {asked.resource}/{names or asked.name} live{found}{at}"
        if answers[0].outcome != "ok":
            return f"the API server answered {answers[0].code} {answers[0].reason}".rstrip()
        return f"the controller {self._verb(asked)} {names}{at}"

    def _unheard(self, answer: Answered, more: int) -> str:
        """A request that a fault answered, or whose answer it lost."""
        asked = self._asked.get(answer.request)
        name = (asked.name if asked else "") or answer.name
        what = f"its {asked.verb} of {asked.resource}{f'/{name}' if name else ''}" if asked else "a request"
        if answer.outcome == "ok":
            return f"{what} was answered from the past"
        done = {True: "was executed", False: "was not executed", None: "may have been executed"}[answer.executed]
        told = f"it was told {answer.code} {answer.reason}".rstrip() if answer.code and not answer.executed else "it never heard"
        return f"{what} {done}, {told}" + (f"; {more} more of that kind" if more else "")

    def _stalled(self, group: list[int]) -> str:
        entry = self._entries[group[0]]
        assert isinstance(entry, Stalled)
        return f"its {entry.verb} of {entry.resource} was kept waiting" + (f", and {len(group) - 1} more" if len(group) > 1 else "")

    def _refused(self, group: list[int]) -> str:
        entry = self._entries[group[0]]
        assert isinstance(entry, Refused)
        what = "WatchList" if entry.watch_list else "watch"
        times = f" {len(group)} times" if len(group) > 1 else ""
        return f"its {what} of {entry.resource} was {f'refused with {entry.code}' if entry.code else 'cut'}{times}"

    def _competed(self, group: list[int]) -> str:
        entry = self._entries[group[0]]
        assert isinstance(entry, Competed)
        return f"somebody else wrote to {entry.resource}/{entry.name} first (resourceVersion {entry.revision})"

    def _stopped(self, group: list[int]) -> str:
        entry = self._entries[group[0]]
        assert isinstance(entry, Stopped)
        fault = self._plan.faults[entry.fault] if entry.fault is not None else None
        is_gentle = fault is None or (isinstance(fault, Restart) and fault.gently)
        return "its process was paused" if entry.paused else f"the controller was {'stopped' if is_gentle else 'killed'}"

    def _started(self, group: list[int]) -> str:
        entry = self._entries[group[-1]]
        assert isinstance(entry, Started)
        return "the controller was started again, and had been shown nothing yet" if entry.life > 1 else ""

    def _withheld(self, group: list[int]) -> str:
        entry = self._entries[group[0]]
        assert isinstance(entry, Withheld)
        resource = self._resource(entry.stream)
        more = f", and {len(group) - 1} more" if len(group) > 1 else ""
        name = f"{resource}/{entry.name}" if entry.name else f"a bookmark of {resource}"
        return f"news of {name} (resourceVersion {entry.revision}) was kept from it{more}"

    def _dropped(self, group: list[int]) -> str:
        entry = self._entries[group[0]]
        assert isinstance(entry, Dropped)
        return f"a bookmark of {self._resource(entry.stream)} never came" + (f", nor {len(group) - 1} more" * (len(group) > 1))

    def _closed(self, group: list[int]) -> str:
        closed = [entry for index in group if isinstance(entry := self._entries[index], Closed)]
        resources = dict.fromkeys(self._resource(entry.stream) for entry in closed)
        return f"its watch of {listing(list(resources))} ended: {_ENDS[closed[0].how]}"

    def _resource(self, stream: int) -> str:
        opened = self._streams.get(stream)
        return opened.resource if opened is not None else "something"

    def _metrics(self, group: list[int]) -> str:
        entry = self._entries[group[-1]]
        assert isinstance(entry, Metrics)
        said = [f"{sample.name} of {sample.labels.get('resource', '?')} was {sample.value}" for sample in entry.samples]
        return f"its metrics were read: {listing(said) or 'nothing of this'}"

    def _wrote(self, group: list[int]) -> str:
        """The write that is the violation, or the one that was refused."""
        asked = self._entries[group[0]]
        assert isinstance(asked, Asked)
        answer = self._answers.get(asked.request)
        commit = self._commits.get(answer.uid) if answer else None
        called = asked.name or (answer.name if answer else "")
        name = short_name(commit) if commit else f"{asked.resource}{f'/{called}' if called else ''}"
        part = f"the {asked.subresource} of " if asked.subresource else ""
        blind = " without a precondition" if asked.verb == "delete" and not _guarded(asked) else ""
        again, more = (f" {len(group)} times", f" and wrote {len(group) - 1} more") if len(group) > 1 else ("", "")
        did = (
            f"{self._verb(asked)} {part}{name}{blind}{more}"
            if self._is_done(asked)
            else f"asked to {asked.verb} {part}{name}{again}"
        )
        return f"it {did}" + (f", {self._though}" if self._though else "")

    def _is_done(self, asked: Asked) -> bool:
        """Whether it was executed; in doubt it was, as long as nobody said no."""
        answer = self._answers.get(asked.request)
        return asked.verb in WRITES and (answer is None or answer.outcome == "ok" or bool(answer.executed))

    def _verb(self, asked: Asked | None) -> str:
        """A server-side apply that finds nothing there is a create."""
        answer = self._answers.get(asked.request) if asked else None
        made = answer is not None and answer.code == _MADE
        return "created" if made else _VERBS.get(asked.verb if asked else "", "wrote")

    def _committed(self, group: list[int]) -> str:
        """Changes by others that it did not know of, and its own that are not told otherwise."""
        untold = [
            commit
            for index in group
            if isinstance(commit := self._entries[index], Committed) and not self._is_told(self._maker(index))
        ]
        if not untold:
            return ""
        what = _what(untold[0])
        if self._maker(group[0]) is not None:
            return (
                f"the controller {what} {listing([short_name(commit) for commit in untold])} (resourceVersion {_revisions(untold)})"
            )
        names = list(dict.fromkeys(f"{short_name(commit)} (uid {commit.uid[:8]})" for commit in untold))
        return f"{listing(names)} {'were' if len(names) > 1 else 'was'} {what}, not by the controller"

    def _maker(self, index: int) -> Request | None:
        """The controller's request that made this change, so one that came before it. One that changes nothing is answered, too."""
        commit = self._entries[index]
        assert isinstance(commit, Committed)
        own = self._own.get((commit.uid, commit.revision))
        removed = self._removed.get(commit.uid) if _what(commit) == "deleted" else None
        return next((request for request in (own, removed) if request is not None and request.index < index), None)

    def _is_told(self, request: Request | None) -> bool:
        return request is not None and not self._witnesses.isdisjoint({request.index, request.answer_index})

    def _fault(self, group: list[int]) -> str:
        parts = []
        for index in group:
            entry = self._entries[index]
            assert isinstance(entry, FaultOpened)
            fault = self._plan.faults[entry.fault]
            newest = self._newest(index, fault.resource)
            shown = f"; it had been shown {fault.resource} up to resourceVersion {newest}" if newest else ""
            parts.append(f"from here ({entry.why}) {self._effect(entry.fault)}{shown}")
        return "; ".join(parts)

    def _effect(self, fault: int) -> str:
        return effect_of(self._plan.faults[fault])

    def _fired(self, group: list[int]) -> str:
        entry = self._entries[group[0]]
        assert isinstance(entry, FaultFired)
        return f"{self._effect(entry.fault)}, first noticed with {entry.on}"

    def _shown(self, group: list[int]) -> str:
        entry = self._entries[group[-1]]
        assert isinstance(entry, Delivered)
        if entry.type == "BOOKMARK":
            more = f", {len(group)} in all" if len(group) > 1 else ""
            return f"a bookmark of {self._resource(entry.stream)} came (resourceVersion {entry.revision}){more}"
        commit = self._commits.get(entry.uid)
        kind = kind_of(commit) if commit else self._resource(entry.stream)
        end = "the end of " if entry.type == "DELETED" else ""
        return f"{end}{kind}/{entry.name} was shown (resourceVersion {entry.revision}){self._during(group[-1])}"

    def _listed(self, group: list[int]) -> str:
        entry = self._entries[group[-1]]
        assert isinstance(entry, Listed)
        if entry.fault is not None:
            return (
                f"it was given {entry.resource} as of resourceVersion {entry.revision}, a list of the past{self._during(group[-1])}"
            )
        return f"a list of {entry.resource} was shown (resourceVersion {entry.revision}){self._during(group[-1])}"

    def _during(self, index: int) -> str:
        """Which step of the workload that was."""
        steps = [entry for entry in self._entries[:index] if isinstance(entry, StepBegan)]
        return f", in step {steps[-1].step}: {_short(steps[-1].does)}" if steps else ""

    def _settled(self, group: list[int]) -> str:
        entry = self._entries[group[0]]
        assert isinstance(entry, Settled)
        return "it had converged and was quiet" if entry.ok else f"it had not converged {entry.why}"

    def _newest(self, index: int, resource: str) -> int | None:
        frontier = Frontier()
        for entry in self._entries[:index]:
            frontier.advance(entry)
        return frontier.newest.get(resource)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _guarded(asked: Asked) -> bool:
    return bool(asked.precondition_uid or asked.precondition_revision)


def _what(commit: Committed) -> str:
    if commit.type == "DELETED" or "deletionTimestamp" in commit.object["metadata"]:
        return "deleted"
    return "created" if commit.type == "ADDED" else "changed"


def _revisions(commits: Sequence[Committed]) -> str:
    return span([commit.revision for commit in commits])


def _written(history: History) -> Iterator[tuple[Request, Answered, str]]:
    """The controller's writes that were executed, with the uid of what they were about."""
    for request in requests(history.entries):
        answer = request.answer
        if isinstance(answer, Answered) and request.asked.verb in WRITES and (answer.outcome == "ok" or answer.executed):
            yield from ((request, answer, uid) for uid in (answer.uid, *(item.uid for item in answer.items)) if uid)
