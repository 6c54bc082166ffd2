"""Who is who in a control plane of our own: one CA, one serving certificate, one token a user, made for one run.

It decides names and groups: the users are administrators, or ServiceAccounts with the rights that those have.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import trustme

from staleproof.drive.process.address import LOOPBACK
from staleproof.drive.process.private import write_private


@dataclass(frozen=True, slots=True)
class Credentials:
    """Files of one run, and the tokens that `tokens_file` lists. `accounts`: which users are ServiceAccounts, about which RBAC
    decides."""

    ca_file: Path
    certificate_file: Path
    key_file: Path
    service_account_key_file: Path
    tokens_file: Path
    tokens: Mapping[str, str] = field(repr=False)
    accounts: Mapping[str, str]


def make_credentials(folder: Path, users: Sequence[str], accounts: Mapping[str, str] | None = None) -> Credentials:
    """Make them and write the files into the folder, private keys and tokens for their owner alone. `accounts`: the ServiceAccounts
    (`namespace/name`) that some users are to the API server; the others may do everything."""
    authority = trustme.CA(organization_unit_name="staleproof control plane CA")
    serving = authority.issue_cert(LOOPBACK, "localhost", common_name="kube-apiserver")
    made = Credentials(
        ca_file=folder / "ca.crt",
        certificate_file=folder / "apiserver.crt",
        key_file=folder / "apiserver.key",
        service_account_key_file=folder / "service-account.key",
        tokens_file=folder / "tokens.csv",
        tokens={user: secrets.token_urlsafe(32) for user in users},
        accounts=accounts or {},
    )
    made.ca_file.write_bytes(authority.cert_pem.bytes())
    made.certificate_file.write_bytes(serving.cert_chain_pems[0].bytes())
    write_private(made.key_file, serving.private_key_pem.bytes())
    write_private(made.service_account_key_file, authority.issue_cert("service-account").private_key_pem.bytes())
    rows = (_row(token, user, made.accounts.get(user, "")) for user, token in made.tokens.items())
    write_private(made.tokens_file, "".join(rows).encode())
    return made


def account_user(account: str) -> str:
    """The user's name that a ServiceAccount (`namespace/name`) has."""
    return f"system:serviceaccount:{account.replace('/', ':')}"


def account_groups(account: str) -> tuple[str, ...]:
    """The groups that a ServiceAccount is in, beside those of all authenticated users."""
    return "system:serviceaccounts", f"system:serviceaccounts:{account.partition('/')[0]}"


def _row(token: str, user: str, account: str) -> str:
    """A row of the file of tokens: token, name, uid, groups."""
    name, groups = (account_user(account), account_groups(account)) if account else (user, ("system:masters",))
    return f'{token},{name},{user},"{",".join(groups)}"\n'
