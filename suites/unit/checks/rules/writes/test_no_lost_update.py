"""no-lost-update: which controllers it accuses, which it does not, and when it knows nothing."""

from functools import partial
from typing import Any

from staleproof.checks.rules.writes import NO_LOST_UPDATE
from staleproof.core.fault import Compete
from staleproof.core.history.entry import Competed

from ...rule_cases import Cases, verdicts
from ...script import NAMESPACE, WIDGETS, Script, beside, trial, two_references

READY, DONE, LATER = ({"type": "Ready", "status": status, "at": at} for at, status in enumerate(("False", "True", "False")))
UP, DOWN = ({"type": "Up", "status": status} for status in ("True", "False"))
OWNERS = [{"kind": "Widget", "name": name, "uid": name} for name in ("one", "two", "three")]
HTTP, HTTPS, QUIC, DNS = ({"name": name, "port": port} for name, port in (("web", 80), ("web", 443), ("web", 8443), ("dns", 53)))
MARK = {"annotations": {"theirs": "1"}}
UNSEEN = "NOT_EXERCISED: the controller never wrote to an object that another user had changed unseen"


def metadata(script: Script, **fields: Any) -> dict[str, Any]:  # noqa: ANN401  # JSON
    """Of the pod, with these."""
    known: dict[str, Any] = script._objects["pods", "w-0"]["metadata"]
    return {key: value for key, value in known.items() if key != "annotations"} | fields


def made(script: Script) -> Script:
    """The controller makes a pod, labelled and with a spec."""
    return script.step(1, "apply").applied("w").creates("w-0", generated="", spec={"a": 1}).idle(1)


def edited(script: Script | None = None) -> Script:
    """Another user annotates it, unseen."""
    script = made(script or trial()).hold()
    return script.applied("w-0", "pods", metadata=metadata(script, **MARK))


def writes(script: Script, **fields: Any) -> Script:  # noqa: ANN401  # JSON
    """The controller writes the whole pod as it knew it, with these."""
    return script.updates("w-0", "pods", subresource="", metadata=metadata(script), **fields)


def keeps(script: Script) -> Script:
    return script.updates("w-0", "pods", subresource="", spec={"a": 2})


def changed() -> Script:
    """Another user sets what the controller had set."""
    return made(trial()).hold().applied("w-0", "pods", spec={"a": 5})


def replaced(*, was_its_own: bool) -> Script:
    """Another user makes a pod anew, and then changes it unseen: one of the controller's, or one that it never wrote."""
    script = made(trial()) if was_its_own else trial().step(1, "apply").applied("w").made("w-0", spec={"a": 1})
    script.removed("w-0").made("w-0", spec={"a": 1}).hold().applied("w-0", "pods", spec={"a": 5})
    return script.updates("w-0", "pods", subresource="", spec={"a": 1}).let_go()


def undone() -> Script:
    """The user changes the widget, unseen, and the controller writes the one that it knows."""
    script = made(trial()).applied("w", spec={"a": 1}).hold(WIDGETS).applied("w", spec={"a": 2})
    return script.updates("w", subresource="", spec={"a": 1})


def drops(script: Script) -> Script:
    """What the controller does without faults, too."""
    made(script)
    return writes(script.applied("w-0", "pods", metadata=metadata(script, **MARK)), spec={"a": 2})


def blind(script: Script) -> Script:
    """Another user annotates it while its stream is cut: nothing shows that."""
    made(script)._streams.pop("pods")
    return writes(script.applied("w-0", "pods", metadata=metadata(script, **MARK)), spec={"a": 2})


