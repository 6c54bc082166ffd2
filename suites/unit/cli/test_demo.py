"""The demo passes a controller only for what was seen, and says what was not."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from staleproof.assess.trial.result import Result
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.cli.demo import _show, joined

from ..judged import result


def shown(found: Result) -> str:
    out = io.StringIO()
    _show(Console(file=out, width=200), "fixture", found, "0123456789")
    return out.getvalue()


def test_guilty_and_innocent() -> None:
    guilty, innocent = result("naive-hidden-creates"), result("expectations-hidden-creates")
    assert (joined(guilty), joined(innocent)) == (Outcome.FAIL, Outcome.PASS)
    assert shown(guilty).startswith("✗ failed  fixture")
    assert "again: staleproof replay 0123456789" in shown(guilty)
    assert shown(innocent) == "✓ passed  fixture  1.0 s\n"


@pytest.mark.parametrize("outcome", [Outcome.INCONCLUSIVE, Outcome.NOT_EXERCISED])
def test_what_was_not_seen_does_not_pass(outcome: Outcome) -> None:
    innocent = result("expectations-hidden-creates")
    slug = innocent.plan.aims[0]
    other_verdicts = tuple(each for each in innocent.verdicts if each.requirement != slug)
    unknown = replace(innocent, verdicts=(Verdict(slug, outcome, why="the [fault] did not fire"), *other_verdicts))
    assert joined(unknown) is Outcome.INCONCLUSIVE
    assert shown(unknown) == f"? inconclusive  fixture  1.0 s\n    {slug}: the [fault] did not fire\n"
