"""`staleproof run` and `staleproof replay`: what is refused before anything starts, and what is written when all is done."""

import io
import json
import shlex
from dataclasses import replace as replace_settings
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace
from rich.console import Console

from staleproof.assess import Result as Trial
from staleproof.assess import Run
from staleproof.assess.crashes import crash_id
from staleproof.assess.observations import keep
from staleproof.assess.samples import Samples
from staleproof.cli.ledger import Ledger, kept, run_again
from staleproof.cli.run import _code, _manifests_of, _session, replay, run, subject_for
from staleproof.core.companion import ALWAYS
from staleproof.core.fingerprint import fingerprint
from staleproof.core.manifest import Manifest
from staleproof.core.observed import ChildKind, Observed
from staleproof.core.plan import Plan, Subject, encode
from staleproof.core.step import Apply
from staleproof.draw.mutations import Mutations
from staleproof.errors import SetupError, UsageError
from staleproof.report.baseline import Baseline, Known, excused
from staleproof.settings import Settings

from ..judged import result

WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}


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


def test_a_plan_is_run_again_with_the_companions_that_it_had() -> None:
    run_before = replace(plan(controller=Subject(command=("./m",))), companions=("job", "kwok"))
    assert _session(Settings(), [run_before], Samples(primaries=())).options.companions == ("job", "kwok")
    assert not _session(Settings(), [run_before], Samples(primaries=())).options.chooses_companions
    alone = replace(run_before, companions=())
    assert _session(Settings(), [alone], Samples(primaries=())).options.companions == ()


def test_a_plan_written_by_hand_has_those_of_every_cluster_besides() -> None:
    mine = Settings(controller_cmd=("./m",))
    assert _session(mine, [plan()], Samples(primaries=())).options.companions == ALWAYS
    assert _session(mine, [replace(plan(), companions=("job",))], Samples(primaries=())).options.companions == (
        *ALWAYS[:1],
        "job",
        "namespace",
    )


def test_who_names_companions_or_has_a_cluster_gets_no_others(here: Path) -> None:
    named = Settings(controller_cmd=("./m",), companions=("kwok",))
    assert _session(named, [plan()], Samples(primaries=())).options.companions == ("kwok",)
    assert _session(replace_settings(named, companions=()), [plan()], Samples(primaries=())).options.companions == ()
    guest = replace_settings(named, companions=("auto",), kubeconfig=here / "kubeconfig")
    assert _session(guest, [plan()], Samples(primaries=())).options.companions == ()


def test_with_samples_a_run_chooses_its_companions() -> None:
    options = _session(Settings(controller_cmd=("./m",)), [], Samples(primaries=(WIDGET,))).options
    assert (options.companions, options.chooses_companions) == ((), True)


