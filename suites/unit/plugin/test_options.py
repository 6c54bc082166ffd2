"""Options: the flag wins over the variable, the variable over the default, and the header says where a value came from."""

import textwrap
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from staleproof.errors import UsageError
from staleproof.plugin.options import given, header, profile_of, seed_of, settings_of
from staleproof.settings import OPTIONS, Given
from staleproof.settings_file import folders_of

pytestmark = pytest.mark.io

pytest_plugins = ["pytester"]

START, VARIABLE = "controller_start_seconds", "STALEPROOF_CONTROLLER_START_SECONDS"
FLAG = "--controller-start-seconds"


@pytest.mark.parametrize(
    ("arguments", "environ", "expected"),
    [
        ([], {}, None),
        ([], {VARIABLE: "60"}, Given(("60",), VARIABLE, "environment")),
        ([f"{FLAG}=90"], {}, Given(("90",), FLAG, "command line")),
        ([f"{FLAG}=90"], {VARIABLE: "60"}, Given(("90",), FLAG, "command line")),
        ([f"{FLAG}=90"], {VARIABLE: ""}, Given(("90",), FLAG, "command line")),
        ([f"{FLAG}="], {}, Given(("",), FLAG, "command line")),  # an empty flag is what was said
    ],
)
def test_the_flag_wins_then_the_variable_then_the_default(
    arguments: list[str], environ: dict[str, str], expected: Given | None, pytester: pytest.Pytester
) -> None:
    assert given(pytester.parseconfig(*arguments), environ).get(START) == expected


def test_a_variable_that_is_set_and_empty_is_a_mistake(pytester: pytest.Pytester) -> None:
    """A pipeline's undefined secret becomes an empty variable: that must not silently mean the default."""
    with pytest.raises(UsageError, match="STALEPROOF_CONTROLLER_CMD is set but empty; unset it or give it a value"):
        given(pytester.parseconfig(), {"STALEPROOF_CONTROLLER_CMD": ""})


HEAD = "apiVersion: staleproof.dev/v1alpha1\nkind: Configuration\n"


def test_the_file_comes_last_and_lies_in_the_working_directory_or_in_the_rootdir(pytester: pytest.Pytester) -> None:
    pytester.makefile(".yaml", staleproof=f"{HEAD}controller-start-seconds: 60\nprofile: slow\n")
    found = given(pytester.parseconfig(), {VARIABLE: "90"})
    assert (found[START].texts, found["profile"].texts, found["profile"].origin) == (("90",), ("slow",), "staleproof.yaml")
    pytester.makeini("[pytest]\n")
    (pytester.mkdir("inner") / "test_it.py").write_text("")
    pytester.chdir()
    assert given(pytester.parseconfig("inner/test_it.py"), {})["profile"].texts == ("slow",)
    pytester.makefile(".yaml", other=f"{HEAD}profile: smoke\n")
    assert given(pytester.parseconfig("--staleproof-config=other.yaml"), {})["profile"].texts == ("smoke",)


def test_a_file_that_is_wrong_is_refused_before_anything_starts(pytester: pytest.Pytester) -> None:
    pytester.makefile(".yaml", staleproof=f"{HEAD}controllerCmd: ./m\n")
    done = pytester.runpytest_inprocess()
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert "staleproof.yaml: there is no option 'controllerCmd'; did you mean 'controller-cmd'?" in done.stderr.str()


@pytest.mark.parametrize(
    ("ini", "arguments", "is_suite"),
    [
        ("", (), True),
        ("testpaths = mine", (), False),
        ("testpaths = mine", ("--controller-cmd=./m",), True),
        ("", ("mine",), False),
    ],
)
def test_a_controller_in_the_file_does_not_hide_a_repositorys_own_tests(
    ini: str,
    arguments: tuple[str, ...],
    is_suite: bool,  # noqa: FBT001  # a parameter
    pytester: pytest.Pytester,
) -> None:
    pytester.makefile(".yaml", staleproof=f"{HEAD}controller-cmd: ./m\n")
    pytester.makeini(f"[pytest]\n{ini}\n")
    (pytester.mkdir("mine") / "test_mine.py").write_text("def test_mine(): pass\n")
    collected = pytester.runpytest_subprocess("--collect-only", "-q", *arguments).stdout.str()
    assert ("test_scenarios.py" in collected, "test_mine.py" in collected) == (is_suite, not is_suite), collected


def test_a_file_without_a_controller_is_named_where_there_is_nothing_else_to_run(pytester: pytest.Pytester) -> None:
    pytester.makefile(".yaml", staleproof=HEAD)
    done = pytester.runpytest_inprocess("-q")
    assert done.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    done.stdout.fnmatch_lines(["staleproof: staleproof.yaml names no controller, so the conformance suite is not run; add *"])
    pytester.makepyfile("def test_mine(): pass")
    assert "names no controller" not in pytester.runpytest_inprocess("-q").stdout.str()


