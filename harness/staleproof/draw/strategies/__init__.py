"""Strategies for plans, for tests of your own: `workloads` are what users do, `moves` are what they change, `schedules` are what
happens to the controller meanwhile, and `plans` are all of it.

They compose: `plans(workload=…, schedule=…)` and `workloads(changes=…)` take others in their place, and everything takes what was
observed of a controller. Without that argument, it is the controller of the pytest run. All are drawn from lists and small numbers,
so the same seed gives the same plans.
"""

from staleproof.draw.incidents.single import Faults
from staleproof.draw.strategies.observation import observations, observe_with
from staleproof.draw.strategies.plan import DRAWN, SCENARIO, plans
from staleproof.draw.strategies.schedule import schedules
from staleproof.draw.strategies.users import Steps, moves, workloads

__all__ = ["DRAWN", "SCENARIO", "Faults", "Steps", "moves", "observations", "observe_with", "plans", "schedules", "workloads"]
