"""What is a claim about a generation, and whether the controller had acted before it."""

import pytest

from staleproof.checks.but_for import in_alike
from staleproof.checks.deeds.claims import (
    OBSERVED,
    acted_before,
    acted_on_children,
    acted_on_other_objects,
    children_when_ready,
    first_ready,
    observed_claims,
    ready,
    ready_claims,
    shown_generations,
)
from staleproof.checks.facts.object_history import object_history
from staleproof.checks.facts.roles import Role
from staleproof.checks.trial import Trial

from ..script import WIDGETS, Script, Workload, trial, two_references

READY = "status.conditions[Ready].observedGeneration"


CLAIMS = {
    "what an own write changed": (
        trial().wants(1).says(1).says(1, replicas=3).wants(2).says(2),
        [(OBSERVED, 1, None), (OBSERVED, 2, 1)],
    ),
    "what another claimed is carried along": (
        trial().wants(1).applied("w", status={"observedGeneration": 1}).says(1, replicas=3),
        [],
    ),
    "the last claim is remembered although it was withdrawn": (
        trial().wants(1).says(2).says().says(1),
        [(OBSERVED, 2, None), (OBSERVED, 1, 2)],
    ),
    "what it never heard the end of": (trial().wants(1).says(1).loses_the_answer(), [(OBSERVED, 1, None)]),
    "conditions make claims of their own": (trial().wants(1).says(ready=1), [(READY, 1, None)]),
}


@pytest.mark.parametrize(("script", "claims"), CLAIMS.values(), ids=CLAIMS)
def test_what_is_a_claim(script: Script, claims: list[tuple[str, int, int | None]]) -> None:
    assert [(c.about, c.generation, c.last) for c in observed_claims(Trial(script.ends()))] == claims


@pytest.mark.parametrize(
    ("status", "claims"),
    [
        (None, {}),
        ({"conditions": "none"}, {}),
        ({"conditions": [{"type": "Ready", "status": "True"}]}, {}),
        ({"conditions": [{"type": "Ready", "status": "False", "observedGeneration": 2}]}, {}),
        ({"conditions": [{"type": "Progressing", "status": "True", "observedGeneration": 2}]}, {}),
        ({"conditions": [{"type": "Available", "status": "True"}], "observedGeneration": 3}, {"Available": 3}),
        ({"conditions": [{"type": "Ready", "status": "True", "observedGeneration": 2}], "observedGeneration": 3}, {"Ready": 2}),
    ],
)
def test_ready_for_which_generation(status: object, claims: dict[str, int]) -> None:
    assert ready({"status": status}) == claims


def as_a_whole(generation: int, **condition: str) -> dict[str, object]:
    """A status of this generation, with a condition that names none."""
    return {"observedGeneration": generation, "conditions": [{"type": "Ready", "status": "True"} | condition]}


def test_a_condition_that_is_as_it_was_is_carried_along() -> None:
    script = trial().wants(1)
    for status in (as_a_whole(1), as_a_whole(2), as_a_whole(3, reason="Scaled"), {"observedGeneration": 4}, as_a_whole(5)):
        script.updates("w", status=status)

    assert [(claim.generation, claim.is_carried_along) for claim in ready_claims(Trial(script.ends()))] == [
        (1, False),
        (2, True),
        (3, False),
        (5, False),
    ]


def test_acting_comes_between_being_shown_and_claiming() -> None:
    found = Trial(trial().wants(1).creates("w-a").says(1).wants(2).says(2).creates("w-b").ends())

    assert [acted_before(found, claim) for claim in observed_claims(found)] == [True, False]


ACTS = {
    "a create": (trial().wants(1).creates("w-a"), True, True),
    "a delete": (trial().wants(1).made("w-a").deletes("w-a"), True, True),
    "a status": (trial().wants(1).says(1), False, False),
    "the object itself": (trial().wants(1).updates("w", subresource="", finalizers=["x"]), False, False),
    "bookkeeping": (trial().wants(1).asks("update", "leases.coordination.k8s.io", "lock"), False, False),
    "what was refused": (trial().wants(1).refused("create", "w-a", "Forbidden"), True, False),
    "what is not its child": (trial().wants(1).creates("x", resource="configmaps", owner=""), True, False),
}


