"""`staleproof doctor`: how a check is shown, and what is refused before anything starts."""

import io
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from staleproof.assess.doctor.check import Check, failed, no_time, passed, warns
from staleproof.cli.doctor import doctor, show, summed_up
from staleproof.errors import UsageError


def shown(check: Check) -> list[str]:
    out = io.StringIO()
    show(Console(file=out, width=40), check)
    return out.getvalue().splitlines()


def test_a_check_is_a_line_with_its_fix_and_the_log() -> None:
    fix = " ".join(["serve them"] * 9)
    check = Check(name="metrics", outcome="failed", found="none at [x]", fix=fix, log=("[red] is text",), code=11)
    assert shown(check) == ["✗ metrics     none at [x]", f"    → {fix}", "    | [red] is text"]
    assert shown(Check(name="watches", outcome="ok", found="pods")) == ["✓ watches     pods"]


@pytest.mark.parametrize(
    ("checks", "says"),
    [
        ((passed("reachable", ""), failed("watches", "", "")), "not ready: mend watches first"),
        (
            (passed("reachable", ""), no_time("restarts", 50.0)),
            "it is not known whether it is ready: not all was tried (exit code 10)",
        ),
        ((passed("reachable", ""), warns("RBAC", "", "")), "ready: start with `pytest`; have a look at RBAC"),
        ((passed("reachable", ""),), "ready: start with `pytest`"),
    ],
)
def test_the_last_line_says_what_to_think_of_it(checks: tuple[Check, ...], says: str) -> None:
    assert summed_up(checks).plain == says


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name the controller under test"),
        (("--controller-cmd=m", "--samples=nosuch"), "--samples: nosuch does not exist"),
        (("--controller-cmd=m", "--config=nosuch.yaml"), "cannot read nosuch.yaml"),
    ],
)
def test_wrong_input_starts_nothing(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(doctor, arguments, standalone_mode=False)
    assert isinstance(done.exception, UsageError)
    assert message in str(done.exception)
    assert not (tmp_path / ".staleproof").exists()
