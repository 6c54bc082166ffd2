"""Why a rule said what it said: what it saw, what was asked, what excused it."""

from staleproof.checks.catalog import BY_SLUG
from staleproof.checks.story.why import Section, why
from staleproof.checks.trial import Trial
from staleproof.core.fault import HideOwnWrite

from ..rule_cases import ONE_POD
from ..script import HOLD, SEVER, WIDGETS, Script, beside, trial

HIDDEN = "own ones of earlier decisions not shown by then: w-0, w-1"


def sections(script: Script | Trial, slug: str) -> dict[str, tuple[str, ...]]:
    found = why(script if isinstance(script, Trial) else beside(script), BY_SLUG[slug])
    assert all(isinstance(each, Section) and each.lines for each in found)
    return {each.title: each.lines for each in found}


def duplicated() -> Script:
    return Script(HOLD).hold().pair().step(2, "touch").applied("w").creates("w-2")


def test_a_deed_is_reported_with_what_was_known_by_then() -> None:
    found = sections(duplicated(), "no-duplicate-create")
    (what, hidden, unknown, owner) = found["creates and deletes beyond those of fault-free runs by that step"]
    assert "created pod/ns/w-2, the 3rd live pod of widget/w; fault-free runs never had more than 2" in what
    assert hidden.strip() == HIDDEN
    assert unknown.strip() == "alive by then, neither shown nor named by an answer: none"
    assert owner.strip().startswith("widget/ns/w was known at resourceVersion ")
    (said,) = found["what the rule says"]
    assert said.startswith("finding: pod/ns/w-2 is the 3rd live pod of widget/w")
    (done,) = found["what was done to the controller"]
    assert done.startswith("Hold of pods: fired on ")


def test_what_lets_it_off_is_reported() -> None:
    cut = Script(SEVER, HideOwnWrite(resource="configmaps")).opens().ended(WIDGETS, "reset").watches(WIDGETS).fires(1).pair(1)
    found = sections(cut.stuck(), "survives-stream-loss")
    assert found["how it ended"][0] == ONE_POD
    (said,) = found["what the rule says"]
    assert said == f"suspicion, unless it ends as fault-free runs do: after its watch of {WIDGETS} was lost"
    assert found["compared with"] == ("2 without faults",)
    assert found["what may speak against a verdict"] == ("nothing",)

    hasty = sections(Script(SEVER).opens().ended(WIDGETS, "reset").watches(WIDGETS).pair(1).stuck(0.1), "survives-stream-loss")
    assert any(line.startswith("it had too little time: it had 0.") for line in hasty["what may speak against a verdict"])


def test_without_references_and_without_anything_to_see_it_says_so() -> None:
    found = sections(Trial(trial().pair().ends()), "no-duplicate-create")
    assert found["creates and deletes beyond those of fault-free runs by that step"] != ()
    assert found["compared with"] == ("nothing: it has no references",)
    assert found["how it ended"] == ("there is nothing to compare it with",)
    assert any(
        line.startswith("its references cannot be compared with: it needs") for line in found["what may speak against a verdict"]
    )

    found = sections(Trial(trial().unfinished()), "survives-stream-loss")
    assert found["how it ended"] == ("it was not settled",)
    assert (
        "it was not carried out: the trial was not recorded to its end (asked about: trial)"
        in found["what may speak against a verdict"]
    )
