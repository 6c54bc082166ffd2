"""The table of public operators has the shape that `ci/operators` takes; they are neither fetched nor run."""

import json
import os
import shlex
import shutil
import subprocess
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.drive.cluster.control_plane import KUBERNETES_VERSION, Silent
from staleproof.errors import SetupError, UsageError
from staleproof.settings import OPTIONS

from ...languages.program import QUICK_JVM
from ...operators.__main__ import parted
from ...operators.model import (
    MADE,
    PIECE,
    PUBLISHED,
    QUOTED,
    Chart,
    GoModule,
    MavenLibrary,
    NpmPackage,
    Operator,
    Piece,
    PythonLibrary,
    PythonPackage,
    SparkSubmit,
    StagedModule,
)
from ...operators.origins import java
from ...operators.run import HEADINGS, Ran, options, page, row, run
from ...operators.source import Built, digest, ensure_operator
from ...operators.table import OPERATORS
from ..report.runs import BAD, report, trial, verdict

pytestmark = pytest.mark.io

ROOT = Path(__file__).parents[3]
FLAGS = {option.flag for option in OPTIONS}
README = "# Hello\n\n```console\nhello\n```\n\n```yaml\nkind: It\n```\n\n```yaml\nkind: Another\n```\n"
PRIMARIES = {"--staleproof-samples"}
KINDS = {"--staleproof-crds", "--controller-manifests"}
NAMES = {"--controller-deployment"}
"""These name what is in a file, and no file."""


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_a_row_gives_what_its_publisher_has_and_nothing_of_ours(operator: Operator) -> None:
    flags = {option.partition("=")[0] for option in operator.options}
    assert flags <= FLAGS
    assert flags >= PRIMARIES
    assert flags & KINDS
    assert str(ROOT) not in repr(operator)
    assert getattr(operator.origin, "ours", "") in {"", *(file.name for file in (ROOT / "suites" / "operators").glob("*.go"))}
    given = [option.partition("=") for option in operator.options]
    paths = [value for flag, _, value in given if "/" in value and flag not in NAMES]
    made = {f"{MADE}/{name}" for name in operator.made}
    assert [path for path in paths if path not in made and not path.startswith(f"{PUBLISHED}/")] == []
    assert operator.origin.version.lstrip("v")[0].isdigit(), "a release, never a branch"


def test_names_are_of_one_operator_each() -> None:
    names = [operator.name for operator in OPERATORS]
    assert len({*names}) == len({digest(operator.origin) for operator in OPERATORS}) == len(names)


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_an_operator_is_started_as_its_author_would_start_it(operator: Operator) -> None:
    given = options(operator, Built(("/built/it",), Path("/with space"), Path("/made too")))
    arguments = [each.replace(MADE, "/made too").replace(PUBLISHED, "/with space") for each in operator.arguments]
    assert shlex.split(given[0].removeprefix("--controller-cmd=")) == ["/built/it", *arguments]
    assert len(given) == 1 + len(operator.options)
    assert PUBLISHED not in " ".join(given)
    assert MADE not in " ".join(given)


def test_names_come_first_and_options_go_to_pytest() -> None:
    first, second = OPERATORS[1], OPERATORS[0]
    assert parted([first.name, second.name, "-n", "2"]) == ([first, second], ["-n", "2"])
    assert parted(["-k", "x"]) == (list(OPERATORS), ["-k", "x"])
    with pytest.raises(UsageError, match=f"there is no nobody; name any of {OPERATORS[0].name}"):
        parted(["nobody"])


def test_what_came_of_it_is_a_row_even_if_nothing_did() -> None:
    nothing = Ran(operator=OPERATORS[0], exit_code=4, minutes=0.25)
    everything = Ran(operator=OPERATORS[0], exit_code=0, minutes=2.0, first_minutes=1.0, report=report())
    assert len(row(nothing)) == len(row(everything)) == len(HEADINGS)
    assert row(nothing)[2:5] == ["", "0.2 min", "0"]
    assert row(everything)[2:5] == ["1.0 min", "2.0 min", "0"]
    assert OPERATORS[0].options[0] in page([nothing])


