"""When something was, in the seconds of a timeline."""

from staleproof.checks.trial import Trial


def at(trial: Trial, index: int) -> float:
    """Of the entry at a position, to microseconds: what the recorder's clock is worth."""
    return round(trial.at(index), 6)


def end(trial: Trial, index: int | None) -> float | None:
    """The same of what has an end; None if it has none."""
    return None if index is None else at(trial, index)