# --- refused at the door -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "arguments", "told"),
    [
        (run, [], "nothing to run: name plans, or primaries with --samples"),
        (run, ["nosuch"], "no plan 'nosuch'"),
        (run, ["--samples=nosuch.yaml"], "--samples: nosuch.yaml does not exist"),
        (run, ["plan.json"], "name the controller under test: --controller-cmd or --controller-image"),
        (run, ["plan.json", "--controller-cmd='"], "--controller-cmd: expected words as a shell would split them"),
        (run, ["plan.json", "--controller-cmd=x", "--controller-env=A"], "--controller-env: expected NAME=VALUE, found 'A'"),
        (run, ["plan.json", "--controller-cmd=x", "--controller-image=y"], "were both given; name one controller"),
        (run, ["plan.json", "--controller-cmd=x", "--controller-metrics=:8080"], "--controller-metrics: expected a URL as http://"),
        (run, ["plan.json", "--controller-cmd=x", "--baseline=nosuch"], "nosuch does not exist; --update-baseline makes it"),
        (run, ["plan.json", "--controller-cmd=x", "--update-baseline"], "needs a file to write: name it with --baseline"),
        (run, ["plan.json", "--controller-cmd=x", "--baseline=plan.json"], "expected an object with kind: Baseline"),
        (run, ["plan.json", "--crds=nosuch"], "--crds: nosuch does not exist"),
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


DRAWN_FOR = Subject(command=("./m",), arguments=("-q",), env={"A": "b", "C": "f"})
MORE = {"controller_args": ("-v", "2 3"), "controller_env": (("A", "c"), ("B", "d=e"))}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"controller_cmd": ("./bin/manager", "a b")}, Subject(command=("./bin/manager", "a b"))),
        ({"controller_image": "example.com/m:v1"}, Subject(image="example.com/m:v1")),
        ({}, DRAWN_FOR),
        (MORE, replace(DRAWN_FOR, arguments=("-v", "2 3"), env={"A": "c", "B": "d=e", "C": "f"})),
        ({"controller_network": "host"}, replace(DRAWN_FOR, network="host")),
        (MORE | {"controller_cmd": ("./n",)}, Subject(command=("./n",), arguments=("-v", "2 3"), env={"A": "c", "B": "d=e"})),
    ],
)
def test_the_controller_is_the_command_lines_or_else_the_plans(given: dict[str, Any], expected: Subject) -> None:
    """Arguments and variables are added to whoever it is."""
    assert subject_for(Settings(**given), [plan(), plan(controller=DRAWN_FOR)]) == expected


def test_somebody_must_name_the_controller() -> None:
    with pytest.raises(UsageError, match="name the controller under test"):
        subject_for(Settings(), [plan(), plan()])


def test_manifests_of_several_plans_are_applied_once_in_order() -> None:
    plans = [plan(crd("a"), crd("b")), plan(crd("b"), crd("c")), plan()]
    assert _manifests_of(plans) == [crd("a"), crd("b"), crd("c")]


# --- what is written -----------------------------------------------------------------------------------------------------------


def trial(in_run: Ledger, name: str) -> Trial:
    return result(name, in_run.run.folder / "trials" / name)


def ledger(here: Path) -> Ledger:
    """Of a run that has started nothing."""
    (here / "run 1").mkdir()
    return Ledger(run=Run(here / "run 1"), reproduce=run_again)


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
    made = ledger(here)
    for name in names:
        made.add(trial(made, name))
    assert _code(made.made(partial=False)) == code


@pytest.mark.parametrize(("names", "code"), [(["naive-hidden-creates"], 0), (["naive-hidden-creates", "naive-hidden-deletes"], 1)])
def test_what_is_known_is_no_finding(names: list[str], code: int, here: Path) -> None:
    made = ledger(here)
    for name in names:
        made.add(trial(made, name))
    known = Known(cause="it creates pods on an old view of pods", requirements=("no-duplicate-create",))
    assert _code(excused(Baseline(findings=(known,)), made.made(partial=False))) == code


# --- what would be run ---------------------------------------------------------------------------------------------------------


def test_a_dry_run_tells_the_plans_and_starts_nothing(here: Path) -> None:
    (here / "plan.json").write_bytes(encode(plan()))
    (here / "widget.yaml").write_text(json.dumps({**WIDGET, "spec": {"replicas": 3}}))
    done = invoke(run, "plan.json", "--samples=widget.yaml", "--controller-cmd=x", "--dry-run")
    assert done.return_value == 0
    assert f"{fingerprint(plan())}     0.0 s  mine: \n" in done.stdout
    assert "nobody has watched this controller with Widget/w yet, and its plans follow from that: run once without --dry-run" in (
        done.stdout
    )
    assert "dry run: 1 plan, about 0.0 min" in done.stdout
    assert not (here / ".staleproof").exists()


