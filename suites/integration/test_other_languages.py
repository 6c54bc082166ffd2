"""Correct Widget controllers on other people's libraries: controller-runtime (Go), kopf, fabric8 (Java), client-node (JavaScript)
and kube-rs (Rust).

They do the same work as those in fixtures/controllers/correct, and the tests ask the same of them. Those that `ci/languages` builds
are skipped where it has not been run.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from staleproof.assess.trial.session import Session
from staleproof.checks.verdict import Outcome
from staleproof.core.fault import AnyFault, Coalesce, HideOwnWrite, Kill, LoseAnswer, Window
from staleproof.core.plan.manifest import Target
from staleproof.core.plan.plan import Plan, Settle, Subject, contradictions
from staleproof.core.plan.step import Apply, Delete, Patch, Recreate, Touch
from staleproof.drive.cluster.control_plane import Silent
from staleproof.drive.cluster.manifests import read
from staleproof.drive.programs.go_program import GoProgram, ensure_go_program

from ..languages.program import LANGUAGES
from ..mutants.known import in_language
from .environments import CRDS, session_in
from .widget_stage import MANIFESTS, ROOT, ControllerStage, walk
from .widget_stage import kubeconfig as kubeconfig
from .widget_stage import stage as stage

ABROAD = {language.library: language for language in LANGUAGES}
NEAR = ("controller-runtime", "kopf")
FAULTS: tuple[tuple[AnyFault, ...], ...] = (
    (HideOwnWrite(resource="pods"),),
    (Coalesce(resource="pods", window=Window(from_step=2, until_step=5)),),
    (LoseAnswer(resource="pods", verb="create"), LoseAnswer(resource="pods", verb="delete")),
    (Kill(resource="pods", verb="create", nth=2),),
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def go_widget(go: Path) -> Path:
    return await ensure_go_program(GoProgram("go-widget", ROOT / "fixtures" / "go-widget"), Silent())


@pytest.fixture
def argv(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The controller's command."""
    if request.param in ABROAD:
        return in_language(ABROAD[request.param]).command
    if request.param == "kopf":
        return (sys.executable, "-m", "staleproof.fixtures.controllers.kopf_widget")
    program: Path = request.getfixturevalue("go_widget")
    return (str(program),)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with session_in(tmp_path_factory, manifests=tuple(CRDS), reruns=0) as running:
        yield running


@pytest.mark.parametrize("argv", [*NEAR, *ABROAD], indirect=True)
async def test_it_does_its_work_and_falls_silent_and_cleans_up(stage: ControllerStage, argv: tuple[str, ...]) -> None:
    await walk(stage, *argv)


@pytest.mark.live
@pytest.mark.parametrize("argv", [*NEAR, *(pytest.param(each, marks=pytest.mark.languages) for each in ABROAD)], indirect=True)
def test_it_is_accused_of_nothing(session: Session, argv: tuple[str, ...]) -> None:
    """A lag, a gap in what it is shown, lost answers, a restart in the middle of its work: the controller must cope with each."""
    session.use(Subject(command=argv))
    for faults in FAULTS:
        result = session.trial(a_plan(*faults))
        assert [planned.outcome for planned in result.faults] == ["fired"] * len(faults)
        assert [verdict for verdict in result.verdicts if verdict.outcome in (Outcome.FAIL, Outcome.INCONCLUSIVE)] == []
        assert result.of("converges-after-catch-up").outcome is Outcome.PASS


def a_plan(*faults: AnyFault) -> Plan:
    """A Widget grows, loses a pod to another user, shrinks with other content, and is deleted."""
    sample = read([MANIFESTS / "widget-content-sample.yaml"], "sample")[0]
    target = Target(api_version="staleproof.dev/v1", kind="Widget", name=sample["metadata"]["name"])
    steps = (
        Apply(object=sample),
        Patch(target=target, patch={"spec": {"replicas": 5}}),
        Recreate(resource="pods"),
        Patch(target=target, patch={"spec": {"replicas": 1, "content": "second"}}),
        Touch(target=target),
        Delete(target=target),
    )
    settle = Settle(idle_seconds=1.0, limit_seconds=60.0, deadline_seconds=60.0)  # a JVM takes its time on a busy machine
    plan = Plan(scenario="other-languages", steps=steps, faults=faults, settle=settle)
    assert contradictions(plan) == []
    return plan
