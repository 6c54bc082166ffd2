"""What was kept from the controller and not shown since."""

import pytest

from staleproof.checks.facts.withheld_frames import withheld_frames
from staleproof.checks.trial import Trial
from staleproof.core.entry import Dropped, Opened, Withheld

from ..report_script import ReportScript, trial

BOOKMARK = {"stream": 1, "type": "BOOKMARK", "revision": 107}


def held() -> ReportScript:
    return trial().wants(1).hold().creates("w-a", "w-b")


def another_stream(script: ReportScript) -> ReportScript:
    return script.adds(Opened, stream=9, client="controller", resource="pods")


@pytest.mark.parametrize(
    ("script", "resources", "oldest"),
    [
        (trial().wants(1).creates("w-a"), set(), None),
        (held(), {"pods"}, 102),
        (held().let_go(), set(), None),
        (held().relist(), set(), None),
        (held().restarted(), set(), None),
        (trial().adds(Withheld, **BOOKMARK).adds(Dropped, **BOOKMARK), set(), None),
        (trial().adds(Dropped, **BOOKMARK), set(), None),
        (another_stream(held()), {"pods"}, None),
        (another_stream(held()).adds(Withheld, stream=9, type="ADDED", uid="u", name="w-b", revision=103), {"pods"}, 103),
    ],
    ids=[
        "nothing was held",
        "what is held is kept",
        "until it leaves",
        "a stream that ended keeps nothing",
        "a life that ended keeps nothing",
        "a dropped bookmark is not kept",
        "nor one that was never held",
        "another stream of the resource may have shown more",
        "another stream that keeps something, too",
    ],
)
def test_what_is_kept(script: ReportScript, resources: set[str], oldest: int | None) -> None:
    frames, end = withheld_frames(Trial(script.unfinished())), len(script.entries)

    assert (frames.resources(before=end), frames.oldest("pods", before=end)) == (resources, oldest)


def test_what_was_kept_at_some_time() -> None:
    script = held().let_go()
    frames = withheld_frames(Trial(script.unfinished()))
    first, *_, last = [i for i, entry in enumerate(script.entries) if isinstance(entry, Withheld)]
    gone = len(script.entries) - 1

    assert [frames.resources(before=index) for index in (first, first + 1, gone, gone + 1)] == [set(), {"pods"}, {"pods"}, set()]
    assert [frames.resources_between(*span) for span in [(0, first), (0, first + 1), (last, gone), (gone, gone + 1)]] == [
        set(),
        {"pods"},
        {"pods"},
        set(),
    ]
    assert frames.resources_between(last, last) == set()
