"""What external systems held."""

from staleproof.checks.facts.external_states import external_states
from staleproof.checks.trial import Trial

from ..outside import Outside, settled_role
from ..script import WIDGETS


def test_readings_before_and_after() -> None:
    script = settled_role(Outside())
    made = len(script.entries) - 1
    readings = external_states(Trial(script.drifts().ends()))["db"]
    before, after = readings.before(made), readings.after(made)
    assert before is not None
    assert after is not None

    assert set(before.things) == {("roles", "w")} == set(after.things)
    assert [set(each.things) for each in readings.since(after.index)] == [set()]
    assert readings.before(0) is None
    assert readings.after(len(script.entries)) is None


def test_what_belongs_to_a_primary() -> None:
    readings = external_states(Trial(settled_role(Outside()).has("x", of="").has("y", of="v").reads().ends()))["db"]

    assert list(readings.belongings(readings.every[-1], (WIDGETS, "w"))) == [("roles", "w")]
    assert readings.belongings(None, (WIDGETS, "w")) == {}


def test_a_system_that_was_never_read_is_not_there() -> None:
    assert "other" not in external_states(Trial(Outside().ends()))
