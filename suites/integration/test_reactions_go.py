"""What client-go does about every fault, with WatchList and with LIST and WATCH. The table is printed at the end of the run."""

from pathlib import Path

import pytest

from staleproof.assess.trial.session import Session
from staleproof.core.plan.plan import Subject

from .mirror_stage import GO
from .mirror_stage import go_mirror as go_mirror
from .mirror_stage import session as session
from .mirror_stage import subject as subject
from .reaction_cases import Case, each_case, react

pytestmark = pytest.mark.live

NOT_FOR = {
    ("Expire list", "go-watch-list"), ("Expire list", "go-list-and-watch"),  # it does not LIST; any newer state will do
    ("PastSnapshot", "go-watch-list"),  # a WatchList is consistent
    ("RefuseWatchList http", "go-list-and-watch"), ("RefuseWatchList event", "go-list-and-watch"),
    ("NoEndBookmark", "go-list-and-watch"),
    ("StaleRead", "go-watch-list"), ("StaleRead", "go-list-and-watch"),  # they read nothing that is consistent by itself
}  # fmt: skip
"""Faults that cannot fire, because the client never makes the request that they need."""


@each_case
@pytest.mark.parametrize("client", GO)
def test_reaction(
    session: Session, subject: Subject, client: str, case: Case, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    session.use(subject)  # a new process: client-go waits longer after each failure
    react(session, case, client, tmp_path, request, impossible=(case.title, client) in NOT_FOR)
