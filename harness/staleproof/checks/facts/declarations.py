"""What the user declares of an external system: whether, and how soon, the controller repairs what drifts there, and how often it
looks.

Both are `never`, seconds, or None where nothing is said.
"""

from collections.abc import Iterable
from typing import Literal

from staleproof.checks.trial import Trial
from staleproof.core.declared import AnyDeclared
from staleproof.core.times import BOUND_FACTOR, BOUND_SECONDS, REPAIR_MARGIN_SECONDS


def repairs(trial: Trial, system: str) -> Literal["never"] | float | None:
    """Within how many seconds it repairs what drifts there."""
    of = _declared(trial, system)
    return None if of is None else "never" if of.repairs == "never" else of.repairs_within


def polls(trial: Trial, system: str) -> Literal["never"] | float | None:
    """The seconds between its looks at one object while nothing happens."""
    of = _declared(trial, system)
    return None if of is None else "never" if of.polls == "never" else of.polls_every


def may_take(trial: Trial, system: str, gaps: Iterable[float | None]) -> float:
    """The seconds until a controller need have looked at something there: ten times the longest of these gaps between its looks,
    what is declared of a repair or of polling, and two seconds, and 5 s at least."""
    gap = max((each for each in gaps if each is not None), default=0.0)
    said = [each for each in (repairs(trial, system), polls(trial, system)) if isinstance(each, float)]
    return max([BOUND_SECONDS, BOUND_FACTOR * gap, *(each + REPAIR_MARGIN_SECONDS for each in said)])


def _declared(trial: Trial, system: str) -> AnyDeclared | None:
    return next((each for each in trial.plan.external if each.name == system), None)
