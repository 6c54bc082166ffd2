"""`staleproof check`: a stored history is judged again, without a cluster; its exit code is a pipeline's answer.

`staleproof export` makes a file of it that can be judged anywhere.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click import Command
from click.testing import CliRunner, Result
from msgspec import structs

from staleproof.assess.store.pages import trial_page
from staleproof.assess.store.reports import REPORT
from staleproof.assess.store.run_folder import HISTORY, RunFolder
from staleproof.cli.check import check, export
from staleproof.cli.report import issue
from staleproof.core.history.history import decode, encode, sealed
from staleproof.core.plan.step import Apply, Together
from staleproof.errors import UsageError
from staleproof.report.model import Word
from staleproof.report.model import encode as as_report

from ..judged import HISTORIES
from ..report import runs

NEEDED = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"size": "3"}}


def invoke(*arguments: object, command: Command = check) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments], standalone_mode=False)


@pytest.fixture
def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a guilty trial in the latest run, as a run leaves it."""
    monkeypatch.chdir(tmp_path)
    path = Path(".staleproof/runs/now").absolute()
    run, references = RunFolder(path), []
    history = decode((HISTORIES / "naive-hidden-creates.jsonl").read_bytes())
    for reference in history.references:
        stored, data = sealed(reference)
        under_way = run.reference_under_way(stored.digest[:3])
        under_way.mkdir(parents=True)
        (under_way / HISTORY).write_bytes(data)
        run.keep_reference(under_way, stored)
        references.append(stored)
    plan = structs.replace(history.header.plan, before=(NEEDED,))
    header = structs.replace(history.header, plan=run.keep_manifests(plan))
    _, data = sealed(replace(history, header=header, references=tuple(references)))
    (path / "gw1" / "trials" / "gw1-007").mkdir(parents=True)
    (path / "gw1" / "trials" / "gw1-007" / HISTORY).write_bytes(data)
    Path(".staleproof/latest").symlink_to("runs/now")
    return path / "gw1" / "trials" / "gw1-007"


def test_a_guilty_history_is_reported_and_exits_1() -> None:
    done = invoke(HISTORIES / "naive-hidden-creates.jsonl")
    assert done.return_value == 1
    assert "hide own creates of pods, then touch" in done.stdout
    assert "  ✗ no-duplicate-create" in done.stdout
    assert "is the 4th live pod of widget/sample; fault-free runs never had more than 3" in done.stdout
    assert "      remedy: " in done.stdout


def test_why_shows_one_requirement_and_what_was_asked_about_it() -> None:
    done = invoke(HISTORIES / "naive-hidden-creates.jsonl", "--why", "no-duplicate-create")
    assert done.return_value == 1
    assert "no-excess-delete" not in done.output
    assert "The controller MUST not create another child" in done.output
    assert "own ones of earlier decisions not shown by then: " in done.output
    unknown = invoke(HISTORIES / "naive-hidden-creates.jsonl", "--why", "no-such-thing")
    assert "'no-such-thing' is not one of 'backs-off'" in str(unknown.exception)


def test_an_innocent_history_exits_0() -> None:
    done = invoke(HISTORIES / "expectations-hidden-creates.jsonl")
    assert done.return_value == 0
    assert "  ✓ no-duplicate-create" in done.stdout
    assert "✗" not in done.stdout


@pytest.mark.parametrize("given", ["{0}", "{0}/history.jsonl.gz", "gw1-007"])
def test_a_trial_of_a_run_is_judged_with_what_its_run_keeps(given: str, trial: Path) -> None:
    done = invoke(given.format(trial))
    assert done.return_value == 1, done.exception
    assert "fault-free runs never had more than 3" in done.stdout


