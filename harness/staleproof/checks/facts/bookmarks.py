"""What the controller did when bookmarks came: whether it went on with one, and whether it wrote after each."""

from collections.abc import Sequence

from staleproof.checks.facts.stimuli import Stimulus, stimuli
from staleproof.checks.trial import Trial


def went_on_with_bookmark(trial: Trial, closed: int) -> tuple[Stimulus, Stimulus, Stimulus] | None:
    """The last stimulus before a position, the bookmark behind that position and, right after that, the first write.

    None if it did not go on in this way. Echoes may come in between, if some came before the position, too, and did not make it
    write.
    """
    found = stimuli(trial)
    before = [each for each in found if each.index < closed and each.kind in ("cause", "write")]
    after = [each for each in found if each.index > closed]
    write = next((place for place, each in enumerate(after) if each.kind not in ("bookmark", "echo")), None)
    if not before or not write or after[write].kind != "write" or after[write - 1].kind != "bookmark":
        return None
    had_echoes = any(each.kind == "echo" and before[-1].index < each.index < closed for each in found)
    if not had_echoes and any(each.kind == "echo" for each in after[:write]):
        return None
    return before[-1], after[write - 1], after[write]


def bookmark_writes(trial: Trial, rest: float) -> Sequence[tuple[int, int]]:
    """(bookmark, write) for each bookmark before the settling that came after so many seconds of rest.

    Empty unless each such bookmark has its write, before anything else and sooner than that, and each write at rest its bookmark.
    """
    found = [each for each in stimuli(trial) if trial.settled is None or each.index < trial.settled]
    pairs: list[tuple[int, int]] = []
    if found and found[-1].kind == "bookmark" and found[-1].rested >= rest:
        return []
    for before, stimulus in zip([None, *found], found, strict=False):
        follows = before is not None and before.kind == "bookmark" and before.rested >= rest
        if before is not None and follows and stimulus.kind == "write" and stimulus.at - before.at < rest:
            pairs.append((before.index, stimulus.index))
        elif follows or (stimulus.kind == "write" and stimulus.rested >= rest):
            return []
    return pairs