@pytest.mark.parametrize(("script", "wrote", "acted"), ACTS.values(), ids=ACTS)
def test_what_counts_as_having_acted(script: Script, *, wrote: bool, acted: bool) -> None:
    found = Trial(script.ends())
    of, end = object_history(found).objects["ns-uid-1"], len(found.entries)

    assert acted_on_other_objects(found, of, after=0, before=end) is wrote
    assert acted_on_children(found, of, after=0, before=end) is acted


def test_only_what_lies_between_counts() -> None:
    found = Trial(trial().wants(1).creates("w-a").ends())
    of, request = object_history(found).objects["ns-uid-1"], found.work[0].index
    spans = [(0, request), (request, 99), (request - 1, 99)]

    assert [acted_on_children(found, of, after=after, before=before) for after, before in spans] == [False, False, True]
    assert [acted_on_other_objects(found, of, after=after, before=before) for after, before in spans] == [False, False, True]


CHILDREN = {
    "so many": (lambda script: script.wants(2).creates("w-a", "w-b").says(ready=1), {"w-": 2}),
    "the fewest of several times": (
        lambda script: script.wants(2).creates("w-a").says(ready=1).creates("w-b").says(ready=1, ok=True),
        {"w-": 1},
    ),
    "it never heard that it was done": (
        lambda script: script.wants(2).creates("w-a").says(ready=1).loses_the_answer(),
        {"w-": 1},
    ),
    "it had not acted": (lambda script: script.wants(2).made("w-a").says(ready=1), {}),
    "it never claimed it": (lambda script: script.wants(2).creates("w-a"), {}),
}


@pytest.mark.parametrize(("script", "fewest"), CHILDREN.values(), ids=CHILDREN)
def test_how_many_children_there_were_when_another_run_was_ready(script: Workload, fewest: dict[str, int]) -> None:
    found = Trial(trial().wants(2).ends(), two_references(script))
    of = object_history(found).objects["ns-uid-1"]
    expected = {Role("Widget/w", "pods", stem): count for stem, count in fewest.items()}

    assert [*in_alike(found, lambda run: children_when_ready(run, of, "Ready", 1))] == [expected, expected]
    assert first_ready(found, of, "Ready", 1) is None
    assert children_when_ready(found, of, "Ready", 1) == {}


# --- what had been shown


def held() -> Script:
    """The second generation is hidden."""
    return trial().wants(1).hold(WIDGETS).wants(2)


SHOWN = {
    "a frame fills the caches": (trial().wants(1), 1, 1),
    "one that is held does not": (held(), 1, 1),
    "until it is let go": (held().let_go(WIDGETS), 2, 2),
    "a list fills them, too": (held().lists(WIDGETS), 2, 2),
    "a live read tells without filling them": (held().gets("w", WIDGETS), 1, 2),
    "so does the answer to an own write": (held().says(1), 1, 2),
    "a new life has been shown nothing": (trial().wants(1).restarted(), 0, 0),
    "and reads live": (trial().wants(1).restarted().gets("w", WIDGETS), 0, 1),
}


@pytest.mark.parametrize(("script", "cached", "known"), SHOWN.values(), ids=SHOWN)
def test_what_had_been_shown_in_the_end(script: Script, cached: int, known: int) -> None:
    shown, end = shown_generations(Trial(script.unfinished())), len(script.entries)

    assert (shown.cached.before(end, "ns-uid-1"), shown.known.before(end, "ns-uid-1")) == (cached, known)


def test_since_when_and_from_when() -> None:
    script = held().wants(3).let_go(WIDGETS)
    third = len(script.entries) - 1
    script.restarted()
    start = len(script.entries)
    found = shown_generations(Trial(script.gets("w", WIDGETS).lists(WIDGETS).unfinished()))
    end, uid = len(script.entries), "ns-uid-1"

    assert [found.cached.before(index, uid) for index in (third - 1, third, third + 1, start, end)] == [1, 2, 3, 0, 3]
    assert [found.cached.reached(uid, generation, before=third + 1) for generation in (2, 3, 4)] == [third - 1, third, None]
    assert [found.cached.reached(uid, 3, before=end), found.known.reached(uid, 3, before=end)] == [end - 1, start + 1]
    assert [found.cached.rises(uid, 3, after=after) for after in (0, third + 1, end)] == [third, end - 1, None]
