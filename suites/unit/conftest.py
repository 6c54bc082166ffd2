"""Settings of Hypothesis for the unit tests: no example fails because the machine is slow, as none depends on the wall clock.

`--hypothesis-profile=thorough` tries 2,000 examples of everything, instead of 100 (and 300 of the gate's schedules).
"""

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("unit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", settings.get_profile("unit"), max_examples=2_000)


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--hypothesis-profile"):
        settings.load_profile("unit")
