"""What was there before a trial began, for the workload or the controller to use: it is no part of what the trial came to, as long
as it is as it was.

A controller may have changed it, and changed it back: a Service that it pointed at its pods for as long as its primary was there.
Another run, in which it never came to that, ends no worse.
"""

import msgspec

from staleproof.core.history.flatten import flatten
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.stored import digest


class Given(msgspec.Struct, frozen=True):
    """Such an object, as the history calls it. `content`: a digest of it (`content_of`)."""

    resource: str
    name: str
    uid: str
    content: str


def content_of(obj: Manifest, namespace: str) -> str:
    """A digest of what makes an object in this namespace what it is, whichever run it is in (`flatten`)."""
    return digest(msgspec.json.encode(sorted((path, repr(value)) for path, value in flatten(obj, {}, namespace))))
