"""Settings of Hypothesis for the unit tests: no example fails because the machine is slow, as none depends on the wall clock. And
what `ci/quick` relies on: a test without the marker `io` starts no process and opens no port. It gets the marker `quick`, unless it
takes long.

`--hypothesis-profile=thorough` tries 2,000 examples of everything, instead of 100; `quick` tries 20. Of the gate's
schedules, three times as many.
"""

import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("unit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("unit"), max_examples=20)
settings.register_profile("thorough", settings.get_profile("unit"), max_examples=2_000)
_DONE_BY_IO = {
    "subprocess.Popen": "starts a process",
    "os.posix_spawn": "starts a process",
    "os.fork": "starts a process",
    "socket.bind": "opens a port",
}
_NOT_QUICK = ("io", "power", "slow")
_without_io: list[str] = []
"""The test that runs now, if it says that it does no I/O."""


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--hypothesis-profile"):
        settings.load_profile("unit")
    sys.addaudithook(_refuse_io)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _is_ours(item) and not any(map(item.get_closest_marker, _NOT_QUICK)):
            item.add_marker("quick")


def pytest_collection_finish() -> None:
    """Thousands of collected tests are no garbage: a configuration that pytester makes collects it five times when it ends."""
    gc.freeze()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    _without_io[:] = [item.nodeid] if _is_ours(item) and not item.get_closest_marker("io") else []
    result = yield
    _without_io.clear()
    return result


def _is_ours(item: pytest.Item) -> bool:
    return item.path.is_relative_to(Path(__file__).parent)


def _refuse_io(event: str, _arguments: tuple[object, ...]) -> None:
    if _without_io and event in _DONE_BY_IO:
        raise AssertionError(f"{_without_io[0]} {_DONE_BY_IO[event]}: give it the marker io, and ci/quick leaves it out")
