"""Crash files: kept until the plan passes, one for each controller, found again by what a person has at hand, and read for ever."""

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from staleproof.assess.store.crashes import Found, crash_id, find, find_plan, keep_crash, outcome_of, why_unknown
from staleproof.assess.store.run_folder import HISTORY, RunFolder
from staleproof.assess.trial.result import Result
from staleproof.checks.catalog import BY_SLUG
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.history.entry import FaultFired
from staleproof.core.plan.fingerprint import fingerprint, identity
from staleproof.core.plan.masking import Placeholders
from staleproof.core.plan.plan import Subject, encode
from staleproof.errors import SetupError, UsageError

from ...judged import result


@pytest.fixture
def guilty(tmp_path: Path) -> Result:
    return result("naive-hidden-creates", tmp_path / "runs" / "now" / "trials" / "001", seconds=1.23456)


@pytest.fixture
def innocent(tmp_path: Path) -> Result:
    return result("expectations-hidden-creates", tmp_path / "runs" / "now" / "trials" / "002")


def test_the_fingerprint_survives_the_file(guilty: Result, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_bytes(encode(guilty.plan))
    assert fingerprint(find_plan(str(tmp_path), tmp_path)) == fingerprint(guilty.plan)


# --- crash files ---------------------------------------------------------------------------------------------------------------


def test_a_finding_is_kept_until_its_plan_passes(guilty: Result, innocent: Result, tmp_path: Path) -> None:
    assert keep_crash(tmp_path, innocent) == ""
    assert not (tmp_path / "crashes").exists()
    name = keep_crash(tmp_path, guilty)
    assert [path.name for path in (tmp_path / "crashes").iterdir()] == [f"{name}.json"]
    assert name == crash_id(guilty.plan)
    kept = json.loads((tmp_path / "crashes" / f"{name}.json").read_text())
    assert kept["findings"] == [story.text() for story in guilty.stories]
    assert kept["environment"]["kubernetes"] == "v1.36.3"
    assert find_plan(name, tmp_path) == guilty.plan

    assert keep_crash(tmp_path, innocent) == ""
    fixed = replace(innocent, plan=guilty.plan)
    assert keep_crash(tmp_path, fixed) == ""
    assert list((tmp_path / "crashes").iterdir()) == []


def test_a_finding_is_kept_while_nothing_refutes_it(guilty: Result, innocent: Result, tmp_path: Path) -> None:
    name = keep_crash(tmp_path, guilty)
    (slug,) = json.loads((tmp_path / "crashes" / f"{name}.json").read_text())["requirements"]
    other_verdicts = tuple(verdict for verdict in innocent.verdicts if verdict.requirement != slug)
    for unknown in (
        Verdict(slug, Outcome.INCONCLUSIVE, why="it was interrupted"),
        Verdict(slug, Outcome.NOT_EXERCISED, why="nothing was hidden"),
    ):
        kept = tmp_path / "crashes" / f"{name}.json"
        keep_crash(tmp_path, replace(innocent, plan=guilty.plan, verdicts=(unknown, *other_verdicts)), replayed=[kept])
        assert find_plan(name, tmp_path) == guilty.plan


def test_another_controller_fixes_nothing_unless_it_is_a_replay(guilty: Result, innocent: Result, tmp_path: Path) -> None:
    name = keep_crash(tmp_path, guilty)
    another = msgspec.structs.replace(guilty.plan, controller=Subject(command=("./bin/another",)))
    passed = replace(innocent, plan=another)
    keep_crash(tmp_path, passed)
    assert find_plan(name, tmp_path) == guilty.plan
    keep_crash(tmp_path, passed, replayed=[tmp_path / "crashes" / f"{name}.json"])
    assert list((tmp_path / "crashes").iterdir()) == []


def test_what_is_no_crash_file_is_not_removed(guilty: Result, innocent: Result, tmp_path: Path) -> None:
    path = tmp_path / "crashes" / f"{crash_id(guilty.plan)}.json"
    path.parent.mkdir()
    for content in ("", "[]", '{"plan": {}}', '{"requirements": [], "plan": 1}'):
        path.write_text(content)
        keep_crash(tmp_path, replace(innocent, plan=guilty.plan), replayed=[path])
        assert path.read_text() == content


def test_what_cannot_be_written_is_reported(guilty: Result, tmp_path: Path) -> None:
    (tmp_path / "crashes").write_text("")
    with pytest.raises(SetupError, match=r"cannot write .*: File exists; is the disk full or the folder write-protected"):
        keep_crash(tmp_path, guilty)


def test_a_name_that_cannot_be_a_file_is_no_plan(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read the plan 'xxx.*': File name too long"):
        find_plan("x" * 5000, tmp_path)


# --- finding a plan again ------------------------------------------------------------------------------------------------------


def test_a_plan_is_found_by_file_folder_and_id(guilty: Result, tmp_path: Path) -> None:
    name = keep_crash(tmp_path, guilty)
    (guilty.folder / "plan.json").write_bytes(encode(guilty.plan))
    (tmp_path / "mine.json").write_bytes(encode(guilty.plan))
    (tmp_path / "latest").symlink_to(tmp_path / "runs" / "now")
    in_folder = [str(guilty.folder), str(guilty.folder / "plan.json"), str(guilty.folder / HISTORY)]
    for text in (name, "001", *in_folder, str(tmp_path / "mine.json")):
        assert find_plan(text, tmp_path) == guilty.plan
    assert find_plan(str(tmp_path / "crashes" / f"{name}.json"), tmp_path / "elsewhere") == guilty.plan


def test_a_plan_in_a_run_gets_its_manifests_back(guilty: Result, tmp_path: Path) -> None:
    kept = RunFolder(tmp_path / "runs" / "now").keep_manifests(guilty.plan)
    assert kept != guilty.plan
    (guilty.folder / "plan.json").write_bytes(encode(kept))
    assert find_plan(str(guilty.folder), tmp_path) == guilty.plan
    (tmp_path / "copied.json").write_bytes(encode(kept))
    with pytest.raises(UsageError, match=r"copied\.json needs what its run folder keeps in shared/, and no folder above"):
        find_plan(str(tmp_path / "copied.json"), tmp_path)


@pytest.mark.parametrize(
    ("file", "content", "text", "message"),
    [
        ("empty/.keep", "", "nosuch", "no plan 'nosuch': expected a plan.json, a trial's folder, its name in"),
        ("mine.jsonl", '{"entry":"header"}', "mine.jsonl", "mine.jsonl: line 1"),
        ("folder/history.jsonl", "", "folder", "no plan"),
        ("plan.json", "{", "plan.json", "plan.json: not JSON"),
        ("plan.json", '{"kind": "Report"}', "plan.json", "kind 'Report'"),
        ("crashes/0123456789.json", "{", "0123456789", "0123456789.json is not a crash file of staleproof"),
        ("crashes/0123456789.json", '{"findings": []}', "0123456789", "is not a crash file of staleproof: 'plan'"),
        ("crashes/0123456789.json", "[]", "0123456789", "is not a crash file of staleproof"),
        ("crashes/0123456789.json", '{"plan": {"kind": "Plan"}}', "0123456789", "apiVersion"),
    ],
)
def test_what_is_no_plan_is_refused_by_name(
    file: str, content: str, text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(file).parent.mkdir(exist_ok=True)
    Path(file).write_text(content)
    with pytest.raises(UsageError) as caught:
        find_plan(text, Path())
    assert message in str(caught.value)


# --- two controllers, versions, several ------------------------------------------------------------------------------------------


def by(result: Result, command: str) -> Result:
    """The same, done by another controller."""
    return replace(result, plan=msgspec.structs.replace(result.plan, controller=Subject(command=(command,))))


def test_two_controllers_never_share_a_file(guilty: Result, innocent: Result, tmp_path: Path) -> None:
    names = [keep_crash(tmp_path, by(guilty, command)) for command in ("./one", "./two")]
    assert sorted(path.stem for path in (tmp_path / "crashes").iterdir()) == sorted(names)
    assert [find_plan(name, tmp_path).controller for name in names] == [Subject(command=(each,)) for each in ("./one", "./two")]
    with pytest.raises(UsageError, match="is a finding of several controllers; say which: "):
        find_plan(fingerprint(guilty.plan), tmp_path)

    keep_crash(tmp_path, by(replace(innocent, plan=guilty.plan), "./two"))
    assert find_plan(fingerprint(guilty.plan), tmp_path).controller == Subject(command=("./one",))


def test_a_file_says_which_version_wrote_it_and_about_which_controller(guilty: Result, tmp_path: Path) -> None:
    kept = json.loads((tmp_path / "crashes" / f"{keep_crash(tmp_path, guilty)}.json").read_text())
    assert (kept["apiVersion"], kept["kind"], kept["staleproof"]) == ("staleproof.dev/v1alpha1", "Crash", "0.1.0")
    assert kept["controller"] == identity(guilty.plan.controller)


def test_a_file_of_the_first_version_is_read_and_replaced(guilty: Result, innocent: Result, tmp_path: Path) -> None:
    path = tmp_path / "crashes" / f"{keep_crash(tmp_path, guilty)}.json"
    kept = json.loads(path.read_text())
    earlier = path.with_name(f"{fingerprint(guilty.plan)}.json")
    path.unlink()
    first = {key: kept[key] for key in ("requirements", "findings", "environment", "plan")}
    earlier.write_text(json.dumps(first))
    assert find_plan(earlier.stem, tmp_path) == guilty.plan

    keep_crash(tmp_path, guilty)
    assert [each.name for each in (tmp_path / "crashes").iterdir()] == [path.name]
    path.rename(earlier)
    keep_crash(tmp_path, replace(innocent, plan=guilty.plan))
    assert not earlier.exists()


def test_a_file_of_a_later_version_is_refused_with_what_to_do(guilty: Result, tmp_path: Path) -> None:
    path = tmp_path / "crashes" / f"{keep_crash(tmp_path, guilty)}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"apiVersion": "staleproof.dev/v2", "staleproof": "9.9"}))
    with pytest.raises(
        UsageError, match=r"was written by staleproof 9\.9, as staleproof\.dev/v2, .*: run it with that version, or"
    ):
        find_plan(path.stem, tmp_path)


READS = "and this is staleproof 0.1.0, which reads staleproof.dev/v1alpha1"
OF_THIS = f"{READS}: run it with that version, or find it anew with this one"


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"colour": 1}, "there is no field 'colour'; there are "),
        ({"settle": {"patience": 1}}, "there is no field 'settle.patience'; there are "),
        ({"faults": [{"fault": "Enchant", "resource": "pods"}]}, "fault 1: there is no fault 'Enchant'"),
        ({"steps": [{"do": "levitate"}]}, "step 1: there is no step 'levitate'"),
        ({"apiVersion": "staleproof.dev/v2"}, "found 'staleproof.dev/v2'"),
    ],
)
def test_a_plan_that_this_version_does_not_know_is_reported_with_both_versions(
    change: dict[str, object], wrong: str, guilty: Result, tmp_path: Path
) -> None:
    crash, plan = tmp_path / "crashes" / f"{keep_crash(tmp_path, guilty)}.json", tmp_path / "plan.json"
    kept = json.loads(crash.read_text()) | {"staleproof": "9.9"}
    form = change.get("apiVersion", "staleproof.dev/v1alpha1")
    crash.write_text(json.dumps(kept | {"plan": kept["plan"] | change}))
    plan.write_text(json.dumps(kept["plan"] | change))
    for text, by in ((crash.stem, "staleproof 9.9"), (str(plan), "an unnamed version of staleproof")):
        with pytest.raises(UsageError) as refused:
            find_plan(text, tmp_path)
        assert wrong in str(refused.value)
        assert str(refused.value).endswith(f". If that was not put in by hand: it was written by {by}, as {form}, {OF_THIS}")


