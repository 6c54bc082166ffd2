"""What happened in each external system over the seconds of a trial: calls, what was there, what drifted, and when it was down."""

import msgspec

from staleproof.core.external import changes_something
from staleproof.core.history.entry import Called, Drifted, Entry, ExternalState, SystemTurned
from staleproof.core.history.history import History


class CallPoint(msgspec.Struct, frozen=True, array_like=True):
    """A call: at how many seconds, as what it is counted, and for which object of Kubernetes (`widgets.example.com/w`; empty: it
    does not say)."""

    at: float
    verb: str
    of: str


class StatePoint(msgspec.Struct, frozen=True, array_like=True):
    """From when on so many things were there that belong to objects of the trial; as far as the harness looked."""

    at: float
    things: int


class DriftPoint(msgspec.Struct, frozen=True, array_like=True):
    """When what was created, changed or deleted by another user; `what` is its kind and name."""

    at: float
    change: str
    what: str


class TurnPoint(msgspec.Struct, frozen=True, array_like=True):
    """From when on the system was `down`, `slow` or `up`."""

    at: float
    state: str


class ExternalSeries(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One system in one trial, of so many `seconds`. Each series is in the order of time."""

    system: str
    seconds: float
    calls: tuple[CallPoint, ...] = ()
    states: tuple[StatePoint, ...] = ()
    drifts: tuple[DriftPoint, ...] = ()
    turns: tuple[TurnPoint, ...] = ()

    @property
    def looks(self) -> int:
        """How many calls were not there to change anything."""
        return sum(not changes_something(each.verb) for each in self.calls)

    @property
    def object_seconds(self) -> float:
        """Of each thing of the trial's the seconds that it was there: a polling controller's calls grow with these."""
        ends = [*(each.at for each in self.states[1:]), self.seconds]
        return sum(each.things * (end - each.at) for each, end in zip(self.states, ends, strict=True))


def external_series(history: History) -> tuple[ExternalSeries, ...]:
    """One for each system that the plan declares or the history mentions, by name."""
    found = {each.name: list[Entry]() for each in history.header.plan.external}
    for entry in history.entries:
        if isinstance(entry, Called | Drifted | ExternalState | SystemTurned):
            found.setdefault(entry.system, []).append(entry)
    seconds = round(history.entries[-1].at, 3) if history.entries else 0.0
    return tuple(_series(system, entries, seconds) for system, entries in sorted(found.items()))


def _series(system: str, entries: list[Entry], seconds: float) -> ExternalSeries:
    calls, states, drifts, turns = list[CallPoint](), list[StatePoint](), list[DriftPoint](), list[TurnPoint]()
    for entry in entries:
        at = round(entry.at, 3)
        match entry:
            case Called(verb=verb, resource=resource, name=name):
                calls.append(CallPoint(at, verb, f"{resource}/{name}" if name else ""))
            case ExternalState(objects=objects):
                things = sum(bool(each.name) for each in objects)
                if not states or states[-1].things != things:
                    states.append(StatePoint(at, things))
            case Drifted(change=change, kind=kind, external=external):
                drifts.append(DriftPoint(at, change, f"{kind}/{external}"))
            case SystemTurned(state=state):
                turns.append(TurnPoint(at, state))
    return ExternalSeries(
        system=system, seconds=seconds, calls=tuple(calls), states=tuple(states), drifts=tuple(drifts), turns=tuple(turns)
    )
