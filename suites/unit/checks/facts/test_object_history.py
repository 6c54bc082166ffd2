"""Objects over time."""

import msgspec
import pytest

from staleproof.checks.facts.object_history import BEYOND, Incarnation, ObjectHistory, names, object_history
from staleproof.checks.facts.roles import Named, Role
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import Committed
from staleproof.core.history.resource_version import Revision

from ..script import WIDGETS, Script, losing, reference, trial

PODS = Role("Widget/w", "pods", "w-")


def made(script: Script) -> ObjectHistory:
    return object_history(Trial(script.ends()))


def named(found: ObjectHistory, name: str) -> Incarnation:
    return next(each for each in found.objects.values() if each.name == name)


def applied_by_the_server(code: int) -> Script:
    """The last create was a server-side apply."""
    script = trial().applied("w").creates("w-a")
    create = next(i for i in range(len(script.entries) - 1, 0, -1) if getattr(script.entries[i], "verb", "") == "create")
    script.entries[create] = msgspec.structs.replace(script.entries[create], verb="patch", name="w-a")
    script.entries[-1] = msgspec.structs.replace(script.entries[-1], code=code)
    return script


def lost() -> Script:
    script = Script(losing()).applied("w").creates("w-a").loses_the_answer()
    return script.creates("w-b").deletes("w-b").loses_the_answer()


OWN = {
    "the answers tell what it created": (trial().applied("w").creates("w-a").removed("w-a"), "w-a", True, False),
    "and what it deleted": (trial().applied("w").made("w-b").deletes("w-b"), "w-b", False, True),
    "what was deleted before counts as no deletion": (
        trial().applied("w").creates("w-a").terminating("w-a").deletes("w-a"),
        "w-a",
        True,
        False,
    ),
    "a deletecollection deletes each": (trial().applied("w").creates("w-a", "w-b").deletes_all(), "w-a", True, True),
    "really each": (trial().applied("w").creates("w-a", "w-b").deletes_all(), "w-b", True, True),
    "a create whose answer was lost": (lost(), "w-a", True, False),
    "a delete whose answer was lost": (lost(), "w-b", True, True),
    "a server-side apply that finds nothing is a create": (applied_by_the_server(201), "w-a", True, False),
    "one that finds something is not": (applied_by_the_server(200), "w-a", False, False),
}


@pytest.mark.parametrize(("script", "name", "created", "deleted"), OWN.values(), ids=OWN)
def test_what_the_controller_created_and_deleted(script: Script, name: str, *, created: bool, deleted: bool) -> None:
    each = named(made(script), name)

    assert (each.creator is not None, each.deleter is not None) == (created, deleted)


def test_a_create_whose_answer_was_lost_did_not_succeed() -> None:
    creator = named(made(lost()), "w-a").creator

    assert creator is not None
    assert not creator.succeeded


def test_live_is_not_deleted_and_deleted_is_deletion_timestamp_set() -> None:
    found = made(trial().applied("w").creates("w-a", "w-b", "w-c").terminating("w-a").removed("w-a").creates("w-d"))
    a, b, d = (named(found, name) for name in ("w-a", "w-b", "w-d"))
    assert a.deleted is not None

    assert list(found.counts[PODS].values()) == [1, 2, 3, 2, 3]
    assert (found.peak(PODS), found.trough(PODS)) == (3, 2)
    assert found.counts[PODS][b.created] == found.peaks[PODS][b.created] == 2
    assert [found.live_at(PODS, index) for index in (a.created - 1, b.created + 1, a.deleted, d.created + 9)] == [0, 2, 2, 3]
    assert [found.peak_between(PODS, *span) for span in [(b.created, a.deleted), (a.deleted, d.created - 1)]] == [3, 2]
    assert [a.is_live(before=index) for index in (a.created, a.created + 1, a.deleted, a.deleted + 1)] == [False, True, True, False]
    assert a.is_gone(before=a.deleted + 1)


