"""How the proxy tells clients apart: clients by their tokens, and programs of the subject that the API server does not know."""

import pytest
from staleproof.proxy_addons.identities import Identities  # noqa: TID251  # what the test is about

TOKENS, PROGRAMS = {"c": "controller", "r": "runner"}, {"p": "poller"}


@pytest.mark.parametrize(
    ("header", "client", "onward"),
    [
        ("Bearer c", "controller", ("", "Bearer c")),
        ("Bearer r", "runner", ("", "Bearer r")),
        ("Bearer p", "poller", ("poller", "Bearer c")),
        ("bearer  p", "poller", ("poller", "Bearer c")),
        ("Bearer x", "unknown", ("", "Bearer x")),
        ("Basic p", "unknown", ("", "Basic p")),
        ("", "unknown", ("", "")),
    ],
)
def test_a_further_program_is_passed_on_as_the_controller_and_every_other_client_as_it_is(
    header: str, client: str, onward: tuple[str, str]
) -> None:
    known = Identities(TOKENS, "unknown", PROGRAMS, "c")
    assert (known.of(header), known.onward(header)) == (client, onward)


def test_where_the_proxy_has_a_certificate_a_further_program_is_passed_on_without_a_token() -> None:
    known = Identities({}, "controller", PROGRAMS)
    assert (known.of(""), known.of("Bearer p")) == ("controller", "poller")
    assert known.onward("Bearer p") == ("poller", "")
