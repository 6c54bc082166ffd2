"""Changes past the proxy: whose they are, and which users are not taken for the controller."""

from collections.abc import Mapping

import msgspec
import pytest

from staleproof.checks.facts.bypasses import bypassed, bypasses
from staleproof.checks.facts.usability import trouble
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import Committed, Competed
from staleproof.core.history.history import History

from ..script import Script, trial


def of(script: Script, managers: Mapping[str, str], *, provider: str = "cache") -> Trial:
    """The trial, with the user that changed each object of these names, as the API server says."""
    history = script.ends()
    entries = tuple(
        msgspec.structs.replace(entry, managers=(managers[entry.name],))
        if isinstance(entry, Committed) and entry.name in managers
        else entry
        for entry in history.entries
    )
    header = msgspec.structs.replace(history.header, environment={"provider": provider})
    return Trial(History(header, entries))


def applied() -> Script:
    return trial().applied("w")


USERS = {"w": "staleproof"}


def test_a_user_who_writes_past_the_proxy_is_named_with_what_to_do() -> None:
    message = bypassed(of(applied().made("w-a").made("w-b"), {**USERS, "w-a": "manager", "w-b": "manager"}))
    assert message.startswith(
        "pod/ns/w-a was created by 'manager' past the proxy, as 1 more changes were made: the controller never asked for that "
        "through it. Does each client of the controller use the kubeconfig that it is given (KUBECONFIG, or {kubeconfig}"
    )


def test_a_change_counts_as_a_creation_does() -> None:
    found = of(applied().applied("w", status={"replicas": 1}), {"w": "manager"})
    assert [commit.entry.type for commit, _ in bypasses(found)] == ["ADDED", "MODIFIED"]
    assert trouble(found) == bypassed(found) != ""


@pytest.mark.parametrize("who", ["staleproof", "kube-apiserver", "kube-controller-manager", "scheduler", "kwok"])
def test_programs_that_work_beside_the_controller_are_known(who: str) -> None:
    assert bypasses(of(applied().made("w-a"), {**USERS, "w-a": who})) == []


INNOCENT = {
    "it asked through the proxy, and was answered": applied().creates("w-a", generated=""),
    "it asked, and no answer tells whether it was that": applied().rejected("create").made("w-a"),
    "the proxy made it": applied().made("w-a").adds(Competed, request=1, resource="pods", uid="ns-uid-2", revision=102, fault=0),
    "it is a deletion, of which nothing tells": applied().creates("w-a", generated="").removed("w-a"),
}


@pytest.mark.parametrize("script", INNOCENT.values(), ids=INNOCENT)
def test_what_may_have_come_through_the_proxy_is_no_bypass(script: Script) -> None:
    assert bypasses(of(script, {**USERS, "w-a": "manager"})) == []


def test_in_a_cluster_of_the_users_own_others_work_too() -> None:
    """Unless they call themselves as the controller does where it asks through the proxy."""
    script = applied().creates("w-a", generated="").made("m", resource="configmaps")
    assert bypasses(of(script, {**USERS, "w-a": "manager", "m": "other"}, provider="existing")) == []
    assert len(bypasses(of(script, {**USERS, "w-a": "manager", "m": "manager"}, provider="existing"))) == 1


def test_a_history_without_the_users_of_changes_accuses_no_user() -> None:
    assert bypassed(of(applied().made("w-a"), {})) == ""