def competed(*, refused: bool = False, subresource: str = "", verb: str = "update", executed: bool = False) -> Script:
    """Another user writes to the pod just before the controller's write is forwarded, and leaves no trace; `executed`: just after,
    as far as the history says."""
    script = made(Script(Compete(resource="pods")))
    known = script._objects["pods", "w-0"]
    script._ask(verb, "pods", "w-0", subresource=subresource)
    rival = {
        "resource": "pods",
        "namespace": script.namespace,
        "name": "w-0",
        "uid": script.uid("w-0"),
        "fault": 0,
        "executed": executed,
    }
    script._commit("MODIFIED", "pods", known).adds(Competed, request=script._request, revision=script._revision, **rival).fires()
    if refused:
        return script._fail(409, "Conflict", "w-0")
    return script._commit("MODIFIED", "pods", known | {"spec": {"a": 2}})._answer("pods", "w-0")


def lists(path: str, before: object, *theirs: object, ours: object, mine: object = None) -> Script:
    """Another user's pod has a list, and the controller may make it `mine`; others change it unseen, and it writes `ours`."""
    field, _, name = path.partition(".")
    stated: dict[str, Any] = {field: {name: before}}
    script = trial().step(1, "apply").applied("w").made("w-0", **stated)

    def placed(value: object) -> dict[str, Any]:
        return {field: script._objects["pods", "w-0"][field] | {name: value}}

    if mine is not None:
        script.updates("w-0", "pods", subresource="", **placed(mine))
    script.hold()
    for each in theirs:
        script.applied("w-0", "pods", **placed(each))
    return script.updates("w-0", "pods", subresource="", **placed(ours)).let_go()


def enforces(script: Script, *, hidden: bool = False, field: str = "data", enforced: object = None, extra: object = None) -> Script:
    """A field that is the controller's whole: what another user adds it takes away, when it is shown that or looks again."""
    own: dict[str, Any] = {field: enforced or {"a": "1"}}
    more: dict[str, Any] = {field: extra or {"a": "1", "theirs": "1"}}
    script.step(1, "apply").applied("w").creates("w-0", generated="", **own).idle(1).step(2, "edit")
    if hidden:
        script.hold().applied("w-0", "pods", **more).idle(2).step(3, "touch").applied("w")
        return script.updates("w-0", "pods", subresource="", **own).idle(3).let_go()
    script.applied("w-0", "pods", **more).updates("w-0", "pods", subresource="", **own)
    return script.idle(2).step(3, "touch").applied("w").idle(3)


def enforces_args(script: Script, *, hidden: bool = False, by: str = "x") -> Script:
    return enforces(script, hidden=hidden, field="args", enforced=["a"], extra=["a", by])


def twice() -> Script:
    """Another user changes what others had set, and the controller, shown that, takes it back; and then again, unseen."""
    script = trial().step(1, "apply").applied("w").made("w-0", spec={"a": 1}).applied("w-0", "pods", spec={"a": 5})
    script.updates("w-0", "pods", subresource="", spec={"a": 1}).hold().applied("w-0", "pods", spec={"a": 5})
    return script.updates("w-0", "pods", subresource="", spec={"a": 1}).let_go()


LOST = (
    "FAIL: the controller wrote back metadata.annotations.theirs of pod/ns/w-0, which another user had changed, "
    "though it had not been shown that change (resourceVersion 103)"
)


def competed_data(script: Script, *, enforced: bool) -> Script:
    """Another user's addition is taken back, or stays; then the controller puts the whole pod just after another user's write."""
    script.step(1, "apply").applied("w").creates("w-0", generated="", data={"a": "1"}).idle(1).step(2, "edit")
    script.applied("w-0", "pods", data={"a": "1", "theirs": "1"})
    if enforced:
        script.updates("w-0", "pods", subresource="", data={"a": "1"})
    script.idle(2).step(3, "change").applied("w", spec=2)
    known = script._objects["pods", "w-0"]
    if script.namespace != NAMESPACE:
        return script.updates("w-0", "pods", subresource="", data={**known["data"], "a": "2"}).idle(3)
    script._ask("update", "pods", "w-0")
    rival = {"resource": "pods", "namespace": script.namespace, "name": "w-0", "uid": script.uid("w-0"), "fault": 0}
    script._commit("MODIFIED", "pods", known)
    script.adds(Competed, request=script._request, revision=script._revision, executed=False, **rival).fires()
    return script._commit("MODIFIED", "pods", known | {"data": {"a": "2"}})._answer("pods", "w-0").idle(3)


