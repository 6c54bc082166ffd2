"""For this repository's own tests: with xdist, the tests of a file stay together, because they share what they start.

The mutants share nothing, so each may run on any worker. They are spread evenly among the integration tests: mutants mostly wait,
integration tests mostly compute, and so the machine is neither idle nor overloaded.
"""

import os
import signal
from collections.abc import Sequence
from itertools import groupby

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

_FREE, _MIXED_WITH = "suites/mutants/", "suites/integration/"
_LONGEST = ("suites/integration/test_suite.py", "suites/integration/test_suite_images.py")
"""Whole runs, for minutes: begun last, they would go on alone."""

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # What a shell starts in the background ignores Ctrl-C, and so does all that it starts: such tests would wait for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)


class _Together(LoadFileScheduling):
    def _split_scope(self, nodeid: str) -> str:
        return nodeid if nodeid.startswith(_FREE) else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    return _Together(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:
        free = [[item] for item in items if item.nodeid.startswith(_FREE)]
        files = [list(tests) for _, tests in groupby((item for item in items if item.nodeid.startswith(_MIXED_WITH)), key=_file)]
        rest = [item for item in items if not item.nodeid.startswith((_FREE, _MIXED_WITH))]
        begun = sorted(_riffled(free, files), key=lambda unit: _file(unit[0]) not in _LONGEST)
        items[:] = [item for unit in begun for item in unit] + rest


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def _riffled(*decks: Sequence[list[pytest.Item]]) -> list[list[pytest.Item]]:
    """All decks in one list: each keeps its order and is spread evenly over the whole."""
    placed = [(place / len(deck), number, unit) for number, deck in enumerate(decks) for place, unit in enumerate(deck)]
    return [unit for *_, unit in sorted(placed, key=lambda entry: entry[:2])]
