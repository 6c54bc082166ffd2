"""A run in which everything that others name has a name that is meant to do harm."""

from typing import Any

import msgspec

from staleproof.report.formats.reported_run import ReportedRun
from staleproof.report.inert import all_inert
from staleproof.report.model import FaultReport, Implementation, LeftOut, Report

from ...judged import result
from .. import runs

SLUG = "no-duplicate-create"
TEXTS = {
    "markup": '<img src=x onerror="document.title=1"><svg onload=alert(1)></details>',
    "end of a section of XML": "]]></failure></testcase><!--",
    "terminal": "\x1b[31mred\x1b]8;;http://example.com\x07link\x1b[2J\x9b31m",
    "YAML": "a: &x !!python/object/apply:os.system [id]\n- *x\n---\n...\n{{ 1 }}",
    "formula": '=cmd|" /C calc"!A1',
    "formula of another kind": '@SUM(1+1)*cmd|"/C calc"!A0',
    "direction": "sample\u202egnp.\u2066exe\u2069",
    "unseen": "a\u200bb\ufeffc\U000e0041d",
    "control": "a\x00b\x08c d",
    "half a character": "a\ud800b\udcff",
    "what is no character": "a\ufffeb\uffff",
    "Markdown": "`` ` ``` ~~~ [a](javascript:alert(1)) ![b](http://example.com/x) @everyone #1 | x\n# heading\n~~~\n```\n| a |",
    "address": "javascript:alert(1)",
    "template": "{policy}{0}${7*7}%s",
    "long": "x" * 1_000_000,
}
ACTIVE = frozenset(
    [*range(0, 9), *range(11, 32), *range(127, 160), 0x200B, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xFEFF]
)
"""What no file may have as it is: a terminal or an editor acts on it."""


def run(text: str, *, raw: bool = False) -> ReportedRun:
    """A run with this text wherever other users choose a text. `raw`: as it came, not made inert as a run keeps it."""
    found = ReportedRun(report=report(text))
    return found if raw else ReportedRun(report=all_inert(found.report))


def report(text: str) -> Report:
    """The report of such a run."""
    story = f"{SLUG} {text}\n  0.100 s  the controller created {text}\n  remedy: {text}"
    bad = runs.verdict(SLUG, runs.BAD, story=story, severity="duplicated", cause=f"cause {text}")
    unknown = runs.verdict("settles", runs.UNKNOWN, why=text)
    unscored = runs.verdict("no-blind-retry", runs.BAD, story=f"no-blind-retry {text}")
    fault = FaultReport(fault="Hold", resource=text, outcome="not fired", on=text, why=text)
    about: dict[str, Any] = {"title": f"title {text}", "aims": (SLUG,), "crash": "0123456789", "shrunk": text, "healed_by": text}
    return runs.report(
        msgspec.structs.replace(runs.trial("001", bad, unknown, unscored, faults=(fault,), reproduced=(3, 3)), **about),
        msgspec.structs.replace(runs.trial("002", bad), hostile=text),
        environment={"kubernetes": text, "staleproof": text, "controller": text, f"companions for {text}": text},
        reproduce=f"pytest '--controller-cmd={text}'",
        implementation=Implementation(organization=text, project=text, url=text, version=text, contact=(text,)),
        left_out=(LeftOut(scenario="streams", title=text, why=text), LeftOut(scenario="streams", title=text)),
        seed=text,
    )


def recorded(name: str = "naive-hidden-creates") -> Any:  # noqa: ANN401  # a result
    """A golden history, judged."""
    return result(name)
