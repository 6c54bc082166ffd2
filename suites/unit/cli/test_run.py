"""`staleproof run` and `staleproof replay`: what is refused before anything starts, and what is written when all is done."""

import io
import json
import shlex
import shutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from staleproof.assess import Result as Trial
from staleproof.assess import Session, SessionOptions
from staleproof.assess.artefacts import fingerprint
from staleproof.checks.judge import judge
from staleproof.cli.run import _finish, _manifests_of, _subject, replay, run
from staleproof.core.history import decode
from staleproof.core.plan import Apply, Manifest, Plan, Subject, encode
from staleproof.errors import UsageError

HISTORIES = Path(__file__).parents[3] / "fixtures" / "histories"
WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
NAMELESS = {"controller_cmd": "", "controller_image": ""}


def crd(name: str) -> Manifest:
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name}}


def plan(*manifests: Manifest, controller: Subject | None = None) -> Plan:
    return Plan(scenario="mine", manifests=manifests, steps=(Apply(object=WIDGET),), controller=controller)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(command: click.Command, *arguments: str) -> Result:
    return CliRunner().invoke(command, arguments, standalone_mode=False)


# --- refused at the door -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "arguments", "told"),
    [
        (run, [], "nothing to run: name plans, or primaries with --samples"),
        (run, ["nosuch"], "no plan 'nosuch'"),
        (run, ["--samples=nosuch.yaml"], "--samples: nosuch.yaml does not exist"),
        (run, ["plan.json"], "name the controller under test: --controller-cmd or --controller-image"),
        (run, ["plan.json", "--controller-cmd='"], "--controller-cmd: No closing quotation"),
        (run, ["plan.json", "--crds=widget.yaml"], "expected CustomResourceDefinitions, found Widget/w"),
        (replay, ["nosuch"], "no plan 'nosuch'"),
        (replay, ["plan.json"], "name the controller under test"),
    ],
)
def test_wrong_input_starts_nothing(command: click.Command, arguments: list[str], told: str, here: Path) -> None:
    (here / "plan.json").write_bytes(encode(plan()))
    (here / "widget.yaml").write_text(json.dumps(WIDGET))
    done = invoke(command, *arguments)
    assert isinstance(done.exception, UsageError), done.exception
    assert told in str(done.exception)
    assert not (here / ".staleproof").exists()


def test_an_unknown_provider_is_refused() -> None:
    done = invoke(run, "--provider=minikube")
    assert isinstance(done.exception, click.BadParameter)


# --- who is tested -------------------------------------------------------------------------------------------------------------


def test_the_command_line_names_the_controller() -> None:
    drawn_for = plan(controller=Subject(command=("old",)))
    given = {"controller_cmd": "./bin/manager '--name=a b'", "controller_image": ""}
    assert _subject(given, [drawn_for]) == Subject(command=("./bin/manager", "--name=a b"))
    assert _subject(NAMELESS | {"controller_image": "example.com/m:v1"}, [drawn_for]) == Subject(image="example.com/m:v1")


def test_else_it_is_whom_the_plan_was_drawn_for() -> None:
    subject = Subject(command=("old",), env={"A": "b"})
    assert _subject(NAMELESS, [plan(), plan(controller=subject)]) == subject
    with pytest.raises(UsageError, match="name the controller under test"):
        _subject(NAMELESS, [plan(), plan()])


def test_manifests_of_several_plans_are_applied_once_in_order() -> None:
    plans = [plan(crd("a"), crd("b")), plan(crd("b"), crd("c")), plan()]
    assert _manifests_of(plans) == [crd("a"), crd("b"), crd("c")]


# --- what is written -----------------------------------------------------------------------------------------------------------


def session(here: Path) -> Session:
    """One that has started nothing: only its run folder is used."""
    (here / "run 1").mkdir()
    return Session(SessionOptions(subject=Subject(command=("x",)), root=here), folder=here / "run 1")


def trial(in_session: Session, name: str) -> Trial:
    folder = in_session.run.folder / "trials" / name
    folder.mkdir(parents=True)
    shutil.copy(HISTORIES / f"{name}.jsonl", folder / "history.jsonl")
    history = decode((folder / "history.jsonl").read_bytes())
    return Trial(name, history.header.plan, history, judge(history), folder, 1.0, (3, 3))


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["naive-hidden-creates"], 1),
        (["expectations-hidden-creates"], 0),
        (["naive-hidden-deletes", "expectations-hidden-creates"], 1),
        ([], 0),
    ],
)
def test_the_exit_code_is_of_the_worst_trial(names: list[str], code: int, here: Path) -> None:
    ran = session(here)
    assert _finish(ran, [trial(ran, name) for name in names], Console(file=io.StringIO())) == code


def test_the_report_and_how_to_see_it_again(here: Path) -> None:
    ran, out = session(here), io.StringIO()
    found = trial(ran, "naive-hidden-creates")
    _finish(ran, [found], Console(file=out, width=150))
    crash = fingerprint(found.plan)
    assert (here / ".staleproof" / "crashes" / f"{crash}.json").is_file()
    report = json.loads((ran.run.folder / "report.json").read_bytes())
    assert report["trials"][0]["crash"] == crash
    assert shlex.split(report["reproduce"]) == ["staleproof", "run", str(found.folder / "plan.json")]
    assert (ran.run.folder / "conformance.yaml").is_file()
    shown = out.getvalue()
    assert "  ✗ no-duplicate-create" in shown
    assert f"reproduce with: staleproof replay {crash}\n" in shown
    assert "\n1 requirement violated: no-duplicate-create; " in shown
    assert shown.endswith(f"run folder: {ran.run.folder}\n")


def test_stories_that_were_told_are_not_told_again(here: Path) -> None:
    ran, out = session(here), io.StringIO()
    _finish(ran, [trial(ran, "naive-hidden-creates")], Console(file=out), quiet=True)
    assert "✗" not in out.getvalue()
