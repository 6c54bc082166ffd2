"""What can go wrong that is not the controller's fault, split by who is to blame, with the exit code that says so.

A controller that misbehaves is never an exception: it is a finding (`staleproof.checks.verdict`).
Every message says what was expected, what was found and what to do next.
"""


class UsageError(Exception):
    """Your plan, option, manifest or history is wrong."""

    exit_code = 4


class SetupError(Exception):
    """The surroundings failed: control plane, proxy, image, port, disk, controller start."""

    exit_code = 11


class OutOfTime(SetupError):
    """The minutes of the run are over, or what is to be done would not end in time."""

    def __init__(self) -> None:
        super().__init__("the minutes of the run are over, or it was stopped after a failure; --staleproof-minutes gives it more")


class HarnessBug(Exception):
    """staleproof itself is wrong."""

    exit_code = 3


REPORT = "please report it, with what `staleproof export TRIAL` makes of the trial"
"""What to do about a HarnessBug."""
