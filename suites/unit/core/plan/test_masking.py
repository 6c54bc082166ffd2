"""Masking: what takes the place of a secret, and that a plan means the same afterwards."""

import base64
import json
from typing import Any

import pytest

from staleproof.core.plan.masking import (
    Placeholders,
    elided,
    is_placeholder,
    masked_arguments,
    masked_env,
    masked_program,
    secrets_in,
    unmarked,
)


def coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def test_equal_values_have_one_placeholder_and_different_ones_two() -> None:
    placeholders = Placeholders()
    first = placeholders.secret({"kind": "Secret", "data": {"a": coded("one"), "b": coded("two"), "c": coded("one") + "\n"}})
    then = placeholders.secret({"stringData": {"a": "two", "b": "three"}})
    assert first["kind"] == "Secret"
    assert [base64.b64decode(first["data"][key]) for key in "abc"] == [b'{"masked":1}', b'{"masked":2}', b'{"masked":1}']
    assert then["stringData"] == {"a": '{"masked":2}', "b": '{"masked":3}'}


def test_a_placeholder_is_what_every_type_of_secret_accepts() -> None:
    """kube-apiserver wants base64 in `data`, and a JSON object in the keys of image pull secrets."""
    made = Placeholders().secret({"type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": coded('{"auths":{}}')}})
    assert json.loads(base64.b64decode(made["data"][".dockerconfigjson"], validate=True)) == {"masked": 1}


def test_the_order_of_keys_does_not_matter() -> None:
    spelt = Placeholders().secret({"stringData": {"a": "one", "b": "two"}})
    assert Placeholders().secret({"stringData": {"b": "two", "a": "one"}}) == spelt


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"data": None, "stringData": {"gone": None}}, {"data": None, "stringData": {"gone": None}}),
        ({"metadata": {"name": "x"}, "immutable": True}, {"metadata": {"name": "x"}, "immutable": True}),
        ({"stringData": "hunter2"}, {"stringData": '{"masked":1}'}),
        ({"stringData": {"port": 5432}}, {"stringData": {"port": '{"masked":1}'}}),
        ({"data": {"x": "not base64!"}}, {"data": {"x": coded('{"masked":1}')}}),
        ({"data": {"x": "…"}}, {"data": {"x": coded('{"masked":1}')}}),
        (
            {"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "keep": "me"}}},
            {"metadata": {"annotations": {"keep": "me"}}},
        ),
    ],
)
def test_what_becomes_of_a_secret(before: dict[str, Any], after: dict[str, Any]) -> None:
    kept = json.dumps(before)
    assert Placeholders().secret(before) == after
    assert Placeholders().secret(after) == after
    assert json.dumps(before) == kept, "the manifest that runs was changed"


def test_people_see_the_names_only() -> None:
    assert elided({"data": {"a": coded("one"), "b": None}, "type": "Opaque"}) == {"data": {"a": "…", "b": None}, "type": "Opaque"}


def test_variables_keep_their_names() -> None:
    once = masked_env({"DB_PASSWORD": "hunter2", "EMPTY": "", "HOME": "$DB_PASSWORD"})
    assert once == {"DB_PASSWORD": "$DB_PASSWORD", "EMPTY": "", "HOME": "$HOME"}
    assert masked_env(once) == once


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ([], []),
        (["--controller-env=A=b=c", "-k", "x"], ["--controller-env=A=$A", "-k", "x"]),
        (["--controller-env", "A=b", "--controller-env", "C=d"], ["--controller-env", "A=$A", "--controller-env", "C=$C"]),
        (["--controller-env", "A="], ["--controller-env", "A="]),
        (["A=b", "--controller-environment=A=b"], ["A=b", "--controller-environment=A=b"]),
        (["--controller-env"], ["--controller-env"]),
    ],
)
def test_a_command_line_without_values(given: list[str], shown: list[str]) -> None:
    assert masked_arguments(given) == shown
    assert masked_arguments(shown) == shown


@pytest.mark.parametrize("option", ["--external", "--staleproof-external"])
def test_the_url_of_an_external_system_has_no_password_on_a_command_line(option: str) -> None:
    text = '{name: db, url: "http://root:hunter2-secret@127.0.0.1:5432", command: [a@b]}'
    shown = '{name: db, url: "http://…@127.0.0.1:5432", command: [a@b]}'
    assert masked_arguments([f"{option}={text}", option, text]) == [f"{option}={shown}", option, shown]


def test_a_placeholder_is_known_again() -> None:
    made = Placeholders().secret({"kind": "Secret", "data": {"a": coded("one")}, "stringData": {"b": "two"}})
    assert is_placeholder(made["data"]["a"])
    assert is_placeholder(made["stringData"]["b"])
    assert not any(map(is_placeholder, ("two", coded("one"), coded('{"masked":1,"b":2}'), "", None)))


DRIFTED = {
    "login": False,
    "password": "hunter2hunter2",
    "apiKeys": ["one-of-them", "another-one"],
    "keyLength": 12,
    "dsn": {"$secret": "postgres://u:hunter2hunter2@x"},
    "tags": {"team": "a", "token": "hunter2hunter2"},
    "passwordHint": "",
}


def test_of_what_drifts_texts_are_masked_that_are_called_secret_or_marked() -> None:
    once = Placeholders().fields(DRIFTED)
    assert once == {
        "login": False,
        "password": '{"masked":1}',
        "apiKeys": ['{"masked":2}', '{"masked":3}'],
        "keyLength": 12,
        "dsn": {"$secret": '{"masked":4}'},
        "tags": {"team": "a", "token": '{"masked":1}'},
        "passwordHint": "",
    }
    assert Placeholders().fields(once) == once


def test_a_mark_is_for_plans_alone() -> None:
    assert unmarked(DRIFTED)["dsn"] == "postgres://u:hunter2hunter2@x"
    assert {name: value for name, value in unmarked(DRIFTED).items() if name != "dsn"} == {
        name: value for name, value in DRIFTED.items() if name != "dsn"
    }


def test_the_secrets_of_a_drift_are_known() -> None:
    assert secrets_in(DRIFTED) == {"hunter2hunter2", "one-of-them", "another-one", "postgres://u:hunter2hunter2@x"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"command": ["p"], "env": {"A": "secret", "B": ""}}', '{"command": ["p"], "env": {"A": "$A", "B": ""}}'),
        ("{command: [p], env: {A: secret}}", '{"command": ["p"], "env": {"A": "$A"}}'),
        ("{command: [p]}", "{command: [p]}"),
        ("{command: [p", "…"),
    ],
)
def test_variables_of_a_further_program_are_named_on_a_command_line_and_nothing_more(text: str, shown: str) -> None:
    assert masked_arguments(["--controller-also", text, f"--controller-also={text}"]) == [
        "--controller-also", shown, f"--controller-also={shown}"
    ]  # fmt: skip
    assert masked_program(masked_program(text)) == masked_program(text)
