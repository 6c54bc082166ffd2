"""`staleproof run` and `staleproof replay`: what is refused before anything starts, and what would be run."""

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from staleproof.assess.learn.observations import keep
from staleproof.cli.run import replay, run
from staleproof.core.operator.observed import ChildKind, Observed
from staleproof.core.plan.fingerprint import fingerprint
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import Plan, Subject, encode
from staleproof.core.plan.step import Apply
from staleproof.draw.mutations.allowed import Mutations
from staleproof.errors import UsageError

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


# --- refused at the door -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "arguments", "message"),
    [
        (run, [], "nothing to run: name plans, or primaries with --samples"),
        (run, ["nosuch"], "no plan 'nosuch'"),
        (run, ["--samples=nosuch.yaml"], "--samples: nosuch.yaml does not exist"),
        (run, ["plan.json"], "name the controller under test: --controller-cmd or --controller-image"),
        (run, ["plan.json", "--controller-cmd='"], "--controller-cmd: expected words as a shell would split them"),
        (
            run,
            ["plan.json", "--controller-cmd=x", "--controller-env=A"],
            "--controller-env: expected NAME=VALUE, found something else",
        ),
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
def test_wrong_input_starts_nothing(command: click.Command, arguments: list[str], message: str, here: Path) -> None:
    (here / "plan.json").write_bytes(encode(plan()))
    (here / "widget.yaml").write_text(json.dumps(WIDGET))
    done = invoke(command, *arguments)
    assert isinstance(done.exception, UsageError), done.exception
    assert message in str(done.exception)
    assert not (here / ".staleproof").exists()


def test_an_unknown_provider_is_refused() -> None:
    done = invoke(run, "--provider=minikube")
    assert isinstance(done.exception, click.BadParameter)


# --- what would be run ---------------------------------------------------------------------------------------------------------


def test_a_dry_run_tells_the_plans_and_starts_nothing(here: Path) -> None:
    (here / "plan.json").write_bytes(encode(plan()))
    (here / "widget.yaml").write_text(json.dumps({**WIDGET, "spec": {"replicas": 3}}))
    done = invoke(run, "plan.json", "--samples=widget.yaml", "--controller-cmd=x", "--dry-run")
    assert done.return_value == 0
    assert f"{fingerprint(plan())}     0.0 s  mine: \n" in done.stdout
    assert "no run has watched this controller with Widget/w yet, and its plans follow from that: run once without --dry-run" in (
        done.stdout
    )
    assert "dry run: 1 plan, about 0.0 min" in done.stdout
    assert not (here / ".staleproof").exists()


def test_a_dry_run_shows_the_plans_that_are_wanted(here: Path) -> None:
    for number in range(2):
        (here / f"{number}.json").write_bytes(encode(replace(plan(), title=f"the {number}th")))
    done = invoke(run, "0.json", "1.json", "--controller-cmd=x", "--dry-run", "--only=the 1th")
    assert [line.split("  ")[-1] for line in done.stdout.splitlines()[:-1]] == ["mine: the 1th"]
    done = invoke(run, "0.json", "1.json", "--controller-cmd=x", "--dry-run", "--only=the 2th")
    assert isinstance(done.exception, UsageError)
    assert str(done.exception).startswith("--only: no plan has the id or name 'the 2th'; there are:\n  ")


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


def test_an_artefact_folder_that_cannot_be_made_is_refused(here: Path) -> None:
    (here / ".staleproof").write_text("")
    (here / "plan.json").write_bytes(encode(plan()))
    done = invoke(run, "plan.json", "--controller-cmd=x")
    assert isinstance(done.exception, UsageError)
    assert "cannot make a run folder in" in str(done.exception)
