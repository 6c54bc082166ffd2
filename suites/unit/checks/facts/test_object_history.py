"""Children over time."""

import msgspec

from staleproof.checks.facts.object_history import Child, Population, names_of, population
from staleproof.checks.facts.roles import Role
from staleproof.core.entry import Answered

from ..life_script import LifeScript, losing
from ..script import WIDGETS, Script, reference, trial

PODS = Role("Widget/w", "pods", "w-")


def child(made: Population, name: str) -> Child:
    return next(found for found in made.children.values() if found.named.name == name)


def test_who_created_and_deleted_a_child_is_told_by_the_answers() -> None:
    made = population(trial().applied("w").creates("w-a").made("w-b").deletes("w-b").removed("w-a").ends())

    assert child(made, "w-a").creator is not None
    assert child(made, "w-a").deleter is None
    assert child(made, "w-b").creator is None
    assert child(made, "w-b").deleter is not None


def test_deleting_what_was_deleted_before_is_nobodys_deletion() -> None:
    made = population(trial().applied("w").creates("w-a").terminating("w-a").deletes("w-a").ends())

    assert child(made, "w-a").deleter is None


def test_a_deletecollection_deletes_each() -> None:
    made = population(trial().applied("w").creates("w-a", "w-b").deletes_all().ends())

    assert all(child(made, name).deleter for name in ("w-a", "w-b"))
    assert list(made.counts[PODS].values()) == [1, 2, 1, 0]


def test_live_is_not_deleted_and_deleted_is_deletion_timestamp_set() -> None:
    made = population(trial().applied("w").creates("w-a", "w-b", "w-c").terminating("w-a").removed("w-a").creates("w-d").ends())

    assert list(made.counts[PODS].values()) == [1, 2, 3, 2, 3]
    assert (made.peak(PODS), made.trough(PODS)) == (3, 2)
    assert made.live_after(PODS, child(made, "w-b").created) == 2
    assert made.peak_until(PODS, child(made, "w-b").created) == 2


def test_a_role_that_never_was_has_no_peak() -> None:
    assert (Population().peak(PODS), Population().trough(PODS)) == (0, 0)


def test_an_object_that_was_already_going_when_it_was_first_seen_never_counts_as_live() -> None:
    script = trial().applied("w").applied("w-a", "pods").terminating("w-a")
    script.entries = [
        entry for entry in script.entries if getattr(entry, "type", "") != "ADDED" or getattr(entry, "name", "") == "w"
    ]

    assert list(population(script.ends()).counts[Role("", "pods", "w-")].values()) == [0]


def test_incarnations_of_an_owner_are_told_apart() -> None:
    script = trial().applied("w").creates("w-a").removed("w", WIDGETS).applied("w").creates("w-b")

    assert {named.owner for named in names_of(script.ends()) if named.resource == "pods"} == {"Widget/w", "Widget/w#2"}


def test_other_namespaces_and_bookkeeping_do_not_count() -> None:
    script = trial().applied("leader", "leases.coordination.k8s.io")
    script.entries += reference(1).applied("w").entries

    assert population(script.ends()).children == {}


def test_writes_whose_answer_was_lost_are_the_controllers_all_the_same() -> None:
    script = LifeScript(losing()).applied("w").creates("w-a").loses_the_answer().creates("w-b").deletes("w-b").loses_the_answer()
    made = population(script.ends())

    assert [found.creator is not None for found in (child(made, "w-a"), child(made, "w-b"))] == [True, True]
    assert child(made, "w-b").deleter is not None
    creator = child(made, "w-a").creator
    assert creator is not None
    assert not creator.succeeded


def applied_by_the_server(script: Script, code: int) -> Population:
    """The last create was a server-side apply."""
    asked = next(i for i in range(len(script.entries) - 1, 0, -1) if getattr(script.entries[i], "verb", "") == "create")
    script.entries[asked] = msgspec.structs.replace(script.entries[asked], verb="patch", name="w-a")
    script.entries[-1] = msgspec.structs.replace(script.entries[-1], code=code)
    assert isinstance(script.entries[-1], Answered)
    return population(script.ends())


def test_a_server_side_apply_that_finds_nothing_is_a_create() -> None:
    assert child(applied_by_the_server(trial().applied("w").creates("w-a"), 201), "w-a").creator is not None
    assert child(applied_by_the_server(trial().applied("w").creates("w-a"), 200), "w-a").creator is None
