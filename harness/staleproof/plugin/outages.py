"""A worker that cannot run its plans is reported at once: pytest would report it only when the others have run them all."""

from collections.abc import Sequence

import pytest

from staleproof.assess.doctor.beginning import causes

_OURS = "staleproof: "


class Outages:
    """In the controlling process of xdist's workers. Each worker is reported once."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._known = set[str]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        worker, text = getattr(report, "worker_id", ""), str(report.longrepr or "")
        if worker not in self._known and report.failed and report.when == "setup" and text.startswith(_OURS):
            self._known.add(worker)
            self._tell(worker, text.removeprefix(_OURS).splitlines())

    def _tell(self, worker: str, lines: Sequence[str]) -> None:
        terminal = self._config.pluginmanager.getplugin("terminalreporter")
        if terminal is None:
            return
        terminal.write_line("")  # pytest's letters stand in the line
        terminal.write_line(f"{_OURS}worker {worker}: {lines[0]}", red=True)
        for why in causes(lines, is_up=False):
            terminal.write_line(f"  {why.cause}: {why.cure}")
