"""What the words of `ci/published` ask for. Nothing is built or run."""

from dataclasses import replace

import pytest

from staleproof.errors import UsageError

from ...operators.run import Ran
from ...published.__main__ import PROFILE, alone, main, tried, uncounted, wanted
from ...published.table import bugs
from ...published.tries import TRIES
from ..report.runs import BAD, report, trial, verdict

BUGS = {bug.name: bug for bug in bugs()}
SAYS = "no-time-travel  the controller deleted statefulset/trial/sample-server"


def test_without_names_the_open_half_is_tried_and_nothing_else() -> None:
    halves = {each.bug: BUGS[each.bug].half for each in TRIES}
    assert [row.name for row in wanted([]).rows] == [name for name, half in halves.items() if half == "a"]
    assert [row.name for row in wanted(["--held-back"]).rows] == list(halves)


def test_an_id_is_the_end_of_a_name() -> None:
    (row,) = wanted(["cluster-operator#653", "-n", "2"]).rows
    assert row.name == row.tried.bug == "rabbitmq/cluster-operator#653"
    with pytest.raises(UsageError, match="there is no #1; name any of "):
        wanted(["#1"])
    with pytest.raises(UsageError, match="cluster-operator#653: say which bugs before all options"):
        wanted(["--build", "cluster-operator#653"])
    with pytest.raises(UsageError, match="nolar/kopf: say which"):
        wanted(["-n", "2", "nolar/kopf"])


def test_a_bug_that_is_held_back_is_not_tried_by_mistake() -> None:
    with pytest.raises(UsageError, match=r"cluster-operator#648: held back, .* say --held-back"):
        wanted(["#653", "#648"])
    assert [row.name for row in wanted(["#648", "--held-back"]).rows] == ["rabbitmq/cluster-operator#648"]


def test_options_go_to_pytest_but_for_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    wants = wanted(["#653", "--before", "-n", "2", "--staleproof-profile=smoke", "--write"])
    assert wants.options == ["-n", "2", "--staleproof-profile=smoke"]
    assert wants.flags == {"--before", "--write"}
    assert (wants.sides, wanted([]).sides) == (("before",), ("before", "after"))
    monkeypatch.setenv(PROFILE, "standard")
    assert (wants.profile, wanted([]).profile) == ("smoke", "standard")


def test_what_is_kept_of_a_run() -> None:
    (row,) = wanted(["#653"]).rows
    shows = trial("a", verdict("no-time-travel", BAD, severity="destroyed", story=SAYS))
    ran = Ran(operator=row.tried.before, exit_code=1, minutes=14.94, report=report(shows, minutes=15.0), over={shows.folder: 4.16})
    kept = tried(row, "before", ran, "standard")
    assert (kept.bug, kept.of, kept.version, kept.profile) == (row.name, "before", "v1.6.0", "standard")
    assert (kept.budget, kept.minutes, kept.trials) == (15.0, 14.9, 1)
    assert [(each.requirement, each.minutes, each.named) for each in kept.shows] == [("no-time-travel", 4.2, True)]


def test_what_was_interrupted_counts_as_untried() -> None:
    (row,) = wanted(["#653"]).rows
    ran = Ran(operator=row.tried.before, exit_code=0, minutes=1.0, report=report(trial("a")))
    assert [uncounted(replace(ran, report=each)) for each in (None, report(), report(trial("a"), partial=True), ran.report)] == [
        "ran no trial",
        "ran no trial",
        "was interrupted",
        "",
    ]


def test_the_tables_can_be_had_without_running_anything(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--kept"]) == 0
    assert "| all | " in capsys.readouterr().out


def test_a_name_that_there_is_not_is_a_mistake_in_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nothing"]) == UsageError.exit_code
    assert "there is no nothing" in capsys.readouterr().err


@pytest.mark.io
def test_a_machine_that_has_no_means_for_it_runs_with_its_network() -> None:
    assert alone({"PATH": "/nowhere"}) == ()
