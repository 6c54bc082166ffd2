"""Writes that took back what another user had changed, and what the controller knew of that change."""

from staleproof.checks.deeds.overwrites import changes_by_others, knows_change, overwrites
from staleproof.checks.trial import Trial

from ..script import WIDGETS, Script, trial


def edited(script: Script) -> Script:
    """A ConfigMap of the controller's, of which another user adds a key."""
    return script.applied("w").creates("s", resource="configmaps", generated="", data={"k": "v"})


def changed(script: Script) -> Script:
    return script.applied("s", "configmaps", data={"k": "v", "extra": "e"})


def written(script: Script) -> Script:
    return script.updates("s", "configmaps", subresource="", data={"k": "v"})


def test_a_key_that_another_added_is_taken_back() -> None:
    (found,) = overwrites(Trial(written(changed(edited(trial()))).ends()))

    assert (found.path, found.field[1]) == ("data.extra", "data.extra")
    assert found.theirs.by is None
    assert found.of.name == "s"


def test_what_was_hidden_was_not_known() -> None:
    for script, known in ((edited(trial()), True), (edited(trial().hold("configmaps")), False)):
        trial_ = Trial(written(changed(script)).ends())
        (found,) = overwrites(trial_)
        assert knows_change(trial_, found.of, found.theirs, found.request) is known


def test_what_no_other_user_changed_is_its_own() -> None:
    assert not overwrites(Trial(written(edited(trial())).ends()))
    trial_ = Trial(changed(edited(trial())).ends())
    (uid,) = {each.entry.uid for each in trial_.commits if each.entry.resource == "configmaps"}
    assert changes_by_others(trial_).before(len(trial_.entries), uid) is not None
    assert all(each.entry.resource != WIDGETS or each.before is None for each in trial_.commits)
