"""A trial by the view of each program of its subject, beside its references by the view of the same one.

A view of a history is made once, and kept for as long as it is among the last that were asked for, so that what is worked out for
its trial is kept, too (`trial.indexed`).
"""

from collections import OrderedDict
from collections.abc import Sequence

from staleproof.checks.trial import Trial, indexed
from staleproof.core.history.history import History
from staleproof.core.history.programs import as_one, as_seen_by, programs_of

_VIEWS = 48
_views: OrderedDict[tuple[int, str], tuple[History, History]] = OrderedDict()
"""By the history's id and the program: the history, which is kept alive so that its id stays its own, and the view."""


def by_program(history: History, references: Sequence[History]) -> dict[str, Trial]:
    """The trial of each of several programs, by the program's name, the controller's first; empty if there is only one. Under an
    empty name there is that of all of them as one."""
    programs = programs_of(history)
    return {program: _seen(history, references, program) for program in (*programs, *([""] if programs else []))}


def seen_by(history: History, program: str) -> Trial:
    """The trial, beside the references that it has, as this program has seen it; empty: as all have, if there are several."""
    return _seen(history, history.references, program)


def controllers(history: History, references: Sequence[History] = ()) -> Trial:
    """The trial as the controller itself has seen it."""
    return _seen(history, references, next(iter(programs_of(history)), ""))


def _seen(history: History, references: Sequence[History], program: str) -> Trial:
    if not history.header.programs:
        return indexed(history, references)
    return indexed(_view(history, program), tuple(_view(each, program) for each in references))


def _view(history: History, program: str) -> History:
    key = id(history), program
    if key not in _views:
        _views[key] = history, as_seen_by(history, program) if program else as_one(history)
        while len(_views) > _VIEWS:
            _views.popitem(last=False)
    _views.move_to_end(key)
    return _views[key][1]
