"""staleproof.yaml: the same options under nearly the same names; command line, environment, file and default, in this order."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from staleproof.errors import UsageError
from staleproof.settings import OPTIONS, Given, parse
from staleproof.settings_file import BY_KEY, NAME, completed, folders_of, read, schema, table
from staleproof.settings_file import written as as_written

HEAD = {"apiVersion": "staleproof.dev/v1alpha1", "kind": "Configuration"}
START, VARIABLE = "controller_start_seconds", "STALEPROOF_CONTROLLER_START_SECONDS"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(path: Path, **options: Any) -> Path:  # noqa: ANN401  # YAML
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump({**HEAD, **{name.replace("_", "-"): value for name, value in options.items()}}))
    return path


def texts(given: dict[str, Given]) -> dict[str, tuple[str, ...]]:
    return {name: each.texts for name, each in given.items()}


def test_every_option_has_a_key_but_the_file_itself() -> None:
    assert {option.name for option in OPTIONS} - {option.name for option in BY_KEY.values()} == {"config"}
    assert {"controller-cmd", "crds", "kube-provider", "implementation-url"} <= BY_KEY.keys()


def test_the_table_has_a_row_for_each_option() -> None:
    _, _, *rows = table().splitlines()
    assert len(rows) == len(OPTIONS)
    assert [row for row in rows if len(row.split("|")) != 6] == [], "a bar in a cell breaks the table"


@pytest.mark.parametrize(
    ("said", "environ", "expected"),
    [
        ({}, {}, ("60", "staleproof.yaml")),
        ({}, {VARIABLE: "90"}, ("90", "environment")),
        ({START: Given(("120",), "--x")}, {VARIABLE: "90"}, ("120", "command line")),
        ({START: Given(("120",), "--x")}, {VARIABLE: ""}, ("120", "command line")),
    ],
)
def test_the_command_line_wins_then_the_environment_then_the_file(
    said: dict[str, Given], environ: dict[str, str], expected: tuple[str, str], here: Path
) -> None:
    written(here / NAME, controller_start_seconds=60)
    found = completed(said, environ, [here])[START]
    assert (*found.texts, found.origin) == expected


def test_values_are_what_a_flag_would_be_given(here: Path) -> None:
    path = written(
        here / NAME, controller_cmd="./m '--a b'", controller_env=["A=1", "B=2"], max_examples=3, release_leases=False, minutes=2.5
    )
    settings = parse(read(path))
    assert (settings.controller_cmd, settings.controller_env) == (("./m", "--a b"), (("A", "1"), ("B", "2")))
    assert (settings.max_examples, settings.release_leases, settings.minutes) == (3, False, 2.5)


def test_what_is_written_is_read_again(here: Path) -> None:
    given = {
        name: Given(each, f"staleproof.yaml: {name.replace('_', '-')}", NAME)
        for name, each in {
            "controller_cmd": ("./m --a='1 2'",),
            "controller_env": ("A=1", "B=yes"),
            "controller_start_seconds": ("60.0",),
            "release_leases": ("no",),
            "max_examples": ("3",),
            "implementation_version": ("1.10",),
        }.items()
    }
    (here / NAME).write_text(as_written(given))
    assert read(Path(NAME)) == given


def test_paths_are_relative_to_the_file(here: Path) -> None:
    path = written(here / "deploy" / NAME, crds=["config/crd", "/etc/crds"], baseline="known.yaml", controller_cmd="./m")
    expected = {"crds": ("deploy/config/crd", "/etc/crds"), "baseline": ("deploy/known.yaml",), "controller_cmd": ("./m",)}
    assert texts(read(path)) == texts(read(Path("deploy") / NAME)) == expected


def test_the_file_that_is_named_or_that_lies_nearest(here: Path) -> None:
    written(here / NAME, profile="smoke")
    other = written(here / "other.yaml", profile="slow")
    written(here / "root" / NAME, profile="thorough")
    config = {"config": Given((str(other),), "--config")}
    assert texts(completed({}, {}, [here / "root", here]))["profile"] == ("thorough",)
    assert texts(completed({}, {}, [here / "nowhere", here]))["profile"] == ("smoke",)
    assert texts(completed(config, {}, [here]))["profile"] == ("slow",)
    assert texts(completed({}, {"STALEPROOF_CONFIG": "other.yaml"}, [here]))["profile"] == ("slow",)
    assert completed({}, {}, [here / "nowhere"]) == {}


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ({"controller_cmd": "./m"}, {"controller_cmd", "companions"}),
        ({"controller_image": "example.com/n"}, {"controller_image", "controller_network", "companions"}),
        ({}, {"controller_image", "controller_network", "companions"}),
    ],
)
def test_another_controller_takes_the_place_of_the_files(said: dict[str, str], left: set[str], here: Path) -> None:
    """It would be one too many otherwise."""
    written(here / NAME, controller_image="example.com/m", controller_network="host", companions="auto")
    found = completed({name: Given((text,), name) for name, text in said.items()}, {}, [here])
    parse(found)
    assert found.keys() == left


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a: [", "staleproof.yaml: line 1: not YAML"),
        ("", "staleproof.yaml: expected an object with apiVersion, kind and options, found NoneType"),
        ("crds: [a]", "expected apiVersion: staleproof.dev/v1alpha1, found None"),
        ({"controllerCmd": "./m"}, "there is no option 'controllerCmd'; did you mean 'controller-cmd'?"),
        ({"--staleproof-crd": ["a"]}, "there is no option '--staleproof-crd'; did you mean 'crds'?"),
        ({"STALEPROOF_SAMPLES": ["a"]}, "did you mean 'samples'?"),
        ({"zzz": 1}, "there is no option 'zzz'; there are allow-remote-cluster, baseline, before"),
        ({"config": "other.yaml"}, "there is no option 'config'"),
        ({"crds": "config/crd"}, "crds: expected a list, found 'config/crd'"),
        ({"implementation-version": 1.1}, "implementation-version: expected a text, found 1.1; put it in quotes"),
        ({"controller-cmd": None}, "controller-cmd: expected a text, found nothing"),
        ({"release-leases": "perhaps"}, "release-leases: expected yes or no, found 'perhaps'"),
        ({"max-examples": True}, "max-examples: expected a whole number, found True"),
        ({"controller-env": [{"A": 1}]}, "controller-env: expected a text, found something else (not shown"),
        ({"controller-start-seconds": -1}, "staleproof.yaml: controller-start-seconds: expected a positive number of seconds"),
        ({"external": "db"}, "external: expected a list, found something else (not shown"),
        ({"external": ["db"]}, "external: expected an object, found something else (not shown"),
        ({"external": {"name": "db", "kind": "postgres"}}, "there is no system 'postgres'; did you mean 'postgresql'?"),
        ({"external": {"name": "db"}}, '"kind" is missing; it names one of command, http, own, postgresql, s3'),
        ({"external": {"name": "db", "kind": "postgresql", "repair": "never"}}, "'repair'; did you mean 'repairs'?"),
        ({"external": {"name": "db", "kind": "postgresql", "repairs": {"within": "soon"}}}, "repairs.within"),
        ({"external": {"kind": "postgresql"}}, "name is missing"),
        ({"controller-also": "./poller"}, "controller-also: expected a list, found something else (not shown"),
        ({"controller-also": {"name": "poller"}}, "a further program, for example {name: poller, command: [./bin/poller"),
        ({"controller-also": {"name": "poller"}}, "command is missing"),
        (
            {"controller-also": {"command": ["./p"], "args": []}},
            "there is no field 'args'; did you mean 'arguments'?",
        ),
        ({"controller-also": {"command": []}}, "command is empty"),
        ({"release-leases": "yes"}, "release-leases: expected yes or no, without quotes, found the text 'yes'"),
        ({"report": ["junit", "sarif"]}, "report: expected a text, found a list; with commas it is 'junit,sarif'"),
        (
            "apiVersion: staleproof.dev/v1alpha1\nkind: Configuration\ncrds: [a]\nprofile: smoke\ncrds: [b]\n",
            "staleproof.yaml: line 5: 'crds' is there twice; say each once",
        ),
        (
            "kind: Configuration\ncontroller-also:\n- command: [./p]\n  env: {A: '1', A: '2'}\n",
            "staleproof.yaml: line 4: 'A' is there twice; say each once",
        ),
        (
            {"external": {"name": "db", "kind": "http", "url": "http://root:pw@127.0.0.1:80"}},
            "db: url has a user or a password in it, which reports and their commands would show; leave it out",
        ),
        ({"profile": "quick"}, "staleproof.yaml: profile: expected one of smoke, standard, thorough, slow, found 'quick'"),
    ],
)
def test_what_is_wrong_with_a_file_is_reported(content: str | dict[str, Any], message: str, here: Path) -> None:
    (here / NAME).write_text(content if isinstance(content, str) else yaml.safe_dump(HEAD | content))
    with pytest.raises(UsageError) as refused:
        parse(completed({}, {}, [here]))
    assert message in str(refused.value)


def test_a_date_without_quotes_is_a_text_in_an_object(here: Path) -> None:
    system = "{name: db, kind: command, read: [./ctl], change: [./set], delete: [./rm], bare: {jobs: {since: 2026-01-01}}}"
    (here / NAME).write_text(f"apiVersion: {HEAD['apiVersion']}\nkind: {HEAD['kind']}\nexternal: {system}\n")
    (found,) = parse(completed({}, {}, [here])).external
    assert found.bare == {"jobs": {"since": "2026-01-01"}}


def test_a_configuration_of_pytest_goes_before_a_nearer_project(here: Path) -> None:
    (here / "pytest.ini").write_text("")
    (here / "a").mkdir()
    (here / "a" / "pyproject.toml").write_text("")
    assert folders_of(here / "a") == (here / "a", here)


def test_a_file_that_is_not_there_is_reported() -> None:
    with pytest.raises(UsageError, match=r"cannot read mine.yaml: No such file or directory; `staleproof init` writes"):
        completed({"config": Given(("mine.yaml",), "--config")}, {}, [])


@pytest.mark.parametrize(
    ("options", "is_right"),
    [
        ({"controller-cmd": "./m", "crds": ["a"], "release-leases": False, "minutes": 1.5, "profile": "smoke"}, True),
        ({"external": {"name": "db", "kind": "postgresql", "repairs": {"within": "30s"}, "polls": "never"}}, True),
        ({"external": [{"name": "s3", "kind": "s3", "url": "http://127.0.0.1:9000", "command": ["./serve"]}]}, True),
        ({"external": {"name": "db", "kind": "postgresql", "repairs": 30}}, False),
        ({"external": [{"name": "db", "kind": "oracle"}]}, False),
        ({"controller-also": {"command": ["./poller"], "env": {"A": "1"}}}, True),
        ({"controller-also": [{"command": ["./a"], "arguments": ["-v"]}, {"name": "b", "command": ["./a"]}]}, True),
        ({"controller-also": [{"name": "b"}]}, False),
        ({"crds": "a"}, False),
        ({"controllerCmd": "./m"}, False),
        ({"profile": "quick"}, False),
        ({"max-examples": "3"}, False),
    ],
)
def test_the_schema_says_the_same(options: dict[str, Any], is_right: bool, here: Path) -> None:  # noqa: FBT001  # a parameter
    validator = jsonschema.Draft202012Validator(schema())
    validator.check_schema(schema())
    assert validator.is_valid(HEAD | options) is is_right
    (here / NAME).write_text(yaml.safe_dump(HEAD | options))
    try:
        parse(completed({}, {}, [here]))
    except UsageError:
        assert not is_right
    else:
        assert is_right
