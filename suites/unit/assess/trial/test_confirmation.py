"""Which re-runs there are of a trial; one that any worker made counts like one that was made here."""

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs

from staleproof.assess.store.run_folder import HISTORY, RunFolder, write_atomically
from staleproof.assess.trial.confirmation import Confirmation, reread, reruns
from staleproof.assess.trial.result import failures
from staleproof.checks.judge import judge
from staleproof.core.history.history import History, sealed
from staleproof.core.plan.manifest import Target
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Patch
from staleproof.drive.trial.workload import Refused

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


@pytest.mark.parametrize(
    ("numbers", "healing"),
    [([1, 2], 2), ([2, 1], 2), ([2], 2), ([1], 1), ([3, 4, 5, 6], 3)],
    ids=["two", "early", "one waits", "one", "more"],
)
def test_what_heals_is_tried_in_the_same_rerun_whenever_it_is_begun(numbers: list[int], healing: int) -> None:
    found = reruns(Path("gw0/trials/gw0-001"), guilty(), numbers)
    assert [each.folder.split("-")[-2] for each in found if each.heals] == [str(healing)]
    assert not any(each.heals for each in reruns(Path("gw0/trials/gw0-001"), guilty(), numbers, heals=False))


def test_a_rerun_that_was_begun_early_is_the_one_that_is_wanted_later() -> None:
    trial = replace(guilty(), references=REFERENCES)
    early, later = (reruns(Path("001"), trial, numbers) for numbers in ([2, 1], [1, 2]))
    assert early == later[::-1]
    assert len({each.folder for each in early}) == 2


class RefusesFinal:
    """The API server does not accept the last state of the workload of an object that is not there yet."""

    def unstable(self) -> tuple[()]:
        return ()

    def histories_for(self, plan: Plan, role: str, times: int = 1, *, lasts: Sequence[float] = ()) -> tuple[History, ...]:
        if role == "final":
            raise Refused("step 1 (apply Widget/w): the API server answered 422: spec.suspend may not be set", 1)
        return ()


def test_a_finding_that_cannot_be_compared_with_the_last_state_is_neither_held_against_the_controller_nor_lost(
    tmp_path: Path,
) -> None:
    suspended = Patch(target=Target("staleproof.dev/v1", "Widget", "w"), patch={"spec": {"suspend": True}})
    found = replace(guilty(), references=REFERENCES)
    plan = structs.replace(found.header.plan, steps=(*found.header.plan.steps, suspended))
    free: Any = SimpleNamespace(
        references=RefusesFinal(),
        options=SimpleNamespace(worker="", patience=0.0),
        doing=lambda *_: contextlib.nullcontext(),
        wanted=SimpleNamespace(comparisons=lambda *_: contextlib.nullcontext()),
        need=lambda seconds: None,
        shared=SimpleNamespace(path=tmp_path, note_explained=lambda: None),
    )
    judged = Confirmation(free, plan, tmp_path).judged(found, 2)
    assert not failures(judged.verdicts)
    (doubt,) = [each for each in judged.verdicts if each.why.startswith("unconfirmed")]
    assert "because a run that it has to be compared with is refused (step 1 (apply Widget/w)" in doubt.why
    assert judged.is_cut
