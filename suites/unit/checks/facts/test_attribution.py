"""Which primary a write was for."""

from staleproof.checks.facts.attribution import effects, root_of
from staleproof.checks.facts.object_history import population

from ..script import WIDGETS
from ..stream_script import StreamScript


def first(script: StreamScript, name: str) -> tuple[int | None, int | None]:
    history = script.unfinished()
    effect = effects(history, population(history))[f"{WIDGETS}/{name}"]
    return effect.shown, effect.first


def two() -> StreamScript:
    return StreamScript(names=("w", "v")).applied("w").applied("v")


def test_a_child_belongs_to_its_owner() -> None:
    script = two().creates("v-a", owner="v")

    assert first(script, "w") == (5, None)
    assert first(script, "v") == (7, 8)


def test_a_grandchild_belongs_to_the_owner_at_the_top() -> None:
    script = (
        two().creates("w-set", resource="replicasets.apps").made("w-map", "configmaps", owner="w").creates("w-a", owner="w-set")
    )
    history = script.unfinished()
    made = population(history)

    assert root_of(script.uid("w-a"), made) == script.uid("w", WIDGETS)
    assert root_of("unknown", made) == "unknown"


def test_a_write_to_the_primary_is_for_it_also_when_it_is_refused() -> None:
    assert first(two().updates("v", status=1), "v") == (7, 8)
    assert first(two().refused("update", "v", "Conflict", resource=WIDGETS), "v") == (7, 8)


def test_reads_bookkeeping_and_what_came_before_it_was_shown_are_no_effects() -> None:
    script = two().gets("v", WIDGETS).asks("update", "leases.coordination.k8s.io", "v")
    early = StreamScript(names=("w", "v")).hold(WIDGETS).applied("w").applied("v").creates("v-a", owner="v").let_go(WIDGETS)

    assert first(script, "v")[1] is None
    assert first(early, "v")[1] is None


def test_a_list_shows_a_primary_as_well() -> None:
    script = StreamScript(names=("w",)).ended(WIDGETS, fault=None).applied("w").lists(WIDGETS)

    assert first(script, "w") == (7, None)


def test_what_is_nobodys_primary_is_left_out() -> None:
    history = StreamScript(names=("w",)).applied("v").unfinished()

    assert effects(history, population(history)) == {}
