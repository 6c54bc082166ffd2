"""Ends that are not like the references', and as good; and those that look like them, and are not."""

from typing import Any

from staleproof.checks.rules.ends import CONVERGES_AFTER_CATCH_UP, TOLERATES_SKEW
from staleproof.checks.trial import Trial
from staleproof.core.fault import HoldStream, Kill, Reject
from staleproof.core.plan.but_for import final_only
from staleproof.core.plan.step import Delete, Rest

from ..draft import STEPS
from ..rule_cases import Cases, verdicts
from ..script import WIDGETS, Script, beside

REJECTS = Reject(resource="*", verb="create", times=None)


def late(script: Script) -> Script:
    return script.released().passes(300)


def rejecting() -> Script:
    return Script(REJECTS)


# --- numbers


def numbered(script: Script, *, spoilt: str = "") -> Script:
    """Each pod has the next number, which is written down before the pod is made."""
    number = 0

    def next_number() -> int:
        nonlocal number
        number += 1
        script.updates("w", status={"latest": number})
        return number

    script.step(1, "apply").applied("w", spec=3)
    for pod in range(3):
        if pod == 1 and spoilt == "rejected":
            next_number()
            script.rejected("create", "pods").passes(5.0)
        if pod == 1 and spoilt == "killed":
            next_number()
            script.dies().lives_again()
        script.creates(f"w-{next_number()}", generated="")
    return script.idle(1).step(2, "touch").applied("w").idle(2)


def annotated(script: Script, *, spoilt: str = "", too_high: int = 0) -> Script:
    """The same, and the last number stands in an annotation, where it is as high as what the spec asks for."""
    script.step(1, "apply").applied("w", spec={"replicas": 3})
    if spoilt:
        script.rejected("create", "pods").passes(5.0)
    last = 4 if spoilt else 3
    script.creates(*(f"w-{number}" for number in range(last - 2, last + 1)), generated="")
    known = script._objects[WIDGETS, "w"]["metadata"]
    script.updates("w", subresource="", metadata=known | {"annotations": {"example.com/latest": str(last + too_high)}})
    return script.idle(1).step(2, "touch").applied("w").idle(2)


def wanting(script: Script, *, spoilt: str = "") -> Script:
    """It notes how many the user wants, and where it was rejected what that was before; the last number is the same by chance."""
    script.step(1, "apply").applied("w", spec={"replicas": 4})
    if spoilt:
        script.rejected("create", "pods").passes(5.0)
    last = 4 if spoilt else 3
    script.idle(1).step(2, "scale").applied("w", spec={"replicas": 3})
    script.creates(*(f"w-{number}" for number in range(last - 2, last + 1)), generated="")
    known = script._objects[WIDGETS, "w"]["metadata"]
    return script.updates("w", subresource="", metadata=known | {"annotations": {"example.com/wanted": str(last)}}).idle(2)


def named(script: Script, *names: str) -> Script:
    return script.step(1, "apply").applied("w", spec=3).creates(*names, generated="").idle(1).step(2, "touch").applied("w").idle(2)


def three(script: Script) -> Script:
    return named(script, "w-0", "w-1", "w-2")


# --- what was there before


def marking(script: Script, *, marks: bool = True) -> Script:
    """A user changes a ConfigMap that was there before, and changes it back; the controller marks it."""
    script.had("x", "configmaps", data={"a": "1"}).step(1, "apply")
    script.applied("x", "configmaps", data={"a": "2"}).applied("x", "configmaps", data={"a": "1"})
    script.applied("w", spec={"n": 1}).creates("w-a", resource="secrets", generated="")
    known = script._objects["configmaps", "x"]["metadata"]
    if marks:
        marked = known | {"annotations": {"example.com/used-by": "w"}}
        script.updates("x", "configmaps", subresource="", metadata=marked)
    return script.idle(1).step(2, "touch").applied("w").idle(2)


def borrowing(script: Script, *, deletes: bool = False) -> Script:
    """The controller marks a ConfigMap that was there before, and puts it back; or it deletes that."""
    script.had("x", "configmaps", data={"a": "1"}).step(1, "apply").applied("w", spec={"n": 1})
    script.creates("w-a", resource="secrets", generated="")
    known = script._objects["configmaps", "x"]["metadata"]
    script.updates("x", "configmaps", subresource="", metadata=known | {"annotations": {"example.com/used-by": "w"}})
    if deletes:
        script.deletes("x", resource="configmaps")
    else:
        script.updates("x", "configmaps", subresource="", metadata=known)
    return script.idle(1).step(2, "touch").applied("w").idle(2)


