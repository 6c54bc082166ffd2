"""The history of the trial under way: of its namespace alone, in seconds since it began, on disk as it happens."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from staleproof.core.history.entry import (
    Answered,
    Asked,
    Broke,
    Committed,
    Delivered,
    Ended,
    Entry,
    FaultFired,
    FaultIndex,
    Item,
    Listed,
    Opened,
    Released,
    RequestId,
    StepBegan,
    StreamId,
    Withheld,
)
from staleproof.core.history.history import Header, History, decode, sealed
from staleproof.core.history.resource_version import Revision
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Rest
from staleproof.drive.trial.recorder import Recorder

from ...core.entries import committed

HEADER = Header(plan=Plan(scenario="mine", steps=(Rest(seconds=1.0),)), namespace="mine")
REFERENCE, _ = sealed(History(Header(role="reference", plan=HEADER.plan, namespace="earlier"), (Ended(at=1.0),)))
BEGAN = 1000.0
Placed = Committed | Delivered | Withheld | Asked


def record(folder: Path, *entries: Entry) -> Recorder:
    made = Recorder(folder / "trials" / "history.jsonl", HEADER, (REFERENCE,), began=BEGAN)
    for entry in entries:
        made.take(entry)
    return made


def recorded(folder: Path, *entries: Entry) -> tuple[Entry, ...]:
    return record(folder, *entries).finish().entries


def asked(number: int, namespace: str, *, at: float = BEGAN, resource: str = "pods", verb: str = "create") -> Asked:
    return Asked(at=at, request=RequestId(number), client="c", verb=verb, resource=resource, namespace=namespace)


def answered(number: int) -> Answered:
    return Answered(at=BEGAN, request=RequestId(number), outcome="ok")


def listed(number: int, *namespaces: str) -> Listed:
    items = tuple(Item(namespace, "x", "u", Revision(5)) for namespace in namespaces)
    return Listed(at=BEGAN, request=RequestId(number), client="c", resource="pods", revision=Revision(9), items=items)


# --- what is left out ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "of",
    [
        lambda namespace: committed(BEGAN, namespace=namespace),
        lambda namespace: Delivered(
            at=BEGAN, stream=StreamId(1), type="ADDED", namespace=namespace, name="x", revision=Revision(5)
        ),
        lambda namespace: Withheld(
            at=BEGAN, stream=StreamId(1), type="ADDED", namespace=namespace, name="x", revision=Revision(5), fault=FaultIndex(1)
        ),
        lambda namespace: asked(1, namespace, verb="update"),
    ],
    ids=["committed", "delivered", "withheld", "asked"],
)
def test_what_happens_in_other_namespaces_is_left_out(of: Callable[[str], Placed], tmp_path: Path) -> None:
    found = recorded(tmp_path, *(of(namespace) for namespace in ("other", "mine", "", "mine-too")))
    assert [entry.namespace for entry in found if isinstance(entry, Placed)] == ["mine", ""]


def test_the_answer_goes_with_the_request(tmp_path: Path) -> None:
    found = recorded(
        tmp_path,
        asked(1, "mine"),
        asked(2, "other", verb="update"),
        asked(3, "other", verb="list"),
        answered(2),
        listed(3),
        answered(1),
    )
    assert [(type(entry), entry.request) for entry in found if isinstance(entry, Asked | Answered | Listed)] == [
        (Asked, 1),
        (Answered, 1),
    ]


def test_the_answer_to_a_request_from_before_the_trial_is_kept(tmp_path: Path) -> None:
    assert recorded(tmp_path, answered(7)) == (Answered(at=0.0, request=RequestId(7), outcome="ok"),)


def test_a_list_of_all_namespaces_keeps_what_is_of_this_one(tmp_path: Path) -> None:
    asks = asked(1, "", verb="list")
    (_, found) = recorded(tmp_path, asks, listed(1, "other", "mine", "", "mine"))
    assert isinstance(found, Listed)
    assert [item.namespace for item in found.items] == ["mine", "", "mine"]
    assert found.revision == 9


def test_what_has_no_namespace_is_kept(tmp_path: Path) -> None:
    entries: list[Entry] = [
        Opened(at=BEGAN, stream=StreamId(1), client="c", resource="pods"),
        StepBegan(at=BEGAN, step=1, does="x"),
        FaultFired(at=BEGAN, fault=FaultIndex(1), on="x"),
        Broke(at=BEGAN, where="x", why="y"),
    ]
    assert [type(entry) for entry in recorded(tmp_path, *entries)] == [type(entry) for entry in entries]


def test_the_places_of_a_trial_are_those_where_something_of_it_was_changed(tmp_path: Path) -> None:
    made = record(
        tmp_path,
        committed(BEGAN, namespace="mine"),
        committed(BEGAN, namespace="mine", resource="configmaps"),
        committed(BEGAN, namespace="other", resource="secrets"),
        committed(BEGAN, namespace="", resource="nodes"),
        asked(1, "mine", resource="services"),
        asked(2, "", resource="namespaces"),
        asked(3, "other", resource="roles"),
    )
    here = {("pods", "mine"), ("configmaps", "mine"), ("services", "mine")}
    assert made.places() == here | {("namespaces", ""), ("roles", "other")}
    made.finish()


# --- time and order ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "counts"),
    [
        (asked(1, "mine"), True),
        (asked(1, "other"), True),
        (asked(1, "other", verb="update"), False),
        (asked(1, "mine", verb="get"), False),
        (asked(1, "mine", resource="leases.coordination.k8s.io"), False),
    ],
)
def test_work_is_what_is_asked_for_or_made_and_is_no_bookkeeping(entry: Asked, tmp_path: Path, *, counts: bool) -> None:
    made = record(tmp_path, entry)
    made.finish()
    assert made.has_work is counts


def test_times_count_from_the_beginning_of_the_trial(tmp_path: Path) -> None:
    found = recorded(
        tmp_path,
        committed(BEGAN - 3, namespace="mine"),
        committed(BEGAN, namespace="mine"),
        committed(BEGAN + 1.23456789, namespace="mine"),
    )
    assert [entry.at for entry in found] == [0.0, 0.0, 1.234568]


def test_entries_are_put_in_order_at_the_end(tmp_path: Path) -> None:
    """Truth and the proxy tell what they saw with different delays."""
    late, early, same = Released(at=BEGAN + 2), committed(BEGAN + 1, namespace="mine"), StepBegan(at=BEGAN + 1, step=1, does="x")
    found = recorded(tmp_path, late, early, same, Ended(at=BEGAN + 3))
    assert [type(entry) for entry in found] == [Committed, StepBegan, Released, Ended]


# --- the file ------------------------------------------------------------------------------------------------------------------


def test_the_file_is_the_history(tmp_path: Path) -> None:
    made = record(tmp_path, Released(at=BEGAN + 2), committed(BEGAN + 1, namespace="mine"), Ended(at=BEGAN + 3))
    history = made.finish()
    found = decode(made.path.read_bytes())
    assert replace(found, references=(REFERENCE,)) == history
    assert history.digest == found.digest
    assert found.header.references == (REFERENCE.digest,)
    assert history.complete
    assert [path.name for path in made.path.parent.iterdir()] == ["history.jsonl.gz"]


def test_the_file_can_be_read_while_it_grows(tmp_path: Path) -> None:
    """A run that is killed leaves what it saw."""
    made = record(tmp_path)
    assert decode(made.path.read_bytes()) == History(structs.replace(HEADER, references=(REFERENCE.digest,)), ())
    for number in range(1, 4):
        made.take(asked(number, "mine", at=BEGAN + number))
        found = decode(made.path.read_bytes())
        assert [entry.at for entry in found.entries] == [float(n) for n in range(1, number + 1)]
        assert (found.notes, found.complete) == ((), False)
    made.finish()


def test_a_line_that_was_cut_short_costs_only_itself(tmp_path: Path) -> None:
    made = record(tmp_path, committed(BEGAN + 1, namespace="mine"))
    complete_size = len(made.path.read_bytes())
    made.take(Ended(at=BEGAN + 2))
    data = made.path.read_bytes()
    for end in range(complete_size + 1, len(data) - 1):
        found = decode(data[:end])
        assert [type(entry) for entry in found.entries] == [Committed]
        assert len(found.notes) == 1
    made.finish()
