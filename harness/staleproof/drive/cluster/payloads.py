"""The payloads of Secrets that the run has met: those that it wrote, and those that it saw others write.

They are known here so that they can be taken out of logs and messages; nothing writes them down.
"""

from collections.abc import Collection, Mapping
from typing import Any

from staleproof.core.plan.masking import spellings
from staleproof.drive.process import logs


class Payloads:
    """Those that are known so far."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def learn(self, secret: Mapping[str, Any]) -> None:
        """Take those of a Secret, or of a patch of one."""
        self._known.update(spellings(secret))

    @property
    def known(self) -> Collection[str]:
        """Every spelling of each."""
        return self._known

    def masked(self, text: str) -> str:
        """The text without any of them."""
        return logs.masked(text.encode(errors="replace"), self._known).decode() if self._known else text
