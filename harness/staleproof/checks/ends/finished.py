"""Whether what a controller works for was over before it could catch up.

Pods and Jobs that run to their end are worked for until then: kubeflow's mpi-operator keeps a list of the hosts of a launcher that
runs, and leaves it as it is when that has ended (pkg/controller/mpi_job_controller.go). A controller that learns of all that only
when it is over has nothing to make up for.
"""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

from staleproof.checks.but_for import in_references
from staleproof.checks.ends.convergence import differences
from staleproof.checks.ends.hull import ends_with_more
from staleproof.checks.facts.belongings import primary_of
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.roles import Role, of_any_incarnation
from staleproof.checks.trial import Trial, fact
from staleproof.core.history.entry import FaultClosed
from staleproof.core.history.history import Position
from staleproof.core.history.provenance import Commit
from staleproof.core.plan.manifest import Manifest

_PODS, _JOBS = "pods", "jobs.batch"


@fact
def over_before_it_caught_up(trial: Trial) -> str:
    """That all had ended while a fault lasted that ends by itself in fault-free runs, which leave nothing at work, and that what
    differs is only ever written before that, in words."""
    until = _caught_up(trial)
    ended = Counter(each.resource for each, _ in _ended(trial, until=until)) if until is not None else Counter[str]()
    if not ended or not all(in_references(trial, partial(_is_all_over, ended=ended))):
        return ""
    found = [each.role for each in differences(trial, trial.unwoken) if not each.unstable]
    if not found or not all(role is not None and _is_only_for_it(trial, role) for role in found):
        return ""
    return f"what it makes for {' and '.join(sorted(ended))} that run to their end was not needed any more when it could catch up"


def _caught_up(trial: Trial) -> Position | None:
    """Where the last fault was over that kept the controller back, and it could catch up; None if none did."""
    closed = {entry.fault: index for index, entry in trial.every(FaultClosed)}
    lasting = [number for number, fault in trial.fired.items() if fault.keeps_back]
    ends = [closed.get(number, trial.released) for number in lasting]
    return max((end for end in ends if end is not None), default=None)


def _is_all_over(run: Trial, ended: Counter[str]) -> bool:
    """Whether a fault-free run ends with nothing at work, and no more had ended by itself than here."""
    over = {each.uid for each, _ in _ended(run)}
    live = (each for each in object_history(run).objects.values() if each.owner_uid and each.is_live(before=len(run.entries)))
    return not Counter(each.resource for each, _ in _ended(run)) - ended and all(
        each.uid in over or _is_idle(each) for each in live
    )


def _is_idle(each: Incarnation) -> bool:
    return each.resource not in (_PODS, _JOBS) and not (each.last.entry.object.get("spec") or {}).get("replicas")


def _is_only_for_it(trial: Trial, role: Role) -> bool:
    """Whether such objects do not run themselves, fault-free runs write to them only until all has ended, and there are no more of
    them than in these."""
    is_fit = role.resource not in (_PODS, _JOBS) and not ends_with_more(trial, role)
    return is_fit and all(in_references(trial, partial(_done_before, role=role)))


def _done_before(run: Trial, role: Role) -> bool:
    """Whether the controller wrote to what an owner has of this resource, and only until all had ended that ends by itself and is
    of the same primary."""
    of = [each for each in object_history(run).objects.values() if of_any_incarnation(each.role)[:2] == role[:2]]
    primaries = {primary.uid for each in of if (primary := primary_of(run, each.uid)) is not None}
    ends = [commit.index for each, commit in _ended(run) if getattr(primary_of(run, each.uid), "uid", "") in primaries]
    written = [commit.index for each in of for commit in each.commits if commit.by is not None]
    return bool(ends and written) and max(written) < max(ends)


def _ended(run: Trial, until: int | None = None) -> Iterator[tuple[Incarnation, Commit]]:
    """What belongs to something and ran to its end before a position, and the commit by which another program says so."""
    for each in object_history(run).objects.values():
        if each.owner_uid and each.resource in (_PODS, _JOBS):
            ends = (
                commit for commit in each.commits if commit.by is None and _says_that_it_ended(each.resource, commit.entry.object)
            )
            commit = next(ends, None)
            if commit is not None and (until is None or commit.index < until):
                yield each, commit


def _says_that_it_ended(resource: str, obj: Manifest) -> bool:
    """By what Kubernetes itself says of Pods and Jobs (API reference, PodStatus and JobStatus)."""
    status: dict[str, Any] = obj.get("status") or {}
    if resource == _PODS:
        return status.get("phase") in ("Succeeded", "Failed")
    conditions = status.get("conditions") or ()
    return any(each.get("type") in ("Complete", "Failed") and each.get("status") == "True" for each in conditions)
