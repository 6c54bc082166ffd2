"""What faults do to a controller, in the closed vocabulary that rules ask for."""

from typing import Any, get_args

import msgspec
import pytest

from staleproof.core import fault as faults
from staleproof.core.fault import AnyFault, Effect, Fault, Twin
from staleproof.core.fault.suggest import FAULTS, mistakes

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
    "SlowCall": [{"bySeconds": 1.0}],
    "LateNotification": [{"bySeconds": 1.0}],
    "Restart": [{"gently": gently} for gently in (True, False)],
}
"""Each value of the fields that change what a fault does to a controller."""


def every(tag: str) -> list[AnyFault]:
    """The fault in each of these forms."""
    bodies = [{"fault": tag, "resource": resource} | fields for fields in FIELDS.get(tag, [{}]) for resource in ("pods", "*")]
    missing = {problem for body in bodies for problem in mistakes({"faults": [body]})}
    assert not missing, f"a row of FIELDS has to say what {tag} needs: {missing}"
    return [msgspec.convert(body, AnyFault) for body in bodies]


@pytest.mark.parametrize("tag", FAULTS)
def test_a_fault_says_what_it_does_and_a_hostile_one_does_nothing_else(tag: str) -> None:
    for fault in every(tag):
        assert fault.effects
        assert (fault.effects == {"forges"}) == (fault.contract == "hostile")


def test_every_word_of_the_vocabulary_is_used() -> None:
    assert {effect for tag in FAULTS for fault in every(tag) for effect in fault.effects} == set(get_args(Effect))


def test_every_fault_is_in_the_union_and_has_a_public_name() -> None:
    def tagged(kind: type[Fault]) -> set[type[Fault]]:
        below = {each for sub in kind.__subclasses__() for each in tagged(sub)}
        return below | ({kind} if kind.__module__.startswith("staleproof.core.fault.") else set())

    concrete = {kind for kind in tagged(Fault) if not kind.__subclasses__() or kind in get_args(AnyFault)}
    missing = {kind.__name__ for kind in concrete - set(get_args(AnyFault))}
    assert not missing, f"add {missing} to the union in core/fault/__init__.py"
    nameless = {kind.__name__ for kind in concrete} - set(faults.__all__)
    assert not nameless, f"add {nameless} to __all__ in core/fault/__init__.py"


_WAKES: dict[str, set[Effect]] = {
    "relists": {"expires"},
    "reconnects": {"cuts"},
    "restarts": {"restarts"},
    "touches": {"competes"},
}
_WOKEN_ALREADY = {"Pause"}
"""A process that goes on finds what came meanwhile."""


@pytest.mark.parametrize("tag", FAULTS)
def test_what_makes_a_controller_look_again_has_a_harmless_twin(tag: str) -> None:
    for fault in every(tag):
        wakes = {does for does, effects in _WAKES.items() if fault.effects & effects}
        wakes = {"relists"} if "slows-start" in fault.effects else wakes  # however its first list came late
        assert {fault.twin.does} == wakes if isinstance(fault.twin, Twin) else not wakes or tag in _WOKEN_ALREADY
