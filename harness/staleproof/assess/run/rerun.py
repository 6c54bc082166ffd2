"""A run that a report tells of, done again by the command that it names."""

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from staleproof.assess.store.reports import REPORT, read_report
from staleproof.core.plan.masking import reference_to
from staleproof.errors import SetupError, UsageError
from staleproof.report.model import Report

_PROGRAMS = ("pytest", "staleproof")
_VARIABLE = "--controller-env"
_LATEST, _DIR = "latest", "--dir="


def rerun(command: str, artefacts: Path, own: Path, environ: Mapping[str, str] = os.environ) -> Report:
    """Run the command in the working directory, and the report that comes of it.

    `artefacts`: where a run of pytest leaves its files; the staleproof command leaves them in the folder that it names, or else in
    `own`.

    Raises:
        UsageError: it is no command of ours; or it needs a variable of the controller that is not set.
        SetupError: it made no report.
    """
    program, *words = arguments(command, environ)
    if program == "pytest":
        words += ["-p", "no:cacheprovider", f"--staleproof-dir={artefacts}", "--conformance-report="]
        own = artefacts
    else:
        own = next((Path(word.removeprefix(_DIR)) for word in words if word.startswith(_DIR)), own)
    before = _latest(own)
    done = subprocess.run([sys.executable, "-m", program, *words], check=False)
    latest = _latest(own)
    if latest is None or latest == before or not (latest / REPORT).is_file():
        raise SetupError(
            f"the run ended with exit code {done.returncode} and made no report; what it needs may not be here: {command}"
        )
    return read_report(latest)


def arguments(command: str, environ: Mapping[str, str]) -> Sequence[str]:
    """The words of a command of ours, with the values of the controller's variables. UsageError as above."""
    try:
        words = shlex.split(command)
    except ValueError as err:
        raise UsageError(f"the report's command is none: {err}: {command}") from err
    if not words or words[0] not in _PROGRAMS:
        raise UsageError(f"the report's command is none of {' or '.join(_PROGRAMS)}: {command}")
    return [_given(word, before, environ) for before, word in zip(("", *words), words, strict=False)]


def _given(word: str, before: str, environ: Mapping[str, str]) -> str:
    """The word, with the value that is not written down if it gives the controller a variable."""
    option, pair = (f"{_VARIABLE}=", word.removeprefix(f"{_VARIABLE}=")) if word.startswith(f"{_VARIABLE}=") else ("", word)
    name, equals, value = pair.partition("=")
    if not (option or before == _VARIABLE) or value != reference_to(name):
        return word
    if name not in environ:
        raise UsageError(f"the controller's variable {name} is not written down: set {name} and run again")
    return f"{option}{name}{equals}{environ[name]}"


def _latest(artefacts: Path) -> Path | None:
    link = artefacts / _LATEST
    return link.resolve() if link.exists() else None
