"""needs-no-bookmarks: whom it accuses, whom it does not, and when it knows nothing."""

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import needs_no_bookmarks
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.entry import Ended
from staleproof.core.fault import AddBookmarks, DropBookmarks, HoldStream
from staleproof.core.history import History

from ..script import WIDGETS
from ..stream_script import StreamScript, pair, two_references

DROP, ADD = DropBookmarks(resource="*"), AddBookmarks(resource="*")


def judge(script: StreamScript, *references: History) -> Verdict:
    return verdict_of(needs_no_bookmarks.REQUIREMENT, Trial(script.ends(), references or two_references()))


def stuck(script: StreamScript, *, seconds: float = 10.0) -> StreamScript:
    return script.released().passes(seconds).settled(ok=False, why="still wrong")


def waiting(*, rest: float = 3.0) -> StreamScript:
    """It has made one of two children, and nothing more happens while bookmarks are dropped."""
    script = StreamScript(DROP).opens().step(1, "apply").applied("w", spec=2).creates("w-0").no_bookmark("pods")
    return script.passes(rest).closes().released()


def taking(script: StreamScript, *, times: int = 3) -> StreamScript:
    """At rest, it writes after each bookmark."""
    pair(script).no_bookmark()
    for _ in range(times):
        script.passes(4.0).bookmark().updates("w", status={"ready": 2})
    return script.passes(4.0)


def test_a_controller_that_goes_on_only_when_a_bookmark_comes_is_guilty() -> None:
    script = waiting().bookmark("pods").creates("w-1").updates("w", status={"ready": 2})

    verdict = judge(script)

    assert verdict.outcome is Outcome.FAIL
    assert verdict.findings[0].because == (
        "with everything shown to it but bookmarks it came to rest, and went on only when one came: "
        "until then, 1 pod of widget/w, fault-free runs ended with 2"
    )
    kinds = [type(script.entries[index]).__name__ for index in verdict.findings[0].witnesses]
    assert kinds == ["FaultOpened", "Answered", "FaultClosed", "Delivered", "Asked"]


def test_so_is_one_that_was_only_shown_the_same_again_meanwhile() -> None:
    script = StreamScript(DROP).opens().step(1, "apply").applied("w", spec=2).creates("w-0").no_bookmark("pods").passes(3.0)
    script.ended("pods", "clean", fault=None).watches().shows("w-0").passes(0.5).closes().released()

    verdict = judge(script.bookmark("pods").creates("w-1").updates("w", status={"ready": 2}))

    assert verdict.outcome is Outcome.FAIL


def test_so_is_one_that_was_shown_the_same_before_and_after() -> None:
    """Brief watches: each shows again what no bookmark has confirmed, and that never made it go on."""
    script = StreamScript(DROP).opens().step(1, "apply").applied("w", spec=2).creates("w-0").no_bookmark("pods").passes(3.0)
    script.ended("pods", "clean", fault=None).watches().shows("w-0").passes(0.5).closes().released()
    script.ended("pods", "clean", fault=None).watches().shows("w-0").passes(2.0)

    verdict = judge(script.bookmark("pods").creates("w-1").updates("w", status={"ready": 2}))

    assert verdict.outcome is Outcome.FAIL


def test_so_is_one_that_never_goes_on() -> None:
    verdict = judge(waiting().passes(10.0).settled(ok=False))

    assert verdict.findings[0].because == "with bookmarks dropped: 1 pod of widget/w, fault-free runs ended with 2"


def test_so_is_one_that_breaks_at_a_bookmark() -> None:
    script = StreamScript(ADD).opens().step(1, "apply").applied("w", spec=2).bookmark(fault=0).fires().creates("w-0")

    assert judge(stuck(script)).findings[0].because.startswith("with a bookmark behind every event: 1 pod of widget/w")


def test_so_is_one_that_writes_whenever_a_bookmark_comes() -> None:
    verdict = judge(taking(StreamScript(DROP)))

    assert [finding.because for finding in verdict.findings] == [
        "it wrote after each of the 3 bookmarks that came while it was at rest, and at no other time of rest"
    ]
    assert len(verdict.findings[0].witnesses) == 6


