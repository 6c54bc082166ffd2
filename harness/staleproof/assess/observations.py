"""What a controller was observed to do, kept from one run to the next: a dry run plans from it without starting anything.

It is never used in place of watching the controller of a run that runs trials: that may have changed.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from staleproof import __version__
from staleproof.assess.run_folder import write_whole
from staleproof.core.fingerprint import identity
from staleproof.core.observed import Observed
from staleproof.core.plan import Manifest, Subject
from staleproof.draw.mutations import Mutations

_OBSERVED = "observed"


def keep(root: Path, controller: Subject, seen: Observed, mutations: Mutations) -> None:
    """Keep what was seen of a controller with this sample, of which so much may be changed, in the artefact folder."""
    write_whole(_file(root, controller, seen.sample, seen.manifests, mutations), written(seen))


def recall(
    root: Path, controller: Subject, sample: Manifest, manifests: Sequence[Manifest], mutations: Mutations
) -> Observed | None:
    """What was seen last, by this version of staleproof; None when nothing was, or it cannot be read."""
    try:
        return read(_file(root, controller, sample, manifests, mutations).read_bytes(), sample, manifests)
    except (OSError, msgspec.DecodeError):
        return None


def written(seen: Observed) -> bytes:
    """Without sample and manifests: who asks knows them."""
    return msgspec.json.encode(replace(seen, sample={}, manifests=()))


def read(data: bytes, sample: Manifest, manifests: Sequence[Manifest]) -> Observed:
    return replace(msgspec.json.decode(data, type=Observed), sample=sample, manifests=tuple(manifests))


def _file(root: Path, controller: Subject, sample: Manifest, manifests: Sequence[Manifest], mutations: Mutations) -> Path:
    about = msgspec.json.encode((__version__, sample, tuple(manifests), mutations), order="sorted")
    return root / _OBSERVED / f"{identity(controller)}-{hashlib.sha256(about).hexdigest()[:10]}.json"
