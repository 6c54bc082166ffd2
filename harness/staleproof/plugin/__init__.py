"""The pytest plugin: options, fixtures, exit codes, reports. Inert, and cheap to import, unless a controller is named."""

from __future__ import annotations

import datetime
import importlib
import os
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from staleproof.plugin.options import (
    add_options,
    file_in_force,
    header,
    is_seed_new,
    names_controller_in_file,
    profile_of,
    seed_of,
    settings_of,
    share_seed,
)
from staleproof.plugin.plan_reports import register, status
from staleproof.plugin.signals import BY_SIGNAL, is_interrupted, watch
from staleproof.settings_environment import misspelt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from staleproof.assess.run.notes import Notes

pytest_plugins = ["staleproof.plugin.fixtures"]

BEGAN = pytest.StashKey[float]()
"""When the run began, on the monotonic clock; in an xdist worker, when the controlling process did."""
VERBOSITY = pytest.StashKey[int]()
"""How often -v was given, less how often -q was."""
WATCHING = "staleproof-watching"
"""What the plugin is called that shows how far a run is, if there is one."""
_PYTESTS_OWN = 2
_PROFILES = "staleproof-"
_PROMISED = pytest.StashKey[Path]()
_INTERRUPTED = pytest.ExitCode.INTERRUPTED
_NONE_BEGINS = "staleproof: what stops this test stops all the others, so none was run"


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def _has_subject(config: pytest.Config) -> bool:
    settings = settings_of(config)
    return bool(settings.controller_cmd or settings.controller_image or settings.controller_manifests or settings.replay)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.stash[BEGAN] = getattr(config, "workerinput", {}).get("staleproof_began", time.monotonic())
    if (config.getoption("--hypothesis-profile", default=None) or "").startswith(_PROFILES):
        importlib.import_module("staleproof.draw.drawn")  # registers them, before Hypothesis' own plugin loads one
    register(config, lambda: _stop(config))
    if not _has_subject(config):
        return
    watch(config, held=True)
    _refuse_workers_in_one_cluster(config)
    if config.getoption("tx", default=None):
        from staleproof.plugin.outages import Outages

        config.pluginmanager.register(Outages(config))
    share_seed(config)  # before Hypothesis' own plugin asks for it, as above
    if settings_of(config).replay:
        config.args = [str(_bundled_suite() / "test_replay.py")]
        _let_watch(config, counts_plans=False)
    elif _is_for_the_suite(config):
        config.args = [str(_bundled_suite())]
        _let_watch(config, counts_plans=True)


def _let_watch(config: pytest.Config, *, counts_plans: bool) -> None:
    """Show how far the run is, and with -v each plan; pytest's own -v begins behind that."""
    verbosity = config.option.verbose
    config.stash[VERBOSITY] = verbosity
    is_elsewhere = hasattr(config, "workerinput") or settings_of(config).dry_run or config.option.usepdb
    if is_elsewhere or verbosity >= _PYTESTS_OWN or not config.pluginmanager.has_plugin("terminal"):
        return
    from staleproof.plugin.watching import Watching

    config.option.verbose = min(verbosity, 0)
    config.pluginmanager.register(Watching(config, names=verbosity > 0, counts_plans=counts_plans), WATCHING)


def _refuse_workers_in_one_cluster(config: pytest.Config) -> None:
    """Each xdist worker runs a controller, and in one cluster every one of them would work on the trials of all."""
    settings, workers = settings_of(config), len(config.getoption("tx", default=None) or ())
    provider = "existing" if settings.kube_provider == "auto" and settings.kubeconfig else settings.kube_provider
    if provider == "existing" and workers > 1:
        raise pytest.UsageError(
            f"{workers} workers and a cluster of your own: each worker runs a controller, and every one of those would reconcile "
            "the objects of all. Leave out -n, or leave out the kubeconfig: then each worker starts a control plane of its own."
        )


def _is_for_the_suite(config: pytest.Config) -> bool:
    """Whether pytest collects the bundled suite: no path is given. A repository that says where its own tests are keeps them,
    unless it is asked for the suite more loudly than by a file."""
    source, sources = config.args_source, pytest.Config.ArgsSource
    return source is sources.INVOCATION_DIR or (source is sources.TESTPATHS and not names_controller_in_file(config))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The replay test is part of the suite's folder and means nothing without something to replay."""
    if collection_path.name == "test_replay.py" and not settings_of(config).replay:
        return True if collection_path.parent == _bundled_suite() else None
    return None


def pytest_report_header(config: pytest.Config) -> list[str]:
    warnings = [f"staleproof: {each}" for each in misspelt(os.environ)]
    if not _has_subject(config):
        return warnings
    profile = profile_of(config)
    wanted = (
        f"staleproof: for exit code 0, a run of profile {profile.name} has to exercise, as far as the controller gives plans an "
        f"occasion: {', '.join(profile.wanted)}"
    )
    is_verbose = config.stash.get(VERBOSITY, config.option.verbose) > 0
    return [f"staleproof: {', '.join(header(config))}", _seed_in_words(config), *warnings, *([wanted] if is_verbose else [])]


def _seed_in_words(config: pytest.Config) -> str:
    """Where the drawn plans come from, and whatever Hypothesis draws besides."""
    note = ", which is new in each run" if is_seed_new(config) else ""
    return f"staleproof: plans are drawn with --hypothesis-seed={seed_of(config)}{note}"


