"""What was kept from the controller and not shown since."""

import pytest

from staleproof.checks.facts.withheld_frames import withheld_frames
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import Dropped, Withheld

from ..script import Script, trial

BOOKMARK = {"stream": 1, "type": "BOOKMARK", "revision": 107}


def held() -> Script:
    return trial().wants(1).hold().creates("w-a", "w-b")


CASES = {
    "nothing was held": (trial().wants(1).creates("w-a"), set(), None),
    "what is held is kept": (held(), {"pods"}, 102),
    "until it leaves": (held().let_go(), set(), None),
    "a stream that ended keeps nothing": (held().relist(), set(), None),
    "a life that ended keeps nothing": (held().restarted(), set(), None),
    "a dropped bookmark is not kept": (trial().adds(Withheld, **BOOKMARK).adds(Dropped, **BOOKMARK), set(), None),
    "nor one that was never held": (trial().adds(Dropped, **BOOKMARK), set(), None),
    "another stream of the resource may have shown more": (held().watches_apart(), {"pods"}, None),
    "another stream that keeps something, too": (
        held().watches_apart().adds(Withheld, stream=9, type="ADDED", uid="u", name="w-b", revision=103),
        {"pods"},
        103,
    ),
}


@pytest.mark.parametrize(("script", "resources", "oldest"), CASES.values(), ids=CASES)
def test_what_is_kept(script: Script, resources: set[str], oldest: int | None) -> None:
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
