"""What the official Python client and kopf do about every fault. The table is printed at the end of the run."""

from pathlib import Path

import pytest

from staleproof.assess.trial.session import Session
from staleproof.core.plan.plan import Subject

from .mirror_stage import PYTHON
from .mirror_stage import session as session
from .mirror_stage import subject as subject
from .reaction_cases import Case, each_case, react

pytestmark = pytest.mark.live

NOT_FOR = {
    (title, client)
    for client in PYTHON
    for title in ("Expire list", "PastSnapshot", "RefuseWatchList http", "RefuseWatchList event", "NoEndBookmark")
}
"""Faults that cannot fire, because the client never makes the request that they need."""


@each_case
@pytest.mark.parametrize("client", PYTHON)
def test_reaction(
    session: Session, subject: Subject, client: str, case: Case, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if session.options.subject != subject:  # starting a Python program takes a while, and these do not remember failures
        session.use(subject)
    react(session, case, client, tmp_path, request, impossible=(case.title, client) in NOT_FOR)
