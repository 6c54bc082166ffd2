"""What the controller made outside and left there."""

from staleproof.checks.facts.external_leftovers import at_risk, left_outside, made_outside
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import Called

from ..outside import Outside, settled_role
from ..script import RESTART, WIDGETS


def left(script: Outside) -> list[tuple[str, str]]:
    return [(each.kind, each.words) for each in left_outside(Trial(script.ends()))]


def test_of_a_primary_that_is_gone_and_of_none() -> None:
    script = settled_role(Outside()).writes().has("r-1", of="").reads().removed("w", WIDGETS).reads()
    assert left(script) == [("orphaned", "roles/w of db"), ("lost", "roles/r-1 of db")]


def test_of_a_primary_that_is_there_or_is_there_again() -> None:
    assert left(settled_role(Outside()).terminating("w", WIDGETS).reads()) == [("owned", "roles/w of db")]
    assert left(settled_role(Outside()).removed("w", WIDGETS).applied("w").reads()) == [("owned", "roles/w of db")]


def test_what_has_an_owner_is_counted_with_others_of_it() -> None:
    script = settled_role(Outside()).makes("x").applied("v").makes("y", of="v").makes("z", of="")
    groups = [each.group for each in left_outside(Trial(script.ends()))]
    assert groups == [
        ("db", "roles", "owned", f"{WIDGETS}/w"),
        ("db", "roles", "owned", f"{WIDGETS}/w"),
        ("db", "roles", "lost", ""),
        ("db", "roles", "lost", ""),
    ] or groups[2:] == [("db", "roles", "owned", f"{WIDGETS}/v"), ("db", "roles", "lost", "")]


def test_only_what_the_controller_made_counts() -> None:
    script = Outside().has("before", of="").reads().applied("w").looks().has("appeared", of="").reads()
    script.writes().drifts("theirs", change="created").makes("own")
    trial = Trial(script.ends())
    assert [thing for _, thing in made_outside(trial)] == [("roles", "own")]
    assert [each.words for each in left_outside(trial)] == ["roles/own of db"]


def test_when_something_is_at_risk() -> None:
    assert at_risk(Trial(settled_role(Outside()).ends())) is None
    removed = settled_role(Outside())
    place = len(removed.entries)
    assert at_risk(Trial(removed.removed("w", WIDGETS).ends())) == place


def test_a_call_whose_end_was_not_heard_or_written_down_is_a_risk() -> None:
    lost = Outside().applied("w").calls("CREATE").answered("unknown", effect="cut").has().reads()
    killed = Outside(RESTART).applied("w").makes().dies().restarted().says(1)
    for script in (lost, killed):
        trial = Trial(script.ends())
        assert at_risk(trial) == trial.first(Called)
    assert at_risk(Trial(Outside(RESTART).applied("w").makes().says(1).dies().restarted().ends())) is None
