"""Where a server's programs are looked for."""

from pathlib import Path

import pytest

from staleproof.drive.external.postgresql_programs import find_programs
from staleproof.errors import SetupError


def test_the_folder_that_is_named_has_to_have_them(tmp_path: Path) -> None:
    (tmp_path / "postgres").touch()
    with pytest.raises(
        SetupError, match=r"no PostgreSQL server was found .*: install staleproof\[postgresql\] or Debian's package"
    ):
        find_programs(tmp_path)
    (tmp_path / "initdb").touch()
    assert find_programs(tmp_path).postgres == tmp_path / "postgres"


def test_the_wheel_brings_them() -> None:
    assert find_programs().initdb.is_file()
