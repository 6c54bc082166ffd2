"""What faults do to a controller, in the closed vocabulary that rules ask for."""

from typing import Any, get_args

import msgspec

from staleproof.core.fault import AnyFault, Effect
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


def test_every_fault_says_what_it_does_and_hostile_ones_do_nothing_else() -> None:
    assert {effect for fault in EVERY for effect in fault.effects} == set(get_args(Effect))
    assert all((fault.effects == {"forges"}) == (fault.contract == "hostile") and fault.effects for fault in EVERY)
