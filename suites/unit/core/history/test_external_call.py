"""Whose a call is, and that no secret of it is stored."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from staleproof.core.external import AnswerSeen, CallSeen, Change, Create, Delete, Drift, ExternalObject, NotificationSeen
from staleproof.core.history.entry import Called, CallId, Committed, Drifted, FaultIndex, Held, Notified, Replied
from staleproof.core.history.external_call import CallOwners, Key, without_secrets
from staleproof.core.history.resource_version import Revision

ROLES = "roles.example.dev"
NOBODY = ("", "", "")


def committed(name: str, *, namespace: str = "n1", at: float = 1.0, **fields: object) -> Committed:
    obj = {"metadata": {"name": name, **({"annotations": fields.pop("annotations")} if "annotations" in fields else {})}, **fields}
    return Committed(
        at=at, resource=ROLES, type="ADDED", namespace=namespace, name=name, uid=name, revision=Revision(1), object=obj
    )


def owners(*commits: Committed) -> CallOwners:
    found = CallOwners()
    for commit in commits:
        found.see(commit)
    return found


KNOWN = owners(
    committed("w"),
    committed("w-a", status={"id": "r-0815", "conditions": [{"type": "Ready", "reason": "Created"}], "zone": "zone-1"}),
    committed("w-b", annotations={"id": "r-0816"}, status={"zone": "zone-1"}),
    committed("same", namespace="n1", at=3.0),
    committed("same", namespace="n2", at=2.0),
)


@pytest.mark.parametrize(
    ("texts", "owner"),
    [
        (['DROP ROLE "w-a"'], (ROLES, "n1", "w-a")),
        (["CREATE ROLE app_W_A_owner"], (ROLES, "n1", "w-a")),
        (["SELECT 1 FROM pg_roles WHERE rolname = $1", "w"], (ROLES, "n1", "w")),
        (["DROP ROLE wa"], NOBODY),
        (["GET /roles/r-0815"], (ROLES, "n1", "w-a")),
        (["PUT /r-0816?tagging"], (ROLES, "n1", "w-b")),
        (["GET /zone-1"], NOBODY),
        (["SELECT Created"], NOBODY),
        (["DROP ROLE same"], (ROLES, "n1", "same")),
        (["DROP ROLE n2_same"], (ROLES, "n2", "same")),
        (["SELECT version()"], NOBODY),
    ],
)
def test_the_object_that_is_meant(texts: list[str], owner: Key) -> None:
    assert KNOWN.owner(texts) == owner


def test_a_primary_is_meant_rather_than_a_child_of_the_same_name() -> None:
    known = owners(committed("w"))
    child = msgspec.structs.replace(committed("w", at=9.0), resource="configmaps")
    known.see(child)
    assert known.owner(["w"]) == ("configmaps", "n1", "w")
    known.prefer([ROLES])
    assert known.owner(["w"]) == (ROLES, "n1", "w")


def test_what_is_deleted_is_remembered_until_the_next_trial() -> None:
    known = owners(committed("w"), msgspec.structs.replace(committed("w", at=2.0), type="DELETED"))
    assert known.owner(["w"]) == (ROLES, "n1", "w")
    known.prefer([ROLES])
    assert known.owner(["w"]) == NOBODY


def test_of_some_resources_alone_and_never_of_a_secret() -> None:
    only = CallOwners(["others"])
    only.see(committed("w-a"))
    assert only.owner(["w-a"]) == NOBODY
    every = CallOwners()
    every.see(Committed(at=0.0, resource="secrets", type="ADDED", name="s", uid="s", revision=Revision(1), object={}))
    assert every.owner(["s"]) == NOBODY


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("ALTER ROLE a PASSWORD 'it''s' VALID UNTIL 'x'", "ALTER ROLE a PASSWORD '…' VALID UNTIL '…'"),
        ("DO $x$ secret; $$ more $x$", "DO '…'"),
        ("ALTER ROLE a PASSWORD E'it\\'s secret' LOGIN", "ALTER ROLE a PASSWORD '…' LOGIN"),
        ("ALTER ROLE a PASSWORD 'never ends", "ALTER ROLE a PASSWORD '…'"),
        ("DO $x1$ secret $x1$", "DO '…'"),
        ("SELECT $1, $2", "SELECT $1, $2"),
        ("/b/key?token=secret&tagging", "/b/key?token&tagging"),
        ("SELECT a ? 'b'", "SELECT a ? '…'"),
    ],
)
def test_what_is_stored_of_a_text(text: str, stored: str) -> None:
    assert without_secrets(text) == stored


@given(st.text().filter(lambda text: len(text) > 2))
def test_no_literal_is_stored(secret: str) -> None:
    quoted = "'" + secret.replace("'", "''") + "'"
    assert without_secrets(f"ALTER ROLE a PASSWORD {quoted}") == "ALTER ROLE a PASSWORD '…'"


def test_what_a_relay_tells_becomes_entries() -> None:
    call = CallSeen(
        at=1.0, call=7, system="db", client="controller", verb="ALTER", text="ALTER ROLE a PASSWORD 'x'", values=("w-a",)
    )
    assert KNOWN.entry(call) == Called(
        at=1.0,
        call=CallId(7),
        system="db",
        client="controller",
        verb="ALTER",
        text="ALTER ROLE a PASSWORD '…'",
        resource=ROLES,
        namespace="n1",
        name="w-a",
    )
    answer = AnswerSeen(at=2.0, call=7, system="db", outcome="unknown", executed=True, effect="lose-answer")
    assert KNOWN.entry(answer) == Replied(
        at=2.0, call=CallId(7), system="db", outcome="unknown", executed=True, effect="lose-answer"
    )
    notification = NotificationSeen(at=3.0, system="db", channel="drift", text='{"name": "w_b"}', effect="lose", of=2)
    assert KNOWN.entry(notification) == Notified(
        at=3.0, system="db", channel="drift", resource=ROLES, namespace="n1", name="w-b", effect="lose", fault=FaultIndex(2)
    )


def test_what_a_plan_says_is_secret_is_a_digest_whatever_its_field_is_called() -> None:
    owners = CallOwners()
    owners.hide(["hunter2hunter2"])
    thing = ExternalObject(kind="things", name="t", fields={"dsn": "pg://u:hunter2hunter2@x", "tags": {"a": "b"}})
    (held,) = owners.state("db", [thing], at=1.0).objects
    assert held.fields["tags"] == {"a": "b"}
    assert "hunter2" not in str(held)


ROLE = ExternalObject(kind="roles", name="n1_w_a", fields={"login": True, "memberOf": ["readers"], "password": "hunter2"})


def test_what_a_system_holds_is_reported_with_its_owner_and_without_secrets() -> None:
    state = KNOWN.state("db", [ROLE, ExternalObject(kind="roles", name="stranger")], at=4.0)
    (mine, theirs) = state.objects
    assert (mine.resource, mine.namespace, mine.name) == (ROLES, "n1", "w-a")
    assert mine.fields["login"] is True
    assert mine.fields["memberOf"] == ["readers"]
    assert mine.fields["password"] not in ("hunter2", "")
    assert theirs == Held(kind="roles", external="stranger", digest=theirs.digest)


def test_a_digest_changes_with_any_field_and_not_with_their_order() -> None:
    def digest(**fields: object) -> str:
        (held,) = KNOWN.state("db", [ExternalObject(kind="roles", name="a", fields=fields)], at=0.0).objects
        return held.digest

    assert digest(login=True, password="a") == digest(password="a", login=True)
    assert len({digest(login=True, password="a"), digest(login=True, password="b"), digest(login=False, password="a")}) == 3


@pytest.mark.parametrize(
    ("drift", "change"),
    [
        (Create(object=ROLE), "created"),
        (Change(kind="roles", name="n1_w_a", fields={"login": False}), "changed"),
        (Delete(kind="roles", name="n1_w_a"), "deleted"),
    ],
)
def test_a_drift_is_reported_with_the_object_that_it_is_about(drift: Drift, change: str) -> None:
    assert KNOWN.drifted("db", drift, at=5.0, step=2) == Drifted(
        at=5.0,
        system="db",
        change=change,  # type: ignore[arg-type]  # one of the three
        kind="roles",
        external="n1_w_a",
        resource=ROLES,
        namespace="n1",
        name="w-a",
        step=2,
    )
