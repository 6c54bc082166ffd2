"""What drifted in external systems, and when it was put right."""

from staleproof.checks.facts.drifts import api_events, drifts, is_withheld, notified, wants_otherwise
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import Called, ExternalState

from ..outside import Outside, settled_role
from ..script import HOLD_WIDGETS


def trial(script: Outside) -> Trial:
    return Trial(script.ends())


def test_it_is_repaired_by_the_first_call_that_may_have_done_it() -> None:
    found = trial(settled_role(Outside()).drifts().looks().writes().looks().makes(limit=5))
    (drift,) = drifts(found)
    assert drift.repaired is not None

    called = [index for index, entry in found.every(Called) if entry.verb == "CREATE"]
    assert drift.begun == called[1]
    assert isinstance(found.entries[drift.repaired], ExternalState)
    assert drift.last_wrong < drift.begun < drift.repaired


def test_one_that_is_not_repaired_was_so_until_a_call_that_may_have_done_it() -> None:
    found = trial(settled_role(Outside()).drifts().looks().writes().passes(9.0))
    (drift,) = drifts(found)
    assert (drift.repaired, drift.until) == (None, len(found.entries))
    entry = found.entries[drift.begun]
    assert isinstance(entry, Called)
    assert entry.verb == "CREATE"


def test_a_thing_that_was_replaced_is_right_when_what_differs_does_not() -> None:
    script = settled_role(Outside()).drifts(change="created", limit=5, login=True)
    (drift,) = drifts(trial(script.makes(limit=5)))

    assert drift.words == "roles/w of db was replaced"
    assert drift.repaired is not None


def test_one_that_came_back_as_it_was_is_no_drift() -> None:
    assert drifts(trial(settled_role(Outside()).drifts(change="changed", limit=5))) == []


def test_without_fields_the_digest_tells() -> None:
    script = settled_role(Outside()).makes()
    held = script._things["roles", "w"]
    before, after = (type(held)(kind=held.kind, external=held.external, digest=d, resource=held.resource, name="w") for d in "ab")
    script._things["roles", "w"] = before
    script.reads()
    script._things["roles", "w"] = after
    drifted = script.reads().drifts(change="changed")
    assert len(drifts(trial(drifted))) == 1


def test_events_of_the_api_server() -> None:
    found = trial(settled_role(Outside()).drifts().says(1, ready=1).applied("v").resynced().applied("w").makes(limit=5))
    (drift,) = drifts(found)
    assert [type(found.entries[index]).__name__ for index in api_events(found, drift, before=drift.begun)] == [
        "Committed",
        "Delivered",
    ]


def test_its_own_writes_are_withheld() -> None:
    held = settled_role(Outside(HOLD_WIDGETS)).drifts().hold("widgets.example.com").says(1, ready=1, beat=1).makes(limit=5)
    for script, expected in ((held, True), (settled_role(Outside()).drifts().makes(limit=5), False)):
        found = trial(script)
        assert is_withheld(found, drifts(found)[0]) is expected


def test_the_system_notified_the_controller() -> None:
    for of, expected in (("w", True), ("", True), ("v", False)):
        found = trial(settled_role(Outside()).applied("v").drifts().notifies(of).makes(limit=5))
        assert notified(found, drifts(found)[0]) is expected
    for effect, expected in (("lose", False), ("delay", True), ("repeat", True)):
        found = trial(settled_role(Outside()).drifts().notifies(effect=effect).makes(limit=5))
        assert notified(found, drifts(found)[0]) is expected


def test_what_the_user_wants_otherwise() -> None:
    found = trial(settled_role(Outside()).applied("w").applied("w", spec=2).terminating("w", "widgets.example.com"))
    assert [wants_otherwise(found, commit.index) for commit in found.commits if commit.by is None] == [True, False, True, True]
