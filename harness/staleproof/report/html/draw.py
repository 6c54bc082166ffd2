"""What the history of a trial adds to a page: its timeline, a run without the faults beside it, and what it did differently."""

from collections.abc import Sequence

from staleproof.checks.story.narrative import Story
from staleproof.checks.trial import with_references
from staleproof.core.history.history import History
from staleproof.report.html.comparison import comparison
from staleproof.report.html.document import Attachment, Drawn
from staleproof.report.timeline.document import Timeline
from staleproof.report.timeline.trial import timeline

Timelines = dict[str, Timeline]
"""Those of a page, by their names in it."""


def draw(name: str, history: History, stories: Sequence[Story], attachment: Attachment | None, into: Timelines) -> Drawn:
    """The trial under this name, which is unique in the page, and what goes with it. Its timeline, and that of a run without faults
    of the same workload, unless it is there for another trial, are put among the timelines of the page."""
    into[name] = timeline(history, stories)
    calm = next((each for each in history.references if each.header.role == "reference"), None)
    reference = f"reference {calm.digest or name}" if calm is not None else ""
    if calm is not None and reference not in into:
        into[reference] = timeline(calm)
    return Drawn(timeline=name, reference=reference, comparison=comparison(with_references(history)), attachment=attachment)
