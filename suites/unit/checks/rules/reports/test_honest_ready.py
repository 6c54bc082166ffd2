"""honest-ready: which controllers it accuses, which it does not, and when it knows nothing."""

from typing import Any

from staleproof.checks.rules.reports import HONEST_READY

from ...rule_cases import Cases, verdicts
from ...script import Script, beside, trial, two_references

NEVER_TOLD = "NOT_EXERCISED: the controller reports neither Ready nor Available for a generation"
NOT_HIDDEN = "NOT_EXERCISED: there was no new generation to act on while its children, or it, were hidden from the controller"


def early(condition: str = "Ready") -> str:
    return (
        f"FAIL: widget/ns/w said {condition} for generation 2 with never more than 2 live pods since; fault-free runs had 3 "
        "by then, though it had done nothing for that generation, and news of pods was kept from it"
    )


def says(generation: int, condition: str) -> dict[str, Any]:
    """A status as a whole."""
    return {"observedGeneration": generation, "conditions": [{"type": condition, "status": "True"}]}


# --- workloads


def began(script: Script) -> Script:
    return script.step(1, "apply").wants(2).creates("w-a", "w-b").says(1, ready=1).idle(1)


def scaled(script: Script) -> Script:
    """Two pods, then three."""
    return began(script).step(2, "scale").wants(3).creates("w-c").says(2, ready=2).idle(2)


def scaled_whole(script: Script) -> Script:
    """The condition names no generation, the whole status does."""
    return began(script).step(2, "scale").wants(3).creates("w-c").updates("w", status=says(2, "Available"))


def never_ready(script: Script) -> Script:
    return script.wants(2).creates("w-a").says(1)


def eager(script: Script) -> Script:
    """It says so and acts then."""
    return began(script).step(2, "scale").wants(3).says(2, ready=2).creates("w-c")


def helped(script: Script) -> Script:
    """Others make the children."""
    return began(script).step(2, "scale").wants(3).made("w-c").says(2, ready=2)


def shrunk(script: Script) -> Script:
    return began(script).step(2, "scale").wants(1).deletes("w-b").says(2, ready=2)


def nested(script: Script) -> Script:
    return began(script).step(2, "rs").made("rs", "replicasets.apps", metadata={"generation": 1})


def owned(script: Script) -> Script:
    nested(script).gets("rs", "replicasets.apps").creates("rs-a", owner="rs")
    return script.updates("rs", "replicasets.apps", status=says(1, "Ready"))


def quorum(script: Script, *, acts: bool = True, hidden: bool = False) -> Script:
    """Three generations, of which each wants one more; Ready means a quorum, and stays as it is. With expectations it makes nothing
    while its own creates are hidden, and writes the status all the same."""
    script.step(1, "apply").wants(2).creates("w-a", "w-b").updates("w", status=says(1, "Ready")).idle(1).step(2, "scale")
    script = (script.hold() if hidden else script).wants(3).creates("w-c").updates("w", status=says(2, "Ready")).idle(2)
    script.step(3, "scale").wants(4)
    return script.creates("w-d").updates("w", status=says(3, "Ready")).idle(3) if acts else script


# --- trials


def held() -> Script:
    """Its own pods are hidden when a third is wanted."""
    return trial().step(1, "apply").wants(2).hold().creates("w-a", "w-b").says(1, ready=1).idle(1).step(2, "scale").wants(3)


def too_early() -> Script:
    return held().says(2, ready=2).let_go().creates("w-c")


def waiting(**condition: str) -> Script:
    """Its last create is hidden, and it carries Ready along, with this changed."""
    return carried_along(quorum(trial(), acts=False, hidden=True), **condition).let_go().creates("w-d")


def waiting_for_nothing() -> Script:
    """Another user's pod is hidden, and none of its own."""
    return carried_along(quorum(trial(), acts=False).hold().applied("x", "pods")).let_go().creates("w-d")


def carried_along(script: Script, **condition: str) -> Script:
    status = says(3, "Ready")
    return script.updates("w", status=status | {"conditions": [status["conditions"][0] | condition]}).idle(3)


CASES: Cases = {
    "leaves the condition as it is while it waits for its own creates": (beside(waiting(), quorum), "PASS"),
    "says it anew while it waits for its own creates": (beside(waiting(reason="Scaled"), quorum), "FAIL"),
    "leaves the condition as it is, and waits for nothing of its own": (beside(waiting_for_nothing(), quorum), "FAIL"),
    "says so for a generation it has done nothing for": (too_early(), early()),
    "waits until it has seen them": (held().let_go().creates("w-c").says(2, ready=2), "PASS"),
    "says until then that it has observed it": (held().says(2).let_go().creates("w-c").says(2, ready=2), "PASS"),
    "never says so again": (held().let_go().creates("w-c"), "PASS"),
    # --- nothing is proven without a new generation under a hold
    "nothing was hidden": (began(trial()).step(2, "scale").wants(3).creates("w-c").says(2, ready=2), NOT_HIDDEN),
    "no new generation": (began(trial()).hold().step(2, "touch").applied("w").let_go(), NOT_HIDDEN),
    # --- innocent, though it looks suspicious
    "what it created itself is there although unseen": (held().creates("w-c").says(2, ready=2).let_go(), "PASS"),
    "children that had become so unseen are the truth": (held().made("w-x").says(2, ready=2).let_go(), "PASS"),
    "one that acted may have its own idea of Ready": (
        held().refused("create", "w-c", "Forbidden").says(2, ready=2).let_go().creates("w-c"),
        "PASS",
    ),
    "not staleness: nothing was hidden": (began(trial()).step(2, "scale").wants(3).says(2, ready=2).creates("w-c"), NOT_HIDDEN),
    "what it carries along is not said again": (
        held().updates("w", status={"conditions": []}).let_go().creates("w-c"),
        "PASS",
    ),
    "what another says is not its word": (held().applied("w", status=says(2, "Ready")).let_go().creates("w-c"), "PASS"),
    # --- other workloads
    "the generation of the whole status will do": (
        beside(held().updates("w", status=says(2, "Available")).let_go().creates("w-c"), scaled_whole),
        early("Available"),
    ),
    "it never says so": (beside(held().says(2).let_go().creates("w-c"), never_ready), NEVER_TOLD),
    "references that said so with fewer set the measure": (beside(too_early(), eager), "PASS"),
    "one reference that said so with fewer is enough": (beside(too_early(), scaled, eager), "PASS"),
    "scaling down leaves more than enough": (
        beside(began(trial()).hold().made("x").step(2, "scale").wants(1).says(2, ready=2).let_go().deletes("w-b"), shrunk),
        NOT_HIDDEN,
    ),
    "only the workload's own objects are judged": (
        beside(nested(trial()).hold().made("x").updates("rs", "replicasets.apps", status=says(1, "Ready")).let_go(), owned),
        NOT_HIDDEN,
    ),
    "references in which others made the children set no measure": (beside(held().says(2, ready=2).let_go(), helped), "PASS"),
}


test_verdict = verdicts(HONEST_READY, CASES, two_references(scaled))
