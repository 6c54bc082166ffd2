"""path-independent: what the way there may leave, and what it may not."""

from staleproof.checks.rules.pace import PATH_INDEPENDENT
from staleproof.core.plan.manifest import Target
from staleproof.core.plan.step import Apply, Patch

from ...rule_cases import verdicts
from ...script import HOLD, Script, trial

WIDGET = Apply(object={"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"on": True}})
OFF, ON = (Patch(target=Target("example.com/v1", "Widget", "w"), patch={"spec": {"on": value}}) for value in (False, True))


def moved(script: Script) -> Script:
    """It makes a pod, and another one when it is moved."""
    return script.step(1, "apply").applied("w").creates("w-a").idle(1).step(2, "off").applied("w").creates("w-b").idle(2)


def there_and_back(*, leaves: bool) -> Script:
    script = moved(Script(steps=(WIDGET, OFF, ON), role="trial")).step(3, "on").applied("w")
    return (script if leaves else script.deletes("w-b")).idle(3).released().settled()


def released_thrice() -> Script:
    """It installs a chart, and upgrades it for each state."""
    script = Script(steps=(WIDGET, OFF, ON), role="trial")
    for number in (1, 2, 3):
        labels = {"owner": "helm", "name": "w", "version": str(number)}
        name, kind = f"sh.helm.release.v1.w.v{number}", "helm.sh/release.v1"
        script.step(number, "apply").applied("w")
        script.creates(name, resource="secrets", generated="", type=kind, metadata={"labels": labels}).idle(number)
    return script.released().settled()


def numbered(*steps: int, path: str = "annotations") -> Script:
    """It makes a numbered record in each of these steps."""
    script = Script(steps=(WIDGET, OFF, ON), role="trial")
    for number in (1, 2, 3):
        script.step(number, "apply").applied("w")
        for made in range(sum(step < number for step in steps), sum(step <= number for step in steps)):
            marks = {path: {"example.com/revision": str(made + 1)}}
            script.creates(f"w-{made}", resource="configmaps", generated="", metadata=marks)
        script.idle(number)
    return script.released().settled()


NOTHING = "NOT_EXERCISED: nothing was changed and changed back without any fault"
CASES = {
    "leaves one": (
        there_and_back(leaves=True),
        "FAIL: when it was asked for what it had been asked for at first, the number of pods was 2 and not 1 (w-b)",
    ),
    "keeps a record of each Helm release": (released_thrice(), "PASS"),
    "keeps a numbered record of each change": (numbered(1, 2, 3), "PASS"),
    "numbers them in a label": (numbered(1, 2, 3, path="labels"), "PASS"),
    "leaves a numbered one that the way back does not bring": (numbered(1, 2), "FAIL"),
    "leaves two that came at once": (numbered(1, 2, 2), "FAIL"),
    "takes it away": (there_and_back(leaves=False), "PASS"),
    "nothing came back": (trial().step(1, "apply").applied("w").creates("w-a").idle(1).released().settled(), NOTHING),
    "under a fault": (
        moved(Script(HOLD, steps=(WIDGET, OFF, ON))).step(3, "on").applied("w").idle(3).released().settled(),
        NOTHING,
    ),
}


test_verdict = verdicts(PATH_INDEPENDENT, CASES)
