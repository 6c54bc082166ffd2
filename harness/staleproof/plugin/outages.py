"""A worker that cannot run its plans is reported at once: pytest would report it only when the others have run them all."""

from collections.abc import Sequence

import pytest

from staleproof.assess.doctor.beginning import causes

_OURS = "staleproof: "


class Outages:
    """In the controlling process of xdist's workers. Each worker is reported once, and so is what keeps several from it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._known = set[str]()
        self._told = set[str]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        worker, text = getattr(report, "worker_id", ""), str(report.longrepr or "")
        if worker not in self._known and report.failed and report.when == "setup" and text.startswith(_OURS):
            self._known.add(worker)
            self._tell(worker, text.removeprefix(_OURS).splitlines())

    def _tell(self, worker: str, lines: Sequence[str]) -> None:
        terminal, what = self._config.pluginmanager.getplugin("terminalreporter"), _alone(lines[0])
        if terminal is None or what in self._told:
            return
        self._told.add(what)
        terminal.write_line("")  # pytest's letters stand in the line
        terminal.write_line(f"{_OURS}worker {worker}: {what}", red=True)
        for why in causes(lines, is_up=False):
            terminal.write_line(f"  {why.cause}: {why.cure}")


def _alone(line: str) -> str:
    """Without what announces the lines below it."""
    return line.rpartition("; ")[0] if line.endswith(":") and "; " in line else line
