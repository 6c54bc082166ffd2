"""The repository keeps its own rules: what is packaged, what is documented, which packages may import which, what has a test."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from staleproof.fixtures.controllers.mutants import MUTANTS  # noqa: TID251  # how many they are

from staleproof.assess.doctor.symptoms import DOCTOR, SYMPTOMS
from staleproof.checks.catalog import BY_SLUG, REQUIREMENTS
from staleproof.checks.requirement import Requirement
from staleproof.cli.schema import PUBLISHED, SCHEMAS
from staleproof.core.fault.suggest import FAULTS
from staleproof.report.crosscheck import decode, problems
from staleproof.report.documentation import updated
from staleproof.report.matrix import Column, matrix
from staleproof.settings import OPTIONS
from staleproof.settings_file import CONFIGURATION, schema

ROOT = Path(__file__).parents[2]
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text())
ROOTS = {
    "staleproof": "harness/staleproof",
    "staleproof.proxy_addons": "proxy_addons",
    "staleproof.suites": "suites",
    "staleproof.fixtures": "fixtures",
}
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "docs/conformance/README.md"]
NOT_SHIPPED = {"staleproof.suites.unit", "staleproof.suites.integration", "staleproof.suites.mutants", "staleproof.suites.bench"}


def test_the_packages_are_the_folders() -> None:
    found = set()
    for name, folder in ROOTS.items():
        for init in (ROOT / folder).rglob("__init__.py"):
            inner = init.parent.relative_to(ROOT / folder).parts
            found.add(".".join([name, *inner]))
    found = {name for name in found if not any(name == out or name.startswith(f"{out}.") for out in NOT_SHIPPED)}
    assert set(CONFIG["tool"]["setuptools"]["packages"]) == found


def test_the_version_is_stated_once() -> None:
    assert CONFIG["project"]["dynamic"] == ["version"]
    assert CONFIG["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "staleproof.__version__"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_prints_from_code_is_as_the_code_is(page: Path) -> None:
    text = page.read_text()
    assert updated(text) == text, "run ci/docs"


REPORTS = sorted((ROOT / "docs/conformance/reports").glob("*.yaml"))


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_a_published_report_adds_up_and_is_of_no_machine(path: Path) -> None:
    document = decode(path.read_bytes())
    beyond = [each for each in problems(document) if "the tests are not the requirements of this version" not in each]
    assert beyond == []
    assert not re.search(r"(?<![\w.{}:/])/(root|home|tmp|Users)/", path.read_text())


def test_the_matrix_is_that_of_the_published_reports() -> None:
    page = (ROOT / "docs/conformance/README.md").read_text()
    columns = [Column(decode(path.read_bytes()), f"reports/{path.name}") for path in REPORTS]
    assert updated(page, {"matrix": lambda: matrix(columns)}) == page, "run ci/docs"


@pytest.mark.parametrize("which", PUBLISHED)
def test_the_schemas_of_what_a_run_is_reported_in_are_those_that_are_printed(which: str) -> None:
    printed = json.dumps(SCHEMAS[which](), indent=2) + "\n"
    assert (ROOT / f"docs/schemas/{which}.schema.json").read_text() == printed, "run ci/docs"


COUNTED = {
    r"(\d+) requirements": len(REQUIREMENTS),
    r"(\d+) controllers with one planted fault": len(MUTANTS),
    r"(\d+) faults": len(FAULTS),
}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_a_page_says_how_many_there_are(page: Path) -> None:
    text = page.read_text()
    said = {(words, int(number)) for words in COUNTED for number in re.findall(words, text)}
    assert said <= COUNTED.items()


def test_the_finding_in_the_readme_has_the_remedy_of_its_requirement() -> None:
    assert f"\n          remedy: {BY_SLUG['no-duplicate-create'].remedy}\n" in (ROOT / "README.md").read_text()


def test_the_catalogue_is_on_its_page() -> None:
    page = (ROOT / "docs/requirements.md").read_text()
    assert all(f"[`{requirement.slug}`](#{requirement.slug})" in page for requirement in REQUIREMENTS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_fault_is_on_its_page() -> None:
    page = (ROOT / "docs/faults.md").read_text()
    assert all(f"| `{name}` |" in page for name in FAULTS)


def test_the_table_and_the_schema_of_the_configuration_are_printed_from_code() -> None:
    page = (ROOT / "docs/configuration.md").read_text()
    assert updated(page, CONFIGURATION) == page, "run ci/docs"
    assert json.loads((ROOT / "docs/configuration.schema.json").read_text()) == schema(), "run ci/docs"
    assert all(f"| `{option.variable}` |" in page for option in OPTIONS)


def test_the_table_of_symptoms_is_printed_from_code() -> None:
    page = (ROOT / "docs/doctor.md").read_text()
    assert updated(page, DOCTOR) == page, "run ci/docs"
    assert all(sign.example.replace("`", "'") in page for symptom in SYMPTOMS for sign in symptom.signs)


RECIPE = re.compile(r"^# .+\n([a-z]+)(?: \*[a-z]+)?:\n    @ci/([a-z]+)(?: \"\$@\")?$", re.MULTILINE)


@pytest.mark.parametrize("command", sorted(path.name for path in (ROOT / "ci").iterdir() if path.is_file()))
def test_every_command_is_listed(command: str) -> None:
    """In the justfile, one line says what it is for, and one calls it."""
    assert f"ci/{command}" in (ROOT / "CONTRIBUTING.md").read_text()
    assert (command, command) in RECIPE.findall((ROOT / "justfile").read_text())


@pytest.mark.parametrize("requirement", [requirement.slug for requirement in REQUIREMENTS])
def test_every_requirement_is_aimed_at_by_a_scenario(requirement: str) -> None:
    is_named = any(f'"{requirement}"' in path.read_text() for path in (ROOT / "harness/staleproof/draw").glob("*.py"))
    assert is_named, f'no module of draw has "{requirement}" in its aims'


DECIDING = ["core", "core/engine", "core/fault", "checks", "checks/facts", "checks/rules", "checks/story", "draw", "draw/incidents"]


@pytest.mark.parametrize("package", DECIDING)
def test_every_module_that_decides_has_its_test_file(package: str) -> None:
    """A family of requirements has a folder of its name, with a file for each requirement."""
    modules = {path.stem for path in (ROOT / "harness/staleproof" / package).glob("*.py")} - {"__init__"}
    files = {path.stem.removeprefix("test_") for path in (ROOT / "suites/unit" / package).glob("test_*.py")}
    folders = {path.parent.name for path in (ROOT / "suites/unit" / package).glob("*/test_*.py")}
    assert modules <= files | folders


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=lambda requirement: requirement.slug)
def test_every_requirement_has_its_test_file(requirement: Requirement) -> None:
    family = requirement.check.__module__.rpartition(".")[2]
    assert requirement.check.__name__ == requirement.slug.replace("-", "_")
    assert (ROOT / "suites/unit/checks/rules" / family / f"test_{requirement.check.__name__}.py").exists()


@pytest.mark.parametrize("path", sorted((ROOT / "harness").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_opens_with_a_paragraph(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text())) or path.name == "__init__.py"


@pytest.mark.io
def test_the_plugin_imports_nothing_heavy() -> None:
    """It is imported by every pytest run in an environment that has staleproof."""
    heavy = ["aiohttp", "docker", "hypothesis", "kubernetes", "mitmproxy", "msgspec", "rich", "testcontainers", "yaml"]
    code = f"import sys, staleproof.plugin, staleproof.plugin.fixtures; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.io
@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("staleproof.core.engine.gate", "asyncio"),
        ("staleproof.core.engine.gate", "time"),
        ("staleproof.checks.view.life", "staleproof.checks.judge"),
        ("staleproof.checks.rules.pace", "staleproof.checks.rules.identity"),
        ("staleproof.checks.rules.pace", "staleproof.core.engine"),
    ],
)
def test_a_planted_import_is_reported(tmp_path: Path, importer: str, imported: str) -> None:
    """The contracts about which packages may import which are worth nothing if they do not bite."""
    for path in (ROOT / "harness").rglob("*.py"):  # contracts name modules, which must be there
        empty = tmp_path / path.relative_to(ROOT / "harness")
        empty.parent.mkdir(parents=True, exist_ok=True)
        empty.touch()
    (tmp_path / f"{importer.replace('.', '/')}.py").write_text(f"import {imported}\n")
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    linter = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run(
        [str(linter), "--no-cache"], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert f"{importer} -> {imported}" in done.stdout
