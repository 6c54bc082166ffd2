"""What the user does: which objects are primaries, and what of an object is made again."""

import copy
import re
from types import SimpleNamespace
from typing import Any

import pytest

from staleproof.core.history.scope import Scope
from staleproof.core.operator.prerequisite import Placement
from staleproof.core.plan.manifest import Target, target_of
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Apply, Delete, Recreate, Restore, Step, Touch
from staleproof.drive.cluster.api import ApiError
from staleproof.drive.trial.workload import Refused, Workload, _again, is_unserved, primaries_of

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "w-0",
        "namespace": "mine",
        "generateName": "w-",
        "labels": {"app": "w"},
        "annotations": {"a": "b"},
        "finalizers": ["example.com/f"],
        "ownerReferences": [{"apiVersion": "example.com/v1", "kind": "Widget", "name": "w", "uid": "u1", "controller": True}],
        "uid": "u2",
        "resourceVersion": "7",
        "generation": 1,
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "managedFields": [{"manager": "m"}],
        "selfLink": "/x",
    },
    "spec": {"containers": [{"name": "c", "image": "x"}]},
    "status": {"phase": "Pending"},
}


def test_a_child_made_again_is_the_same_but_for_what_the_api_server_gave_it() -> None:
    before = copy.deepcopy(POD)
    again = _again(POD)
    metadata: dict[str, Any] = again["metadata"]
    assert set(metadata) == {"name", "namespace", "generateName", "labels", "annotations", "finalizers", "ownerReferences"}
    assert metadata["ownerReferences"][0]["uid"] == "u1"
    assert {key: again[key] for key in again if key != "metadata"} == {
        "apiVersion": "v1",
        "kind": "Pod",
        "spec": {"containers": [{"name": "c", "image": "x"}]},
    }
    assert before == POD, "what truth holds is not touched"