def test_a_dry_run_plans_from_what_was_observed(here: Path) -> None:
    sample = {**WIDGET, "spec": {"replicas": 3}}
    (here / "widget.yaml").write_text(json.dumps(sample))
    children = (ChildKind("pods", 4, 3, stable_names=False),)
    seen = Observed(sample, "widgets.example.com", ("spec", "replicas"), children)
    keep(here / ".staleproof", Subject(command=("x",)), seen, Mutations())
    done = invoke(run, "--samples=widget.yaml", "--controller-cmd=x", "--dry-run", "--profile=smoke")
    assert done.return_value == 0
    assert " own-writes: " in done.stdout
    assert [path.name for path in (here / ".staleproof").iterdir()] == ["observed"]


def test_the_report_and_how_to_see_it_again(here: Path) -> None:
    made, out = ledger(here), io.StringIO()
    found = trial(made, "naive-hidden-creates")
    with kept(made, Console(file=out, width=150)):
        crash = made.add(found)
    assert crash == crash_id(found.plan)
    assert (here / ".staleproof" / "crashes" / f"{crash}.json").is_file()
    report = json.loads((made.run.folder / "report.json").read_bytes())
    assert report["trials"][0]["crash"] == crash
    assert "partial" not in report or report["partial"] is False
    assert shlex.split(report["reproduce"]) == ["staleproof", "run", str(found.folder / "plan.json")]
    assert (made.run.folder / "conformance.yaml").is_file()
    shown = out.getvalue()
    assert f"reproduce with: staleproof replay {crash}\n" in shown
    *_, folder, last = shown.splitlines()
    assert folder == f"run folder: {made.run.folder}"
    assert last.startswith("failed: no-duplicate-create violated; ")


@pytest.mark.parametrize("end", [KeyboardInterrupt(), SetupError("the proxy died")])
def test_an_end_before_the_last_trial_loses_nothing(end: BaseException, here: Path) -> None:
    made, out = ledger(here), io.StringIO()

    def interrupted() -> None:
        with kept(made, Console(file=out, width=150)):
            made.add(trial(made, "naive-hidden-creates"))
            raise end

    with pytest.raises(type(end)):
        interrupted()
    report = json.loads((made.run.folder / "report.json").read_bytes())
    assert report["partial"] is True
    assert [each["crash"] for each in report["trials"]] == [path.stem for path in (here / ".staleproof" / "crashes").iterdir()]
    *_, folder, last = out.getvalue().splitlines()
    assert folder == f"run folder: {made.run.folder}"
    assert last.startswith("interrupted; failed: ")


def test_an_interruption_before_the_first_trial_is_reported(here: Path) -> None:
    made, out = ledger(here), io.StringIO()
    with pytest.raises(KeyboardInterrupt), kept(made, Console(file=out, width=150)):
        raise KeyboardInterrupt
    report = json.loads((made.run.folder / "report.json").read_bytes())
    assert (report["partial"], report["trials"]) == (True, [])
    assert out.getvalue().splitlines()[-1].startswith("interrupted; nothing failed in what was finished: 0 of 26 ")


def test_an_end_before_the_first_trial_says_where_the_logs_are(here: Path) -> None:
    made, out = ledger(here), io.StringIO()
    with pytest.raises(SetupError), kept(made, Console(file=out)):
        raise SetupError("no control plane")
    assert list(made.run.folder.iterdir()) == []
    assert out.getvalue().startswith("run folder: ")


def test_a_report_is_there_after_each_trial(here: Path) -> None:
    """Nobody is asked when the machine is switched off."""
    made = ledger(here)
    for number, name in enumerate(("naive-hidden-creates", "expectations-hidden-creates"), 1):
        made.add(trial(made, name))
        report = json.loads((made.run.folder / "report.json").read_bytes())
        assert (len(report["trials"]), report["partial"]) == (number, True)


def test_an_artefact_folder_that_cannot_be_made_is_refused(here: Path) -> None:
    (here / ".staleproof").write_text("")
    (here / "plan.json").write_bytes(encode(plan()))
    done = invoke(run, "plan.json", "--controller-cmd=x")
    assert isinstance(done.exception, UsageError)
    assert "cannot make a run folder in" in str(done.exception)