def test_a_plan_that_contradicts_itself_is_of_no_other_version(guilty: Result, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps(json.loads(encode(guilty.plan)) | {"before": [{"kind": "Secret"}]}))
    with pytest.raises(UsageError, match=r"before\[0\] needs apiVersion, kind and metadata\.name$"):
        find_plan(str(tmp_path / "plan.json"), tmp_path)


def test_a_folder_of_crash_files_is_several_plans(guilty: Result, tmp_path: Path) -> None:
    for command in ("./one", "./two"):
        keep_crash(tmp_path, by(guilty, command))
    pinned = tmp_path / "pinned"
    (tmp_path / "crashes").rename(pinned)
    found = find(str(pinned), tmp_path)
    assert [each.path for each in found] == sorted(pinned.iterdir())
    assert {each.requirements for each in found} == {("no-duplicate-create",)}
    with pytest.raises(UsageError, match="holds 2 plans; name one of them"):
        find_plan(str(pinned), tmp_path)


def test_a_file_that_is_pinned_elsewhere_is_not_removed(guilty: Result, innocent: Result, tmp_path: Path) -> None:
    kept = tmp_path / "crashes" / f"{keep_crash(tmp_path, guilty)}.json"
    pinned = tmp_path / "pinned.json"
    pinned.write_bytes(kept.read_bytes())
    keep_crash(tmp_path, replace(innocent, plan=guilty.plan), replayed=[pinned])
    assert pinned.exists()


