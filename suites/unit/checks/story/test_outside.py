"""What a story says about external systems."""

import pytest

from staleproof.checks.catalog import BY_SLUG
from staleproof.checks.judge import judge
from staleproof.checks.story.narrative import explain, stories
from staleproof.checks.verdict import Finding
from staleproof.core.history.entry import Called, Drifted, ExternalState, Notified, Replied, SystemTurned

from ..outside import WITHIN_5, Outside, settled_role

KINDS = (Called, Drifted, ExternalState, Notified, Replied, SystemTurned)


def sentences(script: Outside) -> list[str]:
    """What a story says whose witnesses are all entries about external systems behind the first reading."""
    history = script.ends()
    witnesses = [index for index, entry in enumerate(history.entries) if isinstance(entry, KINDS)][1:]
    return [line for _, line in explain(Finding("b", tuple(witnesses), requirement="settles"), history).lines]


@pytest.mark.parametrize(
    ("script", "lines"),
    [
        (Outside().has().drifts(), ["db had roles/w", "roles/w of db was deleted by another user", "db had nothing"]),
        (
            Outside().has().drifts(change="created", limit=1),
            ["db had roles/w", "roles/w of db was created by another user", "db had roles/w"],
        ),
        (
            Outside().turns("down").turns("slow").turns("up"),
            ["db went down", "db began to answer late", "db was up and in time again"],
        ),
        (Outside().calls("PUT", "/b/w").calls("PUT", "/b/w"), ["it called db 2 times: PUT /b/w"]),
        (Outside().calls("DROP", "DROP ROLE w"), ["it called db: DROP ROLE w"]),
        (Outside().answered(), ["its call to db was answered"]),
        (Outside().answered(effect="delay"), ["its call to db was answered late"]),
        (Outside().answered("fail", code="404").answered("fail", code="404"), ["its call to db was refused (404), and 1 more"]),
        (Outside().answered("unknown", effect="cut"), ["its call to db was never answered"]),
        (
            Outside().adds(Replied, call=1, system="db", outcome="unknown", executed=True, effect="lose-answer"),
            ["its call to db was executed, and it never had the answer"],
        ),
        (Outside().notifies(), ["db notified it"]),
        (Outside().notifies(effect="lose"), ["a notification of db was lost"]),
        (Outside().notifies(effect="repeat"), ["a notification of db came twice"]),
        (Outside().notifies(effect="delay"), ["a notification of db came late"]),
    ],
)
def test_it_is_reported(script: Outside, lines: list[str]) -> None:
    assert sentences(script) == lines


def test_a_whole_story() -> None:
    script = (
        settled_role(Outside(declared=(WITHIN_5,))).drifts().notifies(effect="lose").turns("slow").turns("up").passes(9.0).reads()
    )
    history = script.ends()
    (story,) = stories([each for each in judge(history) if each.requirement == "repairs-external-drift"], history)

    assert story.text() == (
        "Not scored: this requirement is provisional.\n"
        "repairs-external-drift  roles/w of db was deleted, and was not repaired for 9.4 s; 5 s are declared\n"
        "  stuck: it goes wrong after something in db was changed by another user\n"
        "     4.700 s  roles/w of db was deleted by another user\n"
        "     4.900 s  a notification of db was lost\n"
        "     5.000 s  db began to answer late\n"
        "     5.100 s  db was up and in time again\n"
        "    14.200 s  db had nothing\n"
        "    14.400 s  it had converged and was quiet\n"
        f"  remedy: {BY_SLUG['repairs-external-drift'].remedy}"
    )


def test_what_went_wrong_with_another_system_is_another_cause() -> None:
    history = settled_role(Outside(declared=(WITHIN_5,))).drifts().passes(9.0).reads().ends()
    causes = {finding.cause for verdict in judge(history) for finding in verdict.findings}
    assert [(cause.situation, cause.resource) for cause in causes if cause is not None] == [("drift", "db")]
