"""What a controller was observed to do, kept from one run to the next: a dry run plans from it without starting anything.

It is never used in place of watching the controller of a run that runs trials: that may have changed.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import msgspec

from staleproof import __version__
from staleproof.assess.store.run_folder import write_atomically
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.fingerprint import identity
from staleproof.core.plan.manifest import Manifest, masked_manifests
from staleproof.core.plan.plan import Subject
from staleproof.draw.mutations.allowed import Mutations

_OBSERVED = "observed"
Role = Literal["primary", "before", "left out"]
"""What a sample turned out to be: a primary, what others need, or nothing that the controller reacts to."""


def keep(root: Path, controller: Subject, seen: Observed, mutations: Mutations) -> None:
    """Keep what was seen of a controller with this sample, of which so much may be changed, in the artefact folder."""
    about = _about(seen.sample, seen.before, seen.manifests, mutations)
    write_atomically(_file(root, controller, about), written(seen))


def recall(
    root: Path,
    controller: Subject,
    sample: Manifest,
    manifests: Sequence[Manifest],
    mutations: Mutations,
    before: Sequence[Manifest] = (),
) -> Observed | None:
    """What was seen last, by this version of staleproof; None when nothing was, or it cannot be read."""
    try:
        data = _file(root, controller, _about(sample, before, manifests, mutations)).read_bytes()
        return read(data, sample, manifests, before)
    except (OSError, msgspec.DecodeError):
        return None


def keep_roles(root: Path, controller: Subject, about: object, roles: Sequence[Role]) -> None:
    """Keep what the samples of a run, of which `about` is all that matters, turned out to be."""
    write_atomically(_file(root, controller, about), msgspec.json.encode(roles))


def recall_roles(root: Path, controller: Subject, about: object) -> list[Role] | None:
    """What they turned out to be in the last run; None when there was none, or it cannot be read."""
    try:
        return msgspec.json.decode(_file(root, controller, about).read_bytes(), type=list[Role])
    except (OSError, msgspec.DecodeError):
        return None


def written(seen: Observed) -> bytes:
    """Without sample, prerequisites and manifests: the caller knows them."""
    return msgspec.json.encode(replace(seen, sample={}, manifests=(), before=()))


def read(data: bytes, sample: Manifest, manifests: Sequence[Manifest], before: Sequence[Manifest]) -> Observed:
    return replace(msgspec.json.decode(data, type=Observed), sample=sample, manifests=tuple(manifests), before=tuple(before))


def _about(sample: Manifest, before: Sequence[Manifest], manifests: Sequence[Manifest], mutations: Mutations) -> object:
    return masked_manifests((sample, *before)), masked_manifests(manifests), mutations


def _file(root: Path, controller: Subject, about: object) -> Path:
    """`about`: without secrets, of which a digest would tell too much."""
    data = msgspec.json.encode((__version__, about), order="sorted")
    return root / _OBSERVED / f"{identity(controller)}-{hashlib.sha256(data).hexdigest()[:10]}.json"
