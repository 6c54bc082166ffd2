"""For this repository's own tests: with xdist's loadgroup, a file's tests stay together, because they share what they start.

Tests that say themselves with whom they go (the mutants, one each) are left alone.
"""

import pytest


@pytest.hookimpl(tryfirst=True)  # xdist reads the marks in a hook of the same name
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(str(item.path)))
