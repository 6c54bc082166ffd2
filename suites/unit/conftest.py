"""Hypothesis for the unit tests: no example fails because the machine is slow, since nothing here may depend on the wall clock."""

from hypothesis import HealthCheck, settings

settings.register_profile("unit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unit")
