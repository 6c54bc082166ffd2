"""Did the controller reach the references' state?

Several requirements are decided by the same end state and differ in what was done: the stream was lost, history expired, states
were skipped. A state that is right at the end of the settling or at the end of the trial is right, unless the runner may have woken
the controller in between. A status is no part of it. What differs and is as good (`equivalents`) is no difference.
"""

from staleproof.checks.but_for import in_references, is_compared
from staleproof.checks.ends.equivalents import Equivalents
from staleproof.checks.ends.footprint import footprint, own_footprint
from staleproof.checks.ends.hull import Compared, Difference, baseline
from staleproof.checks.ends.states import final_objects
from staleproof.checks.facts.object_history import object_history
from staleproof.checks.facts.wording import kind_of
from staleproof.checks.trial import Trial, fact

ONLY_STATUS = "it writes nothing but status, which honest-status judges"


def differences(trial: Trial, until: int, *, of: Trial | None = None) -> list[Difference]:
    """How the state before a position, of the trial or of another run of its workload, differs from the references' end: in what
    the controller wrote itself in any of these runs, whatever it reports."""
    own = footprint(trial) | own_footprint(of) if of is not None else footprint(trial)
    return _differences(trial, of or trial, until, own.state)


def _differences(trial: Trial, run: Trial, until: int, own: Compared) -> list[Difference]:
    state = baseline(trial).without_unchanged(final_objects(run, until=until), run)
    deleted = _deleted(trial, run, until)
    if not deleted and not baseline(trial).difference(state, run.namespace):
        return []  # in nothing, whatever wrote it
    as_good = Equivalents(trial, run, baseline(trial), state)
    found = baseline(trial).differences(state, run.namespace, own, besides=as_good.renumbered, is_as_good=as_good.has)
    return [*deleted, *found]


def _deleted(trial: Trial, run: Trial, until: int) -> list[Difference]:
    """What was there before and the controller has deleted, where fault-free runs changed it and put it back: that it is not there
    does not tell it from what nothing ever happened to."""
    given = {each.uid for each in run.history.header.given}
    back = {(role.resource, role.stem) for role, counts in baseline(trial).counts.items() if min(counts) == 0 < max(counts)}
    there = {(resource, obj["metadata"]["name"]) for resource, obj in final_objects(run, until=until)}
    gone = (each for each in object_history(run).objects.values() if each.uid in given and each.is_gone(before=until))
    mine = (each for each in gone if each.deleter is not None and (each.resource, each.name) in back - there)
    return [Difference(f"{kind_of(each.first.entry)}/{each.name} is gone, fault-free runs left it as it was") for each in mine]


def owed(trial: Trial, at: int, settled: int) -> str:
    """What the controller still had to do at a position, in words; empty for nothing: the first difference that proves something,
    or else a report that it made itself, as the references did, by the end of the settling phase."""
    later = {each.text for each in _differences(trial, trial, settled, footprint(trial))}
    made = (each for each in _differences(trial, trial, at, footprint(trial)) if not each.unstable and each.text not in later)
    return certain_difference(trial, at) or next((each.text for each in made), "")


def certain_difference(trial: Trial, until: int) -> str:
    """The first difference that proves something, in words; empty for none."""
    return next((found.text for found in differences(trial, until) if not found.unstable), "")


@fact
def converged(trial: Trial) -> bool:
    """Whether it was right at the end of the settling phase, or at the end of all, if it was left alone until then."""
    return ends_right(trial, trial)


def ends_right(run: Trial, trial: Trial) -> bool:
    """The same of a run of the trial's workload."""
    settled = run.settled
    if settled is None or run.released is None:
        return False
    return not (differences(trial, settled, of=run) and differences(trial, run.unwoken, of=run))


@fact
def unneeded(trial: Trial) -> str:
    """Why how it ends shows nothing, in words: the controller never wrote, and did not in every fault-free run either; or it writes
    nothing but status, which is no state. Empty when it wrote, or falls silent only here."""
    works = is_compared(trial) and not any(in_references(trial, lambda run: run.idle))
    if not works and trial.idle:
        return trial.idle
    state = footprint(trial).state
    return "" if state.counted or state.paths else ONLY_STATUS
