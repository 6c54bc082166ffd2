"""What report.html shows, as one value: all words are put together here, and the page's script only places them."""

import msgspec

from staleproof.report.model import Word
from staleproof.report.timeline.document import Timeline


class _Struct(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Keys are lower camel case."""


class Deed(_Struct, frozen=True, kw_only=True):
    """How often the controller did something, in each step, and the least and the most of the runs without the faults."""

    what: str
    did: tuple[int, ...]
    least: tuple[int, ...] = ()
    most: tuple[int, ...] = ()


class Comparison(_Struct, frozen=True, kw_only=True):
    """A trial beside so many `runs` of its workload without the faults. `deeds`: writes that changed something, by step; `left`:
    the objects at the end, a number a resource."""

    runs: int
    steps: tuple[str, ...]
    deeds: tuple[Deed, ...]
    left: tuple[Deed, ...]


class Attachment(_Struct, frozen=True, kw_only=True):
    """A file in the page: what `staleproof export` makes of the trial. `data` is None for one that is too large for a page."""

    name: str
    data: bytes | None = None


class Drawn(_Struct, frozen=True, kw_only=True):
    """A trial as far as its history was kept. `timeline` and `reference`, one of the runs without faults, are names in the page;
    the second is empty for none."""

    timeline: str
    reference: str = ""
    comparison: Comparison | None = None
    attachment: Attachment | None = None


class FindingPage(_Struct, frozen=True, kw_only=True):
    """A finding. `requirements`: the worst violated first; `story` in words, where no timeline tells it; `drawn`: None where the
    history was not kept; `steps` and `faults` are its plan in words; `replay`: the command; `reproduced`: in how many runs it came
    back."""

    severity: str
    headline: str
    cause: str
    requirements: tuple[str, ...]
    trials: tuple[str, ...]
    reproduced: str = ""
    story: str = ""
    drawn: Drawn | None = None
    steps: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    shrunk: str = ""
    remedy: str
    replay: str = ""


class Question(_Struct, frozen=True, kw_only=True):
    """What stayed inconclusive for one reason: of which requirements, and in which trials, the first of which is drawn."""

    why: str
    requirements: tuple[str, ...]
    trials: tuple[str, ...]
    drawn: Drawn | None = None


class Row(_Struct, frozen=True, kw_only=True):
    """A requirement. `scored`: it decides about conformance; `cells`: for each scenario how many trials failed, were inconclusive,
    passed, did not exercise it."""

    requirement: str
    level: str
    must: str
    result: Word
    why: str = ""
    scored: bool = True
    cells: tuple[tuple[int, int, int, int], ...]


class Writes(_Struct, frozen=True, kw_only=True):
    """How many writes of the controller changed something in a trial, and in the runs without its faults (least and most)."""

    did: int
    least: int
    most: int


class TrialRow(_Struct, frozen=True, kw_only=True):
    """A trial, and the worst that it shows. `verdicts`: of each requirement that it exercised; `spent`: where its seconds went, and
    what its references took; `recovered`: seconds from the release until everything had converged and was quiet; None: it never
    was; `writes`: None where histories were not kept."""

    name: str
    title: str
    scenario: str
    result: Word
    seconds: float
    verdicts: dict[str, Word] = {}
    faults: str = ""
    spent: dict[str, float] = {}
    recovered: float | None = None
    writes: Writes | None = None


class Page(_Struct, frozen=True, kw_only=True):
    """All of it. `subject`: what it ran on, name and value; `questions`: what stayed inconclusive; `trial`: that of
    a page of one trial; `aside`: what was found and
    is not scored; `not_tried`: what was left
    out, a line each; `licences`: of the libraries in the page."""

    title: str
    verdict: Word
    sentence: str
    subject: tuple[tuple[str, str], ...]
    reproduce: str = ""
    findings: tuple[FindingPage, ...]
    questions: tuple[Question, ...] = ()
    trial: Drawn | None = None
    aside: tuple[str, ...] = ()
    scenarios: tuple[str, ...]
    rows: tuple[Row, ...]
    not_tried: tuple[str, ...] = ()
    trials: tuple[TrialRow, ...]
    timelines: dict[str, Timeline]
    licences: str = ""
