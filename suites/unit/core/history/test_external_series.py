"""What happened in external systems, as series."""

from staleproof.core.declared import DeclaredPostgreSQL
from staleproof.core.history.entry import Called, CallId, Drifted, Ended, Entry, ExternalState, Held, SystemTurned
from staleproof.core.history.external_series import (
    CallPoint,
    DriftPoint,
    ExternalSeries,
    StatePoint,
    TurnPoint,
    external_series,
)
from staleproof.core.history.history import Header, History
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Rest

PLAN = Plan(scenario="s", steps=(Rest(seconds=1.0),), external=(DeclaredPostgreSQL(name="db"),))


def of(*entries: Entry) -> tuple[ExternalSeries, ...]:
    return external_series(History(Header(plan=PLAN, namespace="n"), entries))


def called(at: float, verb: str, *, name: str = "w", system: str = "db") -> Called:
    return Called(at=at, call=CallId(1), system=system, verb=verb, text=verb, resource="widgets" if name else "", name=name)


def state(at: float, *names: str) -> ExternalState:
    held = tuple(Held(kind="roles", external=name or "stranger", digest="d", name=name) for name in names)
    return ExternalState(at=at, system="db", objects=held)


def test_calls_states_drifts_and_outages_are_reported_by_system() -> None:
    (db,) = of(
        state(0.0),
        called(1.0, "CREATE"),
        called(1.5, "SELECT", name=""),
        state(2.0, "w", ""),
        state(3.0, "w", ""),
        Drifted(at=4.0, system="db", change="deleted", kind="roles", external="w"),
        state(4.0),
        SystemTurned(at=5.0, system="db", state="down"),
        Ended(at=6.0),
    )
    assert db == ExternalSeries(
        system="db",
        seconds=6.0,
        calls=(CallPoint(1.0, "CREATE", "widgets/w"), CallPoint(1.5, "SELECT", "")),
        states=(StatePoint(0.0, 0), StatePoint(2.0, 1), StatePoint(4.0, 0)),
        drifts=(DriftPoint(4.0, "deleted", "roles/w"),),
        turns=(TurnPoint(5.0, "down"),),
    )
    assert db.looks == 1
    assert db.object_seconds == 2.0


def test_a_system_that_was_never_called_is_there_and_so_is_one_that_is_not_declared() -> None:
    assert [each.system for each in of()] == ["db"]
    assert [each.system for each in of(called(1.0, "GET", system="api"))] == ["api", "db"]
