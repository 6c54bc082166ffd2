"""How findings spell things: as kubectl does, `pod/default/sample-x7k2q`, and never a raw object."""

from collections.abc import Sequence

from staleproof.core.entry import Committed
from staleproof.core.fault import AnyFault
from staleproof.core.fault.calls import RESET, LoseAnswer, Reject

_NAMES = 3
_EFFECTS = {
    "Hold": "its {} stream was held",
    "HideOwnWrite": "its {} stream was held",
    "Delay": "its {} stream was late",
    "Skew": "its streams were late, each by its own time",
    "Sever": "its {} stream was cut",
    "Refuse": "nobody could connect to the API server",
    "Hang": "its {} streams and requests hung",
    "Expire": "its {} stream got 410 Expired",
    "Coalesce": "its {} stream ended, and it could neither watch nor list",
    "DropBookmarks": "it got no {} bookmarks",
    "AddBookmarks": "it got a {} bookmark behind every event",
    "SlowStart": "the initial state of {} came late",
    "RefuseWatchList": "every WatchList was refused",
    "PastSnapshot": "reads of {} with resourceVersion 0 were answered from the past",
    "Compete": "somebody else wrote to {} just before it did",
    "SlowAnswer": "answers about {} were late",
    "Kill": "it was to be killed at a write to {}",
    "Restart": "it was restarted",
    "Pause": "its process was stopped",
    "DropFrame": "events of {} were left out",
    "RepeatFrame": "events of {} came twice",
    "Reorder": "events of {} were overtaken by later ones",
    "NoEndBookmark": "the end of the initial {} events was left out",
    "StaleRead": "consistent reads of {} were answered from the past",
}


_EFFECTS_ON_ALL = {
    "Hold": "all its streams were held",
    "HideOwnWrite": "all its streams were held",
    "Delay": "all its streams were late",
    "Sever": "all its streams were cut",
    "Hang": "all its streams and requests hung",
    "Expire": "all its streams got 410 Expired",
    "Coalesce": "all its streams ended, and it could neither watch nor list",
    "DropBookmarks": "it got no bookmarks",
    "AddBookmarks": "it got a bookmark behind every event",
}
"""Where `everything` would not do for the name of a resource."""


def kind_of(commit: Committed) -> str:
    """The kind as kubectl prints it."""
    return str(commit.object.get("kind") or commit.resource).lower()


def full_name(commit: Committed) -> str:
    return "/".join(part for part in (kind_of(commit), commit.namespace, commit.name) if part)


def short_name(commit: Committed) -> str:
    return f"{kind_of(commit)}/{commit.name}"


def effect_of(fault: AnyFault) -> str:
    """What a fault does to the controller, as the end of a sentence."""
    everything = "everything" if fault.resource == "*" else fault.resource
    match fault:
        case Reject(code=code):
            return f"requests about {everything} were {'cut off' if code == RESET else f'answered {code}'} and not executed"
        case LoseAnswer(code=code):
            return f"answers about {everything} were lost{'' if code == RESET else f' and told as {code}'}, the requests executed"
    if fault.tag not in _EFFECTS:
        return f"{_first_sentence(fault)} ({fault.tag} of {everything})"
    if fault.resource == "*" and fault.tag in _EFFECTS_ON_ALL:
        return _EFFECTS_ON_ALL[fault.tag]
    return _EFFECTS[fault.tag].format(everything)


def _first_sentence(fault: AnyFault) -> str:
    """Of what its class says that it does: a fault that has no words here yet has that."""
    said = " ".join((type(fault).__doc__ or fault.tag).split()).split(". ")[0].rstrip(".")
    return said[:1].lower() + said[1:]


def owner_name(label: str) -> str:
    """An owner's label (`Widget/sample#2`) for people; empty for none."""
    name, _, nth = label.partition("#")
    head, slash, rest = name.rpartition("/")
    spelt = f"{head[: head.rfind(' ') + 1]}{head[head.rfind(' ') + 1 :].lower()}{slash}{rest}"
    return f"the {ordinal(int(nth))} {spelt}" if nth else spelt


def ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def plural(number: int, noun: str) -> str:
    """The number with its noun: 1 pod, 2 policies, 3 ingresses."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith(("s", "x", "ch")):
        return f"{number} {noun}es"
    return f"{number} {noun[:-1]}ies" if noun.endswith("cy") or noun.endswith("ty") else f"{number} {noun}s"


def listing(names: Sequence[str]) -> str:
    """The first few names."""
    return ", ".join(names[:_NAMES]) + (f" and {len(names) - _NAMES} more" if len(names) > _NAMES else "")


def span(revisions: Sequence[int]) -> str:
    """From the lowest to the highest; empty for none."""
    low, high = min(revisions, default=0), max(revisions, default=0)
    return "" if not revisions else str(low) if low == high else f"{low}\N{EN DASH}{high}"
