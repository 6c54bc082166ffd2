"""What belongs to a trial though it is elsewhere, and how that is recorded."""

from typing import Any, Literal

import pytest

from staleproof.core.history.entry import (
    Answered,
    Asked,
    Called,
    CallId,
    Committed,
    Competed,
    Delivered,
    Drifted,
    Entry,
    ExternalState,
    FaultIndex,
    Held,
    Item,
    Listed,
    Opened,
    Replied,
    RequestId,
    StreamId,
    Withheld,
)
from staleproof.core.history.resource_version import Revision
from staleproof.core.history.scope import Scope

ROLES, CONFIG_MAPS, TENANTS = "clusterroles.rbac.authorization.k8s.io", "configmaps", "tenants.staleproof.dev"


def asked(number: int, verb: str, resource: str, namespace: str = "", name: str = "", **fields: Any) -> Asked:  # noqa: ANN401
    return Asked(
        at=number, request=RequestId(number), client="c", verb=verb, resource=resource, namespace=namespace, name=name, **fields
    )


def answered(number: int, uid: str = "", namespace: str = "", name: str = "", **fields: Any) -> Answered:  # noqa: ANN401
    outcome: dict[str, Any] = {"outcome": "ok", "code": 201} | fields
    return Answered(at=number, request=RequestId(number), uid=uid, namespace=namespace, name=name, **outcome)


def committed(  # noqa: PLR0913  # all that there is to say
    resource: str,
    uid: str,
    name: str,
    namespace: str = "",
    *,
    what: Literal["ADDED", "MODIFIED", "DELETED"] = "ADDED",
    owner: str = "",
    says: str = "t",
    **of: Any,  # noqa: ANN401
) -> Committed:
    owners = {"ownerReferences": [{"uid": owner}]} if owner else {}
    obj: dict[str, Any] = {"metadata": {"name": name, "uid": uid, "labels": {"for": says}, **owners}, **of}
    return Committed(
        at=0.0,
        resource=resource,
        type=what,
        namespace=namespace,
        name=name,
        uid=uid,
        revision=Revision(5),
        object=obj,
    )


def delivered(uid: str, name: str, namespace: str = "") -> Delivered:
    return Delivered(at=0.0, stream=StreamId(1), type="ADDED", namespace=namespace, name=name, uid=uid, revision=Revision(5))


def where(scope: Scope, *entries: Entry) -> list[str]:
    """Namespace and name of what is recorded."""
    shown = scope.history_entries(entries)
    return [f"{each.namespace}/{each.name}" for each in shown if isinstance(each, Asked | Committed | Delivered | Withheld)]


MADE = (asked(1, "create", ROLES), answered(1, "u", name="r"))


# --- what is the trial's


@pytest.mark.parametrize(
    "made",
    [
        MADE,
        (asked(1, "patch", ROLES, name="r"), answered(1, "u", name="r")),
        (asked(1, "create", ROLES), answered(1, "u", name="r", outcome="unknown", executed=True)),
        (
            asked(1, "patch", ROLES, name="r"),
            answered(1, "u", name="r", revision=Revision(5), outcome="unknown", executed=True, code=0),
        ),
        (asked(0, "patch", ROLES, name="r"), answered(0, outcome="unknown", code=0)),
    ],
    ids=["create", "server-side apply", "lost answer", "lost answer to a server-side apply", "no answer to one"],
)
def test_what_the_controller_made_is_the_trials(made: tuple[Entry, ...]) -> None:
    assert where(Scope("t"), *made, committed(ROLES, "u", "r"), delivered("u", "r"))[1:] == ["t/r", "t/r"]


