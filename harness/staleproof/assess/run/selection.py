"""Which of the plans of a run the user wants: those that are named, those that failed in the run before."""

import difflib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from staleproof.assess.store.crashes import crash_id
from staleproof.core.plan.fingerprint import fingerprint
from staleproof.core.plan.plan import Plan
from staleproof.errors import UsageError
from staleproof.report.planned import name_of

_MOST_SHOWN = 10


class Candidate(Protocol):
    """Something that has a plan."""

    @property
    def plan(self) -> Plan: ...


T = TypeVar("T", bound=Candidate)


@dataclass(frozen=True, slots=True)
class Selection:
    """What is wanted.

    Attributes:
        only: ids, as a dry run shows them, or names of plans; empty: all.
        failed: the ids of the plans of a test that failed in the run before; empty: all are wanted.
        option: what the user calls `only`.
    """

    only: tuple[str, ...] = ()
    failed: Callable[[str], Collection[str]] = lambda test: ()
    option: str = "--staleproof-only"

    def of(self, test: str, candidates: Iterable[T]) -> list[T]:
        """Those of this test that are wanted. Where none of those that had failed is there any more, all are."""
        named = [each for each in candidates if not self.only or any(fits(text, each.plan) for text in self.only)]
        failed = self.failed(test)
        return [each for each in named if fingerprint(each.plan) in failed] or named

    def check(self, candidates: Iterable[Candidate]) -> None:
        """UsageError when something that is named is none of all these; it says what there is."""
        every = [each.plan for each in candidates] if self.only else []
        for text in self.only:
            if not any(fits(text, plan) for plan in every):
                raise UsageError(f"{self.option}: no plan has the id or name {text!r}; {_what_there_is(text, every)}")


EVERYTHING = Selection()


def fits(text: str, plan: Plan) -> bool:
    """Whether this names the plan: its id, that of its finding, its title, or that with its scenario."""
    return text in (fingerprint(plan), crash_id(plan), plan.title, name_of(plan))


def _what_there_is(text: str, plans: Sequence[Plan]) -> str:
    """The likeliest of them, a line each."""
    lines = {f"{fingerprint(plan)}  {name_of(plan)}": name_of(plan) for plan in plans}
    if not lines:
        return "this controller gives no occasion for any plan that the run could have"
    likely = difflib.get_close_matches(text, list(lines.values()), n=_MOST_SHOWN, cutoff=0.4)
    ordered = sorted(lines, key=lambda line: likely.index(lines[line]) if lines[line] in likely else len(likely))
    left = len(ordered) - _MOST_SHOWN
    more = [f"and {left} more, which a dry run shows"] if left > 0 else []
    return "\n  ".join(["there are:", *ordered[:_MOST_SHOWN], *more])
