"""survives-restart: which controllers it accuses, which it does not, and when it knows nothing."""

from collections.abc import Mapping

from staleproof.checks.rules.surplus import SURVIVES_RESTART
from staleproof.checks.trial import Trial
from staleproof.core.fault import Kill, Pause
from staleproof.core.history.entry import Continued, Stopped

from ...rule_cases import Cases, verdicts
from ...script import HOLD, PAST, RESTART, WIDGETS, Script, beside, three, three_renewed, two_references

# --- workloads -------------------------------------------------------------------------------------------------------------------


def applied(script: Script, *names: str, generated: str = "w-") -> Script:
    return script.step(1, "apply").applied("w", spec=3).creates(*names, generated=generated)


def touched(script: Script) -> Script:
    return script.step(2, "touch").applied("w")


def named(script: Script) -> Script:
    return touched(applied(script, "w-0", "w-1", generated="").idle(1))


def scaled(script: Script) -> Script:
    return three(script).applied("w", spec=5).creates("w-d", "w-e")


def down(script: Script) -> Script:
    """Other pods go in each reference."""
    return three(script).applied("w", spec=1).deletes("w-c", "w-a" if script.namespace == "ref-2" else "w-b")


# --- what was done to the controller ---------------------------------------------------------------------------------------------


def begun() -> Script:
    return applied(Script(RESTART, PAST, HOLD), "w-a", "w-b", "w-c").idle(1)


def restarted(*, past: Mapping[str, Mapping[str, int]] | None = None, removed: str = "") -> Script:
    script = begun().dies()
    return touched((script.removed(removed) if removed else script).lives_again(past=past))


def blind() -> Script:
    """The new life lists nothing."""
    return begun().dies().restarted().step(2, "touch")


def killed(*names: str) -> Script:
    """It is killed over its last create."""
    return applied(Script(Kill(resource="pods")), *names).loses_the_answer().dies().lives_again()


def reported(script: Script) -> Script:
    """By a controller that creates nothing."""
    return script.step(1, "apply").applied("w", spec=3).updates("w", status={"of": 3}).idle(1)


def grown(script: Script) -> Script:
    """Its pods come late."""
    return script.creates("w-a", "w-b", "w-c").idle(2)


def late(script: Script) -> Script:
    return touched(script).idle(2).released().passes(10)


def also_held() -> Script:
    """Another fault fired, too."""
    script = Script(RESTART, HOLD).step(1, "apply").applied("w", spec=3).hold(fault=1).creates("w-a").fires(1)
    return script.let_go(fault=1).dies().lives_again()


def same_names() -> Script:
    """It is shown no children and asks for the same names."""
    script = applied(Script(RESTART, PAST), "w-0", "w-1", generated="").dies().lives_again(past={"pods": {}})
    return touched(script.refused("create", "w-0", "AlreadyExists").refused("create", "w-1", "AlreadyExists"))


def hidden() -> Script:
    """The new life's own creates are hidden."""
    return restarted().hold(fault=2).applied("w", spec=5).creates("w-d", "w-e").applied("w")


def half_down() -> Script:
    return touched(begun()).applied("w", spec=1).deletes("w-c").dies().lives_again()


def slept() -> Script:
    """Its own timer ran out while the process was down."""
    return touched(begun().dies().passes(30).lives_again().deletes("w-a").idle(1)).idle(2)


def paused() -> Script:
    script = three(Script(Pause())).adds(Stopped, life=1, paused=True, fault=0)
    return script.adds(Continued, life=1).fires().idle(2)


# --- verdicts --------------------------------------------------------------------------------------------------------------------

TOO_MANY = "pod/ns/w-{} is the {} live pod of widget/w, made after a restart; fault-free runs never had more than 3"
REPEATED = f"{TOO_MANY}, though it had {{}}been shown the 3 that it had created in an earlier life"
TOOK_BACK = (
    "the controller deleted pod/ns/w-{} after a restart: {} of widget/w left, fault-free runs kept 3, "
    "though an earlier life had created it, and no fault-free run took it back"
)
UNSURE = "INCONCLUSIVE: it did not converge ({} of widget/w, fault-free runs ended with 3), but"
UNSURE_OF_TWO = "INCONCLUSIVE: it did not converge (2 pods of widget/w, fault-free runs ended with 1), but"


def released(script: Script) -> Script:
    """A pod and a ConfigMap, and a status in the end."""
    script.step(1, "apply").applied("w", spec=1).creates("w-a").creates("w-c", resource="configmaps")
    return script.updates("w", status={"phase": "Deployed"}).idle(1).step(2, "touch").idle(2)


def begun_anew(*, finished: bool) -> Script:
    """Killed in the midst, or after it had reported; the new life takes the pod back and makes another one."""
    script = Script(RESTART).step(1, "apply").applied("w", spec=1).creates("w-a")
    if finished:
        script.updates("w", status={"phase": "Deployed"}).idle(1).step(2, "touch")
    script.dies().lives_again().deletes("w-a").creates("w-b").creates("w-c", resource="configmaps")
    return script.idle(2) if finished else script.updates("w", status={"phase": "Deployed"}).idle(1).step(2, "touch").idle(2)


def of_input(script: Script, *, state: str = "new") -> Script:
    return script.step(1, "apply").applied("w", spec=1).creates("w-a", spec=state).idle(1).step(2, "touch").applied("w").idle(2)