# --- what a replay shows ---------------------------------------------------------------------------------------------------------


def test_what_a_replay_shows(guilty: Result, innocent: Result) -> None:
    found = Found(guilty.plan, Path("x.json"), ("no-duplicate-create",))
    unknown = tuple(
        Verdict(each.requirement, Outcome.INCONCLUSIVE) if each.requirement in found.requirements else each
        for each in innocent.verdicts
    )
    assert outcome_of(found, guilty) == "still fails"
    assert outcome_of(found, innocent) == "fixed"
    assert outcome_of(found, replace(innocent, verdicts=unknown)) == "inconclusive"
    assert outcome_of(replace(found, requirements=()), replace(innocent, verdicts=unknown)) == "inconclusive"
    assert outcome_of(replace(found, requirements=()), innocent) == "fixed"


def test_a_replay_without_a_payload_that_the_controller_may_wait_for_shows_nothing(innocent: Result) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "pull"}, "data": {"key": "dmFsdWU="}}
    lacking = replace(innocent, plan=msgspec.structs.replace(innocent.plan, before=(Placeholders().secret(secret),)))
    found = Found(innocent.plan, Path("x.json"), ())

    assert outcome_of(found, innocent) == "fixed"
    assert outcome_of(found, lacking) == "inconclusive"
    assert why_unknown(found, lacking)[0] == "Secret/pull: the payload is not written down, and the controller may need it"


