"""What a run stores once and names by its digest: the manifests of plans, and fault-free histories.

A digest is the sha256 of the plain data, whatever it is compressed to on disk. In a stored plan, `{"sha256": DIGEST}` stands for a
manifest; no manifest looks like that, because each has a kind.
"""

import gzip
import hashlib
import zlib
from collections.abc import Callable

import msgspec

from staleproof.core.plan import Manifest, Plan, masked

_SHA256 = "sha256"
DIGEST_LENGTH = 2 * hashlib.sha256().digest_size
_GZIP = b"\x1f\x8b"
_LEVEL = 6


def digest(data: bytes) -> str:
    """Of plain data."""
    return hashlib.sha256(data).hexdigest()


def compressed(data: bytes) -> bytes:
    """As gzip, for `zcat` and `zgrep`; the same bytes for the same data."""
    return gzip.compress(data, _LEVEL, mtime=0)


def is_compressed(data: bytes) -> bool:
    return data.startswith(_GZIP)


def plain(data: bytes) -> bytes:
    """The data itself, whether it was compressed or not. ValueError when it is damaged or was cut short."""
    try:
        return gzip.decompress(data) if is_compressed(data) else data
    except (OSError, EOFError, zlib.error) as err:
        raise ValueError(f"the file is damaged or was cut short ({err})") from err


def detached(plan: Plan) -> tuple[Plan, dict[str, bytes]]:
    """The plan with digests in place of its manifests, and the manifests, masked as they are written, by digest.

    Only they are masked: the plan that is returned can still be run.
    """
    written = [manifest if digest_in(manifest) else msgspec.json.encode(manifest) for manifest in masked(plan).manifests]
    stored = {digest(data): data for data in written if isinstance(data, bytes)}
    names = tuple({_SHA256: digest(data)} if isinstance(data, bytes) else data for data in written)
    return msgspec.structs.replace(plan, manifests=names), stored


def attached(plan: Plan, stored: Callable[[str], bytes]) -> Plan:
    """The plan with its manifests; `stored` gives what has a digest."""
    names = [(manifest, digest_in(manifest)) for manifest in plan.manifests]
    manifests = tuple(msgspec.json.decode(stored(name)) if name else manifest for manifest, name in names)
    return msgspec.structs.replace(plan, manifests=manifests)


def digest_in(manifest: Manifest) -> str:
    """The digest that stands for a manifest; empty when it is the manifest itself."""
    return str(manifest[_SHA256]) if manifest.keys() == {_SHA256} else ""
