"""The notes of a pytest run: where they begin, and which exceptions of pytest's say what."""

import shlex
from pathlib import Path

import pytest

from staleproof.plugin.options import settings_of
from staleproof.plugin.outcome import NOTES, add_error, begin, begun, join

pytest_plugins = ["pytester"]

EXIT_BUG = 3


def test_a_run_gets_a_folder_of_its_own_when_first_asked_for(pytester: pytest.Pytester, tmp_path: Path) -> None:
    config = pytester.parseconfig(f"--staleproof-dir={tmp_path / 'root'}")
    made = begun(config)
    assert (made.worker, config.stash[NOTES]) == ("", made)
    assert begun(config) is made
    assert made.folder.parent == tmp_path / "root" / "runs"
    assert (tmp_path / "root" / "latest").resolve() == made.folder


def test_a_worker_joins_the_run_of_the_controlling_process(pytester: pytest.Pytester, tmp_path: Path) -> None:
    config = pytester.parseconfig(f"--staleproof-dir={tmp_path / 'root'}")
    config.workerinput = {"staleproof_run": str(tmp_path / "run"), "workerid": "gw0"}  # type: ignore[attr-defined]  # xdist's
    begin(config)
    made = config.stash[NOTES]
    assert (made.worker, made.folder, made.settings.dir) == ("gw0", tmp_path / "run", tmp_path / "root")
    assert not (tmp_path / "root").exists()


def test_a_run_that_only_workers_knew_of_is_joined(pytester: pytest.Pytester, tmp_path: Path) -> None:
    config = pytester.parseconfig()
    join(config, tmp_path / "nosuch")
    assert NOTES not in config.stash
    join(config, tmp_path)
    assert config.stash[NOTES].folder == tmp_path


def test_the_command_line_gives_the_run_again(pytester: pytest.Pytester) -> None:
    config = pytester.parseconfig("--controller-cmd=./m --name='a b'", "--hypothesis-seed=7")
    made = begun(config)
    assert (made.seed, made.reproduce.startswith("pytest ")) == ("7", True)
    assert """'--controller-cmd=./m --name='"'"'a b'"'"''""" in made.reproduce


def test_the_command_has_what_the_environment_and_the_file_say(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STALEPROOF_PROFILE", "smoke")
    monkeypatch.setenv("STALEPROOF_CONTROLLER_ENV", "KEY=a long secret")
    (pytester.path / "staleproof.yaml").write_text(
        "apiVersion: staleproof.dev/v1alpha1\nkind: Configuration\ncontroller-cmd: ./m -v\nsamples: [a b.yaml]\nprofile: slow\n"
    )
    words = shlex.split(begun(pytester.parseconfig("--hypothesis-seed=7", "--staleproof-minutes=3")).reproduce)
    assert set(words) >= {
        "--controller-cmd=./m -v",
        "--staleproof-profile=smoke",
        "--staleproof-minutes=3",
        "--controller-env=KEY=$KEY",
    }
    assert next(word for word in words if word.endswith("a b.yaml")).startswith("--staleproof-samples=")
    assert sum(word.startswith("--staleproof-profile") for word in words) == 1


def test_a_wrong_baseline_starts_nothing(pytester: pytest.Pytester) -> None:
    (pytester.path / "known.yaml").write_text("kind: [")
    done = pytester.runpytest_inprocess("--controller-cmd=x", "--staleproof-baseline=known.yaml")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert "known.yaml: line 1: not YAML" in done.stderr.str()
    assert not (pytester.path / ".staleproof").exists()


@pytest.mark.parametrize(
    ("error", "noted"),
    [
        (KeyError("x"), (["unexpected KeyError: 'x'"], False)),
        (AssertionError("a finding"), ([], True)),
        (pytest.fail.Exception("a finding"), ([], True)),
        (pytest.skip.Exception("nothing to do"), ([], False)),
    ],
)
def test_in_the_suite_nothing_but_a_failure_is_a_finding(
    error: BaseException, noted: tuple[list[str], bool], pytester: pytest.Pytester
) -> None:
    made = begun(pytester.parseconfig())
    add_error(made, error, ours=True)
    assert (made.problems[EXIT_BUG], made.other_failures) == noted


def test_what_pytest_adds_to_the_options_is_in_the_command_again(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--staleproof-profile=smoke --controller-args=--v=4")
    pytester.makeini("[pytest]\naddopts = --staleproof-samples=config/samples\n")
    words = shlex.split(begun(pytester.parseconfig("--controller-cmd", "x", "--staleproof-samples=mine")).reproduce)
    assert {"--staleproof-profile=smoke", "--controller-args=--v=4", "--staleproof-samples=config/samples"} <= set(words)
    assert words.count("--staleproof-samples=mine") == words.count("--controller-cmd") == 1
    assert "--controller-cmd=x" not in words
    assert settings_of(pytester.parseconfig(*words[1:])).samples == (Path("config/samples"), Path("mine")), "once each"
