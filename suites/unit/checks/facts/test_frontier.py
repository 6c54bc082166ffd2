"""What the controller had been shown, entry by entry."""

from staleproof.checks.facts.frontier import Frontier
from staleproof.core.entry import Answered, Asked, Closed, Delivered, Entry, EventType, Item, Listed, Opened, Settled, Started

PODS = "pods"


def opened(stream: int = 1, *, namespace: str = "", watch_list: bool = False, since: int | None = None) -> Opened:
    return Opened(at=0, stream=stream, client="c", resource=PODS, namespace=namespace, watch_list=watch_list, since=since)


def event(what: EventType, name: str, uid: str, revision: int, *, stream: int = 1, namespace: str = "ns") -> Delivered:
    return Delivered(at=0, stream=stream, type=what, namespace=namespace, name=name, uid=uid, revision=revision)


def bookmark(revision: int, *, initial_end: bool = False) -> Delivered:
    return Delivered(at=0, stream=1, type="BOOKMARK", revision=revision, initial_end=initial_end)


def listed(revision: int, *items: Item, namespace: str = "", selector: str = "", more: bool = False) -> Listed:
    return Listed(
        at=0,
        request=1,
        client="c",
        resource=PODS,
        namespace=namespace,
        selector=selector,
        revision=revision,
        items=items,
        more=more,
    )


def item(name: str, uid: str, revision: int = 5, namespace: str = "ns") -> Item:
    return Item(namespace, name, uid, revision)


def asked(verb: str, name: str = "", *, subresource: str = "") -> Asked:
    return Asked(at=0, request=7, client="c", verb=verb, resource=PODS, namespace="ns", name=name, subresource=subresource)


def answered(code: int = 200, *, name: str = "", uid: str = "", revision: int | None = None) -> Answered:
    return Answered(
        at=0,
        request=7,
        outcome="ok" if code < 300 else "fail",
        code=code,
        namespace="ns",
        name=name,
        uid=uid,
        revision=revision,
    )


def after(*entries: Entry) -> Frontier:
    frontier = Frontier()
    for entry in entries:
        frontier.advance(entry)
    return frontier


def test_a_frame_shows_its_object_at_its_revision() -> None:
    frontier = after(opened(), event("ADDED", "a", "u1", 7))

    assert frontier.has_seen("u1", 7)
    assert not frontier.has_seen("u1", 8)
    assert not frontier.has_seen("u2", 0)
    assert frontier.present(PODS, "ns", "a") == "u1"
    assert frontier.newest == {PODS: 7}


def test_an_older_frame_takes_nothing_back() -> None:
    assert after(opened(), event("MODIFIED", "a", "u1", 9), event("MODIFIED", "a", "u1", 7)).has_seen("u1", 9)


def test_a_deletion_shows_the_end() -> None:
    frontier = after(opened(), event("ADDED", "a", "u1", 7), event("DELETED", "a", "u1", 8))

    assert frontier.has_seen("u1", 1000)
    assert frontier.present(PODS, "ns", "a") == ""


def test_another_incarnation_shows_the_end_of_the_one_before() -> None:
    frontier = after(opened(), event("ADDED", "a", "u1", 7), event("ADDED", "a", "u2", 9))

    assert frontier.has_seen("u1", 1000)
    assert frontier.present(PODS, "ns", "a") == "u2"


def test_a_bookmark_moves_the_stream_but_shows_no_object() -> None:
    frontier = after(opened(), bookmark(50))

    assert frontier.newest == {PODS: 50}
    assert frontier.known == set()
    assert not frontier.has_listed(PODS, "ns", 50)


def test_a_frame_of_an_unknown_stream_shows_nothing() -> None:
    assert after(event("ADDED", "a", "u1", 7)).known == set()


def test_a_stream_that_was_open_before_has_been_shown_that_far() -> None:
    assert after(opened(since=40)).newest == {PODS: 40}