def test_one_that_does_without_passes() -> None:
    assert judge(pair(StreamScript(DROP).opens().no_bookmark("pods"))).outcome is Outcome.PASS
    assert judge(pair(StreamScript(ADD).opens().applied("w").bookmark(fault=0).fires())).outcome is Outcome.PASS


# --- innocent, though it looks suspicious ----------------------------------------------------------------------------------------


def test_one_that_had_not_come_to_rest_may_have_gone_on_by_itself() -> None:
    script = waiting(rest=1.0).bookmark("pods").creates("w-1").updates("w", status={"ready": 2})

    assert judge(script).outcome is Outcome.PASS


def test_so_may_one_that_pauses_as_long_without_faults() -> None:
    def slow(number: int) -> History:
        script = StreamScript(namespace=f"ref-{number}").step(1, "apply").applied("w", spec=2).creates("w-0").passes(5.0)
        return script.creates("w-1").updates("w", status={"ready": 2}).ends()

    script = waiting().bookmark("pods").creates("w-1").updates("w", status={"ready": 2})

    assert judge(script, slow(1), slow(2)).outcome is Outcome.PASS


def test_one_that_was_shown_something_else_before_it_went_on_is_innocent() -> None:
    script = waiting().bookmark("pods").applied("w", spec=2).creates("w-1").updates("w", status={"ready": 2})

    assert judge(script).outcome is Outcome.PASS


def test_what_was_shown_again_may_have_woken_it_if_nothing_was_before() -> None:
    script = waiting().ended("pods", "clean", fault=None).watches().shows("w-0").bookmark("pods")

    assert judge(script.creates("w-1").updates("w", status={"ready": 2})).outcome is Outcome.PASS


def test_so_it_may_if_it_was_shown_again_behind_the_bookmark() -> None:
    script = StreamScript(DROP).opens().step(1, "apply").applied("w", spec=2).creates("w-0").no_bookmark("pods").passes(3.0)
    script.ended("pods", "clean", fault=None).watches().shows("w-0").passes(0.5).closes().released().bookmark("pods")
    script.ended("pods", "clean", fault=None).watches().shows("w-0")

    assert judge(script.creates("w-1").updates("w", status={"ready": 2})).outcome is Outcome.PASS


def test_a_write_after_a_bookmark_may_be_a_coincidence() -> None:
    once = taking(StreamScript(DROP), times=1)
    calm = taking(StreamScript(DROP)).bookmark()
    polling = taking(StreamScript(DROP)).passes(4.0).updates("w", status={"ready": 2})
    later = pair(StreamScript(DROP)).no_bookmark()
    for _ in range(3):
        later.passes(4.0).bookmark().passes(4.0).updates("w", status={"ready": 2})

    assert [judge(script).outcome for script in (once, calm, polling, later)] == [Outcome.PASS] * 4


def test_so_it_is_if_it_does_that_without_faults() -> None:
    references = [taking(StreamScript(ADD, namespace=f"ref-{number}")).ends() for number in (1, 2)]

    assert judge(taking(StreamScript(DROP)), *references).outcome is Outcome.PASS


def test_it_is_inconclusive_when_something_else_was_done_to_it() -> None:
    script = StreamScript(DROP, HoldStream(resource="pods")).opens().no_bookmark().fires(1)

    assert judge(stuck(pair(script, replicas=1))).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    "script",
    [
        StreamScript(DROP),
        pair(StreamScript(DROP).opens()),
        pair(StreamScript(DROP).opens()).bookmark(),
        StreamScript(DROP).opens().no_bookmark(WIDGETS).applied("w").made("w-0"),
    ],
    ids=["empty", "none came", "none was dropped", "never wrote"],
)
def test_nothing_is_proven_unless_something_was_done_to_a_bookmark(script: StreamScript) -> None:
    assert judge(script).outcome is Outcome.NOT_EXERCISED


def test_without_a_settling_phase_it_is_inconclusive() -> None:
    history = pair(StreamScript(DROP).no_bookmark()).adds(Ended).unfinished()

    assert verdict_of(needs_no_bookmarks.REQUIREMENT, Trial(history, two_references())).outcome is Outcome.INCONCLUSIVE