def pytest_sessionstart(session: pytest.Session) -> None:
    if _has_subject(session.config):
        from staleproof.errors import UsageError
        from staleproof.plugin.outcome import begin

        try:
            begin(session.config)
        except UsageError as err:
            raise pytest.UsageError(str(err)) from err


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Note which tests of the suite are not to be run: the report is about the rest."""
    left = [item for item in items if item.path.parent == _bundled_suite()]
    notes = _notes(left[0].config) if left else None
    if notes is not None:
        from staleproof.assess.run.notes import Note

        notes.note(Note(deselected=tuple(item.name for item in left)))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """The controlling process of xdist's workers, which have collected their tests by now and wait, builds what they will need."""
    config = session.config
    if config.pluginmanager.has_plugin("dsession") and _has_subject(config) and not settings_of(config).dry_run:
        from staleproof.plugin.first_build import build_for_workers

        build_for_workers(config)


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config) -> Any:  # noqa: ANN401  # a hook wrapper
    """With `--dist loadfile` or `loadscope`, the scenarios of the suite, which is one file, still go to different workers."""
    scheduler = yield
    split_scope = getattr(scheduler, "_split_scope", None)
    if split_scope is not None and _has_subject(config) and config.getoption("dist") in ("loadfile", "loadscope"):
        scheduler._split_scope = lambda nodeid: _scenario_of(nodeid) or split_scope(nodeid)
    return scheduler


def _scenario_of(nodeid: str) -> str:
    """What the ids of all canonical plans of a scenario begin with; empty for every other test."""
    found = re.match(r".*test_scenarios\.py::test_canonical\[[\w-]+(?=/)", nodeid)
    return found[0] if found else ""


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:  # noqa: ANN401  # xdist's WorkerController
    """xdist: every worker keeps its trials in a part of the one run folder, and all have the same time."""
    notes = _notes(node.config)
    folder = notes.folder if notes is not None else _promised(node)
    node.workerinput["staleproof_run"] = str(folder)
    node.workerinput["staleproof_began"] = node.config.stash[BEGAN]
    node.workerinput["staleproof_seed"] = seed_of(node.config)


def _promised(node: Any) -> Path:  # noqa: ANN401  # as above
    """Where a worker makes the run folder if it learns of the controller from a conftest.py; this process does not."""
    config: pytest.Config = node.config
    if _PROMISED not in config.stash:
        stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
        name = f"{stamp}-{node.workerinput['testrunuid'][:4]}"
        config.stash[_PROMISED] = promised = (settings_of(config).dir / "runs" / name).absolute()
        watch(config, held=True, concern=promised.is_dir)
    return config.stash[_PROMISED]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:  # noqa: ANN401  # as above
    _join(node.config)
    notes = _notes(node.config)
    if notes is not None and error is not None and error != BY_SIGNAL:
        notes.worker_died()


def _join(config: pytest.Config) -> None:
    promised = config.stash.get(_PROMISED, None)
    if promised is not None and promised.is_dir():
        from staleproof.plugin.outcome import join

        join(config, promised)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """A worker that has no other test has time for the plans of others, as long as its fixtures live."""
    families = sys.modules.get("staleproof.plugin.families")
    if families is not None and nextitem is None:
        families.help_peers(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:  # noqa: ANN401  # a hook wrapper
    report = yield
    notes = _notes(item.config)
    if notes is not None and call.excinfo is not None:
        from staleproof.plugin.outcome import add_error

        if str(call.excinfo.value).startswith("staleproof: "):
            report.longrepr = str(call.excinfo.value)  # which says it all; pytest would add what it came from, in the same words
        ours = item.path.parent == _bundled_suite()
        add_error(notes, call.excinfo.value, ours=ours)
        if ours and call.when == "setup" and notes.has_trouble:
            item.session.shouldfail = _NONE_BEGINS
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport, config: pytest.Config) -> object:
    """A plan has a status of its own."""
    watching = config.pluginmanager.get_plugin(WATCHING)
    return watching.status(report) if watching is not None else status(report)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    _join(session.config)
    notes = _notes(session.config)
    if notes is not None:
        session.exitstatus = notes.finish(exitstatus, is_due=is_interrupted(session.config) and exitstatus == _INTERRUPTED)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config) -> None:
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and not _has_subject(config) and (file := file_in_force(config)):
        terminalreporter.write_line(
            f"staleproof: {file} names no controller, so the conformance suite is not run; add controller-cmd or controller-image",
            yellow=True,
        )
    if _has_subject(config) and settings_of(config).dry_run:
        from staleproof.plugin.dry_run import summary

        skipped = terminalreporter.stats.get("skipped", [])
        for line in summary(report for report in skipped if isinstance(report, pytest.TestReport)):
            terminalreporter.write_line(line)
    notes = _notes(config)
    if notes is not None:
        from staleproof.plugin.outcome import summarize

        summarize(notes, terminalreporter)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """The verdict is the last line, below pytest's own."""
    notes, terminal = _notes(config), config.pluginmanager.getplugin("terminalreporter")
    if notes is not None and terminal is not None:
        from staleproof.plugin.outcome import conclude

        conclude(notes, terminal)


def _bundled_suite() -> Path:
    """The folder of the conformance suite that ships with staleproof."""
    from staleproof.shipped import shipped

    return shipped("suites.conformance")


def _stop(config: pytest.Config) -> None:
    """Let no worker of the run begin anything more, and break off what each is at."""
    notes = _notes(config)
    if notes is not None:
        from staleproof.assess.store.run_folder import RunFolder

        RunFolder(notes.folder).stop()


def _notes(config: pytest.Config) -> Notes | None:
    """None as long as nothing was asked for: what is not imported has not begun."""
    outcome = sys.modules.get("staleproof.plugin.outcome")
    return config.stash.get(outcome.NOTES, None) if outcome is not None else None
