"""Payloads of Secrets that the run has met are taken out of what is printed and written."""

import base64
import json

import pytest

from staleproof.core.plan.masking import Placeholders, spellings
from staleproof.drive.cluster.payloads import Payloads

VALUE = 'hunter2 is "my" password'
SECRET = {"kind": "Secret", "stringData": {"password": VALUE}}
CODED = base64.b64encode(VALUE.encode()).decode()


@pytest.mark.parametrize("secret", [SECRET, {"data": {"password": CODED}}, {"data": {"a": None, "b": CODED}}])
@pytest.mark.parametrize("text", [VALUE, CODED, json.dumps({"a": VALUE}), f"x{VALUE}y{CODED}"])
def test_a_value_is_masked_however_it_is_spelt(secret: dict[str, object], text: str) -> None:
    payloads = Payloads()
    payloads.learn(secret)
    masked = payloads.masked(text)
    assert "hunter2" not in masked
    assert CODED not in masked
    assert "<token>" in masked


def test_a_key_is_masked_line_by_line_and_a_document_text_by_text() -> None:
    key = "-----BEGIN KEY-----\nc2VjcmV0IGxpbmU\n-----END KEY-----\n"
    document = json.dumps({"auths": {"registry.example": {"auth": "hunter2hunter2"}}})
    found = set(spellings({"stringData": {"key": key, "config": document}}))
    assert {key, "c2VjcmV0IGxpbmU", "hunter2hunter2", document} <= found
    assert "registry.example" not in found, "the names of fields hide nothing"


@pytest.mark.parametrize("value", ["admin", "1", "", "true"])
def test_what_is_short_hides_nothing(value: str) -> None:
    payloads = Payloads()
    payloads.learn({"stringData": {"user": value}})
    text = f"admin 1 true {value}"
    assert payloads.masked(text) == text


def test_a_placeholder_is_no_secret() -> None:
    assert list(spellings(Placeholders().secret(SECRET))) == []


def test_what_is_no_text_is_known_in_base64() -> None:
    coded = base64.b64encode(bytes(range(128, 160))).decode()
    assert list(spellings({"data": {"key": coded}})) == [coded]


def test_before_anything_is_known_nothing_is_masked() -> None:
    assert Payloads().masked(VALUE) == VALUE
