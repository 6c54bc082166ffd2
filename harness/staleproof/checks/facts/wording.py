"""How findings spell things: as kubectl does, `pod/default/sample-x7k2q`, and never a raw object."""

from collections.abc import Sequence
from itertools import takewhile, zip_longest

from staleproof.core.history.entry import Called, Committed
from staleproof.core.wording import some

_NAMES = 3
_LONGEST = 70
_BEFORE = 20
"""What is shown of a long text before the place where it differs from another."""
_PARTICIPLES = {"ADDED": "created", "MODIFIED": "changed", "DELETED": "deleted"}


def kind_of(commit: Committed) -> str:
    """The kind as kubectl prints it."""
    return str(commit.object.get("kind") or commit.resource).lower()


def full_name(commit: Committed) -> str:
    """Where it really is: an object of the trial's in another namespace has that in its name (`core.history.scope`)."""
    namespace = commit.object["metadata"].get("namespace", "") if "/" not in commit.name else ""
    return "/".join(part for part in (kind_of(commit), namespace, commit.name) if part)


def short_name(commit: Committed) -> str:
    return f"{kind_of(commit)}/{commit.name}"


def happened(commit: Committed) -> str:
    """As a part of a sentence: `pod/w-a was deleted`."""
    return f"{short_name(commit)} was {_PARTICIPLES[commit.type]}"


def participle(commit: Committed) -> str:
    """What became of the object: created, changed or deleted. An object that is terminating has been deleted."""
    if commit.type == "DELETED" or "deletionTimestamp" in commit.object["metadata"]:
        return "deleted"
    return "created" if commit.type == "ADDED" else "changed"


def owner_name(label: str) -> str:
    """An owner's label (`Widget/sample#2`) for people; empty for none."""
    name, _, nth = label.partition("#")
    head, slash, rest = name.rpartition("/")
    spelt = f"{head[: head.rfind(' ') + 1]}{head[head.rfind(' ') + 1 :].lower()}{slash}{rest}"
    return f"the {ordinal(int(nth))} {spelt}" if nth else spelt


def of_owner(label: str) -> str:
    """` of widget/w`, to go behind what is owned; empty for no owner."""
    return f" of {owner_name(label)}" if label else ""


def ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def listing(names: Sequence[str]) -> str:
    """The first few names."""
    return some(names, _NAMES)


def span(revisions: Sequence[int]) -> str:
    """From the lowest to the highest; empty for none."""
    low, high = min(revisions, default=0), max(revisions, default=0)
    return "" if not revisions else str(low) if low == high else f"{low}\N{EN DASH}{high}"


def call_words(call: Called) -> str:
    """A call to an external system, as a person would find it in a log."""
    return call.text if call.text.upper().startswith(call.verb.upper()) else f"{call.verb} {call.text}"


def shortened(text: str) -> str:
    """As much of it as fits into a sentence."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def contrasted(first: object, second: object) -> tuple[str, str]:
    """Two values that differ, for people: of texts of several lines, the first line that is not the same in both.

    A long line is shown from shortly before the place where it differs.
    """
    lines = zip_longest(str(first).splitlines(), str(second).splitlines(), fillvalue="<no line>")
    one, other = next(((one, other) for one, other in lines if one != other), (str(first), str(second)))
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    begins = common - _BEFORE if common > _LONGEST - _BEFORE else 0
    one, other = (f"…{text[begins:]}" if begins else text for text in (one, other))
    return shortened(one), shortened(other)
