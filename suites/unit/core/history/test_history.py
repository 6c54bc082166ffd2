"""A history: what is written can be read again, alone or with its references, also when the run was killed while writing it."""

import json
from dataclasses import replace
from typing import Literal, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from staleproof.core.fault import HoldStream
from staleproof.core.history.entry import Answered, Asked, Broke, Ended, Entry, Listed, Released, RequestId, StepBegan
from staleproof.core.history.history import (
    Header,
    History,
    HistoryError,
    Position,
    Request,
    decode,
    encode,
    encode_line,
    in_order,
    is_history,
    is_work,
    requests,
    sealed,
)
from staleproof.core.history.resource_version import Revision
from staleproof.core.plan.plan import Plan, Subject
from staleproof.core.plan.plan import encode as encode_plan
from staleproof.core.plan.step import Apply, Rest
from staleproof.core.plan.stored import compressed, digest, plain

from ..entries import asked, committed
from ..structs import TEXT, anything

ENTRY: st.SearchStrategy[Entry] = st.one_of([anything(kind) for kind in get_args(Entry)])
PLANS = [
    Plan(scenario="own-writes", steps=(Rest(seconds=1.0),)),
    Plan(scenario="x", title="y", steps=(Rest(seconds=1.0), Rest(seconds=2.0)), faults=(HoldStream(resource="pods"),)),
]


def headers(role: Literal["trial", "reference"]) -> st.SearchStrategy[Header]:
    return st.builds(
        Header,
        role=st.just(role),
        plan=st.sampled_from(PLANS),
        namespace=TEXT,
        primaries=st.lists(TEXT, max_size=2).map(tuple),
        environment=st.dictionaries(TEXT, TEXT, max_size=2),
        started=TEXT,
    )


ENTRIES = st.lists(ENTRY, max_size=4).map(tuple)
REFERENCE = st.builds(History, headers("reference"), ENTRIES)
HISTORY = st.builds(History, headers("trial"), ENTRIES, st.lists(REFERENCE, max_size=2).map(tuple))
HEADER = Header(plan=PLANS[0], namespace="trial")
OF_REFERENCE = Header(plan=PLANS[0].reference, namespace="reference", role="reference")


def lines(history: History) -> list[Header | Entry]:
    return [line for section in (*history.references, history) for line in (section.header, *section.entries)]


# --- the codec -------------------------------------------------------------------------------------------------------------------


@given(HISTORY)
def test_round_trip(history: History) -> None:
    assert decode(encode(history)) == history


@given(HISTORY)
def test_a_compressed_file_is_read_as_it_is(history: History) -> None:
    assert decode(compressed(encode(history))) == history


@given(HISTORY)
def test_what_is_stored_names_its_references(history: History) -> None:
    references = tuple(sealed(reference)[0] for reference in history.references)
    stored, data = sealed(replace(history, references=references))
    alone = decode(data)
    assert (alone.header, alone.entries, alone.references) == (stored.header, history.entries, ())
    assert alone.header.references == tuple(reference.digest for reference in references)
    assert alone.digest == stored.digest == digest(plain(data))
    assert decode(encode(replace(alone, references=references))) == history, "an export names nothing: it has everything"


def test_the_digest_of_a_history_covers_what_it_is_compared_with() -> None:
    first, second = (sealed(History(OF_REFERENCE, (Ended(at=at),)))[0] for at in (1.0, 2.0))
    assert sealed(History(HEADER, (), (first,)))[0].digest != sealed(History(HEADER, (), (second,)))[0].digest


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (encode(History(HEADER, ())), True),
        (compressed(b""), True),
        (encode_plan(PLANS[0]), False),
        (b"", False),
        (b"{", False),
    ],
)
def test_histories_and_plans_are_told_apart(data: bytes, *, expected: bool) -> None:
    assert is_history(data) is expected


