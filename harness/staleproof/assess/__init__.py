"""Running plans and judging them: what the pytest plugin and the command line have in common."""

from .result import Result, Run
from .session import Session
from .worker import SessionOptions

__all__ = ["Result", "Run", "Session", "SessionOptions"]
