"""What of a controller's log tells why it does not work: the lines that decide, and the error that comes again and again.

Logs have no common form. Lines come as `in_short` leaves them. A line's level is looked for where the loggers of Go, Java,
JavaScript, Python and Rust write it; where there is none, the words of the line tell.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence

from staleproof.assess.doctor.symptoms import explained
from staleproof.core.wording import plural

MOST_LINES, MOST_WIDTH = 8, 500
_BESIDE = 3
"""So many other errors are shown beside those that the table knows."""
_LEVELS = (
    re.compile(r"^(?P<level>[DIWEF])\d{4} "),  # klog
    re.compile(r"\b(?:level|lvl|severity)=\"?(?P<level>\w+)"),
    re.compile(r"^.{0,80}?\b(?P<level>TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|SEVERE|PANIC)\b"),
)
_BAD = re.compile(r"^(?:e|f|err|error|fatal|critical|severe|d?panic)$", re.IGNORECASE)
_UNSURE = re.compile(r"^(?:w|warn|warning)?$", re.IGNORECASE)
"""Many frameworks warn of a reconcile that failed."""
_WORDS = re.compile(
    r"\berror\b|\w+(?:Error|Exception)\b|\bfail(?:s|ed|ure)?\b|\bcannot\b|\bcan't\b|\bunable to\b|\bpanick?(?:ed)?\b|"
    r"\b(?:4\d\d|5\d\d)\b.*\b(?:not found|forbidden|invalid|refused)\b",
    re.IGNORECASE,
)
_CONFLICT = re.compile(r"object has been modified|\bConflict\b|optimistic ?lock", re.IGNORECASE)
"""Every honest controller meets one now and then, and tries again."""
_ENDS = re.compile(r"context canceled|ProcessLifecycle|shutting down", re.IGNORECASE)
"""What a program says that ends for another reason."""
_NO_TROUBLE = re.compile(f"{_CONFLICT.pattern}|{_ENDS.pattern}", re.IGNORECASE)
_FEWEST_LOGS, _MOST_OF = 3, 2 / 3
"""An error is usual that is in such a part of so many logs, at least."""
_LEVEL_FIELDS = ("level", "severity", "lvl", "levelname")
_NUMBERS = {"10": "trace", "20": "debug", "30": "info", "40": "warn", "50": "error", "60": "fatal"}
"""Numbers are pino's and bunyan's."""
_FIELDS = ("msg", "message", "error", "err", "exc_info", "exception")
"""What counts of a line that is JSON, or ends with it; `stacktrace` and all else does not."""
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_CHANGING = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|\b(?=\w*\d)[0-9a-f]{6,}\b|\d+", re.IGNORECASE)
"""What differs between two lines that say the same: times, numbers, ids."""


def in_short(line: str) -> str:
    """A line as people read it: of JSON the level, what is said and the error, without other fields and the stack."""
    plain = _COLOUR.sub("", line)
    head, brace, rest = plain.partition("{")
    try:
        fields = json.loads(brace + rest)
    except ValueError:
        return plain[:MOST_WIDTH]
    level = next((str(fields[name]) for name in _LEVEL_FIELDS if fields.get(name)), "")
    said = ": ".join(str(fields[name]).strip() for name in _FIELDS if fields.get(name))
    words = (*head.split(), _NUMBERS.get(level, level).upper(), said)
    return " ".join(filter(None, words))[:MOST_WIDTH] if said else plain[:MOST_WIDTH]


def is_error(line: str) -> bool:
    """Whether a line says that something went wrong. A line that goes on with the one before (a stack) does not."""
    if not line.strip() or line[0].isspace():
        return False
    level = _level(line)
    return bool(_BAD.match(level) or (_UNSURE.match(level) and _WORDS.search(line)))


def is_harmless(line: str) -> bool:
    """Whether its level says so."""
    level = _level(line)
    return not (_BAD.match(level) or _UNSURE.match(level))


def _level(line: str) -> str:
    """Empty where it has none."""
    return next((found["level"] for pattern in _LEVELS if (found := pattern.search(line))), "")


def decisive(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines that tell most, in their order, at most `MOST_LINES`: those that the table of symptoms knows, some other errors, of
    those that say the same the last; or else how the log ends."""
    last = sorted({_same(line): number for number, line in enumerate(lines)}.values())
    known = [number for number in last if not is_harmless(lines[number]) and explained([lines[number]])][-MOST_LINES:]
    errors = [number for number in last if is_error(lines[number]) and not _ENDS.search(lines[number])]
    unknown = [number for number in errors if number not in known]
    most = min(_BESIDE, MOST_LINES - len(known)) if known else MOST_LINES
    chosen = sorted((*known, *unknown[max(len(unknown) - most, 0) :]))
    return tuple(lines[number] for number in chosen) or tuple(lines[-MOST_LINES:])


def standing_error(lines: Sequence[str], *, is_kept_from_work: bool) -> tuple[str, int] | None:
    """The error that most lines say, with how many they are; None if there is none that lasts. One that was said once lasts if it
    is in the table of symptoms, or the controller was kept from its work: many wait for minutes before they try again."""
    errors = [line for line in lines if is_error(line) and not _CONFLICT.search(line)]
    times = Counter(map(_same, errors))
    lasting = [line for line in errors if times[_same(line)] > 1 or is_kept_from_work or explained([line])]
    if not lasting:
        return None
    line = max(reversed(lasting), key=lambda each: (times[_same(each)], bool(explained([each]))))
    return line, times[_same(line)]


def usual_error(logs: Sequence[Sequence[str]]) -> str:
    """The error that most of the logs of runs without faults have, more than once or one that the table of symptoms has, and how
    often, in words; empty if there is none. Such a controller may never have come to its work, and there was little to judge."""
    errors = [[line for line in map(in_short, log) if is_error(line) and not _NO_TROUBLE.search(line)] for log in logs]
    runs = Counter(same for each in errors for same in dict.fromkeys(map(_same, each)))
    lines = {_same(line): line for each in errors for line in each}
    times = Counter(_same(line) for each in errors for line in each)
    usual = [same for same, count in runs.items() if len(logs) >= _FEWEST_LOGS and count >= _MOST_OF * len(logs)]
    lasting = [same for same in usual if times[same] > runs[same] or explained([lines[same]])]
    same = max(lasting, key=lambda each: (bool(explained([lines[each]])), times[each], each), default="")
    return f"{lines[same]} ({plural(times[same], 'time')} in {runs[same]} of {len(logs)} runs)" if same else ""


def _same(line: str) -> str:
    """What is the same in lines that say the same."""
    return _CHANGING.sub("#", line)