def test_a_child_made_again_by_another_user_has_another_owner_and_nothing_of_the_first() -> None:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "uid": "u9"}}
    again = _again(POD, owner=owner)
    (reference,) = again["metadata"].pop("ownerReferences")
    assert reference == {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u9", "controller": True}
    assert set(again["metadata"]) <= {"name", "namespace"}
    assert again["spec"] == POD["spec"]


def test_a_job_made_again_is_given_its_selector_by_the_api_server() -> None:
    labels = {
        "controller-uid": "u",
        "batch.kubernetes.io/controller-uid": "u",
        "job-name": "j",
        "batch.kubernetes.io/job-name": "j",
    }
    template = {"metadata": {"labels": {"app": "x", **labels}}, "spec": {"containers": []}}
    job: dict[str, Any] = {
        "kind": "Job",
        "metadata": {"name": "j"},
        "spec": {"parallelism": 2, "selector": {"matchLabels": {"controller-uid": "u"}}, "template": template},
    }
    spec = {"parallelism": 2, "template": {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": []}}}
    assert _again(job)["spec"] == spec
    chosen = {**job, "spec": {**job["spec"], "manualSelector": True}}
    assert _again(chosen)["spec"] == chosen["spec"], "its author chose it"
    assert _again({**job, "kind": "CronThing"})["spec"] == job["spec"]


def test_a_child_made_again_is_not_being_deleted() -> None:
    leaving: dict[str, Any] = {
        "metadata": {"name": "x", "deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0}
    }
    assert _again(leaving) == {"metadata": {"name": "x"}}


def owned(*owners: str, **metadata: object) -> dict[str, Any]:
    """An object with an owner for each of these, of which a "controller" says so."""
    references = [{"kind": "Widget", "name": "w", "uid": each, "controller": each == "controller"} for each in owners]
    return {"metadata": {"ownerReferences": references, **metadata}}


def test_children_are_what_has_a_controller_or_one_owner() -> None:
    objects = {
        ("pods", "mine", "controlled"): owned("plain", "controller"),
        ("pods", "mine", "alone"): owned("plain"),
        ("pods", "mine", "shared"): owned("plain", "plain"),
        ("pods", "mine", "free"): owned(),
        ("pods", "mine", "leaving"): owned("controller", deletionTimestamp="2026-01-01T00:00:00Z"),
        ("services", "mine", "another"): owned("controller"),
    }
    truth: Any = SimpleNamespace(objects=objects)
    bus: Any = SimpleNamespace(scope=Scope("mine"))
    unused: Any = SimpleNamespace()
    workload = Workload(api=unused, truth=truth, proxy=unused, bus=bus, outside=unused, placement=unused, before=())

    assert workload._children("pods") == [objects["pods", "mine", name] for name in ("alone", "controlled")]


def test_a_step_is_about_a_child_of_the_first_primary_as_long_as_that_is_there() -> None:
    """With a fault that keeps the controller from the second one, its children may not be there yet."""

    def of(uid: str, owner: str = "") -> dict[str, Any]:
        return {"metadata": {"uid": uid, **({"ownerReferences": [{"uid": owner}]} if owner else {})}}

    objects = {
        ("widgets", "mine", "first"): of("1"),
        ("widgets", "mine", "second"): of("2"),
        ("deployments", "mine", "x"): of("3", "2"),
        ("pods", "mine", "a"): of("4", "1"),
        ("pods", "mine", "b"): of("5", "3"),
        ("pods", "mine", "c"): of("6", "unknown"),
    }
    truth: Any = SimpleNamespace(objects=objects)
    bus: Any = SimpleNamespace(scope=Scope("mine"))
    unused: Any = SimpleNamespace()
    primaries = (("widgets", "first"), ("widgets", "second"))
    workload = Workload(unused, truth, unused, bus, unused, unused, (), primaries=primaries)
    assert [each["metadata"]["uid"] for each in workload._children("pods")] == ["4", "6"]
    del objects["widgets", "mine", "first"]
    assert [each["metadata"]["uid"] for each in workload._children("pods")] == ["4", "5", "6"]


def widget(name: str, **fields: object) -> Apply:
    return Apply(object={"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, **fields})


GADGET = Target("example.com/v1", "Gadget", "g")
CONFIG = Apply(object={"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})


@pytest.mark.parametrize(
    ("steps", "primaries"),
    [
        (
            (Touch(target=GADGET), widget("b"), widget("a"), widget("b", spec={"replicas": 5}), Delete(target=GADGET)),
            [("example.com/v1", "Widget", "b"), ("example.com/v1", "Widget", "a")],
        ),
        ((widget("a"), CONFIG), [("example.com/v1", "Widget", "a"), ("v1", "ConfigMap", "a")]),
        ((Recreate(resource="pods"),), []),
    ],
    ids=["each once, in order", "two kinds with one name", "nothing is applied"],
)
def test_primaries_are_what_is_applied(steps: tuple[Step, ...], primaries: list[tuple[str, str, str]]) -> None:
    assert primaries_of(Plan(scenario="mine", steps=steps)) == primaries


SECRET: Any = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
ANOTHERS: Any = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "shared"}}
PUT_BACK, TAKEN = Restore(target=target_of(SECRET)), Delete(target=target_of(SECRET))


def where(*before: Any, **placed: Any) -> Workload:  # noqa: ANN401  # JSON, and fields of a placement
    unused: Any = SimpleNamespace()
    return Workload(unused, unused, unused, unused, unused, Placement("mine", **placed), before)


def test_what_is_put_back_is_what_the_workload_needs() -> None:
    assert where(SECRET)._as_done(PUT_BACK, 3) == Apply(object=SECRET)
    assert where(SECRET)._as_done(TAKEN, 2) == TAKEN
    there = where(ANOTHERS, SECRET, elsewhere=frozenset({"shared"}))
    assert there._as_done(PUT_BACK, 3) == Apply(object=SECRET), "another's has the same name"
    assert where()._as_done(Delete(target=GADGET), 2) == Delete(target=GADGET), "a primary"


@pytest.mark.parametrize(
    ("at", "step", "message"),
    [
        (where(), PUT_BACK, "step 2 (restore Secret/s): it is not among what the workload needs"),
        (where(SECRET, is_shared=True), TAKEN, "step 2 (delete Secret/s): it is there for all trials, and stays"),
        (
            where(ANOTHERS, elsewhere=frozenset({"shared"})),
            TAKEN,
            "step 2 (delete Secret/s): it is there for all trials, and stays",
        ),
    ],
    ids=["never given", "shared namespace", "another namespace"],
)
def test_what_all_trials_need_stays(at: Workload, step: Delete | Restore, message: str) -> None:
    with pytest.raises(Refused, match=re.escape(message)) as refused:
        at._as_done(step, 2)
    assert refused.value.step == 2


@pytest.mark.parametrize(
    ("code", "message", "unserved"),
    [
        (
            500,
            'failed calling webhook "v.example.com": failed to call webhook: Post "https://x": connection refused',
            True,
        ),
        (503, 'failed calling webhook "v.example.com": service unavailable', True),
        (500, "conversion webhook for example.com/v1, Kind=Widget failed: Post: EOF", True),
        (500, "etcdserver: request timed out", False),
        (400, 'admission webhook "v.example.com" denied the request: spec.replicas is too large', False),
        (422, 'Widget "failed calling webhook" is invalid', False),
    ],
)
def test_a_webhook_without_a_server_and_one_that_says_no_are_told_apart(code: int, message: str, *, unserved: bool) -> None:
    assert is_unserved(ApiError(code, "", message)) is unserved