def test_a_plan_whose_fault_did_nothing_shows_nothing(innocent: Result) -> None:
    """Also where a requirement passes that needs no fault."""
    found = Found(innocent.plan, Path("x.json"), ("settles",))
    entries = tuple(each for each in innocent.history.entries if not isinstance(each, FaultFired))
    silent = replace(innocent, history=replace(innocent.history, entries=entries))
    assert silent.of("settles").outcome is Outcome.PASS
    assert outcome_of(found, innocent) == "fixed"
    assert outcome_of(found, silent) == outcome_of(replace(found, requirements=()), silent) == "inconclusive"
    assert why_unknown(found, silent) == ["not fired: HideOwnWrite of pods"]


def test_nothing_is_fixed_where_nothing_was_put_to_the_test(innocent: Result) -> None:
    found = Found(innocent.plan, Path("x.json"))
    idle = tuple(Verdict(each.requirement, Outcome.NOT_EXERCISED, why="nothing came") for each in innocent.verdicts)
    untried = replace(innocent, verdicts=idle)
    assert outcome_of(found, untried) == "inconclusive"
    assert why_unknown(found, untried) == [f"{slug}: nothing came" for slug in BY_SLUG if slug in innocent.plan.aims]
    hostile = replace(untried, plan=msgspec.structs.replace(innocent.plan, contract="hostile"))
    assert outcome_of(found, hostile) == "fixed", "what is not scored passes nothing"
