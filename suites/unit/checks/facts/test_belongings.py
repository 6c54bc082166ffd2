"""What belongs to which primary."""

import pytest

from staleproof.checks.facts.belongings import head_of, incarnation, primary_of
from staleproof.checks.trial import Trial

from ..script import WIDGETS, Script, beside, trial


def made(script: Script, name: str = "data-rs-w-0", **labels: str) -> Script:
    """A widget, what it owns, and what has no owner."""
    script.applied("w").made("rs-w", "replicasets.apps").made(name, "claims", owner="", metadata={"labels": labels})
    return script.made("other", "claims", owner="", metadata={"labels": {"app": "other"} if labels else {}})


def renamed(script: Script) -> Script:
    return made(script, "elsewhere")


def labelled(script: Script, value: str = "rs-w") -> Script:
    return made(script, "data", instance=value)


def unlike(script: Script) -> Script:
    return labelled(script).made("more", "claims", owner="", metadata={"labels": {"instance": "x"}})


def from_outside(script: Script) -> Script:
    """What a class owns that no trial has, and what that owns."""
    owner = {"kind": "Class", "name": "shared", "uid": "elsewhere", "controller": True}
    script.applied("w").made("proxy", "replicasets.apps", owner="", metadata={"labels": {"of": "w"}, "ownerReferences": [owner]})
    return script.made("proxy-1", owner="proxy")


@pytest.mark.parametrize(
    ("case", "uid"),
    [
        (beside(trial().applied("w").creates("w-a"), made), "ns-uid-2"),
        (beside(from_outside(trial()), from_outside), "ns-uid-2"),
        (beside(from_outside(trial()), from_outside), "ns-uid-3"),
        (beside(made(trial()), made), "ns-uid-3"),
        (beside(labelled(trial()), labelled), "ns-uid-3"),
        (beside(labelled(trial()), labelled), "ns-uid-2"),
        (beside(made(trial()), made, lambda script: script.applied("w")), "ns-uid-3"),
    ],
    ids=[
        "an owner reference",
        "an owner from outside, a label",
        "what that owns",
        "the name of what it owns, in a name",
        "the same in a label",
        "what it owns",
        "not in all of them",
    ],
)
def test_what_belongs_to_a_primary(case: Trial, uid: str) -> None:
    primary = primary_of(case, uid)

    assert getattr(primary, "name", None) == "w"
    assert primary is not None
    assert head_of(case, uid) == primary.uid == head_of(case, primary.uid)


@pytest.mark.parametrize(
    ("case", "uid"),
    [
        (beside(made(trial()), renamed), "ns-uid-3"),
        (beside(labelled(trial()), unlike), "ns-uid-3"),
        (beside(made(trial()), made), "ns-uid-4"),
        (beside(labelled(trial(), "w-2"), labelled), "ns-uid-3"),
        (Trial(made(trial()).ends()), "ns-uid-3"),
        (beside(made(trial()), made), "ns-uid-1"),
        (beside(made(Script().made("data-rs-w-0", "claims", owner="")), made), "ns-uid-1"),
    ],
    ids=["not so in a reference", "not of all", "another name", "another label", "no references", "itself", "before the primary"],
)
def test_what_belongs_to_none(case: Trial, uid: str) -> None:
    assert primary_of(case, uid) is None
    assert head_of(case, uid) == uid


def test_the_primary_that_is_there() -> None:
    script = trial().applied("w")
    there = len(script.entries)
    case = Trial(script.removed("w", WIDGETS).ends())

    assert incarnation(case, (WIDGETS, "w"), at=there) is not None
    assert incarnation(case, (WIDGETS, "w"), at=there + 1) is None
    assert incarnation(case, (WIDGETS, "v"), at=there) is None
