"""What was kept from the controller and not shown since."""

from staleproof.checks.facts.withheld_frames import WithheldFrames
from staleproof.core.entry import Dropped, Opened, Withheld

from ..report_script import ReportScript, trial


def kept(script: ReportScript) -> tuple[set[str], int | None]:
    frames = WithheldFrames()
    for entry in script.entries:
        frames.advance(entry)
    return frames.resources, frames.oldest("pods")


def held() -> ReportScript:
    return trial().wants(1).hold().creates("w-a", "w-b")


def test_what_is_held_is_kept_until_it_leaves() -> None:
    assert kept(trial().wants(1).creates("w-a")) == (set(), None)
    assert kept(held()) == ({"pods"}, 102)
    assert kept(held().let_go()) == (set(), None)


def test_a_stream_that_ended_and_a_life_that_ended_keep_nothing() -> None:
    assert kept(held().relist()) == (set(), None)
    assert kept(held().restarted()) == (set(), None)


def test_a_dropped_bookmark_is_not_kept() -> None:
    script = trial().adds(Withheld, stream=1, type="BOOKMARK", revision=107).adds(Dropped, stream=1, type="BOOKMARK", revision=107)

    assert kept(script) == (set(), None)
    assert kept(trial().adds(Dropped, stream=1, type="BOOKMARK", revision=107)) == (set(), None)


def test_another_stream_of_the_resource_may_have_shown_more() -> None:
    def open_another(script: ReportScript) -> ReportScript:
        return script.adds(Opened, stream=9, client="controller", resource="pods")

    assert kept(open_another(held())) == ({"pods"}, None)
    script = open_another(held()).adds(Withheld, stream=9, type="ADDED", uid="u", name="w-b", revision=103)
    assert kept(script) == ({"pods"}, 103)
