"""When nothing that was run without faults can be compared with."""

from contextlib import nullcontext
from pathlib import Path

import pytest

from staleproof.assess.run.worker import SessionOptions, Worker
from staleproof.assess.store.run_folder import RunFolder
from staleproof.assess.trial.references import Hopeless, References
from staleproof.core.plan.plan import Subject


@pytest.mark.parametrize(
    ("troubles", "ends"), [(["it exits"], False), (["it exits", ""], False), (["it exits", "it is busy"], True)]
)
def test_a_sample_is_given_up_when_no_workload_of_it_can_be_compared_with(troubles: list[str], ends: bool, tmp_path: Path) -> None:  # noqa: FBT001
    references = References(Worker(SessionOptions(subject=Subject(command=("./bin/manager",))), folder=tmp_path))
    for number, trouble in enumerate(troubles):
        RunFolder(tmp_path).keep_trouble("a sample", str(number), trouble)
    with pytest.raises(Hopeless, match="nothing can be judged: 2 workloads") if ends else nullcontext():
        references.raise_hopeless("a sample")
    references.raise_hopeless("another sample")
