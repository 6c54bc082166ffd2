"""What waited for a system that was down, or for a call about something else."""

import pytest

from staleproof.checks.facts.external_delays import changed_spec, delays, inner_fields, usual_reaction
from staleproof.checks.facts.reactions import reactions
from staleproof.checks.trial import Trial

from ..outside import Outside

FIRST, SECOND = {"note": 1, "limit": 5}, {"note": 2, "limit": 5}


def parts(script: Outside) -> Outside:
    script.names = ("w", "v")
    made = script.step(1, "apply").applied("w", spec=FIRST).makes(limit=5)
    return made.creates("w-c", resource="configmaps", generated="").idle(1).reads().passes(3.0)


def test_a_part_that_waited() -> None:
    script = parts(Outside()).turns("down").applied("w", spec=SECOND).passes(6.0).turns("up").follows(2).reads()
    (delay,) = delays(Trial(script.ends()))

    assert (delay.kind, delay.waited, delay.changes_outside, delay.other) == ("part", True, False, "db was down")
    assert delay.seconds == pytest.approx(6.1)


def test_a_part_that_did_not_and_what_changed_outside() -> None:
    script = parts(Outside()).turns("down").applied("w", spec=SECOND).follows(2).passes(6.0).turns("up").makes(limit=6)
    (delay,) = delays(Trial(script.ends()))

    assert (delay.waited, delay.changes_outside) == (False, True)


def test_an_object_that_waited_for_a_call_about_another() -> None:
    script = parts(Outside()).calls().applied("v", spec=1).passes(6.0).answered().looks(of="v")
    (delay,) = delays(Trial(script.ends()))

    assert (delay.kind, delay.waited, delay.reaction.of.name) == ("object", True, "v")


def test_a_call_about_itself_or_about_nothing_keeps_nothing_waiting() -> None:
    script = parts(Outside()).calls().calls(of="").applied("w", spec=SECOND).passes(6.0).answered().answered(call=2)
    assert delays(Trial(script.ends())) == []


def test_how_long_a_reaction_takes() -> None:
    trial = Trial(parts(Outside()).applied("w", spec=SECOND).passes(1.0).follows(2).ends())

    assert usual_reaction(trial, "part") == pytest.approx(1.1)
    assert usual_reaction(trial, "object") == pytest.approx(1.1)
    assert usual_reaction(Trial(Outside().ends()), "part") is None


def test_fields_that_nothing_outside_hangs_on() -> None:
    script = parts(Outside()).applied("w", spec=SECOND).follows(2).reads().applied("w", spec={"note": 2, "limit": 6}).makes(limit=6)
    trial = Trial(script.follows(3).reads().ends())

    assert inner_fields(trial) == {"spec.note"}
    assert [changed_spec(each) for each in reactions(trial)] == [frozenset(), {"spec.note"}, {"spec.limit"}]


def test_nothing_is_learnt_of_fields_while_the_system_is_down() -> None:
    trial = Trial(parts(Outside()).turns("down").applied("w", spec=SECOND).follows(2).turns("up").reads().ends())
    assert inner_fields(trial) == set()
