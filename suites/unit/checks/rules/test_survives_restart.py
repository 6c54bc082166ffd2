"""survives-restart: whom it accuses, whom it does not, and when it knows nothing."""

from collections.abc import Mapping

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules.survives_restart import REQUIREMENT
from staleproof.checks.trial import Trial
from staleproof.core.entry import Continued, Stopped
from staleproof.core.fault import Kill, Pause

from ..life_script import PAST, RESTART, AnyScript, LifeScript, three, tried
from ..script import HOLD, WIDGETS, Script, told

# --- workloads -------------------------------------------------------------------------------------------------------------------


def applied(script: AnyScript, *names: str, generated: str = "w-") -> AnyScript:
    return script.step(1, "apply").applied("w", spec=3).creates(*names, generated=generated)


def touched(script: AnyScript) -> AnyScript:
    return script.step(2, "touch").applied("w")


def named(script: AnyScript) -> AnyScript:
    return touched(applied(script, "w-0", "w-1", generated="").idle(1))


def scaled(script: Script) -> Script:
    return three(script).applied("w", spec=5).creates("w-d", "w-e")


def down(script: Script) -> Script:
    """Other pods go in each reference."""
    return three(script).applied("w", spec=1).deletes("w-c", "w-a" if script.namespace == "ref-2" else "w-b")


def again(script: Script) -> Script:
    """The widget is deleted and made again."""
    return three(script).deletes("w-a", "w-b", "w-c").removed("w", WIDGETS).applied("w", spec=1).creates("w-d")


# --- what was done to the controller ---------------------------------------------------------------------------------------------


def begun() -> LifeScript:
    return applied(LifeScript(RESTART, PAST, HOLD), "w-a", "w-b", "w-c").idle(1)


def restarted(*, past: Mapping[str, Mapping[str, int]] | None = None, removed: str = "") -> LifeScript:
    script = begun().dies()
    return touched((script.removed(removed) if removed else script).lives_again(past=past))


def blind() -> LifeScript:
    """The new life lists nothing."""
    return begun().dies().restarted().step(2, "touch")


def killed(*names: str) -> LifeScript:
    """It is killed over its last create."""
    return applied(LifeScript(Kill(resource="pods")), *names).loses_the_answer().dies().lives_again()


def late(script: AnyScript) -> Trial:
    return tried(touched(script).idle(2).released().passes(10))


def also_held() -> LifeScript:
    """Another fault fired, too."""
    script = LifeScript(RESTART, HOLD).step(1, "apply").applied("w", spec=3).hold(fault=1).creates("w-a").fires(1)
    return script.let_go(fault=1).dies().lives_again()


def asked_again() -> LifeScript:
    """It is shown no children and asks for the same names."""
    script = applied(LifeScript(RESTART, PAST), "w-0", "w-1", generated="").dies().lives_again(past={"pods": {}})
    return touched(script.refused("create", "w-0", "AlreadyExists").refused("create", "w-1", "AlreadyExists"))


def hidden() -> LifeScript:
    """The new life's own creates are hidden."""
    return restarted().hold(fault=2).applied("w", spec=5).creates("w-d", "w-e").applied("w")


def half_down() -> LifeScript:
    return touched(begun()).applied("w", spec=1).deletes("w-c").dies().lives_again()


def slept() -> LifeScript:
    """Its own timer ran out while the process was down."""
    return touched(begun().dies().passes(30).lives_again().deletes("w-a").idle(1)).idle(2)


def paused() -> Script:
    script = three(LifeScript(Pause())).adds(Stopped, life=1, paused=True, fault=0)
    return script.adds(Continued, life=1).fires().idle(2)


# --- verdicts --------------------------------------------------------------------------------------------------------------------

