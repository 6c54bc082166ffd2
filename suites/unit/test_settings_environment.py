"""Settings in environment variables: what their texts mean, and which of them are warned of."""

from pathlib import Path

import pytest

from staleproof.settings import parse
from staleproof.settings_environment import in_environment, misspelt


@pytest.mark.parametrize(
    ("variable", "text", "values"),
    [
        ("CONTROLLER_ENV", "API=http://localhost:8080", (("API", "http://localhost:8080"),)),
        ("CONTROLLER_ENV", "A=1\nB=2:3\n", (("A", "1"), ("B", "2:3"))),
        ("CONTROLLER_ENV", "[A=1, B=2]", (("A", "1"), ("B", "2"))),
        ("CONTROLLER_ENV", "- A=1\n- B=2", (("A", "1"), ("B", "2"))),
        ("CONTROLLER_ENV", "A=[1, 2]", (("A", "[1, 2]"),)),
        ("IMPLEMENTATION_CONTACT", "https://example.com/contact", ("https://example.com/contact",)),
        ("ONLY", "sweep: hide pods", ("sweep: hide pods",)),
        ("ONLY", "[sweep] hide pods", ("[sweep] hide pods",)),
        ("SAMPLES", "a.yaml:b", (Path("a.yaml"), Path("b"))),
    ],
)
def test_a_variable_of_an_option_that_may_be_repeated(variable: str, text: str, values: tuple[object, ...]) -> None:
    settings = parse(in_environment({f"STALEPROOF_{variable}": text}))
    assert getattr(settings, variable.lower()) == values


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{name: db, kind: http, url: 'http://127.0.0.1:8000'}", ["db"]),
        ("name: db\nkind: http\nurl: http://127.0.0.1:8000\n", ["db"]),
        ("{name: a, kind: postgresql}\n{name: b, kind: postgresql}", ["a", "b"]),
        ("[{name: a, kind: postgresql}, {name: b, kind: postgresql}]", ["a", "b"]),
    ],
)
def test_a_variable_of_an_option_that_is_an_object(text: str, names: list[str]) -> None:
    assert [each.name for each in parse(in_environment({"STALEPROOF_EXTERNAL": text})).external] == names


def test_a_variable_that_is_misspelt_is_warned_of() -> None:
    right = {
        "STALEPROOF_SAMPLES": "a",
        "STALEPROOF_CACHE_DIR": "b",
        "STALEPROOF_ATTACH": "c",
        "HOME": "/",
        "STALEPROOF_OF_MINE": "d",
    }
    assert misspelt(right) == []
    assert misspelt(right | {"STALEPROOF_SAMPLE": "a"}) == [
        "STALEPROOF_SAMPLE is no option and is left out; did you mean STALEPROOF_SAMPLES?"
    ]
