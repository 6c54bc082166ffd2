import pytest

from staleproof.drive.programs.progress import Silent, working


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
