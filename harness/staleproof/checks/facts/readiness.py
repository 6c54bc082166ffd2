"""Whether an object says of itself that it is ready: by its conditions, or else by `ready` or a phase in its status."""

from staleproof.core.plan.manifest import Manifest

READY = ("Ready", "Available")
_PHASES = ("ready", "available")
_STATES = ("phase", "state", "status", "ready", "success")


def says_ready(obj: Manifest) -> bool | None:
    """Whether it does; None if it does not say."""
    status = obj.get("status")
    if not isinstance(status, dict):
        return None
    conditions = status.get("conditions")
    every = [each for each in conditions if isinstance(each, dict)] if isinstance(conditions, list) else []
    statuses = [each.get("status") == "True" for each in every if each.get("type") in READY]
    if statuses:
        return all(statuses)
    if isinstance(status.get("ready"), bool):
        return bool(status["ready"])
    phase = status.get("phase")
    return phase.lower() in _PHASES if isinstance(phase, str) else None


def is_silent(obj: Manifest) -> bool:
    """Whether its status shows no state at all beside numbers: no condition, no phase, nothing that is true or false."""
    status = obj.get("status")
    values = status.values() if isinstance(status, dict) else ()
    shows = any(isinstance(value, str | bool) or (isinstance(value, list) and value) for value in values)
    return not (shows or any(map(_names_a_state, values)))


def _names_a_state(value: object) -> bool:
    """Whether a part of a status says by name how far something has come."""
    if not isinstance(value, dict):
        return False
    return any((name in _STATES and isinstance(each, str | bool)) or _names_a_state(each) for name, each in value.items())