def owned(script: Script, *phases: str, makes: bool = True) -> Script:
    """A ConfigMap that was there before owns a Secret that the controller makes; a companion says in it what it is about."""
    script.had("x", "configmaps", data={"a": "1"}, status={"phase": "a"}).step(1, "apply").applied("w", spec={"n": 1})
    owner = {"kind": "ConfigMap", "name": "x", "uid": script._objects["configmaps", "x"]["metadata"]["uid"], "controller": True}
    if makes:
        script.creates("s", resource="secrets", generated="", owner="", metadata={"ownerReferences": [owner]})
    for phase in phases:
        script.applied("x", "configmaps", status={"phase": phase})
    return script.creates("w-a", resource="secrets", generated="").idle(1).step(2, "touch").applied("w").idle(2)


# --- what is free


def exposed(script: Script, *, in_order: bool = True, same: bool = False) -> Script:
    """Two widgets, each with a Service that has a port of its own: the first one that is free."""
    script.names = ("w", "v")
    script.step(1, "apply").applied("w", spec=1)
    if in_order:
        service(script, "w", 30000).idle(1).step(2, "apply").applied("v", spec=1)
        return service(script, "v", 30000 if same else 30001).idle(2)
    script.rejected("create", "services").step(2, "apply").applied("v", spec=1)
    return service(service(script, "v", 30000).passes(4.0), "w", 30001).idle(2)


def noted(script: Script, *, in_order: bool = True) -> Script:
    """The same, and the controller notes each port in its widget, which a user touches afterwards."""
    exposed(script, in_order=in_order)
    for name in script.names:
        script.updates(name, status=script._objects["services", f"{name}-s"]["spec"])
    for name in script.names:
        script.applied(name, metadata=script._objects[WIDGETS, name]["metadata"] | {"annotations": {"touched": "again"}})
    return script


def service(script: Script, owner: str, port: int) -> Script:
    return script.creates(f"{owner}-s", resource="services", owner=owner, generated="", spec={"port": port})


RENEWED = (STEPS[0], Delete(target=STEPS[1].target), STEPS[0], Rest(seconds=5.0))


def addressed(script: Script, *, hidden: bool = False) -> Script:
    """A widget with an address is made anew; it may be hidden that the address of the first one is free again."""
    address(script.step(1, "apply").applied("w", spec=1), "w-x", 1).idle(1)
    if hidden:
        script.hold("configmaps")
    script.step(2, "delete").removed("w", WIDGETS).removed(script._generated.get(("configmaps", "w-x"), "w-x"), "configmaps").idle(
        2
    )
    address(script.step(3, "apply").applied("w", spec=1), "w-y", 2 if hidden else 1).idle(3)
    if hidden:
        script.let_go("configmaps")
    return script.step(4, "rest").idle(4)


def address(script: Script, name: str, number: int) -> Script:
    return script.creates(name, resource="configmaps", spec={"address": f"10.0.0.{number}"})


def applied_once(script: Script) -> Script:
    return address(script.step(1, "apply").applied("w", spec=1), "w-y", 1).idle(1)


def with_addresses() -> Trial:
    trial = late(addressed(Script(HoldStream(resource="configmaps"), steps=RENEWED), hidden=True))
    plan = final_only(trial.plan)
    assert plan is not None
    runs = [addressed(Script(steps=RENEWED, namespace=f"ref-{number}")) for number in range(1, 7)]
    runs.append(applied_once(Script(steps=plan.steps, namespace="ref-7", role="final")))
    return Trial(trial.ends(), tuple(run.ends() for run in runs))


def configured(script: Script, *numbers: int) -> Script:
    """A ConfigMap says what the widget asks for, or what it asked for before."""
    script.step(1, "apply").applied("w", spec={"n": 2}).creates("w-c", resource="configmaps", generated="", data={"n": "2"}).idle(1)
    script.step(2, "change").applied("w", spec={"n": 3})
    for number in numbers:
        script.updates("w-c", "configmaps", subresource="", data={"n": str(number)})
    return script.idle(2)


def limited(script: Script, number: int) -> Script:
    """Two ConfigMaps say the same number, or one of them another one."""
    script.step(1, "apply").applied("w", spec=2).creates("w-a", resource="configmaps", generated="", data={"limit": "30"})
    if number == 40:
        script.rejected("create", "configmaps")
    script.creates("w-b", resource="configmaps", generated="", data={"limit": str(number)})
    return script.idle(1).step(2, "touch").applied("w").idle(2)


