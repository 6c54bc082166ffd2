"""The baseline of a run: read when it begins, asked what is new, written at the end only if that is asked for."""

from staleproof.assess.store.run_folder import write_atomically
from staleproof.assess.trial.result import Result
from staleproof.checks.catalog import worst
from staleproof.checks.story.narrative import Story
from staleproof.errors import UsageError
from staleproof.report.baseline import Baseline, BaselineError, decode, encode, updated
from staleproof.report.model import Report
from staleproof.settings import Settings

NOTHING_KNOWN = Baseline()


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


def is_new(result: Result, baseline: Baseline) -> bool:
    """Whether it has a finding that fails a run and is not known."""
    return bool(new_stories(result, baseline))


def verdict_on(result: Result, baseline: Baseline) -> str:
    """What a trial came to, in a word: `known` if all that fails it is, else the worst of its verdicts."""
    if result.failures:
        return "failed" if is_new(result, baseline) else "known"
    return worst((verdict.requirement, verdict.outcome) for verdict in result.verdicts).word


def new_stories(result: Result, baseline: Baseline) -> list[Story]:
    """Its findings that fail a run and are not known, the worst first."""
    slugs = {verdict.requirement for verdict in result.failures}
    found = [story for story in result.stories if slugs & {story.requirement, *story.also}] if slugs else []
    return [story for story in found if not baseline.has(story.cause, story.requirement)]


def update_baseline(settings: Settings, before: Baseline, report: Report) -> list[str]:
    """Write the baseline anew if that was asked for, and say so. SetupError when it cannot be written."""
    if settings.baseline is None or not settings.update_baseline:
        return []
    write_atomically(settings.baseline, encode(updated(before, report)))
    return ["baseline: written anew"]
