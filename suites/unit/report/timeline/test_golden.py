"""Of recorded trials: what is shaded is what was withheld, read here from the frames alone."""

import gzip
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from msgspec import json

from staleproof.checks.judge import judge
from staleproof.checks.story.narrative import stories
from staleproof.core.history.entry import Closed, Delivered, Dropped, Entry, Opened, Started, Withheld
from staleproof.core.history.history import History, decode
from staleproof.core.history.request import BOOKKEEPING
from staleproof.report.timeline.document import Stale, Timeline, encode, schema
from staleproof.report.timeline.trial import timeline

from ...judged import HISTORIES

PATHS = sorted(HISTORIES.rglob("*.jsonl*"))
VALIDATOR = Draft202012Validator(schema())
Span = tuple[float, float | None]


@cache
def read(path: Path) -> tuple[History, Timeline]:
    """A history and its timeline without stories: to judge them all takes long, and is done elsewhere."""
    history = decode(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())
    return history, timeline(history)


def keep(kept: dict[int, list[int]], entry: Entry) -> None:
    """Note which revisions each stream keeps."""
    match entry:
        case Withheld(stream=stream, revision=int(revision)):
            kept[stream].append(revision)
        case Delivered(stream=stream, revision=int(revision)):
            kept[stream] = [each for each in kept[stream] if each > revision]
        case Dropped(stream=stream, revision=int(revision)):
            kept[stream] = [each for each in kept[stream] if each != revision]
        case Closed(stream=stream):
            kept[stream] = []
        case Started():
            kept.clear()


def withheld(history: History) -> Iterator[tuple[str, Span]]:
    """(resource, from when to when) each time that a frame of it was being kept."""
    resources: dict[int, str] = {each.stream: each.resource for each in history.entries if isinstance(each, Opened)}
    kept: dict[int, list[int]] = defaultdict(list)
    since: dict[str, float] = {}
    for entry in history.entries:
        keep(kept, entry)
        now = {resources[stream] for stream, revisions in kept.items() if revisions}
        since |= dict.fromkeys(now - since.keys(), entry.at)
        for resource in since.keys() - now:
            yield resource, (round(since.pop(resource), 6), round(entry.at, 6))
    yield from ((resource, (round(began, 6), None)) for resource, began in since.items())


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_what_is_kept_in_a_lane_is_what_was_withheld(path: Path) -> None:
    history, drawn = read(path)
    spans = defaultdict(list)
    for resource, span in withheld(history):
        spans[resource].append(span)
    lanes = {lane.name: [(kept.since, kept.until) for kept in lane.kept] for lane in drawn.lanes}

    assert {name: each for name, each in lanes.items() if each} == {
        name: each for name, each in spans.items() if name not in BOOKKEEPING and name in lanes
    }


def first_deliveries(history: History) -> dict[tuple[str, int], tuple[float, float]]:
    """(uid, revision) of each frame that was withheld and left later, and when."""
    since: dict[tuple[str, int], float] = {}
    found: dict[tuple[str, int], tuple[float, float]] = {}
    for entry in history.entries:
        match entry:
            case Withheld(uid=str(uid), revision=int(revision)) if uid:
                since[uid, revision] = entry.at
            case Delivered(uid=str(uid), revision=int(revision)) if (uid, revision) in since:
                found.setdefault((uid, revision), (round(since[uid, revision], 6), round(entry.at, 6)))
    return found


@pytest.mark.parametrize(
    "name", ["naive-hidden-creates", "naive-hidden-deletes", "no-preconditions-recreated", "expectations-hidden-creates"]
)
def test_an_object_is_shaded_until_the_frame_that_was_withheld_left(name: str) -> None:
    history, drawn = read(HISTORIES / f"{name}.jsonl")
    shaded = {(each.uid, stale.revision): stale for lane in drawn.lanes for each in lane.objects for stale in each.stale}
    delivered = first_deliveries(history)

    assert delivered
    assert {key: until for key, (_, until) in delivered.items()} == {key: shaded[key].until for key in delivered}
    assert all(is_slight(stale) for key, stale in shaded.items() if key not in delivered)


def is_slight(stale: Stale) -> bool:
    """The time that a frame takes when nothing keeps it."""
    return stale.until is not None and stale.until - stale.since < 0.02


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_it_is_valid_and_what_refers_to_a_commit_means_one(path: Path) -> None:
    _, drawn = read(path)
    data = encode(drawn)

    VALIDATOR.validate(json.decode(data))
    assert json.decode(data, type=Timeline) == drawn
    made = {revision.entry for lane in drawn.lanes for each in lane.objects for revision in each.revisions}
    assert {entry for request in drawn.requests for entry in request.changed} <= made


def test_witnesses_are_numbered_as_the_lines_of_the_story() -> None:
    history, _ = read(HISTORIES / "naive-hidden-creates.jsonl")
    story, *_ = found = stories(judge(history), history)
    drawn = timeline(history, found)
    tale, *_ = drawn.tales

    assert [(line.line, line.says) for line in tale.lines] == [(n, says) for n, (_, says) in enumerate(story.lines, 1)]
    assert tale.lines[-1].entries == (24,)
    assert next(request for request in drawn.requests if request.entry == 24).changed
    VALIDATOR.validate(json.decode(encode(drawn)))


def test_a_lost_answer_and_a_rejected_request_are_told_apart() -> None:
    _, lost = read(HISTORIES / "mutants" / "repeats_lost_create.jsonl.gz")
    _, rejected = read(HISTORIES / "mutants" / "never_retries.jsonl.gz")

    assert [each.rejected for each in lost.requests if each.lost] == [False]
    assert [each.lost for each in rejected.requests if each.rejected] == [False]


def test_each_life_begins_where_the_process_did() -> None:
    _, drawn = read(HISTORIES / "mutants" / "crash_loops.jsonl.gz")

    assert len(drawn.lives) == 8
    assert all(first.until == second.since for first, second in zip(drawn.lives, drawn.lives[1:], strict=False))
    assert {"killed", "exited"} & {event.kind for event in drawn.events}


def test_of_several_programs_the_one_is_drawn_that_was_held_back() -> None:
    history, drawn = read(HISTORIES / "mutants" / "overwriting_poller.jsonl.gz")
    assert drawn.replicas == ("poller",)
    judged = timeline(history, stories(judge(history), history))
    assert {tale.requirement for tale in judged.tales} == {"no-lost-update"}
    assert any(revision.by == "controller" for lane in judged.lanes for each in lane.objects for revision in each.revisions)
