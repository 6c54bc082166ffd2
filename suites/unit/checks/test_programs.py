"""Several programs are judged together, each by its own view: what one of them did is found as if it were alone."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import msgspec
import pytest

from staleproof.checks.catalog import BY_SLUG
from staleproof.checks.judge import judge
from staleproof.checks.story.narrative import stories
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.history.entry import Asked, Committed, Delivered, Entry, Exited, Opened, Started, Stopped, StreamId
from staleproof.core.history.history import History, decode
from staleproof.core.plan.plan import MAIN

from .script import HOLD_WIDGETS, Script

HISTORIES = Path(__file__).parents[3] / "fixtures" / "histories"
POLLER = "poller"
WIDGET_STREAM, _OTHERS = 2, 100
_KEPT = ("naive-hidden-creates", "expectations-hidden-creates")


@cache
def kept(name: str) -> History:
    return decode((HISTORIES / f"{name}.jsonl").read_bytes())


def handed_over(history: History) -> History:
    """The same, done by a poller; the controller is there, and does nothing."""
    faults = tuple(msgspec.structs.replace(fault, program=POLLER) for fault in history.header.plan.faults)
    plan = msgspec.structs.replace(history.header.plan, faults=faults)
    header = msgspec.structs.replace(history.header, plan=plan, programs=(POLLER,))
    entries = tuple(map(_handed_over, history.entries))
    return replace(history, header=header, entries=entries, references=tuple(map(handed_over, history.references)), digest="")


def _handed_over(entry: Entry) -> Entry:
    if isinstance(entry, Started | Stopped | Exited):
        return msgspec.structs.replace(entry, program=POLLER)
    return msgspec.structs.replace(entry, client=POLLER) if hasattr(entry, "client") else entry


def found(verdicts: Sequence[Verdict]) -> list[tuple[str, str, tuple[int, ...]]]:
    return [
        (finding.requirement, finding.because.removeprefix(f"{POLLER}: "), finding.witnesses)
        for verdict in verdicts
        for finding in verdict.findings
    ]


@pytest.mark.parametrize("name", _KEPT)
def test_what_a_further_program_does_is_found_as_if_it_were_alone(name: str) -> None:
    alone, beside = judge(kept(name)), judge(handed_over(kept(name)))
    assert found(beside) == found(alone)
    outcomes = {each.requirement: each.outcome for each in beside if not BY_SLUG[each.requirement].across_programs}
    assert outcomes == {each.requirement: each.outcome for each in alone if each.requirement in outcomes}
    assert {finding.program for verdict in beside for finding in verdict.findings} <= {POLLER}


def test_its_story_names_it_and_follows_its_view() -> None:
    history = kept("naive-hidden-creates")
    (alone, *_), (beside, *_) = stories(judge(history), history), stories(judge(handed_over(history)), handed_over(history))
    assert (alone.program, beside.program) == ("", POLLER)
    assert beside.headline == f"{POLLER}: {alone.headline}"
    assert [sentence.replace(POLLER, f"the {MAIN}") for _, sentence in beside.lines] == [each for _, each in alone.lines]
    assert beside.cause == f"{POLLER}: {alone.cause}"


def overwritten(*, by: str) -> History:
    """The widget is changed while this program has not been shown that; the other one reports it, and this one writes its old
    status over that report."""
    fault = msgspec.structs.replace(HOLD_WIDGETS, program="" if by == MAIN else by)
    script = Script(fault).wants(1).says(1, ready=1).hold("widgets.example.com").wants(2).says(2, ready=2).says(1, ready=1)
    history = script.let_go("widgets.example.com").released().settled().ends()
    last = max(each.request for each in history.entries if isinstance(each, Asked))
    entries: list[Entry] = [Started(at=0.0, life=1, program=POLLER)]
    for entry in history.entries:
        match entry:
            case Asked(request=number):
                entries.append(msgspec.structs.replace(entry, client=by if number == last else _other(by)))
            case Opened():
                entries.append(msgspec.structs.replace(entry, client=by))
                entries.append(msgspec.structs.replace(entry, client=_other(by), stream=StreamId(entry.stream + _OTHERS)))
            case Committed(at=at, namespace=namespace, name=name, uid=uid, revision=revision):  # the other one is shown it at once
                entries.append(entry)
                entries.append(
                    Delivered(
                        at=at,
                        stream=StreamId(WIDGET_STREAM + _OTHERS),
                        type="MODIFIED",
                        namespace=namespace,
                        name=name,
                        uid=uid,
                        revision=revision,
                    )
                )
            case _:
                entries.append(entry)
    header = msgspec.structs.replace(history.header, programs=(POLLER,))
    return History(header, tuple(entries), references=(_calm(), _calm()))


def _calm() -> History:
    history = Script().wants(1).says(1, ready=1).wants(2).says(2, ready=2).released().settled().ends()
    entries = (Started(at=0.0, life=1, program=POLLER), *history.entries)
    return History(msgspec.structs.replace(history.header, programs=(POLLER,)), entries)


def _other(program: str) -> str:
    return MAIN if program == POLLER else POLLER


@pytest.mark.parametrize("by", [MAIN, POLLER])
def test_what_another_program_has_reported_is_another_users_to_the_one_that_writes_over_it(by: str) -> None:
    verdicts = {each.requirement: each for each in judge(overwritten(by=by))}
    verdict = verdicts["honest-observed-generation"]
    assert verdict.outcome is Outcome.FAIL
    assert {finding.program for finding in verdict.findings} == {by}
