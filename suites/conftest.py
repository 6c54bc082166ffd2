"""Which tests stay together when workers share them out (`--dist loadgroup`): those of a file, which share what they start.

Those of `suites/mutants` are shared out one by one: each takes long, and a worker starts everything once.
"""

from pathlib import Path

import pytest

_TOGETHER = [Path(__file__).parent / name for name in ("integration", "properties", "unit")]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if any(folder in item.path.parents for folder in _TOGETHER):
            item.add_marker(pytest.mark.xdist_group(str(item.path)))
