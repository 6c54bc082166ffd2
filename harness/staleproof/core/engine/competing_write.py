"""The write of another user that makes a controller's next write conflict for real: the 409 is true (legality row 32)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import msgspec

from staleproof.core.engine.answer import read_name
from staleproof.core.history.request import ApiRequest
from staleproof.core.plan.nudge import CONTENT_TYPE, MANAGER, nudge

MERGE = "application/merge-patch+json"


@dataclass(frozen=True, slots=True)
class Rival:
    """One HTTP request."""

    method: str
    target: str
    content_type: str
    body: bytes


def rival_of(
    request: ApiRequest, target: str, content_type: str, body: bytes, number: int, edit: Mapping[str, Any] | None = None
) -> Rival | str:
    """The competing write, or why there is none, in words. `number` makes each one different.

    `edit`: what the other user changes, as a JSON merge patch, under a field manager of their own; empty: nothing that any user
    could copy.
    """
    path = urlsplit(target).path
    if request.verb == "create":
        if request.subresource:
            return f"no other user competes for {request.resource}/{request.subresource}"
        if not read_name(body):
            return "its name is generated (or not readable), so no other object can have it"
        return Rival("POST", path, content_type, body)
    if request.subresource:
        path = path.removesuffix(f"/{request.subresource}")
    if edit:
        return Rival("PATCH", f"{path}?fieldManager={MANAGER}", MERGE, msgspec.json.encode(edit))
    _, _, *segments = path.split("/")
    api_version = "/".join(segments[:2]) if path.startswith("/apis/") else segments[0]
    return Rival("PATCH", path, CONTENT_TYPE, msgspec.json.encode(nudge(api_version, number)))
