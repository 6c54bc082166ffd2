"""Running plans and judging them: what the pytest plugin and the command line have in common."""

from .run.worker import SessionOptions
from .trial.result import Result, Run
from .trial.session import Session

__all__ = ["Result", "Run", "Session", "SessionOptions"]
