"""Histories in which mutants were caught (`ci/golden` makes them): what was found in them must be found again."""

import gzip
from pathlib import Path

import pytest
from staleproof.fixtures.controllers.mutants import MUTANTS  # noqa: TID251  # who they are of

from staleproof.checks.judge import judge
from staleproof.checks.verdict import Outcome
from staleproof.core.history import decode

GOLDEN = Path(__file__).parents[3] / "fixtures" / "histories" / "mutants"
NOT_KEPT = {"needs_bookmarks"}  # caught after minutes, in which much happens
CAUGHT_BY = {name: mutant.caught_by for name, mutant in MUTANTS.items() if name not in NOT_KEPT} | {
    "naive": "no-duplicate-create",
    "no_preconditions": "no-delete-of-unseen",
    "naive_sequential_job": "no-duplicate-create",
}


def test_every_mutant_has_its_history() -> None:
    assert {path.name.partition(".")[0] for path in GOLDEN.iterdir()} - NOT_KEPT == set(CAUGHT_BY)


@pytest.mark.parametrize("name", sorted(CAUGHT_BY))
def test_is_found_again(name: str) -> None:
    history = decode(gzip.decompress((GOLDEN / f"{name}.jsonl.gz").read_bytes()))
    found = {verdict.requirement for verdict in judge(history) if verdict.outcome is Outcome.FAIL}
    assert CAUGHT_BY[name] in found
