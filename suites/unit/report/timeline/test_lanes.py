"""What a lane tells of an object: what was committed above, what was shown below, how far one is behind the other."""

from staleproof.checks.trial import with_references
from staleproof.core.history.history import History
from staleproof.report.timeline.document import Lane
from staleproof.report.timeline.lanes import lanes

from ...checks.script import HOLD, WIDGETS, Script


def pods(history: History) -> Lane:
    return next(lane for lane in lanes(with_references(history)) if lane.name == "pods")


def test_an_own_create_is_told_by_its_answer_and_shown_by_its_frame() -> None:
    (pod,) = pods(Script(HOLD).applied("w").hold().creates("w-a").let_go().ends()).objects

    assert [(each.type, each.by) for each in pod.revisions] == [("ADDED", "controller")]
    assert [each.means for each in pod.shown] == ["answer", "frame"]


def test_while_its_frames_are_held_it_is_behind() -> None:
    lane = pods(Script(HOLD).applied("w").creates("w-a").hold().removed("w-a").made("w-b").let_go().ends())
    gone, new = lane.objects

    (kept,) = lane.kept
    assert kept.until is not None
    assert gone.stale[-1].until == gone.shown[-1].at
    assert new.stale[-1].until == kept.until
    assert max(each.revisions for each in lane.behind) == 2
    assert lane.behind[-1].revisions == 0
    assert gone.shown[-1].gone


def test_what_the_workload_applies_comes_first() -> None:
    history = Script().applied("w").creates("w-a").creates("a-a", resource="apples").ends()
    names = [lane.name for lane in lanes(with_references(history))]

    assert names == [WIDGETS, "apples", "pods"]


def test_without_commits_there_are_no_lanes() -> None:
    assert lanes(with_references(Script().ends())) == []
