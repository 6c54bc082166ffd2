"""What report.html shows, as one value: all words are put together here, and the page's script only places them."""

import msgspec

from staleproof.report.model import Word
from staleproof.report.timeline.document import Timeline


class _Struct(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Keys are lower camel case."""


class FindingPage(_Struct, frozen=True, kw_only=True):
    """A finding. `requirements`: the worst violated first; `story` in words, where no timeline tells it; `timeline`: the name of
    that in the page, empty for none; `steps` and `faults` are its plan in words; `replay`: the command; `reproduced`: in how many
    runs it came back."""

    severity: str
    headline: str
    cause: str
    requirements: tuple[str, ...]
    trials: tuple[str, ...]
    reproduced: str = ""
    story: str = ""
    timeline: str = ""
    steps: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    shrunk: str = ""
    remedy: str
    replay: str = ""


class Row(_Struct, frozen=True, kw_only=True):
    """A requirement. `cells`: for each scenario how many trials failed, were inconclusive, passed, did not exercise it."""

    requirement: str
    level: str
    must: str
    result: Word
    why: str = ""
    cells: tuple[tuple[int, int, int, int], ...]


class TrialRow(_Struct, frozen=True, kw_only=True):
    """A trial, and the worst that it shows."""

    name: str
    title: str
    result: Word
    seconds: float


class Page(_Struct, frozen=True, kw_only=True):
    """All of it. `subject`: what it ran on, name and value; `not_tried`: what was left out, a line each; `licences`: of the
    libraries in the page."""

    title: str
    verdict: Word
    sentence: str
    subject: tuple[tuple[str, str], ...]
    reproduce: str = ""
    findings: tuple[FindingPage, ...]
    scenarios: tuple[str, ...]
    rows: tuple[Row, ...]
    not_tried: tuple[str, ...] = ()
    trials: tuple[TrialRow, ...]
    timelines: dict[str, Timeline]
    licences: str = ""