@pytest.mark.parametrize("kind", get_args(Entry), ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_round_trip_of_each_entry(kind: type[msgspec.Struct], data: st.DataObject) -> None:
    entry = data.draw(anything(kind))
    line = encode_line(entry)
    assert line.count(b"\n") == 1
    assert decode(encode_line(HEADER) + line) == History(HEADER, (entry,))


@given(headers("trial"))
def test_a_history_says_what_it_is(header: Header) -> None:
    raw = json.loads(encode_line(header))
    assert (raw["entry"], raw["apiVersion"], raw["kind"]) == ("header", "staleproof.dev/v1alpha1", "History")


def test_a_header_holds_no_secret() -> None:
    payload = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "database"}, "stringData": {"password": "hunter2xyz"}}
    subject = Subject(command=("controller",), env={"DB_PASSWORD": "swordfish"})
    plan = Plan(scenario="x", steps=(Apply(object=payload),), controller=subject)
    data = encode(History(Header(plan=plan, namespace="n"), (), (History(Header(plan=plan, namespace="m", role="reference"), ()),)))
    assert b"hunter2xyz" not in data
    assert b"swordfish" not in data
    assert data.count(b'"$DB_PASSWORD"') == 2
    assert decode(data).header.plan.steps == decode(data).references[0].header.plan.steps


@given(HISTORY, st.data())
def test_a_history_may_end_anywhere_after_its_first_line(history: History, data: st.DataObject) -> None:
    encoded = encode(history)
    cut = data.draw(st.integers(encoded.index(b"\n"), len(encoded)))
    *complete, last = encoded[:cut].split(b"\n")
    at_a_line = not last or encoded[cut : cut + 1] == b"\n"
    count = len(complete) + (1 if last and at_a_line else 0)
    found = decode(encoded[:cut])
    assert lines(found) == lines(history)[:count]
    truncated = [note for note in found.notes if "truncated" in note]
    assert truncated == ([] if at_a_line else [f"line {len(complete) + 1} is truncated and was left out"])


def test_sections_before_the_last_are_references() -> None:
    first, second = Header(plan=PLANS[0], namespace="r1", role="reference"), Header(plan=PLANS[0], namespace="r2", role="reference")
    data = b"".join(encode_line(line) for line in (first, Released(at=1.0), Ended(at=2.0), second, HEADER, Ended(at=3.0)))
    history = decode(data)
    assert (history.header, history.entries, history.notes) == (HEADER, (Ended(at=3.0),), ())
    assert history.references == (History(first, (Released(at=1.0), Ended(at=2.0))), History(second, ()))


def test_a_file_that_ends_with_a_reference_is_noted() -> None:
    data = encode_line(OF_REFERENCE) + encode_line(Ended(at=1.0))
    assert decode(data).notes == ()
    assert decode(data + data).notes == ("the file ends with a reference: the trial itself was not recorded",)


@pytest.mark.parametrize("blank", [b"\n", b"\n\n", b"  \n", b"\r\n"])
def test_blank_lines_do_not_matter(blank: bytes) -> None:
    assert decode(blank + encode_line(HEADER) + blank + encode_line(Ended(at=1.0)) + blank) == History(HEADER, (Ended(at=1.0),))