@pytest.mark.parametrize(
    "done",
    [
        (asked(1, "update", ROLES, name="r"), answered(1, "u", name="r", code=200)),
        (asked(1, "patch", ROLES, name="r"), answered(1, "u", name="r", code=200)),
        (asked(1, "create", ROLES), answered(1, "u", name="r", outcome="fail", code=409)),
        (asked(1, "patch", ROLES, name="r"), answered(1, outcome="fail", code=503, executed=False)),
        (asked(1, "patch", ROLES, name="r"), answered(1, outcome="unknown", executed=False, code=0)),
        (asked(0, "patch", ROLES, name="q"), answered(0, outcome="unknown", executed=True, code=0)),
        (
            asked(0, "patch", ROLES, name="r"),
            answered(0, "u", name="r", revision=Revision(7), outcome="unknown", executed=True, code=0),
        ),
        (asked(1, "patch", ROLES, name="r"), answered(1, outcome="unknown", code=0)),
        (asked(1, "create", ROLES, dry_run=True), answered(1, "u", name="r")),
        (asked(1, "create", "leases.coordination.k8s.io"), answered(1, "u", name="r")),
        (),
    ],
    ids=[
        "updated",
        "patched",
        "refused",
        "rejected",
        "not executed",
        "another",
        "it was there",
        "it began before",
        "dry run",
        "lease",
        "nothing",
    ],
)
def test_what_it_did_not_make_is_not(done: tuple[Entry, ...]) -> None:
    assert where(Scope("t"), *done, committed(ROLES, "u", "r"))[-1] == "/r"


def test_where_the_answer_was_lost_a_commit_before_it_tells_what_was_made() -> None:
    lost = asked(0, "patch", ROLES, name="r"), answered(0, outcome="unknown", executed=True, code=0)
    scope = Scope("t")
    for entry in (lost[0], committed(ROLES, "u", "r"), lost[1]):
        scope.see(entry)
    later = committed(ROLES, "u", "r", what="MODIFIED")
    assert scope.history_entry(later) is not None
    assert where(Scope("t"), *lost, later)[-1] == "/r", "it was there already, as far as is known"


def test_a_commit_may_be_heard_of_before_the_answer_and_before_its_owners() -> None:
    child = committed(CONFIG_MAPS, "v", "c", "default", owner="u")
    grandchild = committed(CONFIG_MAPS, "w", "d", "default", owner="v")
    assert where(Scope("t"), grandchild, child, committed(ROLES, "u", "r"), *MADE)[:3] == ["t/default/d", "t/default/c", "t/r"]


@pytest.mark.parametrize("says", ["", "other", "t-probe", "test"])
def test_what_the_controller_makes_for_itself_is_of_no_trial(says: str) -> None:
    """A certificate, a role that all share, something for a probe: no trial is compared by it, and no trial removes it."""
    scope, made = Scope("t"), (asked(1, "create", CONFIG_MAPS, "default"), answered(1, "u", "default", "c"))
    commit = committed(CONFIG_MAPS, "u", "c", "default", says=says)
    assert scope.history_entries([*made, commit, delivered("u", "c", "default")]) == []
    assert scope.mine({(CONFIG_MAPS, "default", "c"): commit.object}) == {}


def test_a_primary_that_keeps_its_name_is_spoken_of_by_that() -> None:
    made = (asked(1, "create", ROLES), answered(1, "u", name="a-members"))
    assert where(Scope("t", [(TENANTS, "", "a")]), *made, committed(ROLES, "u", "a-members", says=""))[-1] == "t/a-members"
    assert where(Scope("t", [(TENANTS, "", "b")]), *made, committed(ROLES, "u", "a-members", says="b"))[-1] == "t/a-members"
    assert where(Scope("t", [(TENANTS, "", "b")]), *made, committed(ROLES, "u", "a-members", says=""))[-1] == "/a-members"


def test_a_list_where_something_of_the_trials_is_is_reported() -> None:
    made = (
        asked(1, "create", CONFIG_MAPS, "default"),
        answered(1, "u", "default", "c"),
        committed(CONFIG_MAPS, "u", "c", "default"),
    )
    items = (Item("default", "c", "u", Revision(5)), Item("default", "d", "v", Revision(5)))
    listed = Listed(
        at=2.0, request=RequestId(2), client="c", resource=CONFIG_MAPS, namespace="default", revision=Revision(9), items=items
    )
    *_, answer = Scope("t").history_entries([*made, asked(2, "list", CONFIG_MAPS, "default"), listed])
    assert isinstance(answer, Listed)
    assert [(each.namespace, each.name) for each in answer.items] == [("t", "default/c")]