def replaced(state: str) -> Trial:
    """A life makes a pod from this state of an input; the next one, which is shown the new state, replaces it, delete first."""
    script = of_input(Script(RESTART), state=state).dies().lives_again()
    return beside(script.deletes("w-a").creates("w-b", spec="new").idle(3), of_input)


def added(state: str, *, stays: bool = False) -> Trial:
    """The next life makes one more: it is shown an old list, and a user tidies up; or it is shown the first one, which stays."""
    script = of_input(Script(RESTART, PAST), state=state).dies().lives_again(past=None if stays else {"pods": {}})
    script.creates("w-b", spec="new")
    return beside((script if stays else script.removed("w-a")).idle(3), of_input)


CASES: Cases = {
    "replaces what an earlier life had made from an input that was shown late": (replaced("old"), "PASS"),
    "replaces what is as ever": (replaced("new"), "FAIL"),
    "makes another for another state of the input": (added("old"), "PASS"),
    "makes another for the same state": (added("new"), "FAIL"),
    "makes another for another state, and keeps both": (
        added("old", stays=True),
        f"{UNSURE_OF_TWO} it had 0.1 s to catch up, and may need 0.9 s after what was done to it",
    ),
    "makes another for the same state, and keeps both": (added("new", stays=True), "FAIL"),
    "takes back what was half done, and begins anew": (beside(begun_anew(finished=False), released), "PASS"),
    "takes back what was done, and makes it again": (beside(begun_anew(finished=True), released), "FAIL"),
    "makes everything again because it lists no children": (
        blind().applied("w").creates("w-d", "w-e", "w-f").idle(2),
        "FAIL: " + "\n".join(REPEATED.format(*which, "not ") for which in (("d", "4th"), ("e", "5th"), ("f", "6th"))),
    ),
    "is shown an old list of children and makes them again": (
        restarted(past={"pods": {}}).creates("w-d"),
        f"FAIL: {REPEATED.format('d', '4th', 'not ')}",
    ),
    "keeps the names of its children in memory, and the second ones stay": (
        restarted().creates("w-d").idle(2),
        f"FAIL: {REPEATED.format('d', '4th', '')}",
    ),
    "takes what it finds for orphans": (
        restarted().deletes("w-a", "w-b").creates("w-d", "w-e").idle(2),
        f"FAIL: {TOOK_BACK.format('a', '2 live pods')}\n{TOOK_BACK.format('b', '1 live pod')}",
    ),
    "does not go on where it was killed": (
        late(killed("w-a").creates("w-b").idle(1)),
        "FAIL: after it was restarted: 2 pods of widget/w, fault-free runs ended with 3",
    ),
    # innocent, though it looks suspicious
    "finds everything done": (restarted().idle(2), "PASS"),
    "goes on where it was killed": (touched(killed("w-a", "w-b").creates("w-c").idle(1)).idle(2), "PASS"),
    "asks for deterministic names again": (beside(same_names(), named), "PASS"),
    "replaces what was lost while it was down": (restarted(removed="w-a").creates("w-d"), "PASS"),
    "rolls out in another order": (restarted().creates("w-d").deletes("w-a").idle(2), "PASS"),
    "has not seen creates of the same life": (
        beside(hidden().creates("w-f").deletes("w-f").let_go(fault=2).idle(2), scaled),
        "PASS",
    ),
    "goes on scaling down": (beside(half_down().deletes("w-b").idle(2), down), "PASS"),
    "a pause is no new life": (paused(), "NOT_EXERCISED"),
    "a delete in an earlier step than usual": (beside(slept(), lambda script: three(script).deletes("w-a")), "PASS"),
    "another fault may explain the end": (
        late(also_held().creates("w-b")),
        f"{UNSURE.format('2 pods')} Hold fired, too, and may explain that",
    ),
    "it has written nothing yet": (
        late(killed("w-a").idle(1)),
        f"{UNSURE.format('1 pod')} 11.6 s after its last start it may still wait to be elected",
    ),
    "the second apply met the dying widget": (
        beside(blind().terminating("w", WIDGETS).applied("w", spec=1).creates("w-d").idle(2), three_renewed),
        f"INCONCLUSIVE: {TOO_MANY.format('d', '4th')}, but the workload created {WIDGETS}/w 1 times and 2 times in fault-free runs",
    ),
    # nothing is proven without a restart behind which there is work
    "nothing happened": (Script(RESTART), "NOT_EXERCISED"),
    "no restart": (three(Script(RESTART)).idle(2), "NOT_EXERCISED"),
    "nothing done before": (three(Script(RESTART).dies().lives_again()), "NOT_EXERCISED"),
    "nothing done at all": (applied(Script(RESTART)).dies().lives_again().stuck(30.0), "FAIL"),
    "no primary shown since": (blind(), "NOT_EXERCISED"),
    # what a controller writes that creates nothing is its work
    "reported before": (
        beside(touched(reported(Script(RESTART)).dies().lives_again()).idle(2), reported),
        "NOT_EXERCISED: it writes nothing but status, which honest-status judges",
    ),
    "reported before, and creates, too": (
        beside(grown(touched(reported(Script(RESTART)).dies().lives_again())), lambda script: grown(touched(reported(script)))),
        "NOT_EXERCISED",
    ),
    "the owner is not in the list": (begun().dies().lives_again(past={WIDGETS: {}}).step(2, "touch"), "NOT_EXERCISED"),
}


test_verdict = verdicts(SURVIVES_RESTART, CASES, two_references(three))
