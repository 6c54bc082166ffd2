"""What becomes of the faults when the last runner has gone, and only then."""

import pytest

# The leaf under test.
from staleproof.proxy_addons.journal import Journal  # noqa: TID251
from staleproof.proxy_addons.proxy_state import ProxyState  # noqa: TID251
from staleproof.proxy_addons.runner import Runner  # noqa: TID251

from staleproof.core.fault import HoldStream

HOLD = HoldStream(resource="pods")


@pytest.fixture
def stops() -> list[str]:
    """Whether the proxy was stopped."""
    return []


@pytest.fixture
def state(stops: list[str]) -> ProxyState:
    return ProxyState(Journal(), lambda: stops.append("stop"), None)  # type: ignore[arg-type]  # a hold never asks for connections


def kinds(state: ProxyState) -> list[str]:
    return [type(entry).__name__ for entry in state.journal._entries]


async def test_healing_waits_for_the_last_runner(state: ProxyState, stops: list[str]) -> None:
    runner = Runner(state, "heal")
    fault = state.add(HOLD)
    with runner.connected():
        with runner.connected():
            pass
        assert state.schedule.is_open(fault)
    assert not state.schedule.is_open(fault)
    assert kinds(state) == ["FaultOpened", "Broke", "FaultClosed", "FaultMissed"]
    assert stops == []


async def test_a_runner_that_has_cleaned_up_spoils_nothing(state: ProxyState) -> None:
    with Runner(state, "heal").connected():
        state.remove(state.add(HOLD).number)
    assert "Broke" not in kinds(state)


async def test_the_proxy_ends_if_that_is_wanted(state: ProxyState, stops: list[str]) -> None:
    with Runner(state, "exit").connected():
        assert stops == []
    assert (stops, kinds(state)) == (["stop"], ["Broke"])


async def test_nothing_happens_if_that_is_wanted(state: ProxyState, stops: list[str]) -> None:
    fault = state.add(HOLD)
    with pytest.raises(LookupError), Runner(state, "nothing").connected():
        raise LookupError
    assert state.schedule.is_open(fault)
    assert (kinds(state), stops) == (["FaultOpened"], [])
