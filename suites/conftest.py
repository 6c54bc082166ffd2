"""What is no unit test has the marker `io`: it starts processes, or opens ports. So `-m io` leaves what `ci/quick` runs."""

from pathlib import Path

import pytest

_UNIT = Path(__file__).parent / "unit"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not item.path.is_relative_to(_UNIT):
            item.add_marker("io")