def test_what_is_elsewhere_and_of_no_trial_is_left_out() -> None:
    other = asked(2, "update", CONFIG_MAPS, "default", "c")
    shown = Scope("t").history_entries(
        [other, answered(2, "v"), committed(CONFIG_MAPS, "v", "c", "default"), delivered("v", "c", "default")]
    )
    assert shown == []


def test_what_is_in_the_namespace_of_another_trial_is_that_ones() -> None:
    earlier = "staleproof-0123abcd"
    made = (asked(1, "create", CONFIG_MAPS, earlier), answered(1, "u", earlier, "c"))
    assert where(Scope("staleproof-11111111"), *made, committed(CONFIG_MAPS, "u", "c", earlier)) == []
    assert where(Scope("staleproof-11111111"), asked(1, "create", "pods", "staleproof-11111111-probe")) == []


def test_a_primary_is_known_by_its_name_but_the_end_of_an_earlier_one_is_not() -> None:
    scope = Scope("t", [(TENANTS, "", "a")])
    gone, new = committed(TENANTS, "u", "a", what="DELETED"), committed(TENANTS, "v", "a")
    assert where(scope, gone, new, asked(1, "get", TENANTS, name="a")) == ["/a", "t/a", "t/a"]


def test_another_object_with_the_name_of_the_trials_is_the_trials() -> None:
    assert where(Scope("t"), *MADE, committed(ROLES, "u", "r"), committed(ROLES, "other", "r"))[-1] == "t/r"


def test_live_objects_are_the_trials_by_namespace_name_and_owner() -> None:
    scope = Scope("t", [(TENANTS, "", "a")])
    entries = [
        committed("pods", "1", "p", "t"),
        committed(TENANTS, "2", "a"),
        committed(ROLES, "4", "below", owner="3"),
        committed(ROLES, "3", "child", owner="2"),
        committed(ROLES, "5", "stranger"),
        committed("leases.coordination.k8s.io", "6", "lock", "default", owner="2"),
    ]
    live = {(each.resource, each.namespace, each.name): each.object for each in entries}
    assert {name for _, _, name in scope.mine(live)} == {"p", "a", "child", "below"}
    assert set(scope.shown(scope.mine(live))) == {
        ("pods", "t", "p"),
        (TENANTS, "t", "a"),
        (ROLES, "t", "child"),
        (ROLES, "t", "below"),
    }


def test_without_a_trial_nothing_is_anybodys() -> None:
    scope = Scope()
    for entry in MADE:
        scope.see(entry)
    assert scope.place(MADE[0]) == MADE[0]
    assert scope.mine({(ROLES, "", "r"): {"metadata": {"name": "r", "uid": "u"}}}) == {}


# --- how it is recorded


def test_what_is_in_another_namespace_has_that_before_its_name() -> None:
    scope = Scope("t")
    made = (asked(1, "create", CONFIG_MAPS, "default"), answered(1, "u", "default", "c"))
    commit = committed(CONFIG_MAPS, "u", "c", "default")
    asks, answer, renamed = scope.history_entries([*made, commit])
    assert isinstance(asks, Asked)
    assert (asks.namespace, asks.name) == ("t", "")
    assert isinstance(answer, Answered)
    assert (answer.namespace, answer.name) == ("t", "default/c")
    assert isinstance(renamed, Committed)
    assert renamed.object["metadata"]["name"] == renamed.name == "default/c"
    shown = scope.shown({(CONFIG_MAPS, "default", "c"): commit.object})
    assert shown == {(CONFIG_MAPS, "t", "default/c"): renamed.object}
    assert where(scope, asked(2, "delete", CONFIG_MAPS, "default", "c")) == ["t/default/c"]
    [delete_answer] = scope.history_entries([answered(2, "u", name="c")])
    assert isinstance(delete_answer, Answered)
    assert (delete_answer.namespace, delete_answer.name) == ("t", "default/c")