def test_a_list_shows_what_is_in_it_and_that_the_rest_is_gone() -> None:
    frontier = after(opened(), event("ADDED", "a", "u1", 7), event("ADDED", "b", "u2", 8), listed(9, item("a", "u1", 7)))

    assert frontier.has_seen("u2", 1000)
    assert not frontier.has_seen("u1", 8)
    assert frontier.has_listed(PODS, "ns", 9)
    assert not frontier.has_listed(PODS, "ns", 10)
    assert not frontier.has_listed("nodes", "", 1)


def test_a_list_of_one_namespace_says_nothing_of_another() -> None:
    elsewhere = event("ADDED", "a", "u1", 7, namespace="elsewhere")
    frontier = after(opened(), elsewhere, event("ADDED", "b", "u2", 8), listed(9, namespace="ns"))

    assert not frontier.has_seen("u1", 8)
    assert frontier.has_seen("u2", 1000)
    assert not frontier.has_listed(PODS, "elsewhere", 9)


def test_a_list_in_pages_is_whole_with_its_last_page() -> None:
    first = listed(9, item("a", "u1"), more=True)
    seen = after(opened(), event("ADDED", "c", "u3", 4), first)

    assert not seen.has_seen("u3", 1000)
    assert not seen.has_listed(PODS, "ns", 9)

    seen.advance(listed(9, item("b", "u2")))

    assert seen.has_seen("u3", 1000)
    assert not seen.has_seen("u1", 1000)
    assert seen.has_listed(PODS, "ns", 9)


def test_the_end_of_the_initial_events_makes_them_a_list() -> None:
    burst = opened(1, watch_list=True), event("ADDED", "a", "u1", 7), bookmark(9, initial_end=True)
    frontier = after(opened(2), event("ADDED", "old", "u0", 5, stream=2), *burst)

    assert frontier.has_seen("u0", 1000)
    assert not frontier.has_seen("u1", 8)
    assert frontier.has_listed(PODS, "ns", 9)


def test_a_stream_that_ends_in_its_initial_events_shows_the_end_of_nothing() -> None:
    closed = Closed(at=0, stream=1, how="cut")

    assert not after(opened(1, watch_list=True), event("ADDED", "a", "u1", 7), closed).has_seen("u1", 8)


def test_a_get_shows_an_object_or_its_absence() -> None:
    frontier = after(asked("get", "a"), answered(name="a", uid="u1", revision=7))
    assert frontier.has_seen("u1", 7)

    for entry in (asked("get", "a"), answered(404)):
        frontier.advance(entry)
    assert frontier.has_seen("u1", 1000)


def test_that_something_unknown_is_not_there_says_nothing() -> None:
    assert after(asked("get", "a"), answered(404)).gone == set()


def test_the_answer_to_an_own_write_tells_the_uid_and_shows_nothing() -> None:
    frontier = after(asked("create"), answered(201, name="a", uid="u1", revision=7))

    assert frontier.known == {"u1"}
    assert not frontier.has_seen("u1", 0)


def test_the_answer_to_a_write_of_a_subresource_tells_the_uid_as_well() -> None:
    assert after(asked("update", "a", subresource="status"), answered(name="a", uid="u1", revision=7)).known == {"u1"}


def test_an_answer_without_a_question_and_a_refusal_tell_nothing() -> None:
    assert after(answered(uid="u1")).known == set()
    assert after(asked("create"), answered(409, uid="u1")).known == set()


def test_a_new_life_knows_nothing() -> None:
    frontier = after(opened(), event("ADDED", "a", "u1", 7), listed(9, item("a", "u1")), Started(at=0, life=2))

    assert not frontier.has_seen("u1", 0)
    assert not frontier.has_listed(PODS, "ns", 0)
    assert (frontier.known, frontier.newest, frontier.present(PODS, "ns", "a")) == (set(), {}, "")


def test_what_is_none_of_its_business_changes_nothing() -> None:
    assert after(Settled(at=0, ok=True)) == Frontier()
