"""Whose child an object is: the one answer that plans, trials and verdicts share."""

from collections.abc import Iterator, Mapping
from typing import Any

from staleproof.core.plan.manifest import Manifest


def owner_of(manifest: Manifest) -> Mapping[str, Any] | None:
    """The ownerReference with `controller: true`, or else the only one; None for a child without an owner.

    Many operators set plain references (fabric8's addOwnerReference, controller-runtime's SetOwnerReference). Of several plain ones
    none says more than the others whose child it is.
    """
    references = manifest["metadata"].get("ownerReferences")
    if not references:
        return None
    alone = references[0] if len(references) == 1 else None
    return next((reference for reference in references if reference.get("controller")), alone)


def owners_above(uid: str, owners: Mapping[str, str]) -> Iterator[str]:
    """The uids of an object's owner, of that one's owner, and so on, as far as they are known; each once. `owners`: uid → uid."""
    seen: set[str] = set()
    while (uid := owners.get(uid, "")) and uid not in seen:
        yield uid
        seen.add(uid)