def test_a_list_is_reported_item_by_item() -> None:
    scope = Scope("t")
    items = (Item("", "r", "u", Revision(5)), Item("", "s", "v", Revision(5)), Item("default", "c", "w", Revision(5)))
    listed = Listed(at=2.0, request=RequestId(2), client="c", resource=ROLES, revision=Revision(9), items=items)
    removed = answered(3, items=items)
    *_, snapshot, answer = scope.history_entries([*MADE, committed(ROLES, "u", "r"), asked(2, "list", ROLES), listed, removed])
    assert isinstance(snapshot, Listed)
    assert [(each.namespace, each.name) for each in snapshot.items] == [("t", "r"), ("", "s")]
    assert isinstance(answer, Answered)
    assert answer.items[0].namespace == "t"


def test_a_competing_write_is_about_the_trials_object() -> None:
    commit = committed(ROLES, "u", "r")
    *_, competed = Scope("t").history_entries(
        [*MADE, commit, Competed(at=2.0, request=RequestId(2), resource=ROLES, name="r", uid="u", fault=FaultIndex(0))]
    )
    assert isinstance(competed, Competed)
    assert competed.namespace == "t"


def test_the_mark_is_left_out_wherever_it_is() -> None:
    scope = Scope("t", [(TENANTS, "", "a-0123abcd")], "-0123abcd")
    child = committed(ROLES, "v", "a-0123abcd-members", owner="u", rules=["of a-0123abcd"])
    opened = Opened(at=0.0, stream=StreamId(1), client="c", resource=ROLES, selector="of=a-0123abcd")
    primary = committed(TENANTS, "u", "a-0123abcd")
    shown = scope.history_entries([primary, child, opened])
    assert [each.name for each in shown if isinstance(each, Committed)] == ["a", "a-members"]
    assert isinstance(shown[1], Committed)
    assert shown[1].object["rules"] == ["of a"]
    assert isinstance(shown[2], Opened)
    assert shown[2].selector == "of=a"
    live = {(ROLES, "", "a-0123abcd-members"): child.object}
    assert scope.shown(live) == {(ROLES, "t", "a-members"): shown[1].object}


@pytest.mark.parametrize(
    ("names", "mark", "fixed"), [((), "", False), (("a-x",), "-x", False), (("a-x", "b"), "-x", True), (("a",), "", True)]
)
def test_a_name_may_be_the_same_in_each_trial(names: tuple[str, ...], mark: str, *, fixed: bool) -> None:
    assert Scope("t", [(TENANTS, "", name) for name in names], mark).has_fixed_names is fixed


# --- a namespace that trials share

WIDGETS, MARK = "widgets.staleproof.dev", "-0123abcd"


def shared() -> Scope:
    return Scope("t", [(WIDGETS, "x", f"w{MARK}")], MARK, "x")


PRIMARY = committed(WIDGETS, "p", f"w{MARK}", "x")


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([committed(CONFIG_MAPS, "u", "c", "x", owner="p", says="")], ["t/w", "t/c"]),
        ([committed("claims", "u", f"data-w{MARK}-0", "x", says="")], ["t/w", "t/data-w-0"]),
        ([committed("claims", "u", "data", "x", says=f"w{MARK}")], ["t/w", "t/data"]),
        ([committed(CONFIG_MAPS, "u", "settings", "x")], ["t/w"]),
        ([committed(CONFIG_MAPS, "u", "list", "x", what="MODIFIED", says=f"w{MARK}")], ["t/w"]),
        ([committed(WIDGETS, "q", "w-89abcdef", "x", says="")], ["t/w"]),
        ([delivered("u", "settings", "x"), delivered("p", f"w{MARK}", "x")], ["t/w", "t/w"]),
        ([asked(1, "update", WIDGETS, "x", f"w{MARK}")], ["t/w", "t/w"]),
        ([asked(1, "update", CONFIG_MAPS, "x", "settings")], ["t/w"]),
    ],
    ids=["owned", "marked by its name", "marked by a label", "of the operator", "a list that was there", "of another trial",
         "shown", "asked of it", "asked of what is the operator's"],
)  # fmt: skip
def test_in_a_shared_namespace_a_trials_own_is_marked_or_owned(entries: list[Entry], expected: list[str]) -> None:
    assert where(shared(), PRIMARY, *entries) == expected


