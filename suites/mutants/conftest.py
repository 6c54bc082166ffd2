"""One session for each test process, whichever controller is under test, and one table of all results at the end."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from staleproof.assess.learn.companions import start_companions
from staleproof.assess.run.worker import SessionOptions
from staleproof.assess.trial.session import Session
from staleproof.core.operator.companion import AUTO
from staleproof.drive.cluster.manifests import read_crds
from staleproof.plugin.options import settings_of

from ..integration.shared_plane import shared_plane as shared_plane
from .chosen import VARIABLE, chosen
from .known import CRDS, METRICS, Known
from .rows import FOUND, KEPT, NOT_ACCUSED, Guilty, Honest, in_short
from .table import GUILTY, HONEST

START_SECONDS = 120.0  # a JVM or Node begins slowly beside other suites
PATIENCE_SECONDS = 5.0  # shorter than any trial waits, as what is stuck is known here
TABLE = ("controller", "its requirement", "caught by the plan", "found as well")
CLEAN = ("honest controller", "plans", "findings", "inconclusive", "reported, not scored", "median s a trial", "s in all", "exit")


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config) -> Any:  # noqa: ANN401  # a hook wrapper
    """With `--dist loadfile`, the tests of this folder are shared out one by one, because each takes long, and a worker starts
    everything once; those with companions, which are dear, go to one worker."""
    scheduler = yield
    if config.getoption("dist") == "loadfile":
        split_scope = scheduler._split_scope
        scheduler._split_scope = lambda nodeid: _apart(nodeid) or split_scope(nodeid)
    return scheduler


def _apart(nodeid: str) -> str:
    """What a test of this folder shares with other tests; empty for tests of other folders."""
    if not nodeid.startswith(f"suites/{Path(__file__).parent.name}/"):
        return ""
    known = next((each for each in (*GUILTY, *HONEST) if nodeid.endswith(f"[{each.name}]")), None)
    return " ".join(known.companions) if known is not None and known.companions else nodeid


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the controllers that are not to be put under test."""
    names = chosen()
    if names is None:
        return
    left_out = [item for item in items if _controller(item) and _controller(item) not in names]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


def _controller(item: pytest.Item) -> str:
    """The one that a test of this folder puts under test; empty for other tests."""
    called = getattr(item, "callspec", None) if item.path.parent == Path(__file__).parent else None
    return "" if called is None else str(called.id)


@pytest.fixture(scope="session")
def put_under_test(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Callable[[Known], Session]]:
    """Puts a controller under test; control plane and proxy are shared by all controllers with the same external systems, further
    programs of the same names, and the same companions: their own, or else, with `--staleproof-companions=auto`, those that a real
    cluster would have. Of those with something beside them the last stay: an API server is not idle because nothing asks it."""
    chooses = AUTO in settings_of(pytestconfig).companions
    with ExitStack() as stack, ExitStack() as last:
        sessions: dict[tuple[tuple[str, ...], str, tuple[str, ...]], Session] = {}

        def put(known: Known) -> Session:
            beside = (known.companions, known.outside, tuple(each.called for each in known.also))
            if beside not in sessions:
                if any(beside):
                    last.close()
                    for other in [each for each in sessions if any(each)]:
                        del sessions[other]
                options = SessionOptions(
                    subject=known.subject,
                    manifests=tuple(read_crds(CRDS)),
                    root=tmp_path_factory.mktemp("staleproof"),
                    companions=known.companions,
                    external=known.systems,
                    chooses_companions=chooses and not known.companions,
                    keep="findings",
                    start_seconds=START_SECONDS,
                    patience=PATIENCE_SECONDS,
                )
                sessions[beside] = (last if any(beside) else stack).enter_context(Session(options))
            session = sessions[beside]
            session.use(known.subject, metrics=METRICS if known.has_metrics else "")
            is_known_to_be_guilty = bool(known.caught_by) and not known.races
            session.options = replace(session.options, reruns=0 if is_known_to_be_guilty else 2, maps=known.maps)
            start_companions(session, [known.primary])
            return session

        yield put


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    reports: list[Any] = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, ())]
    for name, headings in (("mutant", TABLE), ("honest", CLEAN)):
        rows = [value for report in reports for property_, value in report.user_properties if property_ == name]
        if rows:
            terminalreporter.write_line(_table(headings, rows))
    if names := chosen():
        terminalreporter.write_line(f"{VARIABLE}: {', '.join(sorted(names))}")
    ends = [value[-1] for report in reports for property_, value in report.user_properties if property_ == "honest"]
    if ends:
        terminalreporter.write_line(f"{ends.count('0')} of {len(ends)} honest runs would exit with 0")
    kept = KEPT.rows() if not hasattr(config, "workerinput") else []  # the controlling process shows them
    for kind, columns in ((Guilty, FOUND), (Honest, NOT_ACCUSED)):
        cells = [row.cells for row in kept if isinstance(row, kind)]
        if cells:
            terminalreporter.write_line(_table(columns, cells))
    for line in in_short(kept):
        terminalreporter.write_line(line)


def _table(headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    table = Table(title_justify="left")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in sorted(rows):
        table.add_row(*row)
    console = Console(width=170)
    with console.capture() as capture:
        console.print(table)
    return capture.get()
