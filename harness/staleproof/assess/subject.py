"""The controller under test, from the words of a command line: the same options for pytest and for the staleproof command."""

from collections.abc import Iterable

from staleproof.core.plan import Subject
from staleproof.drive.subject.controller import words
from staleproof.errors import UsageError


def subject_of(command: str, image: str, arguments: str = "", env: Iterable[str] = ()) -> Subject:
    """The subject; command or image may both be empty when a plan will name the controller.

    Raises:
        UsageError: both a command and an image, unbalanced quotes, or an `env` that is not NAME=VALUE.
    """
    if command and image:
        raise UsageError("--controller-cmd and --controller-image were both given; name one controller")
    return Subject(
        command=words(command, "--controller-cmd"),
        image=image,
        arguments=words(arguments, "--controller-args"),
        env=dict(_pair(text) for text in env),
    )


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise UsageError(f"--controller-env: expected NAME=VALUE, found {text!r}")
    return name, value
