"""The baseline of a run: read when it begins, written at its end only if `--staleproof-update-baseline` asks for it."""

import pytest

from staleproof.assess.run_folder import write_whole
from staleproof.errors import UsageError
from staleproof.plugin.options import settings_of
from staleproof.report.baseline import Baseline, BaselineError, decode, encode, updated
from staleproof.report.model import Report


def baseline_of(config: pytest.Config) -> Baseline:
    """What is known before the run; nothing without a baseline. UsageError when there is no such file, or it is none."""
    settings = settings_of(config)
    if settings.baseline is None:
        if settings.update_baseline:
            raise UsageError("--staleproof-update-baseline needs a file to write: name it with --staleproof-baseline")
        return Baseline()
    try:
        return decode(settings.baseline.read_bytes())
    except BaselineError as err:
        raise UsageError(f"{settings.baseline}: {err}") from err
    except FileNotFoundError:
        if settings.update_baseline:
            return Baseline()
        raise UsageError(f"{settings.baseline} does not exist; --staleproof-update-baseline makes it from what is found") from None
    except OSError as err:
        raise UsageError(f"cannot read {settings.baseline}: {err.strerror or err}; name a file with --staleproof-baseline") from err


def update(config: pytest.Config, report: Report) -> bool:
    """Write the baseline anew if that was asked for. SetupError when it cannot be written."""
    settings = settings_of(config)
    if settings.baseline is None or not settings.update_baseline:
        return False
    write_whole(settings.baseline, encode(updated(baseline_of(config), report)))
    return True
