"""An adapter says what it implements, and what it does not before anything is done with it."""

import re

import pytest

from staleproof.core.external import Delete, ExternalObject
from staleproof.drive.external.postgresql import PostgreSQL
from staleproof.drive.external.system import CAPABILITIES, ExternalSystem, NotImplementedByAdapter
from staleproof.errors import UsageError


class Shelf(ExternalSystem):
    """An adapter of a user's own, which can only be looked at."""

    name = "shelf"

    async def read_state(self) -> tuple[ExternalObject, ...]:
        return (ExternalObject(kind="books", name="b"),)


def test_what_is_overridden_is_implemented() -> None:
    assert Shelf().capabilities() == {"read_state"}
    assert ExternalSystem().capabilities() == frozenset()
    assert PostgreSQL.capabilities(object.__new__(PostgreSQL)) == {*CAPABILITIES} - {"slow"}


def test_what_a_trial_needs_is_asked_for_before_it_begins() -> None:
    Shelf().require(["read_state"])
    message = re.escape(
        "'shelf': the adapter Shelf does not implement drift (it implements read_state); implement it, or leave out"
    )
    with pytest.raises(NotImplementedByAdapter, match=message):
        Shelf().require(["read_state", "slow", "drift"])


async def test_what_is_not_implemented_says_so_when_it_is_called() -> None:
    assert await Shelf().read_state()
    with pytest.raises(UsageError, match="does not implement drift"):
        await Shelf().drift(Delete(kind="books", name="b"))
    with pytest.raises(UsageError, match="does not implement count_calls"):
        await Shelf().count_calls()


def test_without_its_url_a_system_cannot_be_behind_a_relay() -> None:
    with pytest.raises(NotImplementedByAdapter, match=r"Shelf does not say what its URL is behind a relay \(url_at\)"):
        Shelf().url_at("127.0.0.1", 1)