def test_what_the_controller_makes_there_and_lists_all_primaries_is_of_no_trial() -> None:
    made = (asked(1, "create", CONFIG_MAPS, "x"), answered(1, "u", "x", "list"))
    commit = committed(CONFIG_MAPS, "u", "list", "x", says="", data={f"w{MARK}": "seen"})
    scope = shared()
    assert where(scope, PRIMARY, *made, commit) == ["t/w"]
    assert scope.mine({(CONFIG_MAPS, "x", "list"): commit.object, (WIDGETS, "x", f"w{MARK}"): PRIMARY.object}).keys() == {
        (WIDGETS, "x", f"w{MARK}")
    }


def test_watches_and_lists_of_a_shared_namespace_are_reported_as_of_the_trials() -> None:
    opened = Opened(at=0.0, stream=StreamId(1), client="c", resource=WIDGETS, namespace="x")
    items = (Item("x", f"w{MARK}", "p", Revision(5)), Item("x", "other", "o", Revision(4)))
    listed = Listed(at=1.0, request=RequestId(1), client="c", resource=WIDGETS, namespace="x", revision=Revision(5), items=items)
    _, watch, list_request, list_answer = shared().history_entries([PRIMARY, opened, asked(1, "list", WIDGETS, "x"), listed])
    assert isinstance(watch, Opened)
    assert isinstance(list_request, Asked)
    assert isinstance(list_answer, Listed)
    assert watch.namespace == list_request.namespace == list_answer.namespace == "t"
    assert [(item.namespace, item.name) for item in list_answer.items] == [("t", "w")]


def test_what_was_claimed_is_the_trials_once_it_is_there() -> None:
    scope = shared()
    scope.claim(CONFIG_MAPS, "x", "of-another")
    assert where(scope, committed(CONFIG_MAPS, "u", "of-another", "x", says="")) == ["t/of-another"]


def called(number: int, namespace: str = "", name: str = "", *, resource: str = TENANTS, text: str = "SELECT") -> list[Entry]:
    call = CallId(number)
    return [
        Called(at=number, call=call, system="db", verb="SELECT", text=text, resource=resource, namespace=namespace, name=name),
        Replied(at=number, call=call, system="db", outcome="ok"),
    ]


def test_a_call_about_another_trials_object_is_left_out_with_its_answer() -> None:
    shown = Scope("t").history_entries([*called(1, "t", "a"), *called(2, "other", "a"), *called(3)])
    assert [each.call for each in shown if isinstance(each, Called | Replied)] == [1, 1, 3, 3]


def test_a_call_about_what_is_the_trials_elsewhere_is_reported_as_if_it_were_here() -> None:
    scope = Scope("t", [(TENANTS, "", "a-x"), (CONFIG_MAPS, "kube-system", "settings")], "-x")
    entries = scope.history_entries(
        [*called(1, name="a-x", text="DROP ROLE a-x"), *called(2, "kube-system", "settings", resource=CONFIG_MAPS)]
    )
    found = [(each.namespace, each.name, each.text) for each in entries if isinstance(each, Called)]
    assert found == [("t", "a", "DROP ROLE a"), ("t", "kube-system/settings", "SELECT")]


def drifted(namespace: str, name: str) -> Drifted:
    return Drifted(
        at=1.0, system="db", change="deleted", kind="roles", external="r", resource=TENANTS, namespace=namespace, name=name
    )


def held(namespace: str, name: str) -> Held:
    resource = TENANTS if name else ""
    return Held(kind="roles", external="r", digest="d", resource=resource, namespace=namespace, name=name)


def test_what_drifts_and_what_a_system_holds_is_reported_as_calls_are() -> None:
    scope = Scope("t", [(TENANTS, "", "a-x")], "-x")
    state = ExternalState(at=2.0, system="db", objects=(held("", "a-x"), held("other", "a"), held("", "")))
    entries = scope.history_entries([drifted("", "a-x"), drifted("other", "a"), state])
    assert [(each.namespace, each.name) for each in entries if isinstance(each, Drifted)] == [("t", "a")]
    (shown,) = [each.objects for each in entries if isinstance(each, ExternalState)]
    assert [(each.namespace, each.name) for each in shown] == [("t", "a"), ("", "")]
