"""Effects answer what the closed lists of faults in `checks` answered: proven once, list by list.

To be deleted when no module of `checks` names a class of faults any more; until then it keeps the two in step.
"""

from collections.abc import Callable
from typing import Any, get_args

import msgspec
import pytest

from staleproof.checks.story.phrases import effect_of
from staleproof.core.fault import (
    AddBookmarks,
    AnyFault,
    Coalesce,
    Compete,
    DelayStream,
    DropBookmarks,
    Effect,
    Expire,
    Hang,
    HoldStream,
    Kill,
    LoseAnswer,
    PastSnapshot,
    Pause,
    Refuse,
    Reject,
    Restart,
    SeverStream,
    Skew,
    SlowAnswer,
    SlowStart,
)
from staleproof.core.fault.suggest import FAULTS

FIELDS: dict[str, list[dict[str, Any]]] = {
    "Hold": [{"release": release} for release in ("events", "trickle", "relist", "resume")],
    "HideOwnWrite": [{"release": release} for release in ("events", "trickle", "relist", "resume")],
    "Delay": [{"bySeconds": 1.0}],
    "Skew": [{"bySeconds": {"pods": 1.0}}],
    "Expire": [{"at": at} for at in ("stream", "watch", "list")],
    "SlowStart": [{"then": then} for then in ("ends", "closes")],
    "PastSnapshot": [{"hold": hold} for hold in (True, False)],
    "Reject": [{"code": code} for code in (0, 429, 500)],
    "LoseAnswer": [{"code": code} for code in (0, 500, 504)],
    "SlowAnswer": [{"bySeconds": 1.0, "moment": moment} for moment in ("before", "after")],
    "Kill": [{"moment": moment} for moment in ("before", "after")],
    "Restart": [{"gently": gently} for gently in (True, False)],
}
"""Each value of the fields that change what a fault does to a controller."""

EVERY: list[AnyFault] = [
    msgspec.convert({"fault": tag, "resource": resource} | fields, AnyFault)
    for tag in FAULTS
    for fields in FIELDS.get(tag, [{}])
    for resource in ("pods", "*")
]


def has(*effects: Effect) -> Callable[[AnyFault], bool]:
    return lambda fault: not fault.effects.isdisjoint(effects)


def is_a(*kinds: type[AnyFault]) -> Callable[[AnyFault], bool]:
    return lambda fault: isinstance(fault, kinds)


def releases(*hows: str) -> Callable[[AnyFault], bool]:
    return lambda fault: isinstance(fault, HoldStream) and fault.release in hows


def closes(fault: AnyFault) -> bool:
    return isinstance(fault, SlowStart) and fault.then == "closes"


def either(*lists: Callable[[AnyFault], bool]) -> Callable[[AnyFault], bool]:
    return lambda fault: any(each(fault) for each in lists)


@pytest.mark.parametrize(
    ("listed", "asked"),
    [
        pytest.param(is_a(Kill), has("kills"), id="own_work._is_lost"),
        pytest.param(
            is_a(HoldStream, Refuse, Hang, Coalesce, PastSnapshot, Pause, Reject),
            has("hides", "disconnects", "rewinds", "pauses", "rejects"),
            id="recovery_budget._OUTAGES",
        ),
        pytest.param(is_a(Reject), has("rejects"), id="retries.rejections, backs_off._is_ours"),
        pytest.param(either(releases("relist"), is_a(Expire, Coalesce)), has("expires"), id="survives_expiry._is_ours"),
        pytest.param(is_a(DropBookmarks, AddBookmarks), has("drops-bookmarks", "adds-bookmarks"), id="needs_no_bookmarks._is_ours"),
        pytest.param(is_a(DropBookmarks), has("drops-bookmarks"), id="needs_no_bookmarks._waited"),
        pytest.param(either(releases("events", "trickle"), is_a(DelayStream, Skew)), has("lags"), id="tolerates_skew._is_ours"),
        pytest.param(is_a(LoseAnswer, SlowAnswer), has("loses", "slows"), id="survives_lost_answer._is_ours"),
        pytest.param(is_a(Kill, Restart, PastSnapshot), has("restarts", "rewinds"), id="survives_restart._is_ours"),
        pytest.param(
            either(releases("resume"), closes, is_a(SeverStream, Refuse, Hang)), has("cuts"), id="survives_stream_loss._is_ours"
        ),
        pytest.param(
            is_a(Compete, Hang, LoseAnswer, Refuse, Reject, SlowAnswer),
            has("competes", "disconnects", "loses", "rejects", "slows"),
            id="recovers_in_bounded_time._OTHER_REASONS",
        ),
        pytest.param(is_a(HoldStream, Coalesce), has("hides"), id="recovers_in_bounded_time._hold, name_reuse._HIDING"),
        pytest.param(
            either(releases("relist", "resume"), is_a(Coalesce, Expire, SeverStream, Refuse)),
            has("skips"),
            id="tolerates_coalescing._is_ours",
        ),
        pytest.param(
            is_a(Coalesce, Hang, HoldStream, Refuse, Reject, SlowAnswer, SlowStart),
            has("hides", "disconnects", "rejects", "slows", "slows-start"),
            id="waits_for_initial_sync._SLOWING",
        ),
        pytest.param(lambda fault: isinstance(fault, Restart) and fault.gently, has("terminates"), id="narrative._stopped"),
    ],
)
def test_effects_say_what_a_list_said(listed: Callable[[AnyFault], bool], asked: Callable[[AnyFault], bool]) -> None:
    assert [fault for fault in EVERY if asked(fault)] == [fault for fault in EVERY if listed(fault)]


@pytest.mark.parametrize("fault", EVERY, ids=lambda fault: f"{fault.tag}-{fault.resource}")
def test_every_fault_says_what_the_table_of_phrases_said(fault: AnyFault) -> None:
    assert fault.phrase == effect_of(fault)


def test_every_fault_says_what_it_does_and_hostile_ones_do_nothing_else() -> None:
    assert {effect for fault in EVERY for effect in fault.effects} == set(get_args(Effect))
    assert all((fault.effects == {"forges"}) == (fault.contract == "hostile") and fault.effects for fault in EVERY)