TOO_MANY = "restarted, the controller made pod/ns/w-{} the {} live pod of widget/w; fault-free runs never had more than 3 by then"
REPEATED = f"{TOO_MANY}, though it had {{}}been shown the 3 that it had created in an earlier life"
TOOK_BACK = (
    "restarted, the controller deleted pod/ns/w-{} of widget/w left, fault-free runs kept 3, "
    "though an earlier life had created it, and no fault-free run took it back"
)
UNSURE = "INCONCLUSIVE: it did not converge ({} of widget/w, fault-free runs ended with 3), but"
CASES = {
    "makes everything again because it lists no children": (
        "FAIL: " + "\n".join(REPEATED.format(*which, "not ") for which in (("d", "4th"), ("e", "5th"), ("f", "6th"))),
        tried(blind().applied("w").creates("w-d", "w-e", "w-f").idle(2)),
    ),
    "is shown an old list of children and makes them again": (
        f"FAIL: {REPEATED.format('d', '4th', 'not ')}",
        tried(restarted(past={"pods": {}}).creates("w-d")),
    ),
    "keeps the names of its children in memory, and the second ones stay": (
        f"FAIL: {REPEATED.format('d', '4th', '')}",
        tried(restarted().creates("w-d").idle(2)),
    ),
    "takes what it finds for orphans": (
        f"FAIL: {TOOK_BACK.format('a: 2 live pods')}\n{TOOK_BACK.format('b: 1 live pod')}",
        tried(restarted().deletes("w-a", "w-b").creates("w-d", "w-e").idle(2)),
    ),
    "does not go on where it was killed": (
        "FAIL: after it was restarted: 2 pods of widget/w, fault-free runs ended with 3",
        late(killed("w-a").creates("w-b").idle(1)),
    ),
    # innocent, though it looks suspicious
    "finds everything done": ("PASS", tried(restarted().idle(2))),
    "goes on where it was killed": ("PASS", tried(touched(killed("w-a", "w-b").creates("w-c").idle(1)).idle(2))),
    "asks for deterministic names again": ("PASS", tried(asked_again(), named)),
    "replaces what was lost while it was down": ("PASS", tried(restarted(removed="w-a").creates("w-d"))),
    "rolls out in another order": ("PASS", tried(restarted().creates("w-d").deletes("w-a").idle(2))),
    "has not seen creates of the same life": (
        "PASS",
        tried(hidden().creates("w-f").deletes("w-f").let_go(fault=2).idle(2), scaled),
    ),
    "goes on scaling down": ("PASS", tried(half_down().deletes("w-b").idle(2), down)),
    "a pause is no new life": ("NOT_EXERCISED", tried(paused())),
    "a delete in an earlier step than usual": ("PASS", tried(slept(), lambda script: three(script).deletes("w-a"))),
    "another fault may explain the end": (
        f"{UNSURE.format('2 pods')} Hold fired, too, and may explain that",
        late(also_held().creates("w-b")),
    ),
    "it has written nothing yet": (
        f"{UNSURE.format('1 pod')} 11.6 s after its last start it may still wait to be elected",
        late(killed("w-a").idle(1)),
    ),
    "the second apply met the dying widget": (
        f"INCONCLUSIVE: {TOO_MANY.format('d', '4th')}, but the workload created {WIDGETS}/w 1 times and 2 times in fault-free runs",
        tried(blind().terminating("w", WIDGETS).applied("w", spec=1).creates("w-d").idle(2), again),
    ),
    # nothing is proven without a restart behind which there is work
    "nothing happened": ("NOT_EXERCISED", tried(LifeScript(RESTART))),
    "no restart": ("NOT_EXERCISED", tried(three(LifeScript(RESTART)).idle(2))),
    "nothing done before": ("NOT_EXERCISED", tried(LifeScript(RESTART).dies().lives_again())),
    "no primary shown since": ("NOT_EXERCISED", tried(blind())),
    "the owner is not in the list": ("NOT_EXERCISED", tried(begun().dies().lives_again(past={WIDGETS: {}}).step(2, "touch"))),
}


@pytest.mark.parametrize(("words", "trial"), CASES.values(), ids=CASES)
def test_verdict(words: str, trial: Trial) -> None:
    assert told(verdict_of(REQUIREMENT, trial), words) == words
