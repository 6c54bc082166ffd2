"""What others can do to what a controller wrote: edit its children, set them aside, and take away what its status says.

Nothing is proposed but what the controller put there itself and the API server most often lets others change: texts in the `data`
of a ConfigMap or a Secret, the `replicas` of a workload, whole fields of a status, and, all at once, the labels of a child or its
owners. Annotations are left alone; so are other lists, which a merge patch replaces whole.
"""

import base64
import itertools
from collections.abc import Collection, Iterator, Sequence

from staleproof.core.plan.manifest import Manifest, Target
from staleproof.core.plan.masking import SECRET
from staleproof.core.plan.step import Edit, PatchStatus
from staleproof.draw.mutations.schema import Schema
from staleproof.draw.mutations.texts import near_text

_MOST_REPLICAS = 6
"""No plan asks for more, unless the sample does."""
_SECRET_VALUE = base64.b64encode(b"edited").decode()
"""What a Secret holds is not known, only which keys it has."""


def edits(resource: str, children: Sequence[Manifest], *, stable: bool) -> Iterator[Edit]:
    """What can be changed in the first of these children, at most one thing.

    Args:
        resource: theirs.
        children: in the order of their names, as far as the controller itself wrote them.
        stable: every run uses the same names; else any of them may be the first.
    """
    patches = (patch for child in children[:1] for patch in _patches(child))
    found = (patch for patch in patches if stable or all(_has(other, patch) for other in children))
    return (Edit(resource=resource, patch=patch) for patch in itertools.islice(found, 1))


def set_aside(resource: str, children: Sequence[Manifest]) -> Iterator[Edit]:
    """The labels of the last of these children go, as when an administrator takes a pod out of its set to look into it; then its
    owners, as `kubectl delete --cascade=orphan` leaves it. All of them have what goes, because any may be the last."""
    fields = [field for field in ("labels", "ownerReferences") if all(child["metadata"].get(field) for child in children)]
    return (Edit(resource=resource, nth=-1, patch={"metadata": {field: None}}) for field in fields if children)


def resets(target: Target, status: Manifest, written: Collection[str]) -> list[PatchStatus]:
    """Each field of the status taken away that the controller has written and that says something."""
    found = [key for key in status if key in written and status[key]]
    return [PatchStatus(target=target, patch={"status": {key: None}}) for key in found]


def _patches(child: Manifest) -> Iterator[Manifest]:
    data, spec = child.get("data"), child.get("spec")
    for key, value in sorted(data.items()) if isinstance(data, dict) else ():
        if child["kind"] == SECRET:
            yield {"data": {key: _SECRET_VALUE}}
        elif isinstance(value, str) and value:
            yield {"data": {key: _edited(value)}}
    replicas = spec.get("replicas") if isinstance(spec, dict) else None
    if isinstance(replicas, int) and not isinstance(replicas, bool):
        yield {"spec": {"replicas": max(replicas, _MOST_REPLICAS) + 1}}


def _has(child: Manifest, patch: Manifest) -> bool:
    """Whether the child has each field that the patch changes."""
    return all(
        key in child and (not isinstance(value, dict) or (isinstance(child[key], dict) and _has(child[key], value)))
        for key, value in patch.items()
    )


def _edited(text: str) -> str:
    """Another text, to which no move changes it: an amount stays one, and what may be a file still reads the same."""
    if "\n" in text or text.lstrip()[:1] in ("{", "["):
        return f"{text}\n"
    near = _near(text)
    if near.startswith(text):
        return f"{text}-edited"
    return next(other for other in (_near(near), near) if other != text)


def _near(text: str) -> str:
    return next(str(value) for _, value in near_text(text, Schema({}, {})))