@pytest.mark.parametrize(
    ("arguments", "texts"), [((), ("A=1", "B=2")), (("--controller-env=A=1", "--controller-env", "B=2:3"), ("A=1", "B=2:3"))]
)
def test_some_may_be_given_several_times(arguments: tuple[str, ...], texts: tuple[str, ...], pytester: pytest.Pytester) -> None:
    environ = {"STALEPROOF_CONTROLLER_ENV": "A=1\nB=2"}
    assert given(pytester.parseconfig(*arguments), environ)["controller_env"].texts == texts


def test_a_variable_is_not_split_when_only_one_value_is_possible(pytester: pytest.Pytester) -> None:
    found = given(pytester.parseconfig(), {"STALEPROOF_CONTROLLER_CMD": "./m --addr=:8080"})
    assert found["controller_cmd"].texts == ("./m --addr=:8080",)


def test_the_process_environment_is_asked_and_the_settings_are_typed(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STALEPROOF_DIR", "elsewhere")
    settings = settings_of(pytester.parseconfig(f"{FLAG}=5", "--controller-env=A=1"))
    assert (str(settings.dir), settings.controller_start_seconds, settings.controller_env) == ("elsewhere", 5.0, (("A", "1"),))


@pytest.mark.parametrize(
    ("arguments", "environ", "message"),
    [
        (["--staleproof-max-examples=1.5"], {}, "--staleproof-max-examples: expected a whole number, 0 or more, found '1.5'"),
        ([], {"STALEPROOF_MAX_EXAMPLES": "many"}, "STALEPROOF_MAX_EXAMPLES: expected a whole number, 0 or more, found 'many'"),
    ],
)
def test_a_malformed_value_is_refused_by_name_before_anything_starts(
    arguments: list[str], environ: dict[str, str], message: str, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    done = pytester.runpytest_inprocess(*arguments)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert message in done.stderr.str()
    assert "Traceback" not in done.stderr.str()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tx=popen", "--tx=popen", "--staleproof-kubeconfig=mine"], "2 workers and a cluster of your own"),
        (["--tx=popen", "--tx=popen", "--staleproof-kube-provider=existing"], "2 workers and a cluster of your own"),
        (["--tx=popen", "--staleproof-kubeconfig=mine"], ""),
        (["--tx=popen", "--tx=popen", "--staleproof-kubeconfig=mine", "--staleproof-kube-provider=cache"], ""),
    ],
)
def test_several_workers_in_one_cluster_are_refused(arguments: list[str], message: str, pytester: pytest.Pytester) -> None:
    with pytest.raises(pytest.UsageError, match=message) if message else nullcontext():
        pytester.parseconfigure("--controller-cmd=./m", *arguments)


