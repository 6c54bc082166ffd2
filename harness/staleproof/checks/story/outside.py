"""Sentences about external systems."""

from collections.abc import Sequence

from staleproof.checks.facts.wording import call_words, listing, shortened
from staleproof.core.history.entry import Called, Drifted, ExternalState, Notified, Replied, SystemTurned
from staleproof.core.wording import plural

Outside = Called | Replied | Notified | Drifted | ExternalState | SystemTurned
_TURNS = {"down": "went down", "slow": "began to answer late", "up": "was up and in time again"}
_EFFECTS = {"lose": "was lost", "repeat": "came twice", "delay": "came late"}


def tell_outside(entries: Sequence[Outside]) -> str:
    """One sentence for neighbours of one kind."""
    first, more = entries[0], len(entries) - 1
    match first:
        case Drifted():
            return f"{first.kind}/{first.external} of {first.system} was {first.change} by another user"
        case ExternalState():
            last = [f"{each.kind}/{each.external}" for each in first.objects]
            return f"{first.system} had {listing(last) or 'nothing'}"
        case SystemTurned():
            return f"{first.system} {_TURNS[first.state]}"
        case Called():
            times = f" {plural(more + 1, 'time')}" if more else ""
            return f"it called {first.system}{times}: {shortened(call_words(first))}"
        case Replied():
            return f"{_answer(first)}{_and_more(more)}"
        case Notified(effect=effect):
            sentence = f"a notification of {first.system} {_EFFECTS[effect]}" if effect else f"{first.system} notified it"
            return f"{sentence}{_and_more(more)}"


def kind_outside(entry: Outside) -> tuple[object, ...]:
    """What neighbours of one sentence have in common; empty for an entry that has a sentence of its own."""
    match entry:
        case Called():
            return entry.system, entry.verb, entry.text
        case Replied():
            return entry.system, entry.outcome, entry.effect
    return ()


def _answer(reply: Replied) -> str:
    code = f" ({reply.code})" if reply.code else ""
    match reply.outcome, reply.executed:
        case "ok", _:
            return f"its call to {reply.system} was answered{' late' if reply.effect == 'delay' else ''}"
        case "fail", _:
            return f"its call to {reply.system} was refused{code}"
        case _, True:
            return f"its call to {reply.system} was executed, and it never had the answer"
    return f"its call to {reply.system} was never answered"


def _and_more(more: int) -> str:
    return f", and {more} more" if more else ""