def scaled(script: Script, *, hidden: bool = False, kept: int = 7, image: int = 2) -> Script:
    """Another user scales what the controller made, and it then changes the image and writes as many replicas as it knows."""
    script.step(1, "apply").applied("w").creates("w-0", generated="", spec={"replicas": 1, "image": 1}).idle(1).step(2, "scale")
    if hidden:
        script.hold()
    script.applied("w-0", "pods", spec={"replicas": 7, "image": 1}).idle(2).step(3, "image").applied("w", spec=2)
    script.updates("w-0", "pods", subresource="", spec={"replicas": kept, "image": image}).idle(3)
    return script.let_go() if hidden else script


def written_without_scale(script: Script) -> Script:
    """It writes the status only."""
    script.step(1, "apply").applied("w").creates("w-0", generated="", spec={"replicas": 1, "image": 1}).idle(1).step(2, "scale")
    return script.applied("w-0", "pods", spec={"replicas": 7, "image": 1}).idle(2).step(3, "image").updates("w", status=1).idle(3)


CASES: Cases = {
    "what it had set, and leaves to others": (
        beside(scaled(trial(), hidden=True, kept=1), scaled),
        "FAIL: the controller wrote back spec.replicas of pod/ns/w-0, which another user had changed, "
        "though it had not been shown that change (resourceVersion 103)",
    ),
    "what it had set, and sets again": (
        beside(scaled(trial(), hidden=True, kept=1), scaled, partial(scaled, kept=1)),
        "PASS",
    ),
    "what it had set, and gives a value of its own": (
        beside(scaled(trial(), hidden=True, kept=1), partial(scaled, kept=2)),
        "PASS",
    ),
    "what it had set, and nothing tells that it leaves it": (
        beside(scaled(trial(), hidden=True, kept=1), written_without_scale),
        "PASS",
    ),
    "what it had set, and is shown": (beside(scaled(trial(), kept=1), scaled), UNSEEN),
    "puts what it holds whole, whatever others write": (
        beside(competed_data(Script(Compete(resource="pods")), enforced=True), partial(competed_data, enforced=True)),
        "PASS",
    ),
    "puts what others may write to": (
        beside(competed_data(Script(Compete(resource="pods")), enforced=False), partial(competed_data, enforced=False)),
        "FAIL",
    ),
    "a mark of another user is gone": (writes(edited(), spec={"a": 2}).let_go(), LOST),
    "though nothing else was changed": (writes(edited()).let_go(), LOST),
    "a field that another user set in the primary": (
        undone(),
        "FAIL: the controller wrote back spec.a of widget/ns/w, which another user had changed, "
        "though it had not been shown that change (resourceVersion 104)",
    ),
    "a write that keeps it": (keeps(edited()).let_go(), "PASS"),
    "a write that is refused": (edited().refused("update", "w-0", "Conflict").let_go(), "PASS"),
    "all of it, without a resourceVersion": (
        competed(),
        "FAIL: the controller replaced pod/ns/w-0 whole though another user had changed it, and so took that change away, "
        "though it had not been shown that change (resourceVersion 103)",
    ),
    "with one": (competed(refused=True), "PASS"),
    "a status": (competed(subresource="status"), "PASS"),
    "a patch": (competed(verb="patch"), "PASS"),
    "one that is executed by then": (competed(executed=True), "PASS"),
    # --- what stands in lists
    "a finalizer": (
        lists("metadata.finalizers", [], ["theirs"], ours=["mine"]),
        "FAIL: the controller wrote back metadata.finalizers[theirs] of pod/ns/w-0, which another user had changed, "
        "though it had not been shown that change (resourceVersion 103)",
    ),
    "a finalizer goes with its own": (lists("metadata.finalizers", [], ["mine", "theirs"], ours=[], mine=["mine"]), "FAIL"),
    "a finalizer comes back": (lists("metadata.finalizers", ["theirs"], [], ours=["theirs", "mine"]), "FAIL"),
    "a condition, as it builds its own anew": (
        lists("status.conditions", [], [UP, READY], ours=[DONE], mine=[READY]),
        "PASS",
    ),
    "an owner": (lists("metadata.ownerReferences", OWNERS[:1], OWNERS[:2], ours=OWNERS[:1]), "FAIL"),
    "an owner, as another one comes": (lists("metadata.ownerReferences", OWNERS[:1], OWNERS[:2], ours=OWNERS[::2]), "FAIL"),
    "an argument": (lists("spec.args", ["a"], ["a", "theirs"], ours=["b"]), "PASS"),
    "a port": (lists("spec.ports", [HTTP], [HTTP, DNS], ours=[HTTP, {"name": "x"}]), "PASS"),
    "a list as it was": (lists("spec.ports", [HTTP], [HTTP, DNS], ours=[HTTP]), "FAIL"),
    "a list of lists": (lists("spec.of", [[1]], [[2]], ours=[[1]]), "FAIL"),
    "items that it keeps": (lists("metadata.finalizers", [], ["theirs"], ours=["theirs", "mine"]), "PASS"),
    "the order as it was": (lists("spec.of", ["a", "b"], ["b", "a"], ours=["a", "b"]), "FAIL"),
    "its own condition": (lists("status.conditions", [UP], [UP, LATER], ours=[UP, READY], mine=[UP, READY]), "PASS"),
    "a condition that it makes its own": (lists("status.conditions", [], [LATER], ours=[READY]), "PASS"),
    "what is not always a list": (lists("spec.of", [], ["a"], ours="b"), "PASS"),
    "what is null": (lists("spec.of", ["a"], None, ours=["b"]), "PASS"),
    # --- innocent, though it looks suspicious
    "what it had set itself": (changed().updates("w-0", "pods", subresource="", spec={"a": 1}).let_go(), "PASS"),
    "what it had set itself in the one before": (replaced(was_its_own=True), "PASS"),
    "what others had set in the one before": (replaced(was_its_own=False), "FAIL"),
    "what it was shown": (writes(edited().let_go()), UNSEEN),
    "what it has read": (writes(edited().gets("w-0")).let_go(), UNSEEN),
    "what the answer to an own write showed": (writes(keeps(edited())).let_go(), "PASS"),
    "what it writes back without faults, too": (beside(writes(edited(), spec={"a": 2}).let_go(), blind), "PASS"),
    "what it takes back without faults, though it was shown it": (beside(writes(edited(), spec={"a": 2}).let_go(), drops), "PASS"),
    "what is its own whole": (beside(enforces(trial(), hidden=True), enforces), "PASS"),
    "what no reference takes back": (beside(enforces(trial(), hidden=True), made), "FAIL"),
    "a list that is its own whole": (beside(enforces_args(trial(), hidden=True, by="y"), enforces_args), "PASS"),
    "a list of texts that it had set": (beside(enforces_args(trial(), hidden=True), made), "PASS"),
    "what it has taken back before": (twice(), "PASS"),
    # --- nothing is known
    "nothing happened": (trial(), UNSEEN),
    "no other user wrote": (writes(made(trial()).hold(), spec={"a": 2}).let_go(), UNSEEN),
    "it did not write": (edited().let_go(), UNSEEN),
    "in no namespace": (edited().asks("update", "pods", "w-0", namespace="").let_go(), UNSEEN),
}


test_verdict = verdicts(NO_LOST_UPDATE, CASES, two_references(made))
