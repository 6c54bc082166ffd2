"""needs-no-bookmarks: which controllers it accuses, which it does not, and when it knows nothing."""

from staleproof.checks.rules.ends import NEEDS_NO_BOOKMARKS
from staleproof.core.fault import AddBookmarks, DropBookmarks, HoldStream
from staleproof.core.history.entry import Ended

from ...rule_cases import ONE_POD, UNSURE, Cases, verdicts, witnesses
from ...script import WIDGETS, Script, beside, two_references

DROP, ADD = DropBookmarks(resource="*"), AddBookmarks(resource="*")
WAITED = f"FAIL: with everything shown to it but bookmarks it came to rest, and went on only when one came: until then, {ONE_POD}"
TAKEN = "FAIL: it wrote after each of the 3 bookmarks that came while it was at rest, and at no other time of rest"
UNTOUCHED = "NOT_EXERCISED: no bookmark was dropped, and none was added"


def half(rest: float = 3.0) -> Script:
    """It has made one of two children, and rests while bookmarks are dropped."""
    script = Script(DROP).opens().step(1, "apply").applied("w", spec=2).creates("w-0").no_bookmark("pods")
    return script.passes(rest)


def waiting(rest: float = 3.0) -> Script:
    return half(rest).closes().released()


def shown_again(script: Script) -> Script:
    """Its watch is a brief one: the next shows again what no bookmark has confirmed."""
    return script.ended("pods", "clean", fault=None).watches().shows("w-0")


def goes_on(script: Script) -> Script:
    return script.creates("w-1").updates("w", status={"ready": 2})


def breaks_at_a_bookmark() -> Script:
    script = Script(ADD).opens().step(1, "apply").applied("w", spec=2).bookmark(fault=0).fires().creates("w-0")
    return script.stuck()


def taking(script: Script | None = None, *, times: int = 3, after: float = 0.0) -> Script:
    """At rest, it writes after each bookmark, or some time after that."""
    script = (script or Script(DROP)).pair().no_bookmark()
    for _ in range(times):
        script.passes(4.0).bookmark().passes(after).updates("w", status={"ready": 2})
    return script.passes(4.0) if not after else script


def slow(script: Script) -> Script:
    return script.pair(pause=5.0)


def held_too() -> Script:
    script = Script(DROP, HoldStream(resource="pods")).opens().no_bookmark().fires(1)
    return script.pair(1).stuck()


CASES: Cases = {
    "goes on only when a bookmark comes": (goes_on(waiting().bookmark("pods")), WAITED),
    "was only shown the same again meanwhile": (
        goes_on(shown_again(half()).passes(0.5).closes().released().bookmark("pods")),
        WAITED,
    ),
    "was shown the same before and after": (
        goes_on(shown_again(shown_again(half()).passes(0.5).closes().released()).passes(2.0).bookmark("pods")),
        WAITED,
    ),
    "never goes on": (waiting().passes(10.0).settled(ok=False), f"FAIL: with bookmarks dropped: {ONE_POD}"),
    "breaks at a bookmark": (breaks_at_a_bookmark(), f"FAIL: with a bookmark behind every event: {ONE_POD}"),
    "writes whenever a bookmark comes": (taking(), TAKEN),
    "does without": (Script(DROP).opens().no_bookmark("pods").pair(), "PASS"),
    "does with more": (Script(ADD).opens().applied("w").bookmark(fault=0).fires().pair(), "PASS"),
    # --- innocent, though it looks suspicious
    "had not come to rest": (goes_on(waiting(rest=1.0).bookmark("pods")), "PASS"),
    "was shown something else before it went on": (goes_on(waiting().bookmark("pods").applied("w", spec=2)), "PASS"),
    "had more to do by then": (goes_on(waiting().bookmark("pods").step(2, "touch").bookmark("pods")), "PASS"),
    "was shown again, for the first time": (goes_on(shown_again(waiting()).bookmark("pods")), "PASS"),
    "was shown again behind the bookmark": (
        goes_on(shown_again(shown_again(half()).passes(0.5).closes().released().bookmark("pods"))),
        "PASS",
    ),
    "wrote after a bookmark once": (taking(times=1), "PASS"),
    "was calm at another bookmark": (taking().bookmark(), "PASS"),
    "writes at rest without one": (taking().passes(4.0).updates("w", status={"ready": 2}), "PASS"),
    "writes long after it": (taking(after=4.0), "PASS"),
    "goes on as late without faults": (beside(goes_on(waiting().bookmark("pods")), slow), "PASS"),
    "writes at bookmarks without faults, too": (beside(taking(), taking), "PASS"),
    # --- nothing is known
    "another fault may explain the end": (held_too(), f"{UNSURE} Hold fired, too, and may explain that"),
    "empty": (Script(DROP), UNTOUCHED),
    "none came": (Script(DROP).opens().pair(), UNTOUCHED),
    "none was dropped": (Script(DROP).opens().pair().bookmark(), UNTOUCHED),
    "never wrote": (
        Script(DROP).opens().no_bookmark(WIDGETS).applied("w").made("w-0"),
        f"{UNSURE} it had 0.1 s to catch up, and may need 0.9 s after what was done to it",
    ),
    "never wrote, though it had the time": (Script(DROP).opens().no_bookmark(WIDGETS).applied("w").made("w-0").stuck(), "FAIL"),
    "never settled": (Script(DROP).no_bookmark().pair().adds(Ended), "INCONCLUSIVE: the trial has no settling phase"),
}


test_verdict = verdicts(NEEDS_NO_BOOKMARKS, CASES, two_references())


def test_the_last_thing_before_and_the_bookmark_are_witnesses() -> None:
    found = witnesses(NEEDS_NO_BOOKMARKS, beside(goes_on(waiting().bookmark("pods"))))

    assert found == ["FaultOpened", "Answered", "FaultClosed", "Delivered", "Asked"]
    assert len(witnesses(NEEDS_NO_BOOKMARKS, beside(taking()))) == 6
