"""Which companions a controller has beside it: those for what it creates, and for what it takes to be there."""

import pytest

from staleproof.assess.learn.companions import acts_on_children
from staleproof.checks.trial import indexed
from staleproof.core.operator.companion import ALWAYS

from ...checks.script import trial

ACCOUNTS = {"serviceaccount", "serviceaccount-token", "root-ca-certificate-publisher"}


def test_what_it_creates_has_the_companions_of_a_real_cluster() -> None:
    assert set(acts_on_children(indexed(trial().step(1, "apply").applied("w").creates("a").ends()))) == {
        *ALWAYS,
        "scheduler",
        "kwok",
    }


@pytest.mark.parametrize(
    ("resource", "name", "expected"),
    [
        ("serviceaccounts", "default", ACCOUNTS),
        ("configmaps", "kube-root-ca.crt", ACCOUNTS),
        ("serviceaccounts", "mine", set()),
        ("configmaps", "default", set()),
    ],
)
def test_what_is_in_every_namespace_is_made_there_if_it_is_asked_for(resource: str, name: str, expected: set[str]) -> None:
    assert set(acts_on_children(indexed(trial().step(1, "apply").applied("w").gets(name, resource).ends()))) == {*ALWAYS, *expected}
