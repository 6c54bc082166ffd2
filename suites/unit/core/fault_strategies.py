"""Every fault, drawn with every field that makes sense: for plans that are written and read, and for random schedules of a gate.

Fields are drawn from their types, so a new fault is drawn without a line here; what is chosen otherwise is in `_CHOSEN`.
"""

from collections.abc import Callable
from typing import Any, get_args

from hypothesis import strategies as st
from msgspec import structs

from staleproof.core.fault import (
    AnyFault,
    AvailabilityFault,
    Expire,
    HideOwnWrite,
    HostileFault,
    Kill,
    LoseAnswer,
    OwnWrite,
    Pause,
    Reject,
    RequestFault,
    Restart,
    Skew,
    SlowAnswer,
    StreamFault,
    Window,
)
from staleproof.core.fault.calls import RESET
from staleproof.core.fault.model import ANY, Fault, Positive, Seconds

Faults = st.SearchStrategy[AnyFault]
Fields = dict[str, st.SearchStrategy[Any]]
SECONDS = st.sampled_from([0.5, 1.0, 3.0])
NTH = st.integers(1, 6)
_SELECTORS = Fault.__struct_fields__
_TYPES: dict[Any, st.SearchStrategy[Any]] = {Seconds: SECONDS, Positive: NTH, Positive | None: st.none() | NTH}
_WHOLE: Fields = {"resource": st.just(ANY)}
_CHOSEN: dict[str, Fields] = {
    "HideOwnWrite": {"write": st.builds(OwnWrite, st.just("create"), st.integers(1, 2))},
    "Compete": {"edit": st.sampled_from([{}, {"spec": {"replicas": 1}}])},
    "Refuse": _WHOLE,
    "RefuseWatchList": _WHOLE,
    "Reject": {"code": st.sampled_from([0, 429, 500, 503, 504])},
    "LoseAnswer": {"code": st.sampled_from([0, 500, 504]), "retry_after": st.none()},
    "PastSnapshot": {"as_of_step": st.sampled_from([1, 1, 2, 3])},
    "Kill": {"times": st.just(1)},
    "Restart": _WHOLE,
    "RejectCall": _WHOLE,
    "SlowCall": _WHOLE,
    "LoseCallAnswer": _WHOLE,
    "LoseNotification": _WHOLE,
    "LateNotification": _WHOLE,
    "RepeatNotification": _WHOLE,
    "KillAtCall": _WHOLE | {"times": st.just(1)},
    "Pause": _WHOLE,
}
"""Fields of some faults in which not everything makes sense, or goes with everything."""


def windows(steps: int) -> st.SearchStrategy[Window]:
    return st.builds(
        lambda first, length, seconds: Window(first, length and first + length, seconds),
        st.sampled_from([1, 1, *range(1, steps + 1)]),
        st.sampled_from([None, None, 1, 2]),
        st.sampled_from([None, None, 1.0, 3.0]),
    )


def stream_faults(resource: str, *, steps: int, namespace: str, name: str) -> Faults:
    """Legal ones about the frames of streams: mostly of everything, sometimes of one object or one stream."""
    selectors: Fields = {
        "resource": st.sampled_from([resource, resource, ANY]),
        "namespace": st.sampled_from(["", "", "", namespace, "elsewhere"]),
        "name": st.sampled_from(["", "", "", "", name]),
        "stream": st.sampled_from([None, None, None, None, 1, 2]),
        "window": windows(steps),
    }
    special = {
        HideOwnWrite: selectors | {"resource": st.just(resource)},
        Skew: selectors | {"by_seconds": st.dictionaries(st.sampled_from([resource, ANY]), SECONDS, min_size=1)},
    }
    return st.one_of([_drawn(kind, special.get(kind, selectors)) for kind in (*get_args(StreamFault), Expire)])


def opening_faults(resource: str, *, steps: int) -> Faults:
    """Legal ones about how a client gets to its data."""
    return st.one_of([_drawn(kind, _of(resource, windows(steps))) for kind in get_args(AvailabilityFault) if kind is not Expire])


def read_faults(resource: str, *, steps: int) -> Faults:
    """Legal ones about single reads."""
    calls = _calls(resource, steps, "list", "watch", "read", "*")
    lost = _drawn(LoseAnswer, calls).map(lambda fault: structs.replace(fault, code=RESET))
    return st.one_of(_drawn(Reject, calls), _drawn(SlowAnswer, calls), lost)


def write_faults(resource: str, *, steps: int) -> Faults:
    """Legal ones about the controller's writes, and about its process."""
    calls = _calls(resource, steps, "write", "create", "update", "patch", "delete")
    return st.one_of(
        *(_drawn(kind, calls) for kind in (*get_args(RequestFault), Kill)),
        *(_drawn(kind, _of(resource, windows(steps))) for kind in (Restart, Pause)),
    )


def hostile_faults(resource: str, *, window: st.SearchStrategy[Window]) -> dict[str, Faults]:
    """By their names. The window is the caller's."""
    fields = _of(resource, window) | {"as_of_step": st.just(1)}
    return {kind.__name__: _drawn(kind, fields) for kind in get_args(HostileFault)}


def _of(resource: str, window: st.SearchStrategy[Window]) -> Fields:
    return {"resource": st.sampled_from([resource, ANY]), "window": window}


def _calls(resource: str, steps: int, *verbs: str) -> Fields:
    few = st.integers(1, 3)
    subresource = st.sampled_from([None, "", "status"])
    return _of(resource, windows(steps)) | {
        "verb": st.sampled_from(verbs),
        "nth": few,
        "times": st.none() | few,
        "subresource": subresource,
    }


def _drawn(kind: type[AnyFault], fields: Fields) -> Faults:
    """With these fields, and the others by their types. Selectors that are not given are left alone, and what is a misfit, out."""
    chosen = fields | _CHOSEN.get(kind.__name__, {})
    own = {field.name: field.type for field in structs.fields(kind) if field.name not in (*_SELECTORS, *chosen)}
    made = {name: _TYPES[of] if of in _TYPES else st.from_type(of) for name, of in own.items()}
    made |= {name: values for name, values in chosen.items() if name in kind.__struct_fields__}
    build: Callable[..., AnyFault] = kind
    return st.builds(build, **made).filter(lambda fault: all(misfit.row for misfit in fault.misfits()))
