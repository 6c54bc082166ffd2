"""What client-go does about every fault, with WatchList and with LIST and WATCH. The table is printed at the end of the run."""

from pathlib import Path

import pytest

from staleproof.assess import Session
from staleproof.core.plan import Subject

from .mirror_stage import GO
from .mirror_stage import go_mirror as go_mirror
from .mirror_stage import session as session
from .mirror_stage import subject as subject
from .reaction_cases import BY_CHANCE, Case, each_case, is_told_true, react

NOT_FOR = {
    ("Expire list", "go-watch-list"),  # it does not LIST
    ("PastSnapshot", "go-watch-list"),  # a WatchList is consistent
    ("RefuseWatchList http", "go-list-and-watch"), ("RefuseWatchList event", "go-list-and-watch"),
    ("NoEndBookmark", "go-list-and-watch"),
    ("StaleRead", "go-watch-list"), ("StaleRead", "go-list-and-watch"),  # they read nothing that is consistent by itself
}  # fmt: skip
"""What cannot fire, because the client never asks for anything that it could happen to."""


@each_case
@pytest.mark.parametrize("client", GO)
def test_reaction(
    session: Session, subject: Subject, client: str, case: Case, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    session.use(subject)  # a new process: client-go waits longer after each failure
    found = react(session, case, client, tmp_path, request)
    is_told_true(found, case)
    if case.title not in BY_CHANCE:
        assert (found.fired == "") is ((case.title, client) not in NOT_FOR), str(found)
