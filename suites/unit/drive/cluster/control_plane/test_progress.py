import pytest

from staleproof.drive.cluster.control_plane import Progress, Silent
from staleproof.drive.cluster.control_plane.progress import working


def test_the_noop_takes_any_order() -> None:
    progress: Progress = Silent()
    progress.end()
    progress.begin("work", None)
    progress.advance(1)
    progress.begin("other work", 2)
    progress.end()


def test_a_piece_of_work_ends_with_its_block() -> None:
    told: list[tuple[object, ...]] = []

    class Told(Silent):
        def begin(self, title: str, total: int | None) -> None:
            told.append((title, total))

        def end(self) -> None:
            told.append(("end",))

    with pytest.raises(ValueError, match="x"), working(Told(), "work", 2):
        raise ValueError("x")
    assert told == [("work", 2), ("end",)]
