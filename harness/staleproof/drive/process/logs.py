"""Log files of a run: the part that belongs to a trial, and what must not stay in them.

Bearer tokens, and other values that the caller names, are replaced wherever they occur; the folder can then be given to others.
"""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

_MASK = b"<token>"


def sizes(logs: Iterable[Path]) -> dict[Path, int]:
    """How long each log is now."""
    return {log: log.stat().st_size if log.exists() else 0 for log in logs}


def copy_since(start: Mapping[Path, int], folder: Path, secrets: Collection[str]) -> None:
    """Write what each log gained since `start` into the folder, under the same name."""
    for log, offset in start.items():
        if log.exists():
            with log.open("rb") as file:
                file.seek(offset)
                (folder / log.name).write_bytes(masked(file.read(), secrets))


def mask(logs: Iterable[Path], secrets: Collection[str]) -> None:
    """Replace every secret in these files."""
    for log in logs:
        if log.exists():
            data = log.read_bytes()
            clean = masked(data, secrets)
            if clean != data:
                log.write_bytes(clean)


def masked(data: bytes, secrets: Collection[str]) -> bytes:
    """The same without these secrets."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):  # one may be a part of another
        data = data.replace(secret.encode(), _MASK)
    return data
