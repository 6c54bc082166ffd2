"""What a lane shows of an object: what was committed above, what was shown below, how far one is behind the other."""

import gzip

from staleproof.checks.trial import with_references
from staleproof.core.history.history import History, decode
from staleproof.report.timeline.document import Lane
from staleproof.report.timeline.lanes import lanes

from ...checks.script import HOLD, WIDGETS, Script
from ...judged import HISTORIES


def pods(history: History) -> Lane:
    return next(lane for lane in lanes(with_references(history)) if lane.name == "pods")


def test_an_own_create_is_reported_by_its_answer_and_shown_by_its_frame() -> None:
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


def test_an_object_that_a_list_of_the_past_brings_back_is_shaded() -> None:
    path = HISTORIES / "mutants" / "hasty_stored_widget.jsonl.gz"
    (widgets, *_) = lanes(with_references(decode(gzip.decompress(path.read_bytes()))))
    back = next(each for each in widgets.objects if each.shown[-1].life == 2 and each.revisions[-1].type == "DELETED")
    (stale,) = (each for each in back.stale if each.since > back.revisions[-1].at)

    assert stale.revision == back.revisions[-1].revision
    assert (stale.since, stale.until) == (back.shown[-2].at, back.shown[-1].at)
    assert back.shown[-1].gone
