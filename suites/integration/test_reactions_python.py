"""What the official Python client and kopf do about every fault. The table is printed at the end of the run."""

from pathlib import Path

import pytest

from staleproof.assess import Session
from staleproof.core.plan import Subject

from .mirror_stage import PYTHON
from .mirror_stage import session as session
from .mirror_stage import subject as subject
from .reaction_cases import BY_CHANCE, Case, each_case, is_told_true, react

NOT_FOR = {
    (title, client)
    for client in PYTHON
    for title in ("Expire list", "PastSnapshot", "RefuseWatchList http", "RefuseWatchList event", "NoEndBookmark")
}
"""What cannot fire, because the client never asks for anything that it could happen to."""


@each_case
@pytest.mark.parametrize("client", PYTHON)
def test_reaction(
    session: Session, subject: Subject, client: str, case: Case, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if session.options.subject != subject:  # starting a Python program takes a while, and these do not remember failures
        session.use(subject)
    found = react(session, case, client, tmp_path, request)
    is_told_true(found, case)
    if case.title not in BY_CHANCE:
        assert (found.fired == "") is ((case.title, client) not in NOT_FOR), str(found)
