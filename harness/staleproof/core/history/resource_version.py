"""The only place that parses a resourceVersion.

Kubernetes promises that resourceVersions of one resource type can be compared as decimal numbers of up to 128 bits (KEP-5504;
apimachinery pkg/util/resourceversion). It promises nothing across resource types, so staleproof never compares revisions of
different resources.
"""

from typing import NewType

Revision = NewType("Revision", int)
"""A resourceVersion as a number; positive."""
_MAX_DIGITS = 39  # 2**128 has 39 digits


def revision(text: str) -> Revision | None:
    """The revision in a resourceVersion, or None when the text is not one ("", "0", "abc", "007")."""
    if not text.isascii() or not text.isdigit() or text[0] == "0" or len(text) > _MAX_DIGITS:
        return None
    return Revision(int(text))
