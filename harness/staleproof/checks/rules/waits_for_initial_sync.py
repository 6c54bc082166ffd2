"""waits-for-initial-sync: not write before the caches have had their first complete list.

Fault-free runs never show how a controller starts, so whether it always waits cannot be learnt from them. Nor does every honest
write need a list: some are made at every start, some live on AlreadyExists, and one program may hold several controllers, each of
which waits for its own caches. What is wrong with a write is that it takes for missing what has only not been listed yet. So a
finding is a write to a primary's children while the very list that it needed was under way (`view/life`), and that was too
much:

1. a create while the first list of that resource was under way: more live children of the role than any reference had by then
   (`but_for`), explained by the controller's own earlier ones, which this life has not been shown;
2. a delete of a child while the first list of its primary's resource was under way and the primary had not been shown: one that no
   reference made by that step (`but_for`).

Known limits: writes before the list that happen to do no harm are not seen, nor is a status that was wrong for a moment.
"""

from collections.abc import Iterator

from staleproof.checks.facts.initial_lists import is_held_up
from staleproof.checks.facts.own_writes import unseen_children
from staleproof.checks.facts.primary_view import owned_resources
from staleproof.checks.requirement import Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import NotExercised, Said
from staleproof.checks.view.life import view


def check(trial: Trial) -> Iterator[Said]:
    if not _was_tempted(trial):
        yield NotExercised("no first list of the controller was slow while it had shown itself to have work to repeat")


def _was_tempted(trial: Trial) -> bool:
    """Whether it had one list and lacked another because of a fault: some milliseconds between two lists are no temptation."""
    return any(_is_lure(trial, *pair, index) for index in range(len(trial.entries)) for pair in owned_resources(trial))


def _is_lure(trial: Trial, parents: str, children: str, index: int) -> bool:
    """Whether the list that it had by then did not show the work that had been done."""
    for known, slow in ((parents, children), (children, parents)):
        if view(trial, index + 1).has_first_list(known) and is_held_up(trial, slow, before=index + 1):
            return slow == parents or any(child.resource == children for child in unseen_children(trial, at=index))
    return False


REQUIREMENT = Requirement(
    slug="waits-for-initial-sync",
    must="The controller MUST not write before its caches have had their first complete list.",
    level="core",
    source="client-go tools/cache WaitForCacheSync; KEP-3157",
    faults=("SlowStart", "Hang", "Refuse", "Reject", "SlowAnswer"),
    remedy="start no worker until every cache has synced (WaitForCacheSync, or the bookmark that ends the initial events)",
    kind="deed",
    wrong="a create or delete too many",
    reasons=("first list",),
    verbs=("create", "delete"),
    check=check,
    outlives=frozenset({"slows-start"}),
)
