"""What a plan, and a controller, are told apart by: short digests of what is written of them, the same wherever they are."""

import hashlib

import msgspec

from staleproof.core.plan.plan import Plan, Subject, masked, masked_subject

_PLAN_DIGITS, _CONTROLLER_DIGITS = 10, 6


def fingerprint(plan: Plan) -> str:
    """Ten hex digits: the same for the same workload and faults, whatever the controller is and wherever it runs."""
    written = masked(plan)  # a replay of what was written must have the same
    return _digest((written.steps, written.faults))[:_PLAN_DIGITS]


def identity(subject: Subject | None) -> str:
    """Six hex digits for a controller: its command or image, its arguments, and its variables, of which only the names are written
    and therefore count."""
    return _digest(masked_subject(subject) if subject is not None else None)[:_CONTROLLER_DIGITS]


def _digest(value: object) -> str:
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()
