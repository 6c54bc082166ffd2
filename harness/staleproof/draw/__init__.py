"""Inventing plans: all chance is spent here, before a trial begins. Never looks at a cluster while drawing.

For tests of your own: `from staleproof.draw import plans, workloads, moves, schedules` are Hypothesis strategies that compose
(`staleproof.draw.strategies`).
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from staleproof.draw.strategies import moves, plans, schedules, workloads

__all__ = ["moves", "plans", "schedules", "workloads"]


def __getattr__(name: str) -> object:
    """The strategies, once they are asked for: importing Hypothesis takes longer than most runs of pytest want to wait."""
    if name in __all__:
        return getattr(importlib.import_module("staleproof.draw.strategies"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
