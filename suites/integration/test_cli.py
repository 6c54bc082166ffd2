"""The staleproof command: what a run leaves can be judged again without a cluster, run again, and described by schemas."""

import gzip
import hashlib
import json
import shutil
from pathlib import Path

import jsonschema
import pytest

from .conftest import MANIFESTS, Done, Run, fixture_controller

PLAN = {
    "apiVersion": "staleproof.dev/v1alpha1",
    "kind": "Plan",
    "scenario": "own-writes",
    "title": "hide own creates, then touch",
    "aims": ["no-duplicate-create"],
    "steps": [
        {
            "do": "apply",
            "object": {
                "apiVersion": "staleproof.dev/v1",
                "kind": "Widget",
                "metadata": {"name": "w"},
                "spec": {
                    "replicas": 2,
                    "template": {
                        "metadata": {"labels": {"app": "w"}},
                        "spec": {"containers": [{"name": "c", "image": "example.com/none"}]},
                    },
                },
            },
        },
        {"do": "touch", "target": {"apiVersion": "staleproof.dev/v1", "kind": "Widget", "name": "w"}},
    ],
    "faults": [{"fault": "HideOwnWrite", "resource": "pods"}],
}


@pytest.fixture(scope="module")
def failed(staleproof: Run, tmp_path_factory: pytest.TempPathFactory) -> Done:
    """A plan of the user's own, run against the naive controller."""
    folder = tmp_path_factory.mktemp("user")
    (folder / "mine.json").write_text(json.dumps(PLAN))
    command = f"--controller-cmd={fixture_controller('naive')}"
    return staleproof("run", "mine.json", command, f"--crds={MANIFESTS / 'widget-crd.yaml'}", folder=folder)


def _trial(done: Done) -> Path:
    return done.run_folder / str(done.report["trials"][0]["folder"])


def test_run_catches_it(failed: Done) -> None:
    assert failed.code == 1, failed.output
    assert "is the 3rd live pod of widget/w; fault-free runs never had more than 2" in failed.output
    assert "again: staleproof replay" in failed.output
    assert failed.report["trials"][0]["reproduced"] == [3, 3]


def test_check_gives_the_same_findings_without_a_cluster(failed: Done, staleproof: Run, tmp_path: Path) -> None:
    """Only what is exported is brought to another folder, where no program could be started."""
    exported = staleproof("export", "001", f"--output={tmp_path / 'given.jsonl.gz'}", folder=failed.folder)
    assert exported.code == 0, exported.output
    nowhere = {"PATH": "/nonexistent", "HOME": str(tmp_path)}
    done = staleproof("check", "given.jsonl.gz", folder=tmp_path, env=nowhere)
    assert done.code == 1, done.output
    stories = [verdict["story"] for verdict in failed.report["trials"][0]["verdicts"] if verdict["story"]]
    assert stories
    for line in stories[0].splitlines()[1:]:
        assert " ".join(line.split()) in " ".join(done.output.split())


def test_check_tolerates_a_truncated_last_line(failed: Done, staleproof: Run, tmp_path: Path) -> None:
    """A run that was killed leaves it as it was written up to then."""
    left = tmp_path / "run" / "trials" / "001" / "history.jsonl"
    shutil.copytree(failed.run_folder / "shared", tmp_path / "run" / "shared")
    left.parent.mkdir(parents=True)
    left.write_bytes(gzip.decompress((_trial(failed) / "history.jsonl.gz").read_bytes())[:-20])
    done = staleproof("check", str(left.parent))
    assert "is truncated and was left out" in done.output
    assert done.code == 10  # it was not recorded to its end, so nothing is known