def test_it_finds_its_own_program_where_it_looks_for_it(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("it")
    operator = replace(OPERATORS[0], copies=("its/own",))
    for _ in range(2):
        ran = run(operator, Built((str(program),), tmp_path, tmp_path), tmp_path / "run", [], through=("true",))
        assert (ran.exit_code, ran.report) == (0, None)
        assert (tmp_path / "run" / "its" / "own").read_text() == "it"


def test_a_finding_that_is_not_scored_is_told_apart() -> None:
    failed = trial("t", *(verdict(slug, BAD) for slug in ("name-reuse", "no-blind-retry", "quiet-at-rest")))
    ran = Ran(operator=OPERATORS[0], exit_code=1, minutes=2.0, first_minutes=1.0, report=report(failed))
    assert row(ran)[HEADINGS.index("requirements")] == f"1 failed, {len(REQUIREMENTS) - 3} not exercised, 2 failed (not scored)"


@pytest.fixture
def hello(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Operator:
    """On a module proxy in a folder; its own go.mod replaces another module of its repository by a folder that is not published."""
    proxy = tmp_path / "proxy"
    serve(
        proxy,
        "example.org/hello/api",
        {"go.mod": "module example.org/hello/api\n", "api.go": 'package api\n\nconst Word = "hello"\n'},
    )
    needs = "require example.org/hello/api v1.0.0\nreplace example.org/hello/api => ./api\n"
    main = 'package main\n\nimport "example.org/hello/api"\n\nfunc main() { println(api.Word) }\n'
    serve(
        proxy,
        "example.org/hello",
        {
            "go.mod": f"module example.org/hello\n{needs}",
            "go.sum": "",
            "cmd/main.go": main,
            "crd.yaml": "kind: It",
            "README.md": README,
        },
    )
    for name, value in {
        "STALEPROOF_CACHE_DIR": str(tmp_path / "cache"),
        "GOPROXY": proxy.as_uri(),
        "GOMODCACHE": str(tmp_path / "modules"),
        "GONOSUMDB": "example.org",
        "GOFLAGS": "-modcacherw",
    }.items():
        monkeypatch.setenv(name, value)
    return Operator(name="hello", library="none", origin=GoModule("example.org/hello", "v1.0.0", "cmd"), has="a word")


def serve(proxy: Path, module: str, files: Mapping[str, str]) -> None:
    folder = proxy / module / "@v"
    folder.mkdir(parents=True)
    (folder / "v1.0.0.info").write_text('{"Version": "v1.0.0"}')
    (folder / "v1.0.0.mod").write_text(files["go.mod"])
    with zipfile.ZipFile(folder / "v1.0.0.zip", "w") as archive:
        for name, text in files.items():
            archive.writestr(f"{module}@v1.0.0/{name}", text)


async def test_a_module_is_built_once_beside_what_it_publishes(hello: Operator, tmp_path: Path) -> None:
    built = await ensure_operator(hello, Silent())
    assert subprocess.run(built.command, capture_output=True, text=True, check=True).stderr == "hello\n"
    assert (built.published / "crd.yaml").read_text() == "kind: It"
    shutil.rmtree(tmp_path / "proxy")
    assert await ensure_operator(hello, Silent()) == built
    shutil.rmtree(tmp_path / "modules")
    with pytest.raises(SetupError, match=r"go mod download failed with exit code 1; a first build needs the network"):
        await ensure_operator(hello, Silent())


async def test_a_main_package_that_is_not_published_is_compiled_in_its_place(hello: Operator, tmp_path: Path) -> None:
    word = 'package word\n\nconst Word = "inside"\n'
    serve(
        tmp_path / "proxy",
        "example.org/parts",
        {"go.mod": "module example.org/parts\n", "go.sum": "", "internal/word/word.go": word, "crd.yaml": "kind: It"},
    )
    main = tmp_path / "main.go"
    main.write_text('package main\n\nimport "example.org/parts/internal/word"\n\nfunc main() { println(word.Word) }\n')
    operator = replace(hello, origin=GoModule("example.org/parts", "v1.0.0", "cmd/hello", ours=str(main)))
    before = digest(operator.origin)
    built = await ensure_operator(operator, Silent())
    assert subprocess.run(built.command, capture_output=True, text=True, check=True).stderr == "inside\n"
    assert (built.published / "crd.yaml").read_text() == "kind: It"
    main.write_text(f"{main.read_text()}// and more\n")
    assert digest(operator.origin) != before


async def test_what_is_only_a_piece_of_a_published_text_is_cut_out(hello: Operator) -> None:
    block = Piece("README.md", "```yaml\n", "```")
    framed = Piece("README.md", "```yaml\n", "```", f'{{"text": {QUOTED}, "plain": "{PIECE}"}}')
    built = await ensure_operator(replace(hello, made={"it.yaml": block, "framed": framed}), Silent())
    assert (built.made / "it.yaml").read_text() == "kind: It\n"
    assert (built.made / "framed").read_text() == '{"text": "kind: It\\n", "plain": "kind: It\n"}'
    for nothing in (replace(block, file="NONE.md"), replace(block, after="```toml"), replace(block, before="~~~")):
        with pytest.raises(SetupError, match=r"has nothing between .*; does the table name another version"):
            await ensure_operator(replace(hello, made={"it.yaml": nothing}), Silent())


async def test_a_chart_is_rendered_by_a_helm_that_is_built_like_an_operator(hello: Operator, tmp_path: Path) -> None:
    main = 'package main\n\nimport ("fmt"; "os")\n\nfunc main() { fmt.Println(os.Args[1:]) }\n'
    serve(tmp_path / "proxy", "example.org/helm", {"go.mod": "module example.org/helm\n", "go.sum": "", "cmd/helm/main.go": main})
    chart = Chart("charts/hello", "release", "space", GoModule("example.org/helm", "v1.0.0", "cmd/helm"))
    built = await ensure_operator(replace(hello, made={"chart.yaml": chart}), Silent())
    folder = built.published / "charts" / "hello"
    assert (
        built.made / "chart.yaml"
    ).read_text() == f"[template release {folder} --namespace space --kube-version={KUBERNETES_VERSION}]\n"


async def test_what_is_kept_beside_a_module_is_taken_in_a_version_of_its_own(hello: Operator, tmp_path: Path) -> None:
    needs = "require example.org/hello/api v0.0.0\nreplace example.org/hello/api => ./staging/api\n"
    main = 'package main\n\nimport "example.org/hello/api"\n\nfunc main() { println(api.Word) }\n'
    serve(
        tmp_path / "proxy", "example.org/staged", {"go.mod": f"module example.org/staged\n{needs}", "go.sum": "", "main.go": main}
    )
    origin = StagedModule("example.org/staged", "v1.0.0", ".", beside="v1.0.0")
    built = await ensure_operator(replace(hello, origin=origin), Silent())
    assert subprocess.run(built.command, capture_output=True, text=True, check=True).stderr == "hello\n"
    assert digest(origin) != digest(replace(origin, beside="v1.0.1"))


async def test_an_application_is_submitted_to_the_api_server_of_the_kubeconfig(
    hello: Operator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(tmp_path / "spark-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("spark/bin/spark-submit", "#!/bin/sh\necho $JAVA_HOME $JAVA_TOOL_OPTIONS $@\n")
        wheel.writestr("spark-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: spark\nVersion: 1.0\n")
        wheel.writestr("spark-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("spark-1.0.dist-info/RECORD", "")
    a_java(tmp_path / "java", 'openjdk version "17.0.1"')
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text("clusters:\n- cluster:\n    server: https://127.0.0.1:1234\n")
    for name, value in {"JAVA_HOME": tmp_path / "java", "PIP_FIND_LINKS": tmp_path, "PIP_NO_INDEX": "1"}.items():
        monkeypatch.setenv(name, str(value))
    submit = SparkSubmit(PythonPackage(name="spark", version="1.0", package="spark", module="spark"), java=17)
    built = await ensure_operator(replace(hello, made={"spark/bin/spark-submit": submit}), Silent())
    (tmp_path / "cache/operators/spark" / digest(submit.spark) / "published/bin/spark-submit").chmod(0o755)
    said = subprocess.run(
        (built.made / "spark/bin/spark-submit", "--master", "k8s://https://another:443", "--name", "pi"),
        env={**os.environ, "KUBECONFIG": str(kubeconfig)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert said.split() == [str(tmp_path / "java"), *QUICK_JVM, "--master", "k8s://https://127.0.0.1:1234", "--name", "pi"]


async def test_a_package_of_npm_is_installed_with_its_programs(hello: Operator, tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not on PATH")
    package = tmp_path / "hello-js"
    (package / "bin").mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"name": "hello-js", "version": "1.0.0", "bin": {"hello": "./bin/hello"}}))
    (package / "bin" / "hello").write_text("#!/usr/bin/env node\nconsole.log('hello')\n")
    (package / "crd.yaml").write_text("kind: It")
    archive = subprocess.run(["npm", "pack", "--silent"], cwd=package, capture_output=True, text=True, check=True).stdout.strip()
    origin = NpmPackage(name="hello-js", version=f"file:{package / archive}", program="hello")
    built = await ensure_operator(replace(hello, origin=origin), Silent())
    assert subprocess.run(built.command, capture_output=True, text=True, check=True).stdout == "hello\n"
    assert (built.published / "crd.yaml").read_text() == "kind: It"


def test_the_first_java_that_is_new_enough_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = (
        a_java(tmp_path / name, says) for name, says in (("old", 'openjdk version "1.8.0_402"'), ("new", 'version "25" 2025'))
    )
    monkeypatch.setenv("PATH", f"{old.parent}:/usr/bin:/bin")
    monkeypatch.setenv("JAVA_HOME", str(new.parents[1]))
    assert java(21) == str(new)
    monkeypatch.delenv("JAVA_HOME")
    assert java(8) == str(old)
    with pytest.raises(SetupError, match=rf"Java 99 or newer is needed: {old} is 8.*JAVA_HOME"):
        java(99)


def a_java(folder: Path, says: str) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    program.chmod(0o755)
    return program


async def test_an_operator_of_ours_is_run_on_a_library_in_an_environment_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(tmp_path / "hello-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("hello.py", "import sys, pathlib; print(sys.argv[1], pathlib.Path(sys.argv[2]).read_text())")
        wheel.writestr("hello-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: hello\nVersion: 1.0\n")
        wheel.writestr("hello-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("hello-1.0.dist-info/RECORD", "")
    ours = tmp_path / "ours"
    ours.mkdir()
    (ours / "operator.py").write_text("it")
    (ours / "crd.yaml").write_text("kind: It")
    for name, value in {"STALEPROOF_CACHE_DIR": tmp_path / "cache", "PIP_FIND_LINKS": tmp_path, "PIP_NO_INDEX": "1"}.items():
        monkeypatch.setenv(name, str(value))
    origin = PythonLibrary(name="hello", version="1.0", ours=str(ours), module="hello", arguments=("run",))
    before = digest(origin)
    built = await ensure_operator(Operator(name="hello", library="hello", origin=origin, has="a word"), Silent())
    assert subprocess.run(built.command, capture_output=True, text=True, check=True).stdout == "run it\n"
    assert (built.published / "crd.yaml").read_text() == "kind: It"
    (ours / "operator.py").write_text("it and more")
    assert digest(origin) != before


async def test_an_operator_of_ours_is_built_on_a_java_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maven = tmp_path / "bin" / "mvn"
    maven.parent.mkdir()
    maven.write_text('#!/bin/sh\nmkdir target && echo "$3 $(cat pom.xml)" > target/operator.jar\n')
    maven.chmod(0o755)
    a_java(tmp_path / "java", 'openjdk version "17.0.1"')
    ours = tmp_path / "ours"
    (ours / "src").mkdir(parents=True)
    for name, text in {"pom.xml": "a project", "crd.yaml": "kind: It", "src/Operator.java": "it"}.items():
        (ours / name).write_text(text)
    monkeypatch.setenv("PATH", f"{maven.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))
    monkeypatch.setenv("STALEPROOF_CACHE_DIR", str(tmp_path / "cache"))
    origin = MavenLibrary(version="1.0", ours=str(ours), java=17)
    before = digest(origin)
    built = await ensure_operator(Operator(name="hello", library="hello", origin=origin, has="a word"), Silent())
    java, *_, jar = built.command
    assert java == str(tmp_path / "java" / "bin" / "java")
    assert Path(jar).read_text() == "-Dlibrary.version=1.0 a project\n"
    assert (built.published / "crd.yaml").read_text() == "kind: It"
    (ours / "src" / "Operator.java").write_text("it and more")
    assert digest(origin) != before


async def test_an_operator_on_pypi_is_run_with_what_is_published_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "hello_operator-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("hello/__main__.py", "import sys; print(*sys.argv[1:])")
        wheel.writestr("hello/crds/hello.yaml", "kind: It")
        wheel.writestr("hello_operator-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: hello-operator\nVersion: 1.0\n")
        wheel.writestr("hello_operator-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("hello_operator-1.0.dist-info/RECORD", "")
    for name, value in {"STALEPROOF_CACHE_DIR": tmp_path / "cache", "PIP_FIND_LINKS": tmp_path, "PIP_NO_INDEX": "1"}.items():
        monkeypatch.setenv(name, str(value))
    origin = PythonPackage(name="hello-operator", version="1.0", package="hello", module="hello", arguments=("run",))
    built = await ensure_operator(Operator(name="hello", library="hello", origin=origin, has="a word"), Silent())
    assert subprocess.run(built.command, capture_output=True, text=True, check=True).stdout == "run\n"
    assert (built.published / "crds" / "hello.yaml").read_text() == "kind: It"