def placed(script: Script, *zones: str, classes: tuple[str, str] = ("a", "a"), notes: bool = False) -> Script:
    """Two widgets of these classes, each in a zone of its own: a pod says which, or a note in the widget."""
    script.names = ("w", "v")
    script.step(1, "apply")
    for name, zone, wish in zip(script.names, zones, classes, strict=True):
        script.applied(name, spec={"class": wish}).creates(
            f"{name}-0", owner=name, generated="", spec={} if notes else {"in": zone}
        )
        if notes:
            known = script._objects[WIDGETS, name]["metadata"]
            script.updates(name, subresource="", metadata=known | {"annotations": {"example.com/zone": zone}})
    return script.idle(1).step(2, "touch").applied("w").idle(2)


def in_zones(*zones: str, usual: tuple[str, str] = ("red", "blue"), **fields: Any) -> Trial:  # noqa: ANN401
    return beside(late(placed(rejecting().fires(), *zones, **fields)), lambda script: placed(script, *usual, **fields))


def stamped(script: Script, *, skips: int = 0, says: int | None = None, stamps: int = 3) -> Script:
    """The controller completes the spec after each change, which makes a generation of its own, and says in its pod which one that
    is made for. It skips one of the changes, or says at last another number, or stamps the first ones only."""
    generation = 0
    for change in (1, 2, 3):
        generation += 1
        script.step(change, "change")
        want(script, generation, wanted=change)
        if change != skips:
            generation += 1
            want(script, generation, completed=change)
            if change <= stamps:
                stamp(script, generation if says is None or change < 3 else says)
        script.idle(change)
    return script


def want(script: Script, generation: int, **spec: int) -> Script:
    """The user changes the spec, or the controller does."""
    old = script._objects.get((WIDGETS, "w"), {"metadata": {}, "spec": {}})
    fields = {"metadata": old["metadata"] | {"generation": generation}, "spec": old["spec"] | spec}
    return script.applied("w", **fields) if "wanted" in spec else script.updates("w", subresource="", **fields)


def stamp(script: Script, generation: int) -> Script:
    noted = {"annotations": {"example.com/generation": str(generation)}}
    if ("pods", "w-0") not in script._objects:
        return script.creates("w-0", generated="", metadata=noted)
    return script.updates("w-0", "pods", subresource="", metadata=script._objects["pods", "w-0"]["metadata"] | noted)


# --- texts


def listing(script: Script, *names: str, separator: str = ",") -> Script:
    """Pods, and a ConfigMap that lists them in the order in which they were made."""
    script.step(1, "apply").applied("w", spec=3)
    if names[0] != "w-0":
        script.rejected("create", "pods")
    script.creates(*names, generated="")
    text = separator.join(names)
    script.creates("w-list", resource="configmaps", generated="", data={"members": text})
    return script.idle(1).step(2, "touch").applied("w").idle(2)


def text(script: Script, value: str) -> Script:
    script.step(1, "apply").applied("w", spec=3).creates("w-c", resource="configmaps", generated="", data={"text": value})
    return script.idle(1).step(2, "touch").applied("w").idle(2)


def noting(script: Script, *, failures: int = 0, forgets: bool = False) -> Script:
    """It notes in annotations of its primary when it began to make something, and when that failed or succeeded."""
    script.step(1, "apply").applied("w", spec=1)
    for number in range(failures):
        note(script, "pending", number).rejected("create", "configmaps")
        note(script, "failed", number).passes(4.0)
    note(script, "pending", 8).creates("w-c", resource="configmaps", generated="", data={"a": "1"})
    return (script if forgets else note(script, "succeeded", 9)).idle(1).step(2, "touch").applied("w").idle(2)


def note(script: Script, what: str, second: int) -> Script:
    known = script._objects[WIDGETS, "w"]["metadata"]
    noted = known.get("annotations", {}) | {f"example.com/create-{what}": f"2026-01-01T00:00:0{second}Z"}
    return script.updates("w", subresource="", metadata=known | {"annotations": noted})


