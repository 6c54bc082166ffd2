"""Changes that were made past the proxy: on what view they were decided is not known, so a trial with any of them proves nothing.

A change counts if the controller never asked through the proxy for a write that can have made it, and it is not the work of any
writer that is known to work beside it: staleproof itself, the API server, companions. In a cluster of the user's own there are
others, so there the controller must be known to call itself so. `metadata.managedFields` names the author of a change, though not
of a deletion."""

from collections.abc import Mapping, Sequence

from staleproof.checks.facts.wording import full_name
from staleproof.checks.trial import Trial, fact
from staleproof.core.history.entry import Competed
from staleproof.core.history.provenance import Commit
from staleproof.core.operator.companion import MANAGERS
from staleproof.core.plan.nudge import MANAGER

_KNOWN = frozenset({MANAGER, "kube-apiserver", "ancient-changes", "before-first-apply", *MANAGERS})
"""The API server itself names some that no client is called: what older entries were merged into, and what was before an apply."""
_MAKERS: Mapping[str, tuple[str, ...]] = {
    "ADDED": ("create", "update", "patch"),
    "MODIFIED": ("update", "patch", "delete", "deletecollection"),
}
_EXISTING = "existing"


@fact
def bypasses(trial: Trial) -> Sequence[tuple[Commit, str]]:
    """Each of these changes, and its author."""
    own = {manager for commit in trial.commits if commit.by is not None for manager in commit.entry.managers}
    is_shared = trial.history.header.environment.get("provider") == _EXISTING
    began = next((step.began for step in trial.steps), 0)  # what the namespace itself brought about may have been asked for before
    foreign = [commit for commit in trial.commits if commit.index > began and commit.by is None]
    makers = (
        (commit, [each for each in commit.entry.managers if each not in _KNOWN and (each in own or not is_shared)])
        for commit in foreign
    )
    return [(commit, authors[0]) for commit, authors in makers if authors and not _may_be_requested(trial, commit)]


@fact
def bypassed(trial: Trial) -> str:
    """That the proxy was bypassed, by which writer, and what to do, in words; empty when it was not."""
    found = bypasses(trial)
    if not found:
        return ""
    commit, author = found[0]
    did = "created" if commit.entry.type == "ADDED" else "changed"
    more = f", as {len(found) - 1} more changes were made" if len(found) > 1 else ""
    return (
        f"{full_name(commit.entry)} was {did} by {author!r} past the proxy{more}: the controller never asked for that through it. "
        "Does each client of the controller use the kubeconfig that it is given (KUBECONFIG, or {kubeconfig} in its command), or "
        "in a container what a pod finds? If this is not the controller, end it, or give it other namespaces"
    )


def _may_be_requested(trial: Trial, commit: Commit) -> bool:
    """Whether some request through the proxy may have made it, even if no answer shows it."""
    entry = commit.entry
    if any((each.uid, each.revision) == (entry.uid, entry.revision) for _, each in trial.every(Competed)):
        return True
    requests = (request.asked for request in trial.requests if request.asked.resource == entry.resource)
    return any(each.verb in _MAKERS.get(entry.type, (each.verb,)) and each.name in ("", entry.name) for each in requests)
