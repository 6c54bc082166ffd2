"""For this repository's own tests: with xdist, a file's tests stay together, because they share what they start.

The mutants do not: each is free to run on any worker.
"""

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

_FREE = "suites/mutants/"


class _Together(LoadFileScheduling):
    def _split_scope(self, nodeid: str) -> str:
        return nodeid if nodeid.startswith(_FREE) else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    return _Together(config, log) if config.getoption("dist") == "loadfile" else None