H, E = encode_line(HEADER), encode_line(Ended(at=1.0))


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        (b"", ["line 1: the file is empty; expected a header"]),
        (b"\n\n", ["line 1: the file is empty; expected a header"]),
        (E, ["line 1: expected a header"]),
        (b"\n" + E + H, ["line 2: expected a header"]),
        (b"garbage", ["line 1:", "(found: garbage)", "a history of staleproof.dev/v1alpha1"]),
        (H[:-9], ["line 1:"]),
        (H + E + b"garbage\n" + E, ["line 3:", "found: garbage"]),
        (H + E + E[:-4] + b"\n" + E, ["line 3:"]),
        (H + E + b"garbage\n", ["line 3:", "found: garbage"]),  # complete, so not truncated
        (H + b"\xff\n" + E, ["line 2:"]),
        (H + b'{"entry":"\xff"}\n' + E, ["line 2:"]),
        (H + b"[1]\n" + E, ["line 2:", "Expected `object`, got `array`"]),
        (H + b'{"entry":"exploded","at":1}\n' + E, ["line 2:", "Invalid value 'exploded'", "$.entry"]),
        (H + b'{"entry":"exited","at":1,"life":1}\n' + E, ["line 2:", "missing required field `code`"]),
        (H + b'{"entry":"exited","at":"1","life":1,"code":0}\n' + E, ["line 2:", "$.at"]),
        (H + E + H.replace(b"v1alpha1", b"v9") + E, ["line 3:", "$.apiVersion"]),
        (H.replace(b'"seconds"', b'"minutes"'), ["line 1:", "unknown field `minutes`", "$.plan.steps[0]"]),
        (H + b"x" * 200 + b"\n" + E, ["line 2:", f"(found: {'x' * 80}…)"]),
        (compressed(H)[:-3], ["damaged or was cut short"]),
    ],
)
def test_a_line_that_cannot_be_read_is_named(data: bytes, parts: list[str]) -> None:
    with pytest.raises(HistoryError) as caught:
        decode(data)
    message = str(caught.value)
    assert [part for part in parts if part not in message] == [], message


@pytest.mark.parametrize(
    ("entries", "complete"),
    [
        ((), False),
        ((Released(at=1.0),), False),
        ((Ended(at=1.0),), True),
        ((Ended(at=1.0), Broke(at=2.0, where="x", why="y")), False),
    ],
)
def test_complete(entries: tuple[Entry, ...], *, complete: bool) -> None:
    assert History(HEADER, entries).complete is complete


# --- what is read from entries ---------------------------------------------------------------------------------------------------


def test_requests_are_paired_with_their_answers() -> None:
    ok, failed, listed = (
        Answered(at=4.0, request=RequestId(2), outcome="ok"),
        Answered(at=5.0, request=RequestId(1), outcome="fail"),
        Listed(at=6.0, request=RequestId(3), client="c", resource="pods", revision=Revision(9)),
    )
    entries: list[Entry] = [asked(1), asked(2), StepBegan(at=2.0, step=1, does="x"), asked(3, "list"), ok, failed, asked(4), listed]
    found = requests(entries)
    assert found == [
        Request(Position(0), asked(1), Position(5), failed),
        Request(Position(1), asked(2), Position(4), ok),
        Request(Position(3), asked(3, "list"), Position(7), listed),
        Request(Position(6), asked(4), None, None),
    ]
    assert [request.succeeded for request in found] == [False, True, False, False]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (asked(1, "create"), True),
        (asked(1, "update"), True),
        (asked(1, "patch"), True),
        (asked(1, "delete"), True),
        (asked(1, "deletecollection"), True),
        (asked(1, "get"), False),
        (asked(1, "list"), False),
        (asked(1, "create", dry_run=True), False),
        (asked(1, "update", "leases.coordination.k8s.io"), False),
        (asked(1, "create", "events"), False),
        (asked(1, "patch", "events.events.k8s.io"), False),
        (asked(1, "create", "events.example.com"), True),
        (asked(1, "create", "subjectaccessreviews.authorization.k8s.io"), False),
        (asked(1, "create", "roles.rbac.authorization.k8s.io"), True),
    ],
)
def test_which_requests_are_work(entry: Asked, *, expected: bool) -> None:
    assert is_work(entry) is expected


def test_in_order_keeps_what_happened_at_the_same_time_as_it_came() -> None:
    commit = committed(1.0)
    entries: list[Entry] = [Released(at=2.0), asked(1), commit, Ended(at=0.5)]
    assert list(in_order(entries)) == [Ended(at=0.5), asked(1), commit, Released(at=2.0)]
