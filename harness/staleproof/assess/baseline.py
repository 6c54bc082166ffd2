"""The baseline of a run: read when it begins, written at its end only if that is asked for."""

from staleproof.assess.run_folder import write_whole
from staleproof.errors import UsageError
from staleproof.report.baseline import Baseline, BaselineError, decode, encode, updated
from staleproof.report.model import Report
from staleproof.settings import Settings


def read_baseline(settings: Settings, *, option: str = "--staleproof-baseline") -> Baseline:
    """What is known before the run; nothing without a baseline. `option`: what the user calls it. UsageError when there is no such
    file, or it is none."""
    update = option.replace("baseline", "update-baseline")
    if settings.baseline is None:
        if settings.update_baseline:
            raise UsageError(f"{update} needs a file to write: name it with {option}")
        return Baseline()
    try:
        return decode(settings.baseline.read_bytes())
    except BaselineError as err:
        raise UsageError(f"{settings.baseline}: {err}") from err
    except FileNotFoundError:
        if settings.update_baseline:
            return Baseline()
        raise UsageError(f"{settings.baseline} does not exist; {update} makes it from what is found") from None
    except OSError as err:
        raise UsageError(f"cannot read {settings.baseline}: {err.strerror or err}; name a file with {option}") from err


def update_baseline(settings: Settings, before: Baseline, report: Report) -> list[str]:
    """Write the baseline anew if that was asked for, and say so. SetupError when it cannot be written."""
    if settings.baseline is None or not settings.update_baseline:
        return []
    write_whole(settings.baseline, encode(updated(before, report)))
    return ["baseline: written anew"]
