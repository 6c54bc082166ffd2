"""What a controller asks for when it begins, and after a watch ended."""

import pytest

from staleproof.assess.learn.traits import with_beginning
from staleproof.checks.trial import indexed
from staleproof.core.history.entry import Asked, Opened

from ...checks.script import Script, trial
from ...draw.seen import WIDGETS, widgets


def asks_for(version: str, verb: str = "list") -> Script:
    return expired().adds(Asked, request=9, client="controller", verb=verb, resource=WIDGETS, version=version)


def watches_from(start: str, *, watch_list: bool = False) -> Script:
    return expired().adds(Opened, stream=9, client="controller", resource=WIDGETS, start=start, watch_list=watch_list)


def expired() -> Script:
    return trial().ended(WIDGETS, how="expired", fault=None)


@pytest.mark.parametrize(
    ("script", "past"),
    [
        (asks_for("0"), True),
        (asks_for(""), False),
        (asks_for("7"), False),
        (asks_for("0", "get"), False),
        (watches_from(""), True),
        (watches_from("7"), False),
        (watches_from("", watch_list=True), False),
        (trial().ended("pods", how="expired", fault=None), True),
    ],
)
def test_what_is_listed_after_a_410_may_be_older_if_any_version_will_do(script: Script, *, past: bool) -> None:
    assert with_beginning(widgets(), widgets(), indexed(script.ends())).relists_past is past