def test_a_deletecollection_leaves_none_and_a_role_that_never_was_has_no_peak() -> None:
    collected, nothing = made(trial().applied("w").creates("w-a", "w-b").deletes_all()), ObjectHistory({})

    assert list(collected.counts[PODS].values()) == [1, 2, 1, 0]
    assert (nothing.peak(PODS), nothing.trough(PODS), nothing.live_at(PODS, 9), nothing.peak_between(PODS, 0, 9)) == (0, 0, 0, 0)


def test_an_object_that_was_already_going_when_it_was_first_seen_never_counts_as_live() -> None:
    script = trial().applied("w").applied("w-a", "pods").terminating("w-a")
    script.entries = [e for e in script.entries if getattr(e, "type", "") != "ADDED" or getattr(e, "name", "") == "w"]

    assert list(made(script).counts[Role("", "pods", "w-")].values()) == [0]


def test_incarnations_are_told_apart_and_called_as_roles_call_them() -> None:
    found = made(trial().wants(1).creates("w-a").removed("w", WIDGETS).applied("w", spec=1).creates("w-b"))

    assert [each.label for each in found.named(WIDGETS, "w")] == ["Widget/w", "Widget/w#2"]
    assert [named(found, name).role.owner for name in ("w-a", "w-b")] == ["Widget/w", "Widget/w#2"]
    assert [found.labelled(WIDGETS, label) for label in ("Widget/w", "Widget/w#2")] == list(found.named(WIDGETS, "w"))
    assert found.labelled(WIDGETS, "Widget/x") is None


def test_the_owner_at_the_top() -> None:
    found = made(trial().applied("w").made("rs", "replicasets.apps").creates("rs-a", owner="rs"))

    assert {found.root_of(uid) for uid in found.objects} == {named(found, "w").uid}
    assert found.root_of("unknown") == "unknown"


def test_names_that_every_reference_used_are_stable() -> None:
    references = [reference(number).applied("w").creates("w-a").ends() for number in (1, 2)]
    found = Trial(trial().ends(), references)

    assert {each.name for each in names(found).stable} == {"w"}
    assert names(found.references[0]) == names(found)


def taken_over(script: Script, generated: str = "w-") -> Script:
    """Of two owners the first has it made, and the second has it in the end."""
    script.applied("w").applied("v").creates("w-data-a-b", owner="w", generated=generated)
    made = next(each for each in reversed(script.entries) if isinstance(each, Committed) and each.resource == "pods")
    owners = [made.object["metadata"]["ownerReferences"][0] | {"uid": script.uid("v", WIDGETS), "name": "v"}]
    metadata = made.object["metadata"] | {"ownerReferences": owners}
    revision = Revision(made.revision + 500)
    script.entries.append(
        msgspec.structs.replace(made, type="MODIFIED", revision=revision, object=made.object | {"metadata": metadata})
    )
    return script


def test_what_is_taken_over_has_what_names_have_in_common_of_both_owners() -> None:
    found = Trial(taken_over(trial()).ends(), [taken_over(reference(number)).ends() for number in (1, 2)])
    roles = [names(found).role(Named(f"Widget/{owner}", "pods", "w-zz-9"), {"metadata": {}}) for owner in ("w", "v")]
    assert roles == [Role(f"Widget/{owner}", "pods", "w-") for owner in ("w", "v")]


def test_a_name_is_a_role_of_its_own_under_its_first_owner_only() -> None:
    found = Trial(taken_over(trial(), "").ends(), [taken_over(reference(number), "").ends() for number in (1, 2)])
    assert {each.owner for each in names(found).stable if each.resource == "pods"} == {"Widget/w"}
    assert names(found).role(Named("Widget/v", "pods", "w-data-a-b"), {"metadata": {}}).stem == "w-data-a-"


def test_generations_by_revision() -> None:
    of = named(made(trial().wants(1).says(1).wants(2)), "w")
    first, last = of.first.entry.revision, of.last.entry.revision

    assert [of.generation_at(revision) for revision in (first - 1, first, first + 1, last, last + 1)] == [1, 1, 1, 2, BEYOND]
    assert (of.reaching(1), of.reaching(2), of.reaching(3)) == (of.first, of.last, None)
