import pytest

from staleproof.drive.programs.progress import Silent, working


def test_a_piece_of_work_ends_with_its_block() -> None:
    calls: list[tuple[object, ...]] = []

    class Recorded(Silent):
        def begin(self, title: str, total: int | None) -> None:
            calls.append((title, total))

        def end(self) -> None:
            calls.append(("end",))

    with pytest.raises(ValueError, match="x"), working(Recorded(), "work", 2):
        raise ValueError("x")
    assert calls == [("work", 2), ("end",)]