def test_an_export_needs_no_run_folder(trial: Path, tmp_path: Path) -> None:
    done = invoke("gw1-007", command=export)
    assert done.return_value == 0, done.exception
    assert done.stdout.startswith("now-gw1-007.jsonl.gz: ")
    assert done.stdout.endswith(" kB, for `staleproof check` and `staleproof replay`\n")
    elsewhere = tmp_path / "mine"
    assert invoke(trial, "--output", elsewhere, command=export).return_value == 0
    assert elsewhere.read_bytes() == Path("now-gw1-007.jsonl.gz").read_bytes()
    shutil.rmtree(".staleproof")
    expected = decode((HISTORIES / "naive-hidden-creates.jsonl").read_bytes())
    plan = structs.replace(expected.header.plan, before=(NEEDED,))
    assert decode(elsewhere.read_bytes()) == replace(expected, header=structs.replace(expected.header, plan=plan))
    assert invoke(elsewhere).return_value == 1


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda path: path.unlink(), "No such file or directory; bring it back, or take what `staleproof export` makes"),
        (lambda path: path.write_bytes(path.read_bytes()[:-9]), "damaged or was cut short"),
        (lambda path: path.write_bytes(b"{}"), "is not what was written: it has the digest 44136fa355b3… and was stored as"),
    ],
    ids=["missing", "cut short", "changed"],
)
@pytest.mark.parametrize("what", ["references/*/history.jsonl.gz", "manifests/*.json.gz"])
def test_what_is_not_as_it_was_written_is_named(spoil: Callable[[Path], None], message: str, what: str, trial: Path) -> None:
    spoilt = sorted((trial.parents[2] / "shared").glob(what))[0]
    spoil(spoilt)
    done = invoke(trial, command=export)
    assert isinstance(done.exception, UsageError)
    assert str(spoilt) in str(done.exception)
    assert message in str(done.exception)


def test_a_history_that_was_taken_from_its_run_is_refused(trial: Path, tmp_path: Path) -> None:
    shutil.copy(trial / HISTORY, tmp_path / "mine.jsonl.gz")
    done = invoke(tmp_path / "mine.jsonl.gz")
    assert isinstance(done.exception, UsageError)
    assert "mine.jsonl.gz needs what its run folder keeps in shared/" in str(done.exception)


def test_a_trial_whose_history_was_removed_can_be_run_again(trial: Path) -> None:
    (trial / HISTORY).rename(trial / "plan.json")
    done = invoke(trial)
    assert isinstance(done.exception, UsageError)
    assert f"`staleproof replay {trial}` runs the plan again" in str(done.exception)


def test_a_folder_stands_for_the_history_in_it(tmp_path: Path) -> None:
    data = (HISTORIES / "naive-hidden-creates.jsonl").read_bytes()
    (tmp_path / "history.jsonl").write_bytes(data)
    assert invoke(tmp_path).return_value == 1