@pytest.mark.live
def test_replay_fails_again_and_passes_once_fixed(failed: Done, staleproof: Run) -> None:
    (crash,) = (failed.folder / ".staleproof" / "crashes").iterdir()
    plan = json.loads(crash.read_text())["plan"]
    assert plan["manifests"], "a plan that was run holds all that is needed to run it again"
    exported = failed.folder / "given.jsonl.gz"
    assert staleproof("export", str(_trial(failed)), f"--output={exported}").code == 0
    again = staleproof("replay", str(exported))
    assert again.code == 1, again.output
    assert "STILL FAILS" in again.output
    command = f"--controller-cmd={fixture_controller('expectations')}"
    fixed = staleproof("replay", crash.stem, command, folder=failed.folder)
    assert fixed.code == 0, fixed.output
    assert "FIXED" in fixed.output
    assert not crash.exists(), "a finding's file goes away once it passes"


def test_histories_of_trials_that_pass_are_not_kept_when_only_findings_are(staleproof: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(json.dumps(PLAN))
    command = f"--controller-cmd={fixture_controller('expectations')}"
    crds = f"--crds={MANIFESTS / 'widget-crd.yaml'}"
    done = staleproof("run", "-v", "mine.json", command, crds, "--keep=findings", folder=tmp_path)
    assert done.code == 0, done.output
    assert "kept: 1 plan, 0 histories; 1 of trials that passed were removed" in done.output
    assert (_trial(done) / "plan.json").is_file()
    assert not list(_trial(done).glob("history*"))
    assert done.report["trials"][0]["kept"] is False
    checked = staleproof("check", "001", folder=tmp_path)
    assert checked.code == 4
    assert "`staleproof replay 001` runs the plan again" in checked.output


@pytest.mark.parametrize("which", ["plan", "history", "report", "conformance", "timeline", "results", "badge", "trace"])
def test_schema_is_a_json_schema(which: str, staleproof: Run) -> None:
    done = staleproof("schema", which)
    assert done.code == 0
    jsonschema.Draft202012Validator.check_schema(json.loads(done.output))


def test_what_was_written_follows_the_schemas(failed: Done, staleproof: Run) -> None:
    plan_schema = json.loads(staleproof("schema", "plan").output)
    jsonschema.validate(json.loads((_trial(failed) / "plan.json").read_text()), plan_schema)
    line_schema = json.loads(staleproof("schema", "history").output)
    validator = jsonschema.Draft202012Validator(line_schema)
    history = gzip.decompress((_trial(failed) / "history.jsonl.gz").read_bytes())
    for line in history.splitlines():
        validator.validate(json.loads(line))
    assert failed.report["trials"][0]["evidence"] == hashlib.sha256(history).hexdigest()


@pytest.mark.parametrize(
    ("command", "content", "text"),
    [
        ("replay", "{", "not JSON"),
        ("replay", "[]", "expected an object"),
        ("replay", json.dumps({**PLAN, "apiVersion": "v9"}), "apiVersion"),
        ("replay", json.dumps({**PLAN, "faults": [{"fault": "Hodl", "resource": "pods"}]}), "Hodl"),
        ("replay", json.dumps({**PLAN, "faults": [{"fault": "Hold", "resource": "pods", "colour": 1}]}), "colour"),
        ("replay", json.dumps({**PLAN, "steps": []}), "at least one step"),
        ("check", "", "the file is empty"),
        ("check", '{"entry":"ended","at":1}\n', "expected a header"),
        ("check", "nonsense\n{}\n", "line 1"),
    ],
)
def test_a_malformed_plan_or_history_is_refused(command: str, content: str, text: str, staleproof: Run, tmp_path: Path) -> None:
    (tmp_path / "given.json").write_text(content)
    more = [f"--controller-cmd={fixture_controller('naive')}"] if command == "replay" else []
    done = staleproof(command, "given.json", *more, folder=tmp_path)
    assert done.code == 4, done.output
    assert "given.json" in done.output
    assert text in done.output
    assert "Traceback" not in done.output


def test_what_does_not_exist_is_refused(staleproof: Run) -> None:
    assert "no plan 'nosuch'" in staleproof("replay", "nosuch").output
    assert "cannot read nosuch.jsonl" in staleproof("check", "nosuch.jsonl").output
    assert staleproof("run").code == 4
