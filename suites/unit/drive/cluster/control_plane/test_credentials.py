import stat
from pathlib import Path

import pytest

from staleproof.drive.cluster.control_plane.credentials import make_credentials

from ...handshake import handshake


def test_tokens_are_random_and_listed(tmp_path: Path) -> None:
    made = make_credentials(tmp_path, ["a", "b"])
    again = make_credentials(tmp_path / "..", ["a"])
    assert len({*made.tokens.values(), *again.tokens.values()}) == 3
    rows = made.tokens_file.read_text().splitlines()
    assert rows[0] == f'{made.tokens["a"]},a,a,"system:masters"'
    assert len(rows) == 2
    assert made.tokens["a"] not in repr(made)


def test_a_service_account_is_itself_and_no_administrator(tmp_path: Path) -> None:
    made = make_credentials(tmp_path, ["a", "b"], {"b": "ns/robot"})
    rows = made.tokens_file.read_text().splitlines()
    groups = "system:serviceaccounts,system:serviceaccounts:ns"
    assert rows == [
        f'{made.tokens["a"]},a,a,"system:masters"',
        f'{made.tokens["b"]},system:serviceaccount:ns:robot,b,"{groups}"',
    ]


def test_secrets_are_the_owners_alone(tmp_path: Path) -> None:
    made = make_credentials(tmp_path, ["a"])
    for path in (made.tokens_file, made.key_file, made.service_account_key_file):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_the_most_strict_clients_trust_the_certificate_for_loopback(host: str, tmp_path: Path) -> None:
    made = make_credentials(tmp_path, ["a"])
    handshake(made.ca_file, made.certificate_file, made.key_file, host)
