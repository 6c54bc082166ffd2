"""From the user's settings to what a run needs."""

from pathlib import Path

import pytest

from staleproof.assess.configuration import mutations_of
from staleproof.draw.mutations import Mutations
from staleproof.errors import UsageError
from staleproof.settings import Settings


def test_what_may_be_changed_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mutations.yaml"
    file.write_text("forbid: [spec.size]")
    assert mutations_of(Settings(mutations=file)) == Mutations(forbid=("spec.size",))
    assert mutations_of(Settings()) == Mutations()


@pytest.mark.parametrize(
    ("content", "told"), [(None, "cannot read"), (b"\xff", "cannot read"), (b"onyl: []", "did you mean 'only'?")]
)
def test_a_file_that_is_no_such_is_named(content: bytes | None, told: str, tmp_path: Path) -> None:
    file = tmp_path / "mutations.yaml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UsageError) as err:
        mutations_of(Settings(mutations=file))
    assert str(file) in str(err.value)
    assert told in str(err.value)
