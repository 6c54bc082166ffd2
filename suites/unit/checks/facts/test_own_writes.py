"""Which own writes had not been shown at a decision, and whose work it is: also what was executed and never heard of."""

from collections.abc import Callable, Sequence

import pytest

from staleproof.checks.facts.object_history import Incarnation, OwnVerb, creations, deletions, object_history
from staleproof.checks.facts.own_writes import (
    adopted_unseen,
    group_of,
    is_inherited,
    lost_writes,
    own_children,
    own_creates,
    own_deletes,
    unheard_writes,
    unseen_children,
)
from staleproof.checks.facts.roles import Role
from staleproof.checks.trial import Trial
from staleproof.core.fault import Kill
from staleproof.core.history.history import Request

from ..script import HOLD, WIDGETS, Script, losing, trial

PODS = Role("Widget/w", "pods", "w-")


def child(of: Trial, name: str) -> Incarnation:
    return object_history(of).named("pods", name)[-1]


# --- what is behind --------------------------------------------------------------------------------------------------------------


def held() -> Script:
    return trial().step(1, "apply").applied("w").hold().creates("w-a", "w-b")


def deleted() -> Script:
    return trial().applied("w").creates("w-a", "w-b").hold().deletes("w-a").deletes("w-b", grace=True).applied("w")


def unheard() -> Script:
    """It never heard the end of its first create, and cannot remember what it does not know."""
    script = Script(losing(), HOLD).step(1, "apply").applied("w").hold(fault=1).creates("w-a").loses_the_answer()
    return script.creates("w-b").applied("w")


BOTH = {"w-a", "w-b"}
BEHIND: dict[str, tuple[OwnVerb, Callable[[], Script], set[str]]] = {
    "the same decision": ("create", held, set()),
    "the owner is shown": ("create", lambda: held().applied("w"), BOTH),
    "the next decision's own writes are not behind": ("create", lambda: held().applied("w").creates("w-c"), BOTH),
    "a look at the owner": ("create", lambda: held().lists(WIDGETS), BOTH),
    "a write to the owner": ("create", lambda: held().updates("w"), BOTH),
    "a step": ("create", lambda: held().step(2, "rest"), BOTH),
    "a new life": ("create", lambda: held().restarted(), BOTH),
    "another owner is shown": ("create", lambda: held().applied("other"), set()),
    "a read of the owner": ("create", lambda: held().gets("w", WIDGETS), set()),
    "a list of something else": ("create", lambda: held().asks("list", "configmaps"), set()),
    "shown by events": ("create", lambda: held().applied("w").let_go(), set()),
    "shown by a read": ("create", lambda: held().applied("w").gets("w-a"), {"w-b"}),
    "shown by a list": ("create", lambda: held().applied("w").lists("pods"), set()),
    "an old list": ("create", lambda: held().applied("w").lists("pods", without=("w-b",), revision=100), {"w-b"}),
    "another user deleted it": ("create", lambda: held().applied("w").removed("w-a"), {"w-b"}),
    "it deleted it itself": ("create", lambda: held().applied("w").deletes("w-a"), {"w-b"}),
    "gone, and a new life": ("create", lambda: held().removed("w-a").applied("w").gets("w-a").restarted(), {"w-b"}),
    "the answer was lost": ("create", unheard, {"w-b"}),
    "deletes": ("delete", deleted, BOTH),
    "deletes, shown by events": ("delete", lambda: deleted().let_go(), set()),
    "deletes, shown by reads": ("delete", lambda: deleted().gets("w-a").gets("w-b"), set()),
    "deletes, shown by a list": ("delete", lambda: deleted().lists("pods"), set()),
}


@pytest.mark.parametrize(("verb", "script", "names"), BEHIND.values(), ids=BEHIND)
def test_what_it_would_not_have_seen_if_it_created_one_more_now(
    verb: OwnVerb, script: Callable[[], Script], names: set[str]
) -> None:
    then = Trial(script().creates("w-z").ends())
    last, own = child(then, "w-z"), own_creates(then) if verb == "create" else own_deletes(then)
    assert last.creator is not None

    assert {other.name for other in own.behind(last, before=last.creator.index)} == names


def test_deletes_are_looked_at_together_whatever_the_names() -> None:
    assert group_of(PODS, "delete") == group_of(PODS._replace(stem="w-0"), "delete")
    assert group_of(PODS, "create") != group_of(PODS._replace(stem="w-0"), "create")


def test_children_whose_owner_is_no_primary_are_decided_on_when_a_primary_is_shown() -> None:
    script = trial().applied("w").made("rs", "replicasets.apps").hold().creates("w-a", owner="rs").applied("w")

    assert own_creates(Trial(script.creates("w-z", owner="rs").ends())).looked == {Role("ReplicaSet of Widget/w", "pods", "w-")}


