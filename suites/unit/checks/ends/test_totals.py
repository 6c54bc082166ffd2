from staleproof.checks.ends.totals import Range, Total, in_words, ranges, totals
from staleproof.checks.facts.roles import Role

REPLICAS = Total("deployment/app", "replicasets.apps", "spec.replicas")


def sets(*replicas: int) -> dict[Role, list[dict[str, object]]]:
    return {
        Role("deployment/app", "replicasets.apps", f"app-{number}"): [{"spec.replicas": each, "spec.paused": True, "spec.port": 80}]
        for number, each in enumerate(replicas)
    }


def test_numbers_in_the_specs_of_an_owners_objects_are_added_up() -> None:
    assert totals(sets(3, 5)) == {REPLICAS: 8}
    assert totals({Role("", "widgets", "app"): [{"spec.replicas": 3}]}) == {}


def test_what_any_reference_came_to_is_right_however_it_was_divided() -> None:
    found = ranges([totals(sets(3, 5)), totals(sets(6))], [totals(sets(3, 5))], set())

    assert found == {REPLICAS: Range(6, 8, unstable=False)}
    assert found[REPLICAS].has(totals(sets(1, 6))[REPLICAS])
    assert not found[REPLICAS].has(totals(sets(5, 6))[REPLICAS])
    assert in_words(REPLICAS, 11, found[REPLICAS]) == (
        "the spec.replicas of all replicasets of deployment/app add up to 11, fault-free runs ended with 6 to 8"
    )


def test_a_sum_on_which_fault_free_runs_of_the_workload_do_not_agree_is_unstable() -> None:
    ends = [totals(sets(8)), totals(sets(9))]

    assert ranges(ends, ends, set())[REPLICAS].unstable
    assert not ranges(ends, ends[:1], set())[REPLICAS].unstable
    assert ranges(ends, ends[:1], {REPLICAS})[REPLICAS].unstable


def test_a_number_that_one_reference_does_not_have_is_not_added_up() -> None:
    assert ranges([totals(sets(8)), {}], [totals(sets(8))], set()) == {}