def test_the_header_names_what_is_not_a_default_and_its_origin(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STALEPROOF_KUBE_PROVIDER", "cache")
    config = pytester.parseconfig("--controller-cmd=./m", "--staleproof-crds=a.yaml", "--staleproof-crds=b.yaml")
    assert header(config) == [
        "--controller-cmd=./m (command line)",
        "--staleproof-crds=a.yaml b.yaml (command line)",
        "--staleproof-kube-provider=cache (environment)",
    ]
    assert header(pytester.parseconfig()) == ["--staleproof-kube-provider=cache (environment)"]


def test_a_variable_that_is_misspelt_is_warned_of(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STALEPROOF_PROFIL", "smoke")
    pytester.makepyfile("def test_mine(): pass")
    done = pytester.runpytest_inprocess("--controller-cmd=x", "--collect-only", "test_a_variable_that_is_misspelt_is_warned_of.py")
    done.stdout.fnmatch_lines(["staleproof: STALEPROOF_PROFIL is no option and is left out; did you mean STALEPROOF_PROFILE?"])


def test_the_header_has_no_password_of_a_url(pytester: pytest.Pytester) -> None:
    text = "{name: db, kind: http, env: URL, url: 'http://root:hunter2-secret@127.0.0.1:5432'}"
    (line,) = header(pytester.parseconfig(f"--staleproof-external={text}"))
    assert line == "--staleproof-external={name: db, kind: http, env: URL, url: 'http://…@127.0.0.1:5432'} (command line)"


def test_the_help_tells_default_and_variable(pytester: pytest.Pytester) -> None:
    shown = " ".join(pytester.runpytest_inprocess("--help").stdout.str().split())
    assert "staleproof: does the controller act on what is out of date?" in shown
    assert [option.flag for option in OPTIONS if f"[${option.variable}]" not in shown] == []
    assert "(default: 30) [$STALEPROOF_CONTROLLER_START_SECONDS]" in shown


@pytest.mark.parametrize(
    ("name", "content", "is_root"),
    [
        ("pytest.ini", "", True),
        ("pyproject.toml", "[tool.pytest.ini_options]", True),
        ("pyproject.toml", "", True),
        ("tox.ini", "[pytest]", True),
        ("tox.ini", "[tox]", False),
        ("setup.cfg", "[tool:pytest]", True),
        ("setup.py", "", True),
    ],
)
def test_the_command_looks_where_pytest_would(
    name: str,
    content: str,
    is_root: bool,  # noqa: FBT001  # a parameter
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = pytester.path
    (here / name).write_text(content)
    (here / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(here / "a" / "b")
    assert (here in folders_of(Path())) == is_root
    assert folders_of(Path())[0] == Path()
    assert (pytester.parseconfig().rootpath == here) == is_root


# --- the seed ------------------------------------------------------------------------------------------------------------------


def test_the_seed_is_what_was_given_or_new_and_stays_so(pytester: pytest.Pytester) -> None:
    assert seed_of(pytester.parseconfig("--hypothesis-seed=7")) == "7"
    config = pytester.parseconfig()
    assert seed_of(config) == seed_of(config) != seed_of(pytester.parseconfig())


def test_a_worker_has_the_seed_of_the_controlling_process(pytester: pytest.Pytester) -> None:
    config: Any = pytester.parseconfig()
    config.workerinput = {"staleproof_seed": "9"}
    assert seed_of(config) == "9"


def test_the_header_tells_the_seed(pytester: pytest.Pytester) -> None:
    arguments = ("--controller-cmd=x", "--collect-only")
    given = "staleproof: plans are drawn with --hypothesis-seed=7"
    assert given in pytester.runpytest_inprocess(*arguments, "--hypothesis-seed=7").outlines
    pytester.runpytest_inprocess(*arguments).stdout.re_match_lines([given[:-1] + r"\d+, which is new in each run"])


MINE = """
    from hypothesis import given, settings, strategies

    DRAWN = []

    @settings(derandomize=False, database=None, max_examples=5)
    @given(strategies.integers())
    def test_mine(number):
        DRAWN.append(number)

    def test_what_was_drawn():
        with open("drawn", "a") as file:
            print(DRAWN, file=file)
"""
ASKED = "--controller-cmd=x"


def drawn(pytester: pytest.Pytester, *arguments: str) -> tuple[str, str]:
    """What a test of one's own draws in a run, and the seed in its header, if there is one."""
    done = pytester.runpytest_subprocess(*arguments)
    done.assert_outcomes(passed=2)
    seeds = [line.partition("--hypothesis-seed=")[2].partition(",")[0] for line in done.outlines if "--hypothesis-seed=" in line]
    return (pytester.path / "drawn").read_text().splitlines()[-1], "".join(seeds)


@pytest.fixture
def in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")


@pytest.mark.usefixtures("in_ci")
def test_the_seed_that_a_run_prints_draws_the_same_in_tests_of_ones_own(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_mine=textwrap.dedent(MINE))
    first, seed = drawn(pytester, ASKED, "test_mine.py")
    another, another_seed = drawn(pytester, ASKED, "test_mine.py")
    assert (another, another_seed) != (first, seed)
    again, _ = drawn(pytester, ASKED, "test_mine.py", f"--hypothesis-seed={seed}")
    assert again == first


@pytest.mark.usefixtures("in_ci")
def test_workers_draw_from_the_seed_that_the_run_prints(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_mine=textwrap.dedent(MINE))
    first, seed = drawn(pytester, ASKED, "test_mine.py", "-n1")
    assert drawn(pytester, ASKED, "test_mine.py", f"--hypothesis-seed={seed}") == (first, seed)


def test_outside_of_ci_hypothesis_has_its_own_chance_and_database(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    pytester.makepyfile("def test_it(pytestconfig): assert pytestconfig.getoption('--hypothesis-seed') is None")
    pytester.runpytest_subprocess(ASKED, *pytester.path.glob("test_*.py")).assert_outcomes(passed=1)


def test_a_session_without_a_controller_keeps_its_own_chance_and_database(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_it(pytestconfig):
            assert pytestconfig.getoption("--hypothesis-seed") is None
            assert "hypothesis" not in sys.modules
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_a_profile_of_hypothesis_is_registered_before_it_is_loaded(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("from hypothesis import settings\ndef test_it(): assert settings().max_examples == 50\n")
    pytester.runpytest_subprocess("--hypothesis-profile=staleproof-thorough").assert_outcomes(passed=1)


def test_how_thorough_a_run_is(pytester: pytest.Pytester) -> None:
    found = profile_of(pytester.parseconfig("--staleproof-profile=smoke", "--hypothesis-seed=7"))
    assert (found.name, found.examples, found.seed) == ("smoke", 3, "7")
    assert profile_of(pytester.parseconfig("--staleproof-max-examples=0")).examples == 0
