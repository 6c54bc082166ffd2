"""What is said of a controller that opens no watch."""

import pytest

from staleproof.core.history.entry import Answered, Asked, Entry, Refused, RequestId
from staleproof.drive.trial.first_contact import FirstContact


def asked(number: int) -> Asked:
    return Asked(at=0.0, request=RequestId(number), client="controller", verb="get", resource="pods")


def answered(number: int, code: int, reason: str) -> Answered:
    return Answered(at=0.0, request=RequestId(number), outcome="fail" if code >= 400 else "ok", code=code, reason=reason)


def words(*entries: Entry, is_image: bool = False, obstacle: str = "") -> str:
    contact = FirstContact()
    contact.begin_life()
    for entry in entries:
        contact.see(entry)
    return contact.no_watch(is_image=is_image, obstacle=obstacle)


def test_a_command_that_asked_for_nothing() -> None:
    assert words().startswith("It has asked for nothing through the proxy: no traffic was seen. Does it use the kubeconfig")


def test_an_image_that_asked_for_nothing() -> None:
    said = words(is_image=True, obstacle="Does a firewall drop it?")
    assert "no traffic was seen" in said
    assert "KUBERNETES_SERVICE_HOST" in said
    assert "KUBECONFIG" in said
    assert said.endswith("Does a firewall drop it?")


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ((asked(1), answered(1, 200, "")), "It made 1 request that is no watch."),
        (
            (asked(1), answered(1, 403, "Forbidden"), asked(2)),
            "It made 2 requests that are no watches; the last that was refused got 403 Forbidden.",
        ),
        (
            (Refused(at=0.0, client="controller", resource="pods", code=401),),
            "It made 0 requests that are no watches; its watch of pods got 401.",
        ),
    ],
)
def test_one_that_asked_for_something(entries: tuple[Entry, ...], said: str) -> None:
    assert words(*entries, is_image=True, obstacle="Does a firewall drop it?") == said


def test_each_life_begins_anew() -> None:
    contact = FirstContact()
    contact.see(asked(1))
    contact.begin_life()
    assert "no traffic was seen" in contact.no_watch(is_image=False)
