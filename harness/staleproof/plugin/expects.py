"""What the value of an option must be. Each function says what was expected of a text, or nothing when it is that."""

import math
import shlex
from collections.abc import Callable

Expectation = Callable[[str], str]

PROVIDERS = ("auto", "existing", "assets", "cache", "container", "build")
PROFILES = ("smoke", "standard", "thorough", "slow")


def anything(_text: str) -> str:
    return ""


def shell_words(text: str) -> str:
    try:
        shlex.split(text)
    except ValueError as err:
        return f"words as a shell would split them ({err})"
    return ""


def pair(text: str) -> str:
    name, equals, _ = text.partition("=")
    return "" if name and equals else "NAME=VALUE"


def positive_seconds(text: str) -> str:
    return "" if number(text) else "a positive number of seconds"


def count(text: str) -> str:
    return "" if text.strip().isdecimal() else "a whole number, 0 or more"


def path(text: str) -> str:
    return "a path" if not text or "\0" in text else ""


def metrics_url(text: str) -> str:
    from staleproof.drive.subject.metrics import EXPECTED, is_url  # imported only when the option is given

    return "" if is_url(text) else EXPECTED


def companions(text: str) -> str:
    from staleproof.core.companion import CompanionError, companion_names

    try:
        companion_names(text)
    except CompanionError as err:
        return f"names of companions, with commas ({err})"
    return ""


def one_of(*words: str) -> Expectation:
    """One of these words; an empty one stands for not given."""

    def expected(text: str) -> str:
        return "" if text in words else "one of " + ", ".join(word for word in words if word)

    return expected


def number(text: str) -> float | None:
    """A positive, finite number; None when it is none."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if 0 < found < math.inf else None  # false for a NaN too
