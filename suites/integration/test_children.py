"""What is done to children behind the controller's back is done to them as they are in the cluster."""

from collections.abc import Iterator

import pytest
import yaml

from staleproof.assess.learn.observe import observe
from staleproof.assess.trial.session import Session
from staleproof.checks.trial import Trial
from staleproof.core.fault import AnyFault, DelayStream, Window
from staleproof.core.history.entry import Committed
from staleproof.core.history.provenance import Commit
from staleproof.core.plan.manifest import Manifest, Target
from staleproof.core.plan.plan import Plan, Settle
from staleproof.core.plan.step import Apply, Edit, PatchStatus, Recreate, Remove, Step, Touch

from .environments import CRDS, MANIFESTS, fixture, session_in

SAMPLE = yaml.safe_load((MANIFESTS / "widget-content-sample.yaml").read_text())
TARGET = Target(SAMPLE["apiVersion"], SAMPLE["kind"], SAMPLE["metadata"]["name"])
WIDGETS = "widgets.staleproof.dev"
PATIENT = Settle(idle_seconds=1.5, quiet_seconds=2, limit_seconds=60, deadline_seconds=60)
"""A busy machine may keep a controller from its work for longer than the usual quarter of a second."""


@pytest.mark.live
def test_a_secret_is_made_again_with_its_payload(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is recorded of it is a digest, which the API server would refuse."""
    plan = Plan(
        scenario="children",
        steps=(Apply(object=SAMPLE), Recreate(resource="secrets"), Touch(target=TARGET)),
        settle=Settle(idle_seconds=3, quiet_seconds=4, limit_seconds=60, deadline_seconds=60),
    )
    with session_in(tmp_path_factory, manifests=CRDS) as session:
        session.use(fixture("sleepless", "deliberate"))
        history = session.trial(plan).history

    commits = [entry for entry in history.entries if isinstance(entry, Committed) and entry.resource == "secrets"]
    first, second = [entry.object for entry in commits if entry.type == "ADDED"]
    assert first["metadata"]["uid"] != second["metadata"]["uid"]
    assert first["data"] == second["data"]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """With a controller that reverts what other users do to its ConfigMap and its status."""
    with session_in(tmp_path_factory, manifests=CRDS) as session:
        session.use(fixture("correct", "deterministic_names"))
        yield session


@pytest.mark.live
def test_what_others_can_change_is_known_and_reported(session: Session) -> None:
    """The content of its ConfigMap, what its status says, and whose its children are; it watches all of it, so it looks at once."""
    observed = observe(session, SAMPLE)
    assert [edit for edit in observed.edits if not edit.sets_aside] == [EDIT]
    aside = Edit(resource="pods", nth=-1, patch={"metadata": {"ownerReferences": None}})
    assert aside in observed.edits
    assert {field for reset in observed.resets for field in reset.patch["status"]} == {
        "replicas", "observedGeneration", "conditions"
    }  # fmt: skip
    assert session.run.environment["others can"].startswith('edit configmaps number 1 {"data":{"content":"first-edited"}}; ')


def test_without_faults_a_step_waits_for_the_child_that_it_is_about(session: Session) -> None:
    """A controller may be slower than it was when its pauses were learnt; this one makes a ConfigMap 0.7 s after the Widget."""
    steps = (Apply(object=SAMPLE), Remove(resource="configmaps"), Touch(target=TARGET))
    session.use(fixture("unhurried"))
    trial = Trial(session.watch(Plan(scenario="children", steps=steps, settle=Settle(idle_seconds=0.1, quiet_seconds=0.2))))
    session.use(fixture("correct", "deterministic_names"))

    removed = [entry for _, entry in trial.every(Committed) if entry.resource == "configmaps" and entry.type == "DELETED"]
    assert [entry.name for entry in removed] == [f"{TARGET.name}-settled"]


EDIT = Edit(resource="configmaps", patch={"data": {"content": "first-edited"}})
RESET = PatchStatus(target=TARGET, patch={"status": {"conditions": None}})


@pytest.mark.parametrize(
    ("step", "resource", "subresource"),
    [(EDIT, "configmaps", ""), (RESET, "widgets.staleproof.dev", "status")],
    ids=["a child is edited", "its status is taken away"],
)
def test_what_others_change_is_not_its_own_work_and_the_controller_puts_it_back(
    session: Session, step: Step, resource: str, subresource: str
) -> None:
    """It does so in the step itself, as it does without any fault; so it is not accused."""
    result = session.trial(Plan(scenario="children", steps=(Apply(object=SAMPLE), step, Touch(target=TARGET)), settle=PATIENT))
    trial = Trial(result.history)
    during = [commit for commit in trial.commits if commit.entry.resource == resource and _is_within(trial, 2, commit)]
    assert result.passed, result.verdicts
    theirs, *ours = during
    assert theirs.by is None
    assert [commit.by.asked.subresource for commit in ours if commit.by is not None] == [subresource] * len(ours)
    before, after = _said(theirs.before), _said(ours[-1].entry.object)
    assert _said(theirs.entry.object) != before == after


def _is_within(trial: Trial, number: int, commit: Commit) -> bool:
    began, ended = next((run.began, run.ended) for run in trial.steps if run.number == number)
    return ended is not None and began < commit.index < ended


def _said(obj: Manifest | None) -> object:
    """The content of a ConfigMap, and the types of conditions."""
    assert obj is not None
    return obj.get("data") or sorted(each["type"] for each in obj["status"].get("conditions", ()))


@pytest.mark.live
@pytest.mark.parametrize("faults", [(), (DelayStream(resource=WIDGETS, by_seconds=1.5, window=Window(2)),)], ids=["shown", "late"])
def test_a_step_is_about_the_first_primarys_child_though_another_ones_comes_first_by_name(
    session: Session, faults: tuple[AnyFault, ...]
) -> None:
    second = {**SAMPLE, "metadata": {**SAMPLE["metadata"], "name": "a"}}
    edit = Edit(resource="configmaps", patch={"metadata": {"annotations": {"edited": "x"}}})
    history = session.trial(
        Plan(scenario="children", steps=(Apply(object=SAMPLE), Apply(object=second), edit), faults=faults, settle=PATIENT)
    ).history
    maps = [each.object["metadata"] for each in history.entries if isinstance(each, Committed) and each.resource == "configmaps"]
    assert {each["ownerReferences"][0]["name"] for each in maps} == {"a", TARGET.name}
    assert {each["ownerReferences"][0]["name"] for each in maps if "edited" in each.get("annotations", {})} == {TARGET.name}