CASES: Cases = {
    # --- numbers
    "a rejected create has used up a number": (beside(late(numbered(rejecting(), spoilt="rejected")), numbered), "PASS"),
    "a life that ended has used up a number": (
        beside(late(numbered(Script(Kill(resource=WIDGETS)), spoilt="killed")), numbered),
        "PASS",
    ),
    "the last number is in an annotation": (beside(late(annotated(rejecting(), spoilt="rejected")), annotated), "PASS"),
    "a number in an annotation that no name has": (
        beside(late(annotated(rejecting(), spoilt="rejected", too_high=1)), annotated),
        "FAIL",
    ),
    "the last number, which is what the user wanted before": (
        beside(late(wanting(rejecting(), spoilt="rejected")), wanting),
        "FAIL",
    ),
    "one too many": (beside(late(named(rejecting().fires(), "w-0", "w-1", "w-2", "w-3")), three), "FAIL"),
    "one too few": (beside(late(named(rejecting().fires(), "w-0", "w-1")), three), "FAIL"),
    "another number, though nothing failed": (beside(late(named(rejecting().fires(), "w-0", "w-1", "w-3")), three), "FAIL"),
    # --- what was there before
    "deleted, and not put back": (beside(late(borrowing(rejecting().fires(), deletes=True)), borrowing), "FAIL"),
    "changed back by a user, and not marked": (beside(late(marking(rejecting().fires(), marks=False)), marking), "FAIL"),
    "as it was, and an owner": (
        beside(late(owned(rejecting().fires(), "b", "a")), lambda script: owned(script, "b")),
        "PASS",
    ),
    "an owner, and as it was without faults": (
        beside(late(owned(rejecting().fires(), "b")), lambda script: owned(script, "b", "a")),
        "PASS",
    ),
    "as it was, and nothing is made for it": (
        beside(late(owned(rejecting().fires(), "b", "a", makes=False)), lambda script: owned(script, "b", "a")),
        "FAIL",
    ),
    # --- what is free
    "ports in another order": (beside(late(exposed(rejecting(), in_order=False)), exposed), "PASS"),
    "the same, noted in what a user touches": (beside(late(noted(rejecting(), in_order=False)), noted), "PASS"),
    "a port given away twice": (beside(late(exposed(rejecting().fires(), same=True)), exposed), "FAIL"),
    "a number that others have, too": (
        beside(late(limited(rejecting(), 40)), lambda script: limited(script, 30)),
        "FAIL",
    ),
    "an old number that the user asked for": (
        beside(late(configured(rejecting().fires())), lambda script: configured(script, 3)),
        "FAIL",
    ),
    "zones that are exchanged": (in_zones("blue", "red"), "PASS"),
    "zones that are exchanged, noted in the primaries": (in_zones("blue", "red", notes=True), "PASS"),
    "a zone given away twice": (in_zones("red", "red"), "FAIL"),
    "a zone that no one has otherwise": (in_zones("blue", "green"), "FAIL"),
    "names that say whose they are, exchanged": (in_zones("zone-v", "zone-w", usual=("zone-w", "zone-v")), "FAIL"),
    "what may follow from what users asked for, exchanged": (in_zones("blue", "red", classes=("gold", "silver")), "FAIL"),
    "the generation, of which there are fewer": (beside(late(stamped(rejecting().fires(), skips=2)), stamped), "PASS"),
    "a number that is no generation of the owner": (beside(late(stamped(rejecting().fires(), skips=2, says=0)), stamped), "FAIL"),
    "an old generation": (beside(late(stamped(rejecting().fires(), skips=2, stamps=2)), stamped), "FAIL"),
    # --- texts
    "a list in another order": (
        beside(late(listing(rejecting(), "w-1", "w-2", "w-0")), lambda script: listing(script, "w-0", "w-1", "w-2")),
        "PASS",
    ),
    "lines in another order": (
        beside(late(text(rejecting().fires(), "b: 2\na: 1")), lambda script: text(script, "a: 1\nb: 2")),
        "PASS",
    ),
    "JSON with a list in another order": (
        beside(late(text(rejecting().fires(), '{"members": ["b", "a"]}')), lambda script: text(script, '{"members": ["a", "b"]}')),
        "PASS",
    ),
    "JSON that lists another": (
        beside(late(text(rejecting().fires(), '["c", "a"]')), lambda script: text(script, '["a", "b"]')),
        "FAIL",
    ),
    "JSON that lists one less": (
        beside(late(text(rejecting().fires(), '["a"]')), lambda script: text(script, '["a", "b"]')),
        "FAIL",
    ),
    "JSON with values that are exchanged": (
        beside(late(text(rejecting().fires(), '{"a": 2, "b": 1}')), lambda script: text(script, '{"a": 1, "b": 2}')),
        "FAIL",
    ),
    "no JSON, though it begins like it": (
        beside(late(text(rejecting().fires(), '["b", "a"')), lambda script: text(script, '["a", "b"')),
        "FAIL",
    ),
    "JSON that is too deep": (
        beside(late(text(rejecting().fires(), "[" * 100_000)), lambda script: text(script, "[" * 100_001)),
        "FAIL",
    ),
    "values that are exchanged": (
        beside(late(text(rejecting().fires(), "a: 2\nb: 1")), lambda script: text(script, "a: 1\nb: 2")),
        "FAIL",
    ),
    "a note of what failed": (beside(late(noting(rejecting(), failures=2)), noting), "PASS"),
    "a note that is missing": (beside(late(noting(rejecting().fires(), forgets=True)), noting), "FAIL"),
}

test_verdict = verdicts(CONVERGES_AFTER_CATCH_UP, CASES)
test_of_what_is_hidden = verdicts(TOLERATES_SKEW, {"an address that may still be taken": (with_addresses(), "PASS")})
