import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from staleproof.drive.cluster.control_plane import Silent
from staleproof.errors import SetupError

from ...languages import program
from ...languages.program import LANGUAGES, Language, build, built, digest, sources

pytestmark = pytest.mark.io

MADE = {"target", "node_modules", "rustfmt.toml"}
"""What builds in place leave, and what is for a developer's own tools."""


@pytest.fixture
def language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Language:
    """Its tool is the shell."""
    monkeypatch.setenv("STALEPROOF_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(program, "FIXTURES", tmp_path)
    (tmp_path / "hello").mkdir()
    (tmp_path / "hello" / "word").write_text("hello")
    (tmp_path / "hello" / "notes").write_text("not part of the program")
    return Language(
        name="hello",
        library="sh",
        sources=("word",),
        tools=("sh",),
        build=("sh", "-c", 'test -s word && cp word "$SHARED" && cp "$SHARED" made'),
        command=("cat", "{folder}/made"),
        env={"SHARED": "{shared}"},
    )


def output(language: Language) -> str:
    return subprocess.run(built(language), capture_output=True, text=True, check=True).stdout


async def test_a_program_is_built_once_until_it_changes(language: Language) -> None:
    with pytest.raises(SetupError, match="hello is not built: ci/languages does it"):
        built(language)
    await build(language, Silent())
    assert output(language) == "hello"
    (language.folder / "notes").unlink()
    assert output(language) == "hello"
    (language.folder / "word").write_text("good-bye")
    with pytest.raises(SetupError, match="not built"):
        built(language)
    await build(language, Silent())
    assert output(language) == "good-bye"


async def test_a_tool_says_itself_what_cannot_be_built(language: Language) -> None:
    with pytest.raises(SetupError, match=r"could not be built(.|\n)*no such word"):
        await build(replace(language, build=("sh", "-c", "echo no such word; exit 1")), Silent())
    with pytest.raises(SetupError, match="not built"):
        built(language)


async def test_a_missing_tool_is_named(language: Language) -> None:
    lacking = replace(language, tools=("sh", "no-such-tool"))
    with pytest.raises(SetupError, match="takes no-such-tool, which is not on PATH"):
        built(lacking)
    with pytest.raises(SetupError, match="takes no-such-tool, which is not on PATH"):
        await build(lacking, Silent())


def test_how_it_is_built_is_part_of_what_it_is(language: Language) -> None:
    assert digest(language) != digest(replace(language, build=("true",)))


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_everything_that_is_kept_of_a_program_goes_into_it(language: Language) -> None:
    written = {path for path in language.folder.rglob("*") if path.is_file() and not MADE & {*path.parts, path.name}}
    assert written == set(sources(language))
    assert written
