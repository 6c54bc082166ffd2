"""Measures whole runs of the conformance suite, as a user starts them, against controllers whose verdict is known: honest ones.

Each checkout runs its own suite; the controllers are always those of this one. What does not fit into the time is left out: a run
that takes longer than its share is interrupted, which leaves a partial report; and unless all plans are wanted, only every so many
families of plans are run.
"""

import json
import os
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from staleproof.assess.store.run_folder import find_history, read_history
from staleproof.checks.catalog import is_scored
from staleproof.draw.scenarios import FAMILIES
from staleproof.errors import UsageError

from ..mutants.known import MANIFESTS, METRICS, Known
from ..mutants.table import HONEST
from .checkout import Checkout
from .rig import say
from .trials import WORKERS, Ran, Timed, bound

SUBJECTS: Mapping[str, str] = {
    "consistency_store": "Widget (in-memory consistency store)",
    "deliberate": "deliberate: nine kinds, pauses 2 s",
    "kube-controller-manager": "ReplicaSet (kube-controller-manager)",
    "restless": "restless: polls every 5 s",
    "go-widget": "Widget in Go (controller-runtime)",
    "sequential_job": "SequentialJob, with companions",
    "kopf_widget": "Widget in Python (kopf)",
    "hopeless": "hopeless: retries for ever",
}
"""By their names among the honest controllers; those that tell most come first, because there may be no time for all."""
EVERY = 4
"""Of so many families one is run where not all are."""
_FINE = (0, 1, 10)
_LAST_SECONDS = 40.0
_ENOUGH_SECONDS, _LEAST_SECONDS = 110.0, 60.0
"""What a sample takes on a busy machine, and what it takes to see any trial at all."""


@dataclass(frozen=True, slots=True)
class _Run:
    subject: Known
    title: str
    by: Checkout
    whole: bool
    folder: Path


def measure(names: Sequence[str], checkouts: Sequence[Checkout], found: list[Ran], *, whole: bool, until: float) -> None:
    """One run for each controller and checkout, alternating; each is added to `found`, one that is interrupted, too.

    `until`: when the last of them has to be over (`time.monotonic`).
    """
    known = {each.name: each for each in HONEST}
    todo = [(known[name], SUBJECTS[name], each) for name in names for each in checkouts]
    for number, (subject, title, each) in enumerate(todo):
        left = until - time.monotonic()
        seconds = min(left, max(left / (len(todo) - number), _ENOUGH_SECONDS))
        if seconds < _LEAST_SECONDS:
            say(f"bench: no time left for {title} ({each.name}); give it more --minutes, or name it with --controller")
            continue
        say(f"bench: {title}, {each.name}{f', at most {seconds:.0f} s' if seconds < float('inf') else ''}")
        with tempfile.TemporaryDirectory(prefix="staleproof-bench-", ignore_cleanup_errors=True) as folder:
            _run(_Run(subject, title, each, whole, Path(folder)), seconds, found)


def _run(run: _Run, seconds: float, found: list[Ran]) -> None:
    began, trouble = time.monotonic(), "interrupted"
    output = run.folder / "output"
    try:
        with output.open("wb") as log:
            command = [str(run.by.python), "-m", "pytest", *_arguments(run)]
            process = subprocess.Popen(command, cwd=run.folder, env=_environment(), stdout=log, stderr=log, start_new_session=True)
            ended = _wait(process, seconds)
        trouble = "" if ended else "its time was over"
        if ended and process.returncode not in _FINE:
            last = " ".join(output.read_text(errors="replace").split()[-40:])
            trouble = f"pytest ended with {process.returncode}: {last}"
    finally:
        found.append(_result(run, minutes=(time.monotonic() - began) / 60, trouble=trouble))


def _arguments(run: _Run) -> list[str]:
    subject = run.subject
    metrics = [f"--controller-metrics={METRICS}"] if subject.has_metrics else []
    some = " or ".join(family.name for family in FAMILIES[::EVERY])  # another revision may not know their scenarios
    return [
        *("-q", "-p", "no:cacheprovider", "-p", "no:asyncio", "-n", str(WORKERS)),
        f"--controller-cmd={shlex.join(subject.subject.command)}",
        *(f"--staleproof-crds={MANIFESTS / name}" for name in ("widget-crd.yaml", "sequentialjob-crd.yaml", "tenant-crd.yaml")),
        f"--staleproof-samples={MANIFESTS / subject.sample}",
        "--staleproof-profile=standard",
        f"--staleproof-dir={run.folder / 'artefacts'}",
        f"--staleproof-companions={','.join(subject.companions) or 'none'}",
        *metrics,
        *([] if run.whole else ["-k", some, "--staleproof-max-examples=0"]),
    ]


def _environment() -> dict[str, str]:
    """Without what this process was given for itself, or for its own runs."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "STALEPROOF_P", "PYTHONPATH"))}


def _wait(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether it has ended by itself. When its time is over, or ours, it is interrupted, and writes what it has."""
    try:
        process.wait(None if seconds == float("inf") else max(1.0, seconds - _LAST_SECONDS / 4))
        return True
    except subprocess.TimeoutExpired:
        return False
    finally:
        if process.poll() is None:
            _interrupt(process)


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(_LAST_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _result(run: _Run, *, minutes: float, trouble: str) -> Ran:
    """What the run has left behind."""
    latest = run.folder / "artefacts" / "latest"
    try:
        report: dict[str, Any] = json.loads((latest / "report.json").read_bytes())
    except (OSError, ValueError):
        report = {"trials": ()}
        trouble = trouble or "it left no report"
    trials = report["trials"]
    return Ran(
        controller=run.title,
        checkout=run.by.name,
        minutes=minutes,
        whole=run.whole and not trouble,
        trials=[_timed(each, latest / each["folder"]) for each in trials],
        findings=sum(any(_is_finding(verdict) for verdict in each["verdicts"]) for each in trials),
        inconclusive=sum(any(_is_inconclusive(verdict) for verdict in each["verdicts"]) for each in trials),
        trouble=trouble,
    )


def _is_finding(verdict: Mapping[str, Any]) -> bool:
    return verdict["result"] == "failed" and is_scored(verdict["requirement"])


def _is_inconclusive(verdict: Mapping[str, Any]) -> bool:
    return verdict["result"] == "inconclusive" and bool(verdict["exercised"])


def _timed(trial: Mapping[str, Any], folder: Path) -> Timed:
    try:
        history = read_history(find_history(str(folder), folder))
    except UsageError:
        return Timed(trial["seconds"], None, trial.get("spent", {}))  # of another format: the times are kept all the same
    limit = bound(history.header.plan, history.references)
    return Timed(trial["seconds"], limit, trial.get("spent", {}))
