"""calm-external-calls: which controllers it accuses, which not, and when it knows nothing."""

from staleproof.checks.rules.external import CALM_EXTERNAL_CALLS
from staleproof.core.fault import AnyFault

from ...outside import EVERY_5, NO_POLLS, Outside, beside, settled_role
from ...rule_cases import Cases, verdicts, witnesses
from ...script import HOLD_WIDGETS, RESTART, WIDGETS

LOOKS = "SELECT 1 FROM pg_roles WHERE rolname = $1"


def silent(*faults: AnyFault) -> Outside:
    """It declares that it does not poll."""
    return settled_role(Outside(*faults, declared=(NO_POLLS,)))


def slow(*faults: AnyFault) -> Outside:
    """It declares that it polls every 5 s."""
    return settled_role(Outside(*faults, declared=(EVERY_5,)))


def touched(script: Outside, times: int = 1, *, looks: bool) -> Outside:
    """The widget is touched, and the controller looks or does not; again and again."""
    for _ in range(times):
        script.applied("w").passes(0.5)
        if looks:
            script.looks()
    return script


def two(script: Outside) -> Outside:
    """Widget `v` has a role as well."""
    script.names = ("w", "v")
    return settled_role(script).step(2, "apply").applied("v", spec=1).makes("v", of="v").passes(3.0)


def calling(script: Outside, seconds: float) -> Outside:
    """A call about `w` takes long, and widget `v` is changed meanwhile."""
    return two(script).calls(of="w").applied("v", spec=2).passes(seconds)


def parts(script: Outside) -> Outside:
    """The widget has a ConfigMap as well."""
    made = script.step(1, "apply").applied("w", spec={"note": 1, "limit": 5}).makes(limit=5)
    return made.creates("w-c", resource="configmaps", generated="").idle(1).passes(3.0)


def down(script: Outside, seconds: float) -> Outside:
    """The system is down, the widget is changed meanwhile."""
    return parts(script).reads().turns("down").applied("w", spec={"note": 2, "limit": 5}).passes(seconds)


def waiting(script: Outside) -> Outside:
    """The ConfigMap follows one field of the spec; the other one is the role's, and waits for the system."""
    parts(script).reads().applied("w", spec={"note": 2, "limit": 5}).follows(2).idle(1).reads().passes(3.0)
    return script.turns("down").applied("w", spec={"note": 2, "limit": 6}).passes(1.0).applied("w", spec={"note": 4, "limit": 6})


def polling(script: Outside) -> Outside:
    return settled_role(script).polls(5, 4.0).idle(2)


def pages(script: Outside, of_each: int, looks: int, *, later: int = 0) -> Outside:
    """A look takes so many calls with the same words, every 5 s; later, perhaps, more."""
    script.step(1, "apply").applied("w", spec=1).polls(of_each, 0.0).makes(limit=5).says(1, ready=1).idle(1).passes(3.0)
    for _ in range(looks):
        script.passes(4.4).polls(later or of_each, 0.0)
    return script


def on_time(script: Outside, times: int) -> Outside:
    """It looks every 5 s."""
    return settled_role(script).passes(0.9).looks().polls(times, 4.8)


