"""Annotations that count, and those that only look as if they did."""

from typing import Any

from staleproof.checks.rules.ends import CONVERGES_AFTER_CATCH_UP

from ..rule_cases import Cases, verdicts
from ..script import WIDGETS, Script, beside
from .test_equivalents import late, rejecting


def counting(script: Script, *, pods: int, down: bool = False) -> Script:
    """An annotation says how many pods it has ever made; in the end there are two."""
    script.step(1, "apply").applied("w", spec={"n": 2})
    for number in range(1, pods + 1):
        counted(script, number).creates(f"w-{number}")
    for number in range(1, pods - 1):
        script.deletes(f"w-{number}")
    if down:
        counted(script, 2)
    return script.idle(1).step(2, "touch").applied("w").idle(2)


def counted(script: Script, number: int) -> Script:
    return script.updates("w", subresource="", metadata=annotated(script, number))


def annotated(script: Script, number: int) -> dict[str, object]:
    known: dict[str, object] = script._objects[WIDGETS, "w"]["metadata"]
    return known | {"annotations": {"example.com/made": str(number)}}


def revised(script: Script, *first: str, second: str = "2", past: str = "") -> Script:
    """Two ConfigMaps, of which annotations say how often one of them came into force, and when else; what their owner asks for has
    such numbers, too, by chance."""
    script.step(1, "apply").applied("w", spec={"kept": 2, "n": 1}).creates("w-a", "w-b", resource="configmaps", generated="")
    revise(script, "w-a", first[0])
    revise(script, "w-b", second)
    script.idle(1).step(2, "touch").applied("w")
    for number in first[1:]:
        revise(script, "w-a", number, past or first[0])
    return script.idle(2)


def revise(script: Script, name: str, number: str, past: str = "") -> Script:
    known = script._objects["configmaps", name]["metadata"]
    said = {"example.com/revision": number} | ({"example.com/revision-history": past} if past else {})
    return script.updates(name, "configmaps", subresource="", metadata=known | {"annotations": said})


def following(script: Script, *, stale: bool = False, anew: bool = False) -> Script:
    """A ConfigMap says in an annotation how much its owner asks for, which becomes more."""
    made: dict[str, Any] = {"resource": "configmaps", "generated": "", "spec": {"least": 1, "most": 2}}
    script.step(1, "apply").applied("w", spec={"n": 1}).creates("w-a", **made)
    revise(script, "w-a", "1").idle(1).step(2, "touch").applied("w", spec={"n": 2})
    if anew:
        script.deletes("w-a", resource="configmaps").creates("w-a", **made)
    return revise(script, "w-a", "1" if stale else "2").idle(2)


def repeating(script: Script, *, stale: bool = False) -> Script:
    """Each of two ConfigMaps says in an annotation what another field of its own spec is; one of these changes."""
    script.step(1, "apply").applied("w", spec={"n": 7})
    for name, spec in {"w-a": {"small": 3}, "w-b": {"big": 4}}.items():
        revise(script.creates(name, resource="configmaps", generated="", spec=spec), name, str(*spec.values()))
    script.updates("w-b", "configmaps", subresource="", spec={"big": 5})
    return (script if stale else revise(script, "w-b", "5")).idle(1).step(2, "touch").applied("w").idle(2)


def remembering(script: Script, last: str) -> Script:
    script.step(1, "apply").applied("w", spec={"n": 7}).creates("w-a", resource="configmaps", generated="")
    for number, past in {"1": "1", "2": "1,2", "3": last}.items():
        revise(script, "w-a", number, past)
    return script.idle(1).step(2, "touch").applied("w").idle(2)


def named_alike(script: Script, *, stale: bool = False) -> Script:
    """`revision` counts, and what is called `revision-history` repeats what the owner asks for."""
    script.step(1, "apply").applied("w", spec={"n": 1}).creates(
        "w-a", resource="configmaps", generated="", spec={"n": 1, "most": 2}
    )
    revise(revise(script, "w-a", "1", "1"), "w-a", "2", "1").idle(1).step(2, "touch").applied("w", spec={"n": 2})
    return revise(script, "w-a", "3", "1" if stale else "2").idle(2)


def tally(script: Script, *numbers: str, spec: dict[str, int]) -> Script:
    script.step(1, "apply").applied("w", spec=spec).creates("w-a", resource="configmaps", generated="")
    for number in numbers:
        revise(script, "w-a", number)
    return script.idle(1).step(2, "touch").applied("w").idle(2)


CASES: Cases = {
    "fewer made on the way": (
        beside(late(counting(rejecting().fires(), pods=3)), lambda script: counting(script, pods=4)),
        "PASS",
    ),
    "a number that falls": (
        beside(late(counting(rejecting().fires(), pods=3)), lambda script: counting(script, pods=4, down=True)),
        "FAIL",
    ),
    "a number that is what the spec asks for": (
        beside(late(counting(rejecting().fires(), pods=3)), lambda script: counting(script, pods=2)),
        "FAIL",
    ),
    "once more in force": (
        beside(late(revised(rejecting().fires(), "1", "3")), lambda script: revised(script, "1")),
        "PASS",
    ),
    "once less in force": (
        beside(late(revised(rejecting().fires(), "1")), lambda script: revised(script, "1", "3")),
        "PASS",
    ),
    "a past that it never had": (
        beside(late(revised(rejecting().fires(), "1", "3", past="7")), lambda script: revised(script, "1", "3")),
        "FAIL",
    ),
    "an old copy of what its owner asks for": (beside(late(following(rejecting().fires(), stale=True)), following), "FAIL"),
    "an old copy, and its object was replaced": (
        beside(late(following(rejecting().fires(), stale=True, anew=True)), lambda script: following(script, anew=True)),
        "FAIL",
    ),
    "old copies of a field of its own": (beside(late(repeating(rejecting().fires(), stale=True)), repeating), "FAIL"),
    "a number that its owner has, too, by chance": (
        beside(late(tally(rejecting().fires(), "1", "2", spec={"n": 1})), lambda script: tally(script, "1", spec={"n": 1})),
        "PASS",
    ),
    "a number like that of all the things that are looked at": (
        beside(
            late(tally(rejecting().fires(), "1", "2", "3", spec={"n": 9})), lambda script: tally(script, "1", "2", spec={"n": 9})
        ),
        "PASS",
    ),
    "a past that was lost": (
        beside(late(remembering(rejecting().fires(), "1")), lambda script: remembering(script, "1,2")),
        "FAIL",
    ),
    "a copy that is called like a number": (beside(late(named_alike(rejecting().fires(), stale=True)), named_alike), "FAIL"),
}
test_verdict = verdicts(CONVERGES_AFTER_CATCH_UP, CASES)
