"""What a run stores once and names by its digest: the manifests of plans, what their workloads need, and fault-free histories.

A digest is the sha256 of the plain data, whatever it is compressed to on disk. In a stored plan, `{"sha256": DIGEST}` stands for a
manifest; no manifest looks like that, because each has a kind.
"""

import gzip
import hashlib
import zlib
from collections.abc import Callable, Iterable

import msgspec

from staleproof.core.plan.manifest import SHA256, Manifest, digest_in
from staleproof.core.plan.plan import Plan, masked

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
    """The plan with digests in place of its manifests and prerequisites, and these, masked as they are written, by digest."""
    written, stored = masked(plan), dict[str, bytes]()

    def kept(manifests: Iterable[Manifest]) -> tuple[Manifest, ...]:
        return tuple(manifest if digest_in(manifest) else _kept(manifest, stored) for manifest in manifests)

    return msgspec.structs.replace(plan, manifests=kept(written.manifests), before=kept(written.before)), stored


def attached(plan: Plan, stored: Callable[[str], bytes]) -> Plan:
    """The plan with its manifests and prerequisites; `stored` gives what has a digest."""

    def restored(manifests: Iterable[Manifest]) -> tuple[Manifest, ...]:
        names = [(manifest, digest_in(manifest)) for manifest in manifests]
        return tuple(msgspec.json.decode(stored(name)) if name else manifest for manifest, name in names)

    return msgspec.structs.replace(plan, manifests=restored(plan.manifests), before=restored(plan.before))


def is_detached(plan: Plan) -> bool:
    """Whether digests stand for some of its manifests or prerequisites."""
    return any(map(digest_in, (*plan.manifests, *plan.before)))


def _kept(manifest: Manifest, stored: dict[str, bytes]) -> Manifest:
    data = msgspec.json.encode(manifest)
    stored[digest(data)] = data
    return {SHA256: digest(data)}
