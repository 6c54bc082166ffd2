"""The catalogue: one MUST sentence each."""

import re

from staleproof.checks.catalog import BY_SLUG, REQUIREMENTS


def test_every_requirement_says_what_a_controller_must_do_and_what_helps() -> None:
    for requirement in REQUIREMENTS:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)+|settles", requirement.slug)
        assert requirement.must.startswith("The controller MUST ")
        assert requirement.must.endswith(".")
        assert requirement.source
        assert requirement.remedy


def test_slugs_are_never_renamed() -> None:
    """Reports, markers and documents out there use them."""
    assert set(BY_SLUG) >= {
        "no-duplicate-create",
        "no-excess-delete",
        "no-delete-of-unseen",
        "converges-after-catch-up",
        "settles",
    }
    assert len(BY_SLUG) == len(REQUIREMENTS)
