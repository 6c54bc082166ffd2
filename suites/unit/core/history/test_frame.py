"""Bytes into frames: any chunking, any bytes."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from staleproof.core.engine.status import expired
from staleproof.core.history.frame import EVENTS, UNREADABLE, Frame, FrameReader, bookmark_behind, read_frame
from staleproof.core.history.resource_version import Revision


def line(type_: str, **fields: Any) -> bytes:  # noqa: ANN401  # any JSON
    return json.dumps({"type": type_, "object": fields}, ensure_ascii=False).encode() + b"\n"


def pod(type_: str, revision: int, **metadata: Any) -> bytes:  # noqa: ANN401  # any JSON
    return line(
        type_,
        kind="Pod",
        apiVersion="v1",
        metadata={"name": "x", "namespace": "a", "uid": "u", "resourceVersion": str(revision), **metadata},
    )


INITIAL_END = pod("BOOKMARK", 9, annotations={"k8s.io/initial-events-end": "true"})
GARBAGE = [
    b"garbage\n",
    b"{}\n",
    b"[]\n",
    b'{"type":"ADDED"}\n',
    b'{"type":"ADDED","object":{\n',
    b"\xff\xfe\n",
    b"\x00\n",
    b"\r.\n",
    b"\n",
    b" \r\n",
]
LINES = st.lists(
    st.one_of(
        st.builds(pod, st.sampled_from([*sorted(EVENTS), "BOOKMARK"]), st.integers(1, 10**20), note=st.text()),
        st.just(INITIAL_END),
        st.just(expired(3, 9)),
        st.sampled_from(GARBAGE),
        st.binary().map(lambda data: data.replace(b"\n", b"") + b"\n"),
    ),
    max_size=8,
)


def feed(data: bytes, cuts: list[int]) -> tuple[list[Frame], bytes]:
    reader = FrameReader()
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    frames = [frame for start, end in pairwise(places) for frame in reader.feed(data[start:end])]
    return frames, reader.rest


@given(LINES, st.binary().map(lambda data: data.replace(b"\n", b"")), st.lists(st.integers(0, 10**6)))
def test_any_chunking_gives_the_same_frames_and_the_same_bytes(lines: list[bytes], rest: bytes, cuts: list[int]) -> None:
    data = b"".join(lines) + rest
    frames, kept = feed(data, cuts)
    assert (frames, kept) == feed(data, [])
    assert [frame.raw for frame in frames] == lines
    assert kept == rest


@given(st.integers(1, 200))
def test_a_character_may_span_chunks(cut: int) -> None:
    data = pod("ADDED", 5, labels={"städte": "東京 🚀"})
    frames, rest = feed(data, [cut])
    assert frames == [Frame("ADDED", "a", "x", "u", Revision(5), initial_end=False, raw=data)]
    assert rest == b""


@pytest.mark.parametrize("raw", GARBAGE)
def test_garbage_is_unreadable_and_kept(raw: bytes) -> None:
    (frame,) = FrameReader().feed(raw)
    assert frame == Frame(UNREADABLE, "", "", "", None, initial_end=False, raw=raw)
    assert not frame.is_event


@pytest.mark.parametrize(
    "raw",
    [
        line("ADDED", metadata={"name": 5}),
        b'{"type":"ADDED","object":{"metadata":{"name":"\xff"}}}\n',
        b'{"type":"ADDED","object":{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}}\n",
    ],
    ids=["wrong type", "not UTF-8", "too deep"],
)
def test_what_we_cannot_read_is_no_error(raw: bytes) -> None:
    assert read_frame(raw).type == UNREADABLE
    assert read_frame(raw).raw == raw


@given(st.binary())
def test_any_line_has_an_answer(data: bytes) -> None:
    assert read_frame(data).raw == data


def test_a_carriage_return_does_not_end_a_frame() -> None:
    data = pod("ADDED", 5)[:-1].replace(b', "', b',\r "') + b"\r\n"
    (frame,) = FrameReader().feed(data)
    assert (frame.type, frame.revision, frame.raw) == ("ADDED", 5, data)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        # type, namespace, name, uid, revision, initial_end
        (pod("ADDED", 5), ("ADDED", "a", "x", "u", 5, False)),
        (pod("MODIFIED", 5), ("MODIFIED", "a", "x", "u", 5, False)),
        (pod("DELETED", 5), ("DELETED", "a", "x", "u", 5, False)),
        (line("BOOKMARK", metadata={"resourceVersion": "7"}), ("BOOKMARK", "", "", "", 7, False)),
        (INITIAL_END, ("BOOKMARK", "a", "x", "u", 9, True)),
        (pod("ADDED", 5, annotations={"k8s.io/initial-events-end": "true"}), ("ADDED", "a", "x", "u", 5, False)),
        (line("ERROR", kind="Status", metadata={}, code=410), ("ERROR", "", "", "", None, False)),
        (line("ADDED", metadata={"resourceVersion": ""}), ("ADDED", "", "", "", None, False)),
        (line("ADDED"), ("ADDED", "", "", "", None, False)),
        (line("RENAMED", metadata={"name": "x"}), ("RENAMED", "", "x", "", None, False)),  # a type of the future
        # an object's own fields are its own business
        (line("ADDED", metadata={"name": "x"}, code="blue", items={}, type=1), ("ADDED", "", "x", "", None, False)),
    ],
)
def test_what_a_frame_says(raw: bytes, expected: tuple[str, str, str, str, int | None, bool]) -> None:
    frame = read_frame(raw)
    assert (frame.type, frame.namespace, frame.name, frame.uid, frame.revision, frame.initial_end) == expected
    assert frame.is_event is (frame.type in {"ADDED", "MODIFIED", "DELETED"})


@pytest.mark.parametrize(
    ("kind", "api_version"),
    [("Pod", "v1"), ("Deployment", "apps/v1"), ("PartialObjectMetadata", "meta.k8s.io/v1"), ("Table", "meta.k8s.io/v1")],
)
def test_a_bookmark_behind_an_event_is_of_its_type_and_revision(kind: str, api_version: str) -> None:
    metadata = {"name": "x", "namespace": "a", "uid": "u", "resourceVersion": "5"}
    event = read_frame(line("MODIFIED", kind=kind, apiVersion=api_version, metadata=metadata))
    mark = bookmark_behind(event)
    assert mark == read_frame(mark.raw)
    assert (mark.type, mark.name, mark.uid, mark.revision, mark.initial_end) == ("BOOKMARK", "", "", 5, False)
    assert json.loads(mark.raw) == {
        "type": "BOOKMARK",
        "object": {"kind": kind, "apiVersion": api_version, "metadata": {"resourceVersion": "5", "creationTimestamp": None}},
    }
