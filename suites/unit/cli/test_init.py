"""`staleproof init`: what is written is what staleproof reads, and nothing is written over unasked."""

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from staleproof.cli.init import init
from staleproof.errors import UsageError
from staleproof.settings import parse
from staleproof.settings_file import NAME, read

CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec: {group: example.com, names: {kind: Widget, plural: widgets}, versions: []}
"""
SAMPLE = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(init, arguments, standalone_mode=False)


def files(here: Path, **texts: str) -> None:
    for name, text in texts.items():
        path = here / name.replace("__", "/").replace("_yaml", ".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_what_is_there_is_written_and_read_again(here: Path) -> None:
    files(here, config__crd__a_yaml=CRD, config__samples__a_yaml=SAMPLE, chart__templates__a_yaml="{{ if }}", bin__manager="")
    (here / "bin" / "manager").chmod(0o755)
    done = invoke()
    assert done.return_value == 0, done.exception
    assert "crds: config/crd defines Widget" in done.stdout
    settings = parse(read(Path(NAME)))
    assert settings.controller_cmd == ("./bin/manager",)
    assert (settings.crds, settings.samples) == ((Path("config/crd"),), (Path("config/samples"),))


def test_what_is_given_counts_more(here: Path) -> None:
    files(here, config__crd__a_yaml=CRD)
    done = invoke("--controller-image=example.com/m", "--crds=mine.yaml", "--release-leases=no", "--controller-env=A=1")
    assert done.return_value == 0, done.exception
    said = yaml.safe_load(Path(NAME).read_text())
    assert (said["controller-image"], said["crds"]) == ("example.com/m", ["mine.yaml"])
    assert (said["release-leases"], said["controller-env"]) == (False, ["A=1"])
    assert "controller-cmd" not in said


def test_what_is_missing_is_reported_and_left_to_people() -> None:
    done = invoke("--controller-image=example.com/m")
    assert done.return_value == 0, done.exception
    assert "not found, to be written by you: CustomResourceDefinitions: crds: [config/crd]" in done.stdout
    assert "# not found: CustomResourceDefinitions: crds: [config/crd]\n" in Path(NAME).read_text()
    assert read(Path(NAME)).keys() == {"controller_image"}


def test_where_nothing_is_found_nothing_is_written(here: Path) -> None:
    done = invoke()
    assert isinstance(done.exception, UsageError)
    assert str(here) in str(done.exception)
    assert not Path(NAME).exists()


def test_an_operator_of_kopf_is_started_by_its_handlers(here: Path) -> None:
    files(here, config__crd__a_yaml=CRD)
    (here / "operator.py").write_text("import kopf\n\n\n@kopf.on.create('widgets')\ndef made(**_): ...\n")
    assert invoke().return_value == 0
    assert parse(read(Path(NAME))).controller_cmd == ("kopf", "run", "-A", "operator.py")
    (here / "more.py").write_text("@kopf.on.delete('widgets')\n")
    assert invoke("--force").return_value == 0
    assert "# controller-cmd: kopf run -A more.py operator.py  # have handlers: leave in what starts" in Path(NAME).read_text()


def test_a_virtual_environment_has_no_handlers_of_the_project(here: Path) -> None:
    files(here, config__crd__a_yaml=CRD)
    for folder in ("my operator", "env/lib/kopf", "packages/site-packages/kopf"):
        (here / folder).mkdir(parents=True)
        (here / folder / "operator.py").write_text("@kopf.on.create('widgets')\n")
    (here / "env" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    assert invoke().return_value == 0
    assert parse(read(Path(NAME))).controller_cmd == ("kopf", "run", "-A", "my operator/operator.py")


def test_what_only_needs_to_be_built_is_a_comment(here: Path) -> None:
    (here / "main.go").write_text("package main\n")
    assert invoke().return_value == 0
    assert "# controller-cmd: ./bin/manager  # is what `make build` makes" in Path(NAME).read_text()
    assert read(Path(NAME)) == {}


ISSUER = CRD.replace("widgets.example.com", "issuers.cert-manager.io").replace("example.com", "cert-manager.io")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("PROJECT", "domain: example.com\nresources:\n- {api: {crdVersion: v1}, domain: example.com, kind: Widget}\n"),
        ("api/doc.go", "// +groupName=example.com\npackage v1\n"),
        ("vendor/x/doc.go", "// +groupName=cert-manager.io\npackage v1\n"),
    ],
)
def test_definitions_of_other_projects_are_left_to_people(name: str, text: str, here: Path) -> None:
    files(here, config__crd__bases__a_yaml=CRD, config__crd__theirs__a_yaml=ISSUER.replace("Widget", "Issuer"))
    (here / name).parent.mkdir(parents=True, exist_ok=True)
    (here / name).write_text(text)
    done = invoke()
    assert done.return_value == 0, done.exception
    is_own = not name.startswith("vendor")
    assert ("✓ crds: config/crd/bases defines Widget" in done.stdout) is is_own
    assert ("? crds: config/crd/theirs defines Issuer of another project" in done.stdout) is is_own
    assert ("# not found: CustomResourceDefinitions" in Path(NAME).read_text()) is not is_own


def test_a_project_file_that_cannot_be_read_tells_nothing(here: Path) -> None:
    files(here, config__crd__a_yaml=CRD)
    (here / "PROJECT").write_text("{")
    assert "crds: config/crd defines Widget" in invoke().stdout


def test_a_file_that_is_there_stays(here: Path) -> None:
    (here / NAME).write_text("mine")
    done = invoke()
    assert isinstance(done.exception, UsageError)
    assert "--force" in str(done.exception)
    assert (here / NAME).read_text() == "mine"
    assert invoke("--force", "--controller-image=example.com/m").return_value == 0
    assert (here / NAME).read_text() != "mine"


def test_what_is_malformed_is_never_written(here: Path) -> None:
    done = invoke("--controller-env=A")
    assert "--controller-env: expected NAME=VALUE, found something else" in str(done.exception)
    assert not (here / NAME).exists()
