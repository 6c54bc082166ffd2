"""How far a run is, as its notes tell while it is on."""

import math
import threading
from collections.abc import Iterable, Sequence

from staleproof.assess.run.doing import Doing
from staleproof.assess.run.notes import Note
from staleproof.assess.run.queue import Planned
from staleproof.core.plan.fingerprint import fingerprint
from staleproof.core.times import FOUND_SECONDS, PRIOR_SECONDS
from staleproof.report.live import Standing, Step
from staleproof.report.model import TrialReport, findings

_TELLING = ("shrinking", "confirming", "building", "trial", "references", "learning the operator", "control plane", "stopping")


class Watched:
    """What was noted so far, by all workers; the name of the only one is empty. One thread may take notes while another asks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._doing: dict[str, Doing] = {}
        self._ahead: dict[str, float] = {}
        self._took: dict[str, float] = {}
        self._dropped = 0
        self._trials: dict[str, TrialReport] = {}
        self._findings = 0

    def take(self, worker: str, note: Note) -> None:
        """Take a note of this worker."""
        with self._lock:
            self._take(worker, note)

    def _take(self, worker: str, note: Note) -> None:
        if note.doing is not None:
            self._doing[worker] = note.doing
        self._ahead |= note.ahead
        self._took |= {note.over: note.took} if note.over else {}
        self._dropped += len(note.left_out) + sum(each.plans for each in note.ended)
        if note.trial is not None:
            self._trials[note.claim or note.trial.name] = note.trial
            self._findings = len(findings(tuple(self._trials.values())))

    def standing(self, seconds: float, budget: float = math.inf) -> Standing:
        """How far the run is, so many seconds after its beginning, if it has `budget` seconds left at most."""
        with self._lock:
            return self._standing(seconds, budget)

    def _standing(self, seconds: float, budget: float) -> Standing:
        over = len(self._took) + self._dropped
        at_work = sorted((each for each in self._doing.values() if each.phase != "waiting"), key=_telling)
        return Standing(
            seconds=seconds,
            over=min(over, len(self._ahead)) if self._ahead else 0,
            planned=len(self._ahead),
            findings=self._findings,
            left=min(self._left(len(self._ahead) - over, at_work), budget) if over < len(self._ahead) else None,
            steps=tuple(map(_step, at_work)),
        )

    def _left(self, plans: int, at_work: Sequence[Doing]) -> float:
        """Seconds until so many plans are over, by what they were expected to take and what others took beyond that. Of those that
        were dropped it is not known which they are."""
        open_plans = [seconds for name, seconds in self._ahead.items() if name not in self._took]
        expected = sum(seconds for name, seconds in self._ahead.items() if name in self._took)
        slower = (sum(self._took.values()) + PRIOR_SECONDS) / (expected + PRIOR_SECONDS)
        found = sum(each.phase in ("confirming", "shrinking") for each in at_work)
        left = slower * sum(open_plans) * plans / max(len(open_plans), 1) + FOUND_SECONDS * found
        return left / max(len(at_work), 1)


def ahead(plans: Iterable[Planned]) -> Note:
    """That these are the plans of the run."""
    return Note(ahead={fingerprint(each.plan): each.seconds for each in plans})


def _telling(doing: Doing) -> int:
    return _TELLING.index(doing.phase)


def _step(doing: Doing) -> Step:
    phase = "" if doing.phase == "building" else doing.phase
    return Step(phase=phase, what=doing.what, done=doing.done, total=doing.total)