def taken_over(script: Script, *, by: str = "w") -> Script:
    """The controller makes this widget the owner of what another user has made."""
    owner = {"kind": "Widget", "name": by, "uid": script.uid(by, WIDGETS), "controller": True}
    known = script._objects["pods", "x"]["metadata"]
    return script.updates("x", "pods", subresource="", metadata=known | {"ownerReferences": [owner]})


def theirs() -> Script:
    """Hidden, another user makes a pod, and the controller makes one."""
    return trial().applied("w").applied("v").hold().applied("x", "pods").creates("w-z").let_go()


ADOPTED = {
    "it is taken over": (lambda: taken_over(theirs()), ["x"]),
    "it never is": (theirs, []),
    "it is taken over for another owner": (lambda: taken_over(theirs(), by="v"), []),
    "it was shown": (lambda: taken_over(trial().applied("w").applied("x", "pods").creates("w-z")), []),
    "it was made later": (lambda: taken_over(trial().applied("w").hold().creates("w-z").applied("x", "pods").let_go()), []),
    "the controller had made it": (
        lambda: taken_over(trial().applied("w").hold().creates("x", owner="", generated="").creates("w-z").let_go()),
        [],
    ),
}


@pytest.mark.parametrize(("script", "names"), ADOPTED.values(), ids=ADOPTED)
def test_what_another_user_had_made_unseen_and_is_to_be_taken_over(script: Callable[[], Script], names: list[str]) -> None:
    then = Trial(script().ends())
    own = child(then, "w-z")
    assert own.creator is not None

    assert [each.name for each in adopted_unseen(then, own, before=own.creator.index)] == names


# --- whose work it is ------------------------------------------------------------------------------------------------------------


def applied(script: Script) -> Script:
    return script.step(1, "apply").applied("w").creates("w-a")


WORK = {
    "what the answers confirmed": (
        applied(Script(losing())).creates("w-b").made("w-c").deletes("w-a").removed("w-c"),
        (["w-a", "w-b"], ["w-a"], []),
    ),
    "writes whose answers were lost": (
        applied(Script(losing())).loses_the_answer().deletes("w-a").loses_the_answer(),
        (["w-a"], ["w-a"], ["create", "delete"]),
    ),
    "it was killed over it, so the answer was not lost": (
        applied(Script(Kill(resource="pods"))).loses_the_answer(),
        (["w-a"], [], []),
    ),
    "what was refused was not done": (applied(Script(losing())).refused("create", "w-a", "AlreadyExists"), (["w-a"], [], [])),
}


@pytest.mark.parametrize(("script", "work"), WORK.values(), ids=WORK)
def test_created_deleted_lost(script: Script, work: tuple[list[str], list[str], list[str]]) -> None:
    def names(done: Sequence[tuple[Request, Incarnation]]) -> list[str]:
        return [each.name for _, each in done]

    then = Trial(script.ends())

    assert (names(creations(then)), names(deletions(then)), [each.asked.verb for each in lost_writes(then)]) == work


def lost(*, hidden: bool = False) -> Script:
    """A create and a delete whose answers were lost."""
    script = Script(losing(), HOLD).step(1, "apply").applied("w").creates("w-a")
    script = script.hold(fault=1) if hidden else script
    return script.creates("w-b").loses_the_answer().deletes("w-a").loses_the_answer()


UNHEARD = {
    "still the same decision": (lost(), True),
    "decides anew, and was shown it": (lost().applied("w"), False),
    "decides anew, and it was hidden": (lost(hidden=True).applied("w"), True),
    "another life would not have heard it anyway": (lost().dies(1).lives_again(past={"pods": {}}), False),
}


@pytest.mark.parametrize(("script", "is_unheard"), UNHEARD.values(), ids=UNHEARD)
def test_what_was_done_unheard_and_without_a_look(script: Script, is_unheard: bool) -> None:  # noqa: FBT001
    then, end = Trial(script.unfinished()), len(script.entries)

    assert [each.name for each in unheard_writes(then, "create", before=end).values()] == (["w-b"] if is_unheard else [])
    assert [each.name for each in unheard_writes(then, "delete", before=end).values()] == (["w-a"] if is_unheard else [])


def test_a_new_life_inherits_what_is_alive() -> None:
    script = applied(Script(losing())).creates("w-b").deletes("w-a").dies().lives_again(past={"pods": {}}).creates("w-c")
    then, end = Trial(script.ends()), len(script.entries)

    assert [(each.name, is_inherited(then, each, at=end)) for each in own_children(then, before=end)] == [
        ("w-b", True),
        ("w-c", False),
    ]
    assert [each.name for each in unseen_children(then, at=end - 1)] == ["w-b"]
