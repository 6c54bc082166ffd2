"""Whose fault an error is, however it was wrapped on its way: by a task group, by pytest's own failure, by another error.

It decides who is to blame; callers decide what that means for an exit code.
"""

from collections.abc import Iterator

from staleproof.errors import HarnessBug, SetupError, UsageError

Known = HarnessBug | SetupError | UsageError


def known(error: BaseException) -> Known | None:
    """The error of our own in it, a bug before failed surroundings before wrong input; None when there is none."""
    every = list(_all(error, set()))
    for kind in (HarnessBug, SetupError, UsageError):
        for each in every:
            if isinstance(each, kind):
                return each
    return None


def _all(error: BaseException, seen: set[int]) -> Iterator[BaseException]:
    """The error, what is in it when it is a group, and what it came from."""
    if id(error) in seen:
        return
    seen.add(id(error))
    yield error
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from _all(part, seen)
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None:
        yield from _all(before, seen)
