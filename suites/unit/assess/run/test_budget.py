"""Until when a run may run plans."""

import math
import time
from pathlib import Path

import pytest

from staleproof.assess.run import budget
from staleproof.assess.run.budget import end_of, starting
from staleproof.assess.store.claims import Claims
from staleproof.assess.store.run_folder import RunFolder
from staleproof.errors import SetupError


@pytest.mark.parametrize(("minutes", "seconds"), [(10, 570), (0.5, 27.6), (None, math.inf)])
def test_minutes_count_from_the_beginning_of_the_run(minutes: float | None, seconds: float, tmp_path: Path) -> None:
    ends = end_of(RunFolder(tmp_path), minutes, began=1000.0)
    assert ends() == pytest.approx(1000.0 + seconds)
    RunFolder(tmp_path).note_built("control plane", 40.0, by="gw0")
    RunFolder(tmp_path).note_built("control plane", 60.0, by="gw1")  # which waited for the same
    RunFolder(tmp_path).note_built("kwok", 5.0, by="gw0")
    assert ends() == pytest.approx(1000.0 + seconds + 65.0)


@pytest.mark.parametrize("minutes", [10, None])
def test_the_time_of_a_run_that_any_worker_stops_is_over(minutes: float | None, tmp_path: Path) -> None:
    ends = end_of(RunFolder(tmp_path), minutes, began=time.monotonic())
    assert ends() > time.monotonic()
    Claims(tmp_path).stop()
    assert ends() < time.monotonic()


def test_what_is_noted_as_built_only_now_does_not_count_yet(tmp_path: Path) -> None:
    RunFolder(tmp_path).note_built("kwok", 5.0, by="gw0")
    for noted in tmp_path.rglob("*.txt"):
        noted.unlink()
    assert end_of(RunFolder(tmp_path), 10, began=1000.0)() == pytest.approx(1570.0)


def test_what_takes_long_to_start_was_built_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = RunFolder(tmp_path)
    with starting(run, "control plane"):
        pass
    assert run.built_seconds() == 0.0
    monkeypatch.setattr(budget, "BUILT_SECONDS", 0.0)
    with starting(run, "control plane", by="gw0"), pytest.raises(SetupError), starting(run, "kwok"):
        raise SetupError("a build that fails takes time, too")
    assert run.built_seconds() > 0.0
