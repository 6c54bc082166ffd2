"""A re-run that any worker made counts like one that was made here."""

from dataclasses import replace
from pathlib import Path

from msgspec import structs

from staleproof.assess.store.run_folder import HISTORY, RunFolder, write_atomically
from staleproof.assess.trial.confirmation import reread
from staleproof.assess.trial.result import failures
from staleproof.checks.judge import judge
from staleproof.core.history.history import History, sealed
from staleproof.core.plan.manifest import Target
from staleproof.core.plan.step import Patch

from ...checks.test_judge import REFERENCES, guilty

SECRET = Patch(target=Target("v1", "Secret", "password"), patch={"stringData": {"password": "hunter2hunter2"}})


def with_secret(history: History) -> History:
    """Its workload changes a Secret as well."""
    plan = structs.replace(history.header.plan, steps=(*history.header.plan.steps, SECRET))
    return replace(history, header=structs.replace(history.header, plan=plan))


def kept(run: RunFolder, history: History) -> History:
    """One that the run has in a file, as `References.take` gives it."""
    made, data = sealed(with_secret(history))
    write_atomically(run.path / "shared" / "references" / made.digest / HISTORY, data)
    read = run.reference(made.digest)
    return replace(read, header=structs.replace(read.header, plan=with_secret(history).header.plan))


def test_a_rerun_whose_workload_has_a_secret_is_judged_beside_the_same_workload(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    references = tuple(kept(run, each) for each in REFERENCES)
    trial, data = sealed(replace(with_secret(guilty()), references=references))
    write_atomically(tmp_path / "trials" / "001" / "rerun-1" / HISTORY, data)
    assert b"hunter2" not in data
    again = replace(reread(tmp_path / "trials" / "001" / "rerun-1", trial), references=references)
    found = [{verdict.requirement for verdict in failures(judge(each))} for each in (trial, again)]
    assert found == [{"no-duplicate-create"}] * 2
