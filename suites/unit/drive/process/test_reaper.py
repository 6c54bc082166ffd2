"""Whose something is that was left on this machine."""

import pytest

from staleproof.drive.process.reaper import born, here, is_orphan, this_run

HERE = "host pid:[4026531836]"


def test_a_process_knows_itself() -> None:
    assert not is_orphan(this_run(), here(), born)
    assert is_orphan(this_run(), here(), lambda pid: "")


@pytest.mark.parametrize(
    ("label", "orphan"),
    [
        (f"{HERE}/7/100", False),
        (f"{HERE}/7/99", True),  # the process id was used again
        (f"{HERE}/8/100", True),
        (f"{HERE}/8/", False),  # where there is no /proc, no birth is known
        ("other pid:[4026531836]/8/100", False),
        ("host pid:[4026532999]/8/100", False),  # in a container no process outside is seen
        ("something else", False),
    ],
)
def test_only_a_dead_run_of_this_very_machine_leaves_orphans(label: str, orphan: bool) -> None:  # noqa: FBT001  # a column
    assert is_orphan(label, HERE, lambda pid: {7: "100"}.get(pid, "")) is orphan
