"""Recorded trials of the fixture controllers against a real kube-apiserver, judged again: a better checker must still say so."""

from pathlib import Path

import pytest

from staleproof.checks.judge import judge
from staleproof.checks.story.narrative import explain
from staleproof.checks.verdict import Outcome
from staleproof.core.history import decode, encode

HISTORIES = Path(__file__).parents[3] / "fixtures" / "histories"
FOUND = {
    "naive-hidden-creates": {"no-duplicate-create": 6},
    "naive-hidden-deletes": {"no-excess-delete": 1},
    "no-preconditions-recreated": {"no-delete-of-unseen": 1},
    "expectations-hidden-creates": {},
}


def test_every_recorded_history_is_judged() -> None:
    assert {path.stem for path in HISTORIES.glob("*.jsonl")} == set(FOUND)


@pytest.mark.parametrize("name", FOUND)
def test_recorded_histories_are_judged_as_they_were(name: str) -> None:
    history = decode((HISTORIES / f"{name}.jsonl").read_bytes())

    verdicts = judge(history)

    assert {v.requirement: len(v.findings) for v in verdicts if v.outcome is Outcome.FAIL} == FOUND[name]
    assert [v.requirement for v in verdicts if v.outcome is Outcome.INCONCLUSIVE] == []
    aimed = [v for v in verdicts if v.requirement in history.header.plan.aims]
    assert all(v.outcome in (Outcome.PASS, Outcome.FAIL) for v in aimed)
    assert judge(decode(encode(history))) == verdicts
    for verdict in verdicts:
        for finding in verdict.findings:
            assert len(explain(finding, history).lines) == 4


def test_the_first_story_that_staleproof_told() -> None:
    history = decode((HISTORIES / "naive-hidden-creates.jsonl").read_bytes())

    assert explain(judge(history)[0].findings[0], history).text() == STORY


STORY = "\n".join(
    [
        "no-duplicate-create  pod/staleproof-f26ae4ad/sample-klst5 is the 4th live pod of widget/sample; fault-free "
        "runs never had more than 3",
        "     0.029 s  from here (own create number 1 of pods) its pods stream was held; it had been shown pods up to "
        "resourceVersion 139",
        "     0.032 s  the controller created sample-g492v, sample-fxcq5, sample-v2698 (resourceVersion 142\N{EN DASH}144)",
        "     0.053 s  widget/sample was shown (resourceVersion 145), in step 1: apply Widget/sample",
        "     0.077 s  it created pod/sample-klst5, though it had not been shown its own creates 142\N{EN DASH}144",
        "  remedy: remember own writes until the cache has them (expectations, ConsistencyStore, read-your-writes "
        "client) or use deterministic names",
    ]
)