CASES: Cases = {
    # --- too often
    "looks when it is touched, and does not poll": (
        touched(silent(), looks=True),
        f"FAIL: it called db 1 time about widget/ns/w within 2.9 s in which nothing had happened ({LOOKS}); "
        "that it does not poll is declared (polls: never)",
    ),
    "writes again what is there, and does not poll": (silent().applied("w").writes("ALTER").reads(), "FAIL"),
    "looks at rest, and does not poll": (silent().passes(9.0).looks(), "FAIL"),
    "looks at everything that it lists": (silent().lists(WIDGETS).looks(), "FAIL"),
    "looks twice when it starts": (silent(RESTART).restarted().looks().looks(), "FAIL"),
    "looks at each touch, and polls": (
        touched(slow(), 6, looks=True),
        f"FAIL: it called db 6 times about widget/ns/w within 7.4 s in which nothing had happened ({LOOKS}); 5 s are declared",
    ),
    "polls too often": (slow().polls(20, 0.8), "FAIL"),
    "learnt": (beside(touched(settled_role(Outside()), 6, looks=True).idle(2), polling), "FAIL"),
    # --- as often as it may
    "does nothing when it is touched": (touched(silent(), 3, looks=False), "PASS"),
    "looks once when it starts": (silent(RESTART).restarted().looks().passes(3.0), "PASS"),
    "asks two things in one look": (
        silent(RESTART).restarted().looks().calls("SELECT", "SELECT members").answered().passes(3.0),
        "PASS",
    ),
    "a ping is about nothing": (touched(silent(), looks=False).calls("SELECT", "SELECT 1", of="").answered(), "PASS"),
    "polls as often as it says": (touched(slow(), looks=False).polls(6, 4.6), "PASS"),
    "a touch more makes no difference": (touched(slow().polls(4, 4.8), 2, looks=True), "PASS"),
    "looks when the user wants something else": (
        touched(silent(), looks=False).applied("w", spec=2).looks().writes("ALTER"),
        "PASS",
    ),
    "looks after a notification": (touched(silent(), looks=False).notifies().looks(), "PASS"),
    "looks late at what the user wants": (
        touched(silent(), looks=False).applied("w", spec=2).passes(4.0).looks().passes(3.0),
        "PASS",
    ),
    "looks late, and again": (touched(silent(), looks=False).applied("w", spec=2).passes(4.0).looks().passes(3.0).looks(), "FAIL"),
    "started before it was quiet, and is elected late": (
        silent(RESTART).applied("w", spec=2).looks().restarted().passes(15.0).looks().applied("w").passes(1.0),
        "PASS",
    ),
    "looks at another that has changed": (touched(silent(), looks=False).applied("v", spec=1).looks(), "PASS"),
    "repairs what has drifted": (touched(silent(), looks=False).drifts().looks().makes(limit=5), "PASS"),
    "looks after what it has begun": (touched(silent(), looks=False).reads().makes(limit=6).looks().looks(), "PASS"),
    "tries again what went wrong": (
        touched(silent(), looks=False).applied("w", spec=2).calls().answered("fail", code="57P03").passes(1.5).looks(),
        "PASS",
    ),
    "waits until it is ready": (
        touched(silent(), looks=False).says(1, conditions=[{"type": "Ready", "status": "False"}]).polls(4, 3.0),
        "PASS",
    ),
    "tries again what the API server refused": (
        touched(silent(), looks=False).passes(3.0).looks().says_blindly(),
        "FAIL",
    ),
    "looks again because the API server refused": (touched(silent(), looks=False).passes(3.0).says_blindly().looks(), "PASS"),
    "learnt, and as often": (beside(touched(polling(Outside()), looks=False).polls(3, 4.0), polling), "PASS"),
    "asks the same with several values in each look": (
        pages(Outside(declared=(EVERY_5,)), 3, 6),
        "NOT_EXERCISED: nothing made it look again while nothing happened",
    ),
    "asks more often in later looks": (pages(Outside(declared=(EVERY_5,)), 1, 6, later=3), "FAIL"),
    "polls on time for long, and was seen for a short time only": (
        beside(on_time(Outside(), 60).idle(2), lambda script: on_time(script, 2).passes(4.3).applied("v", spec=1).idle(2)),
        "NOT_EXERCISED: nothing made it look again while nothing happened",
    ),
    # --- nothing is known
    "calls nothing": (Outside().step(1, "apply").applied("w"), "NOT_EXERCISED: the controller called no external system"),
    "nothing makes it look": (silent(), "NOT_EXERCISED: nothing made it look again while nothing happened"),
    "nothing tells how often": (
        touched(settled_role(Outside()), looks=True),
        "NOT_EXERCISED: nothing tells how often it calls db: declare it (polls: never, or every so many seconds)",
    ),
    "something always happens": (
        Outside(declared=(NO_POLLS,)).applied("w", spec=1).makes().looks().looks(),
        "NOT_EXERCISED",
    ),
    # --- another object waits
    "does nothing for another while a call takes long": (
        calling(Outside(), 8.0).answered().makes("v", of="v", n=2),
        "FAIL: for 8.1 s it did nothing for widget/ns/v, which takes 0.1 s otherwise, while a call to db about "
        f"{WIDGETS}/w was under way; it went on when that was over",
    ),
    "goes on with another": (calling(Outside(), 0.1).makes("v", of="v", n=2).passes(8.0).answered(call=3), "PASS"),
    "a call that takes a moment": (calling(Outside(), 3.0).answered().makes("v", of="v", n=2), "NOT_EXERCISED"),
    "has nothing to do for the other": (calling(Outside(), 8.0).answered().passes(3.0), "PASS"),
    "another that needs the system, too, waits until it is up": (
        two(Outside())
        .turns("down")
        .calls(of="w")
        .applied("v", spec=2)
        .passes(8.0)
        .answered("unknown", effect="stall")
        .turns("up")
        .makes("v", of="v", n=2),
        "NOT_EXERCISED",
    ),
    "its view is held meanwhile": (
        calling(Outside(HOLD_WIDGETS).opens().fires(), 8.0).answered().makes("v", of="v", n=2),
        "NOT_EXERCISED",
    ),
    # --- another part waits
    "writes the other part only when the system is up": (
        down(Outside(), 9.0).turns("up").looks().follows(2).reads(),
        "FAIL: for 9.1 s it wrote nothing that belongs to widget/ns/w, which takes 0.4 s otherwise, while db was down; "
        "it went on when that was over",
    ),
    "writes the other part at once": (
        down(Outside(), 0.1).follows(2).passes(9.0).turns("up").looks().reads(),
        "PASS",
    ),
    "has no other part to write": (down(Outside(), 9.0).turns("up").looks().reads(), "PASS"),
    "what is outside had to change, too": (
        down(Outside(), 9.0).turns("up").makes(limit=6).follows(2),
        "NOT_EXERCISED",
    ),
    "it writes there first what no reading shows": (
        down(Outside(), 9.0).turns("up").writes("ALTER").follows(2).reads(),
        "NOT_EXERCISED",
    ),
    "another change waits for the system, and this part with it": (
        waiting(Outside()).passes(9.0).turns("up").makes(limit=6).follows(4).reads(),
        "FAIL",
    ),
    "another change waits for the system, and this part does not": (
        waiting(Outside()).follows(4).passes(9.0).turns("up").makes(limit=6).reads(),
        "PASS",
    ),
    "the system is down for a moment": (
        down(Outside(), 3.0).turns("up").looks().follows(2).reads(),
        "NOT_EXERCISED",
    ),
    "its process is not there": (
        down(Outside(RESTART), 0.1).dies().passes(9.0).turns("up").restarted().follows(2),
        "NOT_EXERCISED",
    ),
}


test_verdict = verdicts(CALM_EXTERNAL_CALLS, CASES)


def test_the_calls_and_what_made_it_look_are_witnesses() -> None:
    assert witnesses(CALM_EXTERNAL_CALLS, beside(touched(silent(), looks=True), polling)) == ["Committed", "Called"]