def test_a_truncated_history_is_noted_and_inconclusive(tmp_path: Path) -> None:
    data = (HISTORIES / "naive-hidden-creates.jsonl").read_bytes()
    (tmp_path / "history.jsonl").write_bytes(data[:-20])
    done = invoke(tmp_path)
    assert done.return_value == 10
    assert "note: line" in done.stdout
    assert "is truncated and was left out" in done.stdout


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot read"),
        (b"", "the file is empty; expected a header"),
        (b'{"entry":"ended","at":1}\n', "line 1: expected a header"),
        (b"\xff\xfe\n{}\n", "line 1: "),
    ],
)
def test_what_is_no_history_is_refused_with_its_path(content: bytes | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    if content is not None:
        path.write_bytes(content)
    done = invoke(path)
    assert isinstance(done.exception, UsageError)
    assert str(path) in str(done.exception)
    assert message in str(done.exception)
    assert done.stdout == ""


def test_a_folder_without_a_history_is_refused(tmp_path: Path) -> None:
    done = invoke(tmp_path)
    assert isinstance(done.exception, UsageError)
    assert "give a history, the folder of a trial, or the name of a trial in the latest run" in str(done.exception)


def titled(tmp_path: Path, title: str, name: str = "sample-") -> Path:
    """A history whose plan has this title, and objects with this name."""
    lines = []
    for line in (HISTORIES / "naive-hidden-creates.jsonl").read_text().replace('"sample-', f'"{name}').splitlines():
        raw = json.loads(line)
        if raw.get("entry") == "header":
            raw["plan"]["title"] = title
        lines.append(json.dumps(raw))
    path = tmp_path / "h.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("title", ["set spec.env[name=FOO] and spec.ports[https]", "spec.paths becomes [/healthz]"])
def test_what_others_wrote_is_text_and_no_style(title: str, tmp_path: Path) -> None:
    (tmp_path / "[work]").mkdir()
    done = CliRunner().invoke(check, [str(titled(tmp_path / "[work]", title))], standalone_mode=False)
    assert done.exception is None
    assert f"[work]/h.jsonl: {title}, " in done.output


def test_nothing_that_others_wrote_is_acted_on_by_a_terminal(tmp_path: Path) -> None:
    path = titled(tmp_path, "a\x1b]0;owned\x07\x1b[2J\u202eb", "\\u001b[31msample-")
    for words in ([str(path)], [str(path), "--why=no-duplicate-create"]):
        done = CliRunner().invoke(check, words, standalone_mode=False)
        assert done.exception is None
        assert "a\\x1b]0;owned\\x07\\x1b[2J\\u202eb" in done.output
        assert not {"\x1b", "\x07", "\u202e"} & set(done.output)


@pytest.mark.parametrize("said", [runs.UNKNOWN, runs.BAD])
def test_what_the_report_of_the_run_did_not_confirm_is_said(said: Word, trial: Path) -> None:
    slug = "no-duplicate-create"
    reported = runs.trial("gw1-007", runs.verdict(slug, said, why="unconfirmed, because the run ended first"))
    one = structs.replace(reported, folder="gw1/trials/gw1-007")
    (trial.parents[2] / REPORT).write_bytes(as_report(runs.report(one)))
    doubt = f"the report of its run has {slug} as inconclusive, unconfirmed, because the run ended first"

    assert (f"note: {doubt}" in invoke("gw1-007").output) == (said == runs.UNKNOWN)
    assert (f"**Not confirmed: {doubt}.**" in invoke("gw1-007", command=issue).output) == (said == runs.UNKNOWN)
    assert (f"not confirmed: {doubt}" in trial_page("gw1-007", Path(".staleproof")).sentence) == (said == runs.UNKNOWN)


def test_what_the_sample_needs_is_in_the_script_of_a_trial_of_a_run(trial: Path) -> None:
    assert trial.is_dir()
    script = invoke("gw1-007", command=issue).output
    assert "kind: ConfigMap" in script
    assert "put there what the sample needs" not in script


def test_a_sweep_by_itself_brings_no_finding(tmp_path: Path) -> None:
    history = decode((HISTORIES / "naive-hidden-creates.jsonl").read_bytes())
    plan = history.header.plan
    first = plan.steps[0]
    assert isinstance(first, Apply)
    beside = Apply(object={**first.object, "metadata": {**first.object["metadata"], "name": "sample-b"}})
    swept = structs.replace(plan, scenario="sweep", steps=(Together(steps=(first, beside)), *plan.steps[1:]))
    (tmp_path / "sweep.jsonl").write_bytes(encode(replace(history, header=structs.replace(history.header, plan=swept))))

    checked, written = (invoke(tmp_path / "sweep.jsonl", command=each) for each in (check, issue))
    assert checked.return_value != 1
    assert "only a run of one of them alone brings a finding" in " ".join(checked.output.split())
    assert "Look for this" not in written.output


def test_a_report_that_cannot_be_read_keeps_no_history_from_being_judged(trial: Path) -> None:
    (trial.parents[2] / REPORT).write_text('{"kind": "of another version"')
    done = invoke("gw1-007")
    assert done.return_value == 1, done.exception
    assert "the report of its run" not in done.output
